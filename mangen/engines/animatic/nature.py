"""Places that nobody built: water, hills, woods and fields."""

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

#: share of the height where water ends and one can stand
SHORES = {"river": 0.8, "sea": 0.76}


def river(s: stage.Stage) -> list[stage.Sheet]:
    """A village on the far bank, a boat, reeds in front."""
    chance, y = s.fixed(84), s.horizon - 60
    top, mid, low = s.light.sky

    def village(p: pen.Pen) -> None:
        for _ in range(5):
            with p.moved(chance.uniform(0, s.w), y + 4):
                trees.tree(
                    p, chance.uniform(150, 260), s.light, chance, far=0.42, leaf=horizon.leaf(s)
                )
        horizon.row(s, y, far=0.4, size=190)(p)

    def near(p: pen.Pen) -> None:
        with p.moved(s.w * (0.36 + 0.3 * chance.random()), y + 180):
            boat.boat(p, 470, s.light)
        tone = s.light.hexed("#5f6b4e" if s.light.weather != "snow" else "#7d7566")
        with p.moved(0, s.h * 0.97):
            trees.reeds(p, (-40, s.w * 0.34), 300, tone, chance, count=34)
            trees.reeds(p, (s.w * 0.72, s.w + 20), 260, tone, chance, count=26)

    bank = s.h * SHORES["river"]
    return [
        stage.Sheet(backdrop.solid(horizon.heaven(s, (90, 120, "#6d7f8f"), (30, 60, "#6a7a7c"))),
            horizon.SKY),
        horizon.drawn(s, village, horizon.MID),
        stage.Sheet(backdrop.below(s, backdrop.water(s, y, colour.mix(low, mid, 0.3), colour.mix(top, mid, 0.4)), y), 0.45),
        _bank(s, bank),
        horizon.drawn(s, near, horizon.GROUND),
    ]  # fmt: skip


def _bank(s: stage.Stage, y: float) -> stage.Sheet:
    snow = s.light.weather == "snow"
    image = backdrop.ground(
        s, y, s.light.hexed("#dcdce0" if snow else "#7c8060"),
            s.light.hexed("#c6c9d2" if snow else "#4f5642"), salt=71, rise=14,
    )  # fmt: skip
    return stage.Sheet(image, horizon.GROUND)


def sea(s: stage.Stage) -> list[stage.Sheet]:
    """The open sea behind a beach; at night the moon lies on it."""
    chance = s.fixed(85)
    _, mid, low = s.light.sky
    shore = s.h * SHORES["sea"]

    def surf(p: pen.Pen) -> None:
        for k in range(3):
            y = shore - 26 - 44 * k
            p.line(outline.curve([(-20, y + chance.uniform(-6, 6)), (s.w * 0.3, y + 9),
                (s.w * 0.62, y - 8),
                                  (s.w + 20, y + 5)], closed=False), 9 - 2 * k,
                   paint=colour.mix(low, (255, 255, 255), 0.55), alpha=0.75 - 0.2 * k)  # fmt: skip
        for x, r in ((0.08, 90), (0.94, 120), (0.86, 60)):
            with p.moved(s.w * x, shore + 40):
                trees.rock(p, r, s.light, chance, far=0.1)

    sand = backdrop.ground(
        s, shore, s.light.hexed("#cdbb94"), s.light.hexed("#9a8666"), salt=72, rise=16
    )
    return [
        stage.Sheet(backdrop.solid(horizon.heaven(s)), horizon.SKY),
        stage.Sheet(backdrop.below(s, backdrop.water(s, s.horizon, colour.mix(low, mid, 0.45), colour.dark(mid, 0.3)), s.horizon), 0.45),
        stage.Sheet(sand, horizon.GROUND),
        horizon.drawn(s, surf, horizon.GROUND),
    ]  # fmt: skip


def mountain(s: stage.Stage) -> list[stage.Sheet]:
    """Peaks behind peaks in mist, pines on the near slope."""
    chance, y = s.fixed(86), s.horizon
    canvas = sky.sky(s)
    for k, (up, rise, tone) in enumerate(
        ((330, 330, "#7d8ea0"), (190, 260, "#6d8090"), (70, 170, "#5c7073"), (0, 90, "#4f6358"))
    ):
        sky.ridge(s, canvas, y - up, rise=rise, salt=64 + k,
                       tone=s.light.hexed(tone, 0.6 - 0.15 * k), waves=2.2 + k, rough=0.55,
                           fade=330)  # fmt: skip

    def slope(p: pen.Pen) -> None:
        for x, h in ((0.05, 430), (0.16, 300), (0.9, 480), (0.8, 330), (0.98, 360)):
            with p.moved(s.w * x, y + 70 + 40 * chance.random()):
                trees.pine(p, h, s.light, chance, far=0.12)
        for _ in range(4):
            with p.moved(s.w * chance.random(), y + 120 + 200 * chance.random()):
                trees.rock(p, chance.uniform(40, 80), s.light, chance, far=0.05)

    return [
        stage.Sheet(backdrop.solid(canvas), horizon.SKY),
        horizon.earth(s, "#7f8a66", "#565f48", rise=30),
        horizon.drawn(s, slope, horizon.GROUND),
    ]


def forest(s: stage.Stage) -> list[stage.Sheet]:
    """Trunks behind trunks, crowns above, light between."""
    chance, y = s.fixed(87), s.horizon
    bamboo = s.home % 3 == 0

    def stand(p: pen.Pen, far: float, count: int, size: float, drop: float) -> None:
        for k in range(count):
            x = s.w * (k + chance.uniform(0.1, 0.9)) / count
            with p.moved(x, y + drop):
                if bamboo:
                    trees.bamboo(p, size * 1.15, s.light, chance, far=far)
                elif k % 3 == 2:
                    trees.pine(p, size * 0.9, s.light, chance, far=far)
                else:
                    trees.tree(p, size, s.light, chance, far=far, leaf=horizon.leaf(s))

    def edge(p: pen.Pen) -> None:
        for x in (0.02, 0.97):
            with p.moved(s.w * x, y + 150):
                (trees.bamboo if bamboo else trees.pine)(p, 1000, s.light, chance, far=0.0)
        with p.moved(0, s.h * 0.99):
            trees.reeds(p, (-20, s.w), 130, s.light.hexed("#54693f"), chance, count=46)

    return [
        stage.Sheet(
            backdrop.solid(horizon.heaven(s, (130, 120, "#67806f"), (60, 90, "#58705c"))),
            horizon.SKY,
        ),
        horizon.drawn(s, lambda p: stand(p, 0.5, 9, 520, 10), horizon.MID),
        horizon.earth(s, "#78855c", "#4e5a3c", rise=14),
        horizon.drawn(s, lambda p: stand(p, 0.22, 5, 700, 60), horizon.GROUND),
        horizon.drawn(s, edge, horizon.NEAR),
    ]


def field(s: stage.Stage) -> list[stage.Sheet]:
    """Rows of crops under a wide sky, a tree, a far village."""
    chance, y = s.fixed(88), s.horizon

    def far(p: pen.Pen) -> None:
        with p.moved(s.w * (0.1 + 0.8 * chance.random()), y + 8):
            houses.cottage(p, 150, 74, s.light, chance, far=0.4, gable=False)
        with p.moved(s.w * (0.2 if s.home % 2 else 0.82), y + 24):
            trees.tree(p, 430, s.light, chance, far=0.2, leaf=horizon.leaf(s))

    def rows(p: pen.Pen) -> None:
        green = s.light.hexed("#6f8a4a" if s.light.weather != "snow" else "#b9b7a8")
        for k in range(-8, 9):
            x = s.w / 2 + k * 46
            p.line(outline.straight([(x, y + 12), (s.w / 2 + (x - s.w / 2) * 4.4, s.h + 20)]), 22,
                   paint=colour.dark(green, 0.3), taper=(0.9, 0), alpha=0.7)  # fmt: skip
        for row in range(9):
            t = ((row + 1) / 9) ** 1.7
            yy = y + 20 + (s.h - y) * t
            for k in range(-8, 9):
                xx = s.w / 2 + k * 46 * (1 + 3.4 * t)
                if -40 < xx < s.w + 40:
                    with p.moved(xx + chance.uniform(-4, 4), yy, scale=0.25 + 1.1 * t):
                        for lean in (-26, -9, 9, 26):
                            p.line(outline.curve([(0, 0), (lean * 0.5, -26), (lean, -44)],
                                closed=False), 8,
                                   paint=colour.dark(green, chance.uniform(0, 0.22)), taper=(0,
                                       0.7))  # fmt: skip

    return [
        stage.Sheet(
            backdrop.solid(horizon.heaven(s, (60, 90, "#6f8590"), (16, 40, "#6e8468"))), horizon.SKY
        ),
        horizon.drawn(s, far, horizon.MID),
        horizon.earth(s, "#9a9a62", "#6d6a44", rise=10),
        horizon.drawn(s, rows, horizon.GROUND),
    ]


PLACES: dict[str, Callable[[stage.Stage], list[stage.Sheet]]] = {
    "river": river,
    "sea": sea,
    "mountain": mountain,
    "forest": forest,
    "field": field,
}
