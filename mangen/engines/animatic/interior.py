"""Interiors: what every room begins with: a painted wall, its corner, beams, light on the floor."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mangen.engines.animatic import backdrop, colour, horizon, outline, pen, stage
from mangen.engines.animatic.colour import Colour

WALL, FURNITURE = 0.3, 0.5

Draw = Callable[[pen.Pen], None]


def floor(s: stage.Stage) -> float:
    """The y where wall and floor meet."""
    return s.h * {"close": 0.8, "establish": 0.7}.get(s.framing, 0.73)


def sheets(s: stage.Stage, tone: Colour, back: Draw, front: Draw, near: Draw) -> list[stage.Sheet]:
    """Wall, what stands before it, what stands before people, out of focus."""
    glow = s.light.lamp if s.light.dim else (255, 246, 220)
    wall = backdrop.wall(s, tone, 40, glow=glow)
    x = round(s.width * (0.5 + s.side * 0.31))
    shaded = wall[:, x:] if s.side > 0 else wall[:, :x]
    shaded *= np.float32(0.84)  # the side wall turns away from the window
    corner = wall[:, max(0, x - 2) : x + 2]
    corner *= np.float32(0.8)
    return [
        stage.Sheet(backdrop.solid(wall), WALL),
        horizon.drawn(s, back, WALL),
        horizon.drawn(s, front, FURNITURE),
        horizon.front(s, near),
    ]


def beams(p: pen.Pen, s: stage.Stage, wood: Colour) -> None:
    """Timber under the ceiling and down the walls."""
    y = floor(s) - 900
    tone = colour.dark(wood, 0.3)
    p.fill(outline.box(-20, -20, s.w + 40, max(10.0, y + 26)), colour.dark(tone, 0.35))
    p.shape(outline.box(-20, y, s.w + 40, 44), tone, width=4.5)
    for k in range(6):
        x = s.w * (0.08 + 0.168 * k)
        p.shape(outline.box(x - 20, y - 40, 40, 60), colour.pale(tone, 0.08), width=4)
    for x in (0.5 - s.side * 0.39, 0.5 + s.side * 0.31):
        p.shape(outline.box(s.w * x - 18, y + 44, 36, floor(s) - y - 40), tone, width=4.5)


def ray(p: pen.Pen, s: stage.Stage, foot: tuple[float, float], w: float) -> None:
    """Light that falls from a window across the room: the sun's, or at night the moon's."""
    if s.light.weather not in ("clear", "wind"):
        return
    x, y = foot
    tone = (170, 196, 255) if s.light.night else colour.pale(s.light.rim, 0.2)
    reach = s.side * 0.8 * w
    end = s.h * 0.96
    pool = [(x + reach, floor(s) + 40), (x + w + reach, floor(s) + 40), (x + w + reach * 2.1, end),
            (x + reach * 2.1 - 40, end)]  # fmt: skip
    alpha = 0.1 if s.light.night else 0.15
    p.fill(outline.straight([(x, y), (x + w, y), *pool[1:3], pool[3]]), tone, alpha=alpha * 0.6)
    p.fill(outline.straight(pool), tone, alpha=alpha)
