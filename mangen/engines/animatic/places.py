"""Places: every place by its name, and where one can stand in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from mangen.engines.animatic import aboard, indoors, nature, stage, town

PLACES: dict[str, Callable[[stage.Stage], list[stage.Sheet]]] = {
    **indoors.PLACES,
    **town.PLACES,
    **nature.PLACES,
    **aboard.PLACES,
}
_PLAIN = "room"
_WALL = 900.0  #: units of a wall that rooms are furnished for


def roofed(s: stage.Stage) -> bool:
    """Whether the place is a room; unknown places are."""
    return not any(s.place in one.PLACES for one in (town, nature, aboard))


def sheets(s: stage.Stage) -> list[stage.Sheet]:
    """The place alone, the farthest (opaque) sheet first."""
    if roofed(s):
        # a wide frame sees less wall: step back, so that windows keep their upper edge
        k = min(1.0, (indoors.floor(s) - s.h * 0.1) / _WALL)
        s = dataclasses.replace(s, unit=s.unit * k)
    draw = PLACES.get(s.place, PLACES[_PLAIN])
    return sorted(draw(s), key=lambda sheet: sheet.depth)


def ground(s: stage.Stage) -> float:
    """The y where the ground that one can stand on begins."""
    if s.place in nature.SHORES:
        return s.h * nature.SHORES[s.place]
    if s.place in aboard.PLACES:
        return s.horizon + aboard.DROPS[s.place]
    return indoors.floor(s) if roofed(s) else s.horizon
