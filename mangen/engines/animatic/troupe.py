"""The troupe: everybody of one story, so that no two of them are taken for each other."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from mangen.engines import protocol
from mangen.engines.animatic import hairdo, wardrobe

APART = 5  #: of eight big things, in how many two people differ at least
TRIES = 96  #: seeds that are tried; words may leave too little to choose
_SEEDS = 0x7FFFFFFF


def unlike(sheets: Sequence[protocol.CharacterSheet]) -> list[protocol.CharacterSheet]:
    """The same people, each with the first seed from its own on that sets it apart.

    Everybody depends only on those before, so that one who is added last changes nobody.
    """
    made: list[protocol.CharacterSheet] = []
    looks: list[dict[str, Any]] = []
    for sheet in sheets:
        best = (-1, sheet, dict[str, Any]())
        for step in range(TRIES):
            tried = dataclasses.replace(sheet, seed=(sheet.seed + step) & _SEEDS)
            look = wardrobe.features(tried)
            gap = min((_gap(look, other) for other in looks), default=APART)
            if gap > best[0]:
                best = (gap, tried, look)
            if gap >= APART:
                break
        made.append(best[1])
        looks.append(best[2])
    return made


def _gap(one: Mapping[str, Any], other: Mapping[str, Any]) -> int:
    """How far apart two looks are; heads of one shape under clothes of any kind are too near."""
    alike = (
        one["female"] == other["female"]
        and (one["age"] == "child") == (other["age"] == "child")
        and one["hat"] == other["hat"]
        and hairdo.SILHOUETTES[one["hair_style"]] == hairdo.SILHOUETTES[other["hair_style"]]
    )
    return wardrobe.apart(one, other) - 2 * alike
