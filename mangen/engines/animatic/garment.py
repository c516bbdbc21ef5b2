"""Garments: their cuts, and what each kind of them leaves bare."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from mangen.engines.animatic import outline
from mangen.engines.animatic.colour import Colour

#: kind -> where its hem lies (share of the hip's height above the ground) and how wide it falls
_HEMS = {
    "robe": (0.06, 1.85), "court": (0.05, 1.95), "ruqun": (0.05, 2.05), "gown": (0.12, 1.4),
    "beizi": (0.05, 1.8), "coat": (0.42, 1.32),
    "labcoat": (0.42, 1.3), "dress": (0.5, 1.9), "qipao": (0.3, 1.05),
    "aoqun": (0.34, 1.55),
}  # fmt: skip
LONG = frozenset(_HEMS)  #: garments that cover the thighs
BARE = frozenset({"vest"})  #: without sleeves
SHORT = frozenset({"dress", "qipao", "tshirt"})  #: with short sleeves
WIDE = frozenset({"robe", "court", "ruqun", "beizi"})  #: with hanging sleeves
CUFFED = frozenset({"gown", "jacket", "armour", "uniform", "hoodie", "tracksuit", "cardigan"})
_SKIRTED = frozenset({"dress", "qipao", "aoqun"})  #: bare shins


@dataclasses.dataclass(frozen=True, slots=True)
class Cloth:
    """A garment on a body: half widths, heights (negative y is up) and colours."""

    shoulder: float
    chest: float
    waist: float
    hip_wide: float
    neck: float
    top: float
    hip: float
    waist_y: float
    hem: float
    flare: float
    main: Colour
    dark: Colour
    trim: Colour
    inner: Colour
    legs: Colour
    skin: Colour
    child: bool
    female: bool


def skirted(kind: str) -> bool:
    """Whether the shins are seen below it."""
    return kind in _SKIRTED


def sleeve_of(look: Mapping[str, Any]) -> str:
    """The colour of the sleeves."""
    return str(look["inner"] if look["garment"] == "ruqun" else look["main"])


def hem_of(kind: str, hip: float) -> tuple[float, float]:
    """The y of a garment's hem, and how many hips wide it is there."""
    share, flare = _HEMS.get(kind, (0.0, 1.04))
    return (hip * share, flare) if share else (hip + 26, flare)


def cut(c: Cloth) -> outline.Points:
    """The outline of a garment without its sleeves."""
    half = c.hip_wide * (1 + (c.flare - 1) * 0.35)
    right: list[tuple[float, ...]] = [
        (c.hip_wide * c.flare, c.hem, 1),
        (half, c.hip + 6),
        (c.waist + 2, c.waist_y),
        (c.chest + 4, c.top + (128 if c.female else 110) * (0.62 if c.child else 1)),
        (c.shoulder - 4, c.top + 50),
        (c.shoulder - 22, c.top + 12),
        (46, c.neck + 10),
    ]
    left = [(-x, y, *corner) for x, y, *corner in reversed(right)]
    return outline.curve([*left, (0, c.hem + 14), *right, (0, c.neck + 14)])
