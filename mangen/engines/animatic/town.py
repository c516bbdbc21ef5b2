"""Places that people built, under the sky."""

from __future__ import annotations

from collections.abc import Callable

from mangen.engines.animatic import (
    backdrop,
    colour,
    horizon,
    houses,
    outline,
    pen,
    ruins,
    stage,
    street,
    terraces,
    trees,
)


def market(s: stage.Stage) -> list[stage.Sheet]:
    """Stalls before houses, lanterns on lines; by night it glows."""
    chance, y = s.fixed(82), s.horizon

    def stalls(p: pen.Pen) -> None:
        for k, x in enumerate((0.2, 0.8, 0.5) if s.h > s.w else (0.15, 0.85, 0.38, 0.62)):
            size = 350 if k < 2 else 190
            with p.moved(s.w * x, y + (150 if k < 2 else 30)):
                if s.light.dim:
                    p.glow(0, -size * 0.6, size * 0.9, (255, 190, 104), alpha=0.42)
                houses.stall(p, size, s.light, chance)

    def lines(p: pen.Pen) -> None:
        for sag, up, r, n in ((50, 300, 20, 7), (66, 420, 27, 6), (80, 590, 34, 5)):
            line = outline.curve(
                [(-20, y - up - 30), (s.w * 0.5, y - up + sag), (s.w + 20, y - up - 30)],
                closed=False,
            )
            p.line(line, 3.5, taper=(0, 0))
            for k in range(n):
                at = line[int((len(line) - 1) * (k + 0.5) / n)]
                with p.moved(float(at[0]), float(at[1])):
                    if s.old:
                        houses.lantern(p, r, s.light)
                    else:
                        _bulb(p, s, r)

    def near(p: pen.Pen) -> None:
        with p.moved(s.w * (0.5 - s.side * 0.42), s.h * 0.12):
            houses.lantern(p, 74, s.light)

    found = [
        horizon.painted(horizon.heaven(s, (40, 70, "#6f7d8c"))),
        horizon.softened(s, horizon.drawn(s, horizon.row(s, y, far=0.34, size=300), horizon.MID)),
        horizon.earth(s, "#a89a80", "#6f6250"),
        horizon.drawn(s, lambda p: street.paving(p, s), horizon.GROUND),
        horizon.drawn(s, stalls, horizon.ROWS),
    ]
    if not s.western:
        found.append(horizon.drawn(s, lines, horizon.ROWS))
    return [*found, horizon.front(s, near)] if s.old else found


def _bulb(p: pen.Pen, s: stage.Stage, r: float) -> None:
    if s.light.dim:
        p.glow(0, r * 0.7, r * 2.6, s.light.lamp, alpha=0.7)
    p.fill(outline.ellipse(0, r * 0.6, r * 0.34, r * 0.44), (255, 236, 178))
    p.ink(outline.ellipse(0, r * 0.6, r * 0.34, r * 0.44), 2.5)


def courtyard(s: stage.Stage) -> list[stage.Sheet]:
    """A walled court: plaster under tiles, a plank door, a tree; a garden gate in the West."""
    return _garden(s) if s.western else _walled(s)


def garden(s: stage.Stage) -> list[stage.Sheet]:
    """A house among trees behind its railing; where houses are old, a walled court with a tree."""
    return _walled(s) if s.old else _garden(s)


def _walled(s: stage.Stage) -> list[stage.Sheet]:
    y, top = s.horizon + 90, s.horizon - 500
    plaster = s.light.hexed("#cfc3a8" if s.light.weather != "snow" else "#c9c2b2")
    wall = backdrop.plaster(s, top + 20, plaster, colour.dark(s.light.hexed("#968971"), 0.08), 45)

    def beyond(p: pen.Pen) -> None:
        with p.moved(s.w * (0.5 - s.side * 0.3), top + 60):
            trees.tree(p, 560, s.light, s.fixed(83), far=0.32, leaf=horizon.leaf(s))
        if s.old:
            with p.moved(s.w * (0.5 + s.side * 0.3), top + 70):
                houses.cottage(p, 360, 150, s.light, s.fixed(84), far=0.3, gable=False)

    def cast(p: pen.Pen) -> None:
        with p.moved(s.w * (0.5 - s.side * 0.34), y + 60, flip=s.side > 0):
            trees.tree(p, 1000, s.light, s.fixed(85), far=0, leaf=None)

    if not s.light.dim and s.light.weather in ("clear", "wind", "snow"):
        shadow = s.pen(over=1)
        cast(shadow)
        backdrop.shaded(wall, shadow.sheet(), 4 * s.unit, 0.4)

    def front(p: pen.Pen) -> None:
        houses.coping(p, (0, s.w), top, s.light)
        _bricks(p, s, (top, y), plaster)
        with p.moved(s.w * (0.5 + s.side * 0.18), y + 8):
            houses.gate(p, 300, 560, s.light)

    def court(p: pen.Pen) -> None:
        street.paving(p, s, y)
        with p.moved(s.w * (0.5 - s.side * 0.31), y + 60):
            houses.jar(p, 150, s.light)
        if s.light.weather != "snow":
            trees.strewn(p, (s.w, y + 4, y + 60), s.light.hexed("#66703f"), s.fixed(86), count=26)

    def bough(p: pen.Pen) -> None:
        if s.light.weather == "snow":
            with p.moved(s.w * (0.5 - s.side * 0.46), -40, turn=180 - s.side * 30):
                trees.tree(p, 420, s.light, s.fixed(87), far=0, leaf=None)
        else:
            start = (s.w * (0.5 - s.side * 0.54), s.h * 0.1)
            trees.bough(p, start, s.side * s.w * 0.34, horizon.shade(s, "#39462f"), s.fixed(88),
                        needles=False)  # fmt: skip

    return [
        horizon.painted(horizon.heaven(s)),
        horizon.drawn(s, beyond, horizon.MID),
        stage.Sheet(wall, horizon.WATER),
        horizon.drawn(s, front, horizon.WATER),
        horizon.earth(s, "#a89c84", "#857862", drop=90, rise=2),
        horizon.drawn(s, court, horizon.GROUND),
        horizon.front(s, bough),
    ]


def _garden(s: stage.Stage) -> list[stage.Sheet]:
    """A house behind its railing: a gate, a path, trees."""
    y = s.horizon + 60

    def home(p: pen.Pen) -> None:
        with p.moved(s.w * (0.5 - s.side * 0.36), y - 20):
            trees.tree(p, 620, s.light, s.fixed(83), far=0.3, leaf=horizon.leaf(s))
        with p.moved(s.w * (0.5 + s.side * 0.1), y):
            w = min(460.0, s.w * 0.52)
            terraces.house(p, w, w * 0.86, s.light, s.fixed(84), far=0.16,
                           timber=s.era == "medieval")  # fmt: skip

    def fence(p: pen.Pen) -> None:
        street.paving(p, s, y + 60)
        for a, b in ((-20.0, s.w * 0.36), (s.w * 0.64, s.w + 20)):
            if s.era == "medieval":
                _pickets(p, s, (a, b), y + 96)
            else:
                terraces.railing(p, (a, b), y + 96, 210, s.light)
        for x in (0.37, 0.63):
            stone = s.light.hexed("#a0907a")
            p.shape(outline.box(s.w * x - 30, y - 150, 60, 250), stone,
                    shade=colour.dark(stone, 0.3), width=5)  # fmt: skip
            p.shape(outline.ellipse(s.w * x, y - 168, 28, 28), stone, width=5)

    def bough(p: pen.Pen) -> None:
        start = (s.w * (0.5 - s.side * 0.54), s.h * 0.1)
        trees.bough(p, start, s.side * s.w * 0.34, horizon.shade(s, "#39462f"), s.fixed(88),
                    needles=s.light.weather == "snow")  # fmt: skip

    return [
        horizon.painted(horizon.heaven(s, (40, 60, "#7a8a80"))),
        horizon.drawn(s, home, horizon.MID),
        horizon.earth(s, "#8a936a", "#5c6446", drop=60, rise=4),
        horizon.drawn(s, fence, horizon.GROUND),
        horizon.front(s, bough),
    ]


def _pickets(p: pen.Pen, s: stage.Stage, span: tuple[float, float], y: float) -> None:
    wood = s.light.hexed("#8a6a4a")
    for up in (60, 140):
        p.shape(outline.box(span[0], y - up, span[1] - span[0], 18), wood, width=4)
    for k in range(int((span[1] - span[0]) / 52) + 1):
        x = span[0] + 52 * k
        p.shape(outline.straight([(x - 15, y), (x - 15, y - 170), (x, y - 196), (x + 15, y - 170),
                                  (x + 15, y)]), wood, width=4)  # fmt: skip


def _bricks(p: pen.Pen, s: stage.Stage, span: tuple[float, float], plaster: colour.Colour) -> None:
    """Bricks where the plaster has come off."""
    top, y = span
    for k, (bx, by) in enumerate(((0.16, 0.4), (0.24, 0.62), (0.82, 0.3), (0.9, 0.78))):
        for c in range(3 - k % 2):
            x = s.w * (bx if s.side > 0 else 1 - bx) + 50 * c - 24 * (c % 2)
            yy = top + (y - top) * by + 28 * (c % 2)
            p.shape(outline.box(x, yy, 56, 22), colour.dark(plaster, 0.22), width=3,
                    line=colour.dark(plaster, 0.42))  # fmt: skip


def palace(s: stage.Stage) -> list[stage.Sheet]:
    """A great hall across a paved square, between balustrades and braziers; or a castle."""
    y = s.horizon

    def square(p: pen.Pen) -> None:
        snow = s.light.weather == "snow"
        street.paving(p, s, tone=s.light.hexed("#b8ae9c" if not snow else "#dfe0e4"))
        _rails(p, s)

    def great(p: pen.Pen) -> None:
        size = min(s.w * 0.7, s.h * 0.56)
        if s.western:
            with p.moved(s.w / 2, y + 10):
                terraces.castle(p, size, s.light, 0.12)
            return
        for side in (-1, 1):
            with p.moved(s.w / 2 + side * size * 0.66, y - 6):
                houses.palace(p, size * 0.5, s.light, 0.34)
        with p.moved(s.w / 2, y + 10):
            houses.palace(p, size, s.light, 0.1)

    def braziers(p: pen.Pen) -> None:
        for x in (0.2, 0.8):
            with p.moved(s.w * x, y + 300):
                houses.brazier(p, 190, s.light)

    def eaves(p: pen.Pen) -> None:
        dark = horizon.shade(s, "#4a2420" if not s.western else "#3a3834")
        p.fill(outline.curve([(-20, -20, 1), (s.w + 20, -20, 1), (s.w + 20, s.h * 0.112, 1),
                              (s.w * 0.5, s.h * 0.092), (-20, s.h * 0.112, 1)]), dark)  # fmt: skip
        for x in (0.02, 0.98):
            p.fill(outline.box(s.w * x - 70, -20, 140, s.h + 40), dark)

    return [
        horizon.painted(horizon.heaven(s, (90, 80, "#76879a"))),
        horizon.drawn(s, great, horizon.MID),
        horizon.earth(s, "#b8ae9c", "#8f8676"),
        horizon.drawn(s, square, horizon.GROUND),
        horizon.drawn(s, braziers, horizon.ROWS),
        horizon.front(s, eaves),
    ]


def _rails(p: pen.Pen, s: stage.Stage) -> None:
    """White balustrades on both sides of the square."""
    y = s.horizon
    white = s.light.hexed("#ddd5c4")
    for side in (-1, 1):
        for k in range(5, -1, -1):
            t = 0.2 + 0.16 * (5 - k)
            x, size = s.w / 2 + side * (s.w * 0.3 + 80 * t), 0.5 + 0.9 * t
            yy = y + 16 + 190 * t * t
            if k:
                rail = [(x, yy - 60 * size), (x + side * 15, yy - 40 * size)]
                p.line(outline.straight(rail), 12 * size, paint=white, taper=(0, 0))
            p.shape(outline.box(x - 11 * size, yy - 86 * size, 22 * size, 90 * size), white,
                    width=3.5)  # fmt: skip
            p.shape(outline.ellipse(x, yy - 92 * size, 14 * size, 15 * size), white, width=3.5)


PLACES: dict[str, Callable[[stage.Stage], list[stage.Sheet]]] = {
    "street": street.street,
    "market": market,
    "courtyard": courtyard,
    "garden": garden,
    "palace": palace,
    "ruin": ruins.ruin,
}
