"""Objects: the things that words name, where they belong in a scene, or large for an insert."""

from __future__ import annotations

from mangen.engines.animatic import crops, horizon, nature, stage

#: what `draw` or `portrait` know
KNOWN: frozenset[str] = frozenset({"moon", "boat", "melons"})


def draw(s: stage.Stage, name: str) -> list[stage.Sheet]:
    """Sheets that put a thing into the scene; nothing for what belongs nowhere in it."""
    if name == "melons" and s.place in nature.PLACES:
        y = s.h * nature.SHORES.get(s.place, s.horizon / s.h)
        return [
            horizon.drawn(s, lambda p: crops.melons(p, s, y, near=False), horizon.ROWS),
            horizon.drawn(s, lambda p: crops.melons(p, s, y, near=True), horizon.NEAR),
        ]
    return []


def portrait(s: stage.Stage, name: str) -> list[stage.Sheet]:
    """A thing alone, large, before a plain lit ground, opaque sheet first; unknown: nothing."""
    del s, name
    return []
