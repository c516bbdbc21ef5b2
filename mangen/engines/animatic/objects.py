"""Objects: the things that words name, where they belong in a scene, or large for an insert."""

from __future__ import annotations

from mangen.engines.animatic import stage

#: what `draw` or `portrait` know
KNOWN: frozenset[str] = frozenset({"moon", "boat", "melons"})


def draw(s: stage.Stage, name: str) -> list[stage.Sheet]:
    """Sheets that put a thing into the scene; nothing for what belongs nowhere in it."""
    del s, name
    return []


def portrait(s: stage.Stage, name: str) -> list[stage.Sheet]:
    """A thing alone, large, before a plain lit ground, opaque sheet first; unknown: nothing."""
    del s, name
    return []
