"""Ruins: what is left of houses."""

from __future__ import annotations

import numpy as np

from mangen.engines.animatic import colour, horizon, outline, pen, stage, trees


def ruin(s: stage.Stage) -> list[stage.Sheet]:
    """Broken walls against the sky, charred beams, bare trees, rubble."""
    chance, y = s.fixed(89), s.horizon

    def far(p: pen.Pen) -> None:
        stone = s.light.hexed("#8a8277", 0.5)
        for x, w, h in ((0.3, 150, 130), (0.5, 110, 90), (0.62, 190, 170)):
            _wall(p, s, (s.w * x, y + 8), (w, h), stone)
        with p.moved(s.w * 0.56, y + 8):
            trees.tree(p, 300, s.light, s.fixed(90), far=0.45, leaf=None)

    def walls(p: pen.Pen) -> None:
        stone = s.light.hexed("#8d8477", 0.12)
        for x, w, h in ((-0.04, 300, 520), (0.74, 330, 600)):
            _wall(p, s, (s.w * (x if s.side > 0 else 1 - x) - (0 if s.side > 0 else w), y + 70),
                  (w, h), stone)  # fmt: skip
        with p.moved(s.w * (0.5 - s.side * 0.14), y + 40):
            trees.tree(p, 480, s.light, s.fixed(91), far=0.2, leaf=None)

    def rubble(p: pen.Pen) -> None:
        beam = s.light.hexed("#3d302a")
        for x0, y0, x1, y1 in ((0.08, 130, 0.4, 40), (0.94, 190, 0.66, -90), (0.86, 240, 0.6, 210)):
            a, b = (s.w * (x0 if s.side > 0 else 1 - x0), y + y0), (
                s.w * (x1 if s.side > 0 else 1 - x1), y + y1)  # fmt: skip
            plank = outline.ribbon(outline.straight([a, b]), np.array([34.0, 26.0]))
            p.shape(plank, beam, shade=colour.dark(beam, 0.4), shift=(0, -9), width=4)
        for _ in range(16):
            x = chance.choice((chance.uniform(0, 0.34), chance.uniform(0.66, 1)))
            with p.moved(s.w * x, y + 70 + (s.h - y) * 0.6 * chance.random()):
                trees.rock(p, chance.uniform(20, 60), s.light, chance, far=0.05)
        trees.strewn(p, (s.w, y + 40, s.h), s.light.hexed("#6e6a52"), s.fixed(92), count=70)

    def pillar(p: pen.Pen) -> None:
        x, dark = s.w * (0.5 - s.side * 0.47), horizon.shade(s, "#3a3430")
        p.fill(outline.curve([(x - 80, s.h + 10, 1), (x - 70, s.h * 0.34), (x - 30, s.h * 0.3, 1),
                              (x + 20, s.h * 0.4, 1), (x + 56, s.h * 0.38, 1), (x + 70, s.h + 10, 1)
                              ]), dark)  # fmt: skip

    return [
        horizon.painted(horizon.heaven(s, (70, 80, "#76787e"))),
        horizon.softened(s, horizon.drawn(s, far, horizon.MID), 0.5),
        horizon.earth(s, "#948b7a", "#575046", rise=12, lit=True),
        horizon.drawn(s, walls, horizon.GROUND),
        horizon.drawn(s, rubble, horizon.ROWS),
        horizon.front(s, pillar),
    ]


def _wall(
    p: pen.Pen,
    s: stage.Stage,
    foot: tuple[float, float],
    size: tuple[float, float],
    stone: colour.Colour,
) -> None:
    """A piece of wall with a torn upper edge, a window and loose bricks; `foot` its left end."""
    chance = s.fixed(int(foot[0]) * 7 + int(size[1]))
    (x, y), (w, h) = foot, size
    knots: list[tuple[float, ...]] = [(x, y, 1)]
    for k in range(7):
        up = h * chance.uniform(0.55, 1.0)
        knots += [(x + w * k / 6, y - up, 1), (x + w * (k + 0.5) / 6, y - up + 12, 1)]
    knots = [*knots[:-1], (x + w, y, 1)]
    line = colour.mix(colour.INK, s.light.haze, 0.2)
    p.shape(outline.curve(knots), stone, shade=colour.dark(stone, 0.32), shift=(18, 10), width=4,
            line=line)  # fmt: skip
    hole = outline.curve([(x + w * 0.36, y - h * 0.22, 1), (x + w * 0.36, y - h * 0.4),
                          (x + w * 0.5, y - h * 0.5), (x + w * 0.64, y - h * 0.4),
                          (x + w * 0.64, y - h * 0.22, 1)])  # fmt: skip
    p.shape(hole, colour.mix(s.light.sky[1], colour.dark(stone, 0.6), 0.55), width=4, line=line)
    for _ in range(int(w * h / 9000)):
        bx, by = x + w * chance.uniform(0.05, 0.78), y - h * chance.uniform(0.02, 0.52)
        brick = outline.box(bx, by, w * 0.13, w * 0.055)
        p.shape(brick, colour.dark(stone, 0.16), width=2.4, line=colour.dark(stone, 0.42))
