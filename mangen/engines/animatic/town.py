"""Places that people built, under the sky."""

from __future__ import annotations

from collections.abc import Callable

from mangen.engines.animatic import (
    backdrop,
    boat,
    colour,
    horizon,
    houses,
    outline,
    pen,
    sky,
    stage,
    trees,
)


def street(s: stage.Stage) -> list[stage.Sheet]:
    """Houses along a way that runs to the horizon."""
    paved, soil = ("#85878a", "#6d6e72") if not s.old else ("#9a917f", "#7a705f")

    def all_of_it(p: pen.Pen) -> None:
        _road(s, p)
        _rows(s, p)
        if not s.old:
            for side in (-1, 1):
                _street_lamp(s, p, side)

    return [
        stage.Sheet(backdrop.solid(horizon.heaven(s, (60, 90, "#6f7d8c"))), horizon.SKY),
        horizon.earth(s, paved, soil),
        horizon.drawn(s, all_of_it, horizon.GROUND),
    ]


def _rows(s: stage.Stage, p: pen.Pen) -> None:
    """Houses on both sides, the far ones first."""
    chance, y = s.fixed(81), s.horizon
    for step in range(5, 0, -1):
        k = 1 / step
        far = 0.55 - 0.5 * k
        for side in (-1, 1):
            w = (380 + 120 * chance.random()) * k + 60
            x = s.w / 2 + side * (s.w * (0.05 + 0.3 * k) + w * 0.5)
            with p.moved(x, y + 170 * k**1.4):
                if not s.old:
                    houses.block(p, w, w * (1.9 + chance.random()), s.light, chance, far=far)
                    continue
                h = w * (0.9 + 0.35 * chance.random())
                houses.cottage(p, w, h, s.light, chance, far=far, gable=step % 2 == 0)
                if step < 4:
                    with p.moved(-side * w * 0.46, -h * 0.86):
                        houses.lantern(p, 36 * k + 8, s.light)


def _street_lamp(s: stage.Stage, p: pen.Pen, side: int) -> None:
    y, x, iron = s.horizon, s.w / 2 + side * s.w * 0.3, s.light.hexed("#4a4c52")
    p.line(outline.straight([(x, y + 150), (x, y - 330)]), 13, paint=iron, taper=(0, 0))
    neck = [(x, y - 326), (x - side * 40, y - 352), (x - side * 84, y - 340)]
    p.line(outline.curve(neck, closed=False), 10, paint=iron, taper=(0, 0))
    if s.light.dim:
        p.glow(x - side * 86, y - 330, 150, s.light.lamp, alpha=0.85)
    p.fill(outline.ellipse(x - side * 86, y - 332, 24, 13), s.light.lamp)


def _road(s: stage.Stage, p: pen.Pen) -> None:
    y, middle = s.horizon, s.w / 2
    stone = s.light.hexed("#a39a8a" if s.old else "#6c6e74")
    if s.light.weather == "snow":
        stone = s.light.hexed("#dcdde2")
    verge = [(s.w * 0.44, y), (s.w * 0.56, y), (s.w * 1.05, s.h), (-s.w * 0.05, s.h)]
    p.fill(outline.straight(verge), stone)
    seam = colour.dark(stone, 0.2)
    for k in range(10):
        t = (k / 10) ** 1.9
        row, half = y + (s.h - y) * t, s.w * (0.06 + 0.49 * t)
        joint = outline.straight([(middle - half, row), (middle + half, row)])
        p.line(joint, 1.5 + 3.5 * t, paint=seam, taper=(0.05, 0.05))
        deep = (s.h - y) * (((k + 1) / 10) ** 1.9 - t)
        for c in range(-4, 5):
            x = (c + 0.5 * (k % 2)) * half / 4
            if s.old and abs(x) < half:
                crack = outline.straight(
                    [(middle + x, row), (middle + x * (1 + 0.12 * t), row + deep)]
                )
                p.line(crack, 1.5 + 3 * t, paint=seam, taper=(0, 0))
    if not s.old:
        for k in range(7):
            a, b = ((k / 7) ** 1.9, ((k + 0.5) / 7) ** 1.9)
            ya, yb = y + (s.h - y) * a, y + (s.h - y) * b
            mark = [(middle - 2 - 12 * a, ya), (middle + 2 + 12 * a, ya), (middle + 2 + 12 * b, yb),
                    (middle - 2 - 12 * b, yb)]  # fmt: skip
            p.fill(outline.straight(mark), colour.pale(stone, 0.55))


def market(s: stage.Stage) -> list[stage.Sheet]:
    """Stalls before a row of houses, lanterns on a line."""
    chance, y = s.fixed(82), s.horizon

    def stalls(p: pen.Pen) -> None:
        for k in range(max(3, int(s.w / 300))):
            with p.moved(
                s.w * (k + 0.5) / max(3, int(s.w / 300)) + chance.uniform(-20, 20), y + 110
            ):
                houses.stall(p, 240, s.light, chance)
        line = outline.curve(
            [(-20, y - 330), (s.w * 0.5, y - 262), (s.w + 20, y - 330)], closed=False
        )
        p.line(line, 4, taper=(0, 0))
        for k in range(5):
            at = line[int(len(line) * (k + 0.5) / 5)]
            with p.moved(float(at[0]), float(at[1])):
                houses.lantern(p, 26, s.light)

    return [
        stage.Sheet(backdrop.solid(horizon.heaven(s, (40, 90, "#6f7d8c"))), horizon.SKY),
        horizon.drawn(s, horizon.row(s, y, far=0.34, size=300), horizon.MID),
        horizon.earth(s, "#a89a80", "#7f715d"),
        horizon.drawn(s, stalls, horizon.GROUND),
    ]


def courtyard(s: stage.Stage) -> list[stage.Sheet]:
    """A walled court with a gate, a tree and a water jar."""
    chance, y = s.fixed(83), s.horizon + 60

    def walls(p: pen.Pen) -> None:
        plaster = s.light.hexed("#cfc3a8")
        p.shape(outline.box(-20, y - 430, s.w + 40, 440), plaster, width=5)
        p.fill(outline.box(-20, y - 60, s.w + 40, 60), colour.dark(plaster, 0.28))
        for _ in range(9):
            x, yy = chance.uniform(0, s.w), y - chance.uniform(120, 380)
            for k in range(2):
                p.line(outline.straight([(x, yy + 17 * k), (x + 44, yy + 17 * k)]), 3.4,
                       paint=colour.dark(plaster, 0.3))  # fmt: skip
        tile = s.light.hexed("#4a4c55")
        p.shape(
            outline.box(-20, y - 470, s.w + 40, 44), tile, shade=colour.dark(tile, 0.3), width=4.5
        )
        for k in range(int(s.w / 34) + 1):
            p.shape(outline.ellipse(k * 34, y - 428, 16, 15), colour.dark(tile, 0.1), width=3.5)
        with p.moved(s.w * (0.72 if s.home % 2 else 0.28), y + 6):
            houses.gate(p, 270, 460, s.light)

    def court(p: pen.Pen) -> None:
        x = s.w * (0.14 if s.home % 2 else 0.86)
        with p.moved(x, y + 80):
            trees.tree(p, 760, s.light, chance, far=0.05, leaf=horizon.leaf(s))
        with p.moved(s.w - x, y + 130):
            jar = s.light.hexed("#6e5648")
            p.shape(outline.curve([(-56, -116, 1), (-78, -66), (-46, 0, 1), (46, 0, 1), (78, -66),
                                   (56, -116, 1)]), jar, shade=colour.dark(jar, 0.34))  # fmt: skip
            p.shape(outline.ellipse(0, -116, 56, 14), colour.dark(jar, 0.4), width=5)

    return [
        stage.Sheet(backdrop.solid(horizon.heaven(s)), horizon.SKY),
        horizon.drawn(s, walls, horizon.MID),
        horizon.earth(s, "#b3a68a", "#8f8068", drop=60, rise=3),
        horizon.drawn(s, court, horizon.GROUND),
    ]


def palace(s: stage.Stage) -> list[stage.Sheet]:
    """A great hall across a paved square."""
    y = s.horizon

    def square(p: pen.Pen) -> None:
        tone = s.light.hexed("#b8ae9c" if s.light.weather != "snow" else "#dfe0e4")
        p.fill(outline.box(-10, y, s.w + 20, s.h - y + 10), tone)
        for row in range(9):
            yy = y + (s.h - y) * (row / 9) ** 1.8
            p.line(outline.straight([(0, yy), (s.w, yy)]), 2 + row * 0.4, paint=colour.dark(tone,
                0.2),
                   taper=(0, 0))  # fmt: skip
        for k in range(-9, 10):
            p.line(outline.straight([(s.w / 2 + k * 70, y), (s.w / 2 + k * 300, s.h)]), 3,
                   paint=colour.dark(tone, 0.2), taper=(0.2, 0))  # fmt: skip
        white = s.light.hexed("#ddd5c4")
        for side in (-1, 1):
            for k in range(5):
                x = s.w / 2 + side * (s.w * 0.2 + k * s.w * 0.075)
                p.shape(outline.box(x - 11, y + 20 + 26 * k - 86, 22, 90), white, width=3.5)
                p.shape(outline.ellipse(x, y + 20 + 26 * k - 92, 14, 15), white, width=3.5)

    def great(p: pen.Pen) -> None:
        with p.moved(s.w / 2, y + 10):
            houses.palace(p, min(s.w * 0.86, s.h * 0.62), s.light, 0.12)

    return [
        stage.Sheet(backdrop.solid(horizon.heaven(s, (90, 110, "#76879a"))), horizon.SKY),
        horizon.drawn(s, great, horizon.MID),
        horizon.drawn(s, square, horizon.GROUND),
    ]


def ruin(s: stage.Stage) -> list[stage.Sheet]:
    """Broken walls and beams, bare trees, rubble."""
    chance, y = s.fixed(89), s.horizon

    def walls(p: pen.Pen) -> None:
        stone = s.light.hexed("#857d72", 0.2)
        for x, w, h in ((0.02, 260, 360), (0.4, 210, 190), (0.78, 300, 430)):
            x0 = s.w * x
            knots: list[tuple[float, ...]] = [(x0, y + 24, 1)]
            knots += [(x0 + w * k / 5, y - h * chance.uniform(0.5, 1.0), 1) for k in range(6)]
            p.shape(
                outline.curve([*knots, (x0 + w, y + 24, 1)]), stone, shade=colour.dark(stone, 0.3)
            )
            p.shape(
                outline.box(x0 + w * 0.4, y - h * 0.42, w * 0.2, h * 0.24),
                colour.dark(stone, 0.6),
                width=4,
            )
            for _ in range(6):
                bx, by = x0 + w * chance.uniform(0.05, 0.8), y - h * chance.uniform(0.02, 0.45)
                p.line(
                    outline.straight([(bx, by), (bx + 34, by)]), 3.4, paint=colour.dark(stone, 0.35)
                )
        with p.moved(s.w * 0.34, y + 20):
            trees.tree(p, 520, s.light, chance, far=0.15, leaf=None)

    def rubble(p: pen.Pen) -> None:
        for _ in range(9):
            with p.moved(s.w * chance.random(), y + 60 + (s.h - y) * 0.5 * chance.random()):
                trees.rock(p, chance.uniform(26, 70), s.light, chance, far=0.05)
        beam = s.light.hexed("#4c3a30")
        p.shape(outline.straight([(s.w * 0.62, y + 120), (s.w * 0.64, y + 84), (s.w * 0.96, y - 60),
                                  (s.w * 0.97, y - 20)]), beam, shade=colour.dark(beam,
                                      0.3))  # fmt: skip

    return [
        stage.Sheet(backdrop.solid(horizon.heaven(s, (70, 100, "#76787e"))), horizon.SKY),
        horizon.drawn(s, walls, horizon.MID),
        horizon.earth(s, "#8d8676", "#5f594e", rise=14),
        horizon.drawn(s, rubble, horizon.GROUND),
    ]


PLACES: dict[str, Callable[[stage.Stage], list[stage.Sheet]]] = {
    "street": street,
    "market": market,
    "courtyard": courtyard,
    "palace": palace,
    "ruin": ruin,
}
