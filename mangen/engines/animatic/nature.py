"""Places that nobody built: water, hills, woods and fields."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mangen.engines.animatic import (
    aboard,
    backdrop,
    boat,
    colour,
    crops,
    horizon,
    houses,
    outline,
    pen,
    sky,
    stage,
    terraces,
    trees,
)

#: share of the height where water ends and one can stand
SHORES = {"river": 0.72, "sea": 0.69}


def river(s: stage.Stage) -> list[stage.Sheet]:
    """A village mirrored from the far bank, a boat, reeds out of focus in front."""
    y = s.horizon - 10
    top, mid, low = s.light.sky

    def far(p: pen.Pen) -> None:
        side = s.side
        horizon.grove(s, y, (0.5 - side * 0.34, 330), (0.5 + side * 0.37, 400), far=0.42)(p)
        if s.old:
            horizon.row(s, y, far=0.36, size=170)(p)
            horizon.grove(s, y, (0.5 + side * 0.09, 250), far=0.3)(p)
        else:
            horizon.row(s, y, far=0.5, size=130)(p)

    village = horizon.softened(s, horizon.drawn(s, far, horizon.MID), 0.3)
    bank = s.h * SHORES["river"]
    canvas = backdrop.water(
        s, y, s.h, colour.mix(low, mid, 0.35), colour.dark(colour.mix(top, mid, 0.45), 0.16)
    )
    backdrop.mirrored(s, canvas, village.image, y)

    def moored(p: pen.Pen) -> None:
        with p.moved(s.w * (0.5 + s.side * 0.16), bank - 70):
            boat.covered(p, 330, s.light)

    def shore(p: pen.Pen) -> None:
        tone = s.light.hexed("#9a988e" if s.light.weather == "snow" else "#6b7350")
        trees.strewn(p, (s.w, bank + 20, s.h), tone, s.fixed(192), count=60)

    def reeds(p: pen.Pen) -> None:
        tone, chance = horizon.shade(s), s.fixed(84)
        with p.moved(0, s.h):
            trees.reeds(p, (-40, s.w * 0.3), 460, tone, chance, count=26)
            trees.reeds(p, (s.w * 0.78, s.w + 20), 380, tone, chance, count=18)

    found = [
        horizon.painted(horizon.heaven(s, (60, 120, "#6d7f8f"), (16, 70, "#6a7a7c"))),
        village,
        stage.Sheet(backdrop.below(s, canvas, y), horizon.WATER),
        _bank(s, bank),
        horizon.drawn(s, shore, horizon.GROUND),
        horizon.front(s, reeds),
    ]
    if "boat" not in s.objects and not s.western:
        found.append(horizon.drawn(s, moored, horizon.GROUND))
    return found


def _bank(s: stage.Stage, y: float) -> stage.Sheet:
    snow = s.light.weather == "snow"
    image = backdrop.ground(
        s,
        y,
        s.light.hexed("#dcdce0" if snow else "#838565", 0.12),
        colour.dark(s.light.hexed("#b4b8c4" if snow else "#4f5642"), 0.2),
        salt=71,
        rise=18,
        edge=colour.mix(s.light.rim, s.light.sky[2], 0.4),
    )
    return stage.Sheet(image, horizon.GROUND)


def sea(s: stage.Stage) -> list[stage.Sheet]:
    """The open sea behind dunes; at night the moon lies on it."""
    _, mid, low = s.light.sky
    shore = s.h * SHORES["sea"]
    deep = colour.mix(colour.of("#1d4f86"), mid, 0.35)
    deep = colour.dark(colour.mix(mid, (14, 36, 92), 0.5), 0.1) if s.light.night else deep
    canvas = backdrop.water(s, s.horizon, shore + 30, colour.mix(low, deep, 0.62), deep)
    night = s.light.night
    sand = backdrop.ground(
        s,
        shore,
        colour.of("#77839f") if night else s.light.hexed("#d8c59c", 0.12),
        colour.of("#222b50") if night else colour.dark(s.light.hexed("#8d7858"), 0.2),
        salt=72,
        rise=26,
        edge=(255, 231, 174) if night else colour.pale(s.light.rim, 0.2),
    )

    def far(p: pen.Pen) -> None:
        x = s.w * (0.5 - s.side * 0.26)
        if "lighthouse" in s.objects:
            with p.moved(x, s.horizon + 22, scale=0.5):
                aboard.lighthouse(p, s, far=0.26)
            return
        with p.moved(x, s.horizon + 16, scale=0.16):
            if s.western:
                aboard.ship(p, s, far=0.4)
            else:
                boat.sail(p, s.light, far=0.45)

    def grass(p: pen.Pen) -> None:
        tone, chance = horizon.shade(s, "#39402f"), s.fixed(85)
        with p.moved(0, s.h):
            trees.reeds(p, (-30, s.w * 0.2), 330, tone, chance, count=16)
            trees.reeds(p, (s.w * 0.86, s.w + 10), 260, tone, chance, count=10)

    found = [
        horizon.painted(horizon.heaven(s)),
        stage.Sheet(backdrop.below(s, canvas, s.horizon), horizon.WATER),
        horizon.drawn(s, far, horizon.WATER),
        stage.Sheet(sand, horizon.GROUND),
    ]
    return found if "melons" in s.objects else [*found, horizon.front(s, grass)]


def mountain(s: stage.Stage) -> list[stage.Sheet]:
    """Peaks behind peaks in mist, a path, pines on the near slope."""
    chance, y = s.fixed(86), s.horizon
    canvas = sky.sky(s)
    for k, (up, rise, tone) in enumerate(
        ((250, 150, "#7d8ea0"), (150, 150, "#6d8090"), (70, 120, "#5c7073"), (10, 70, "#4f6358"))
    ):
        sky.ridge(
            s,
            canvas,
            y - up,
            rise=rise,
            salt=64 + k,
            tone=s.light.hexed(tone, 0.55 - 0.14 * k),
            waves=2.2 + k,
            rough=0.55,
            fade=230,
        )

    def slope(p: pen.Pen) -> None:
        if s.era in ("ancient", "xianxia"):
            with p.moved(s.w * (0.5 - s.side * 0.27), y + 20):
                houses.pavilion(p, 190, s.light, far=0.3)
        for x, h in ((0.13, 420), (0.2, 300), (0.87, 470), (0.8, 330), (0.95, 380)):
            with p.moved(s.w * x, y + 70 + 40 * chance.random()):
                trees.pine(p, h, s.light, chance, far=0.12)
        for x in (0.2, 0.3, 0.76):
            with p.moved(s.w * x, y + 130 + 160 * chance.random()):
                trees.rock(p, chance.uniform(40, 80), s.light, chance, far=0.05)

        trees.strewn(p, (s.w, y + 60, s.h), s.light.hexed("#6a7548"), s.fixed(191), count=90,
                     bloom=s.light.hexed("#efe3c4"))  # fmt: skip

    def branch(p: pen.Pen) -> None:
        trees.bough(p, (s.w * 0.5 + s.side * s.w * 0.56, s.h * 0.1), -s.side * s.w * 0.42,
                    horizon.shade(s), s.fixed(186), needles=True)  # fmt: skip

    return [
        horizon.painted(canvas),
        horizon.earth(s, "#7f8a66", "#565f48", rise=24, lit=True),
        horizon.drawn(s, slope, horizon.ROWS),
        horizon.front(s, branch),
    ]


def forest(s: stage.Stage) -> list[stage.Sheet]:
    """Trunks behind trunks, crowns above, light between."""
    chance, y = s.fixed(87), s.horizon
    bamboo = s.era in ("ancient", "xianxia")

    def stand(p: pen.Pen, far: float, count: int, size: float, drop: float) -> None:
        for k in range(count):
            x = s.w * (k + chance.uniform(0.1, 0.9)) / count
            if abs(x / s.w - 0.5) < 0.13 and far < 0.4:
                continue  # a clearing, where people stand
            with p.moved(x, y + drop):
                if bamboo:
                    trees.bamboo(p, size * 1.2, s.light, chance, far=far)
                elif k % 3 == 2:
                    trees.pine(p, size * 0.9, s.light, chance, far=far)
                else:
                    trees.tree(p, size, s.light, chance, far=far, leaf=horizon.leaf(s))

    def floor(p: pen.Pen) -> None:
        bloom = s.light.hexed("#e6d9a8")
        trees.strewn(p, (s.w, y + 30, s.h), s.light.hexed("#66783f"), s.fixed(190), count=110,
                     bloom=bloom)  # fmt: skip

    def edge(p: pen.Pen) -> None:
        tone = horizon.shade(s, "#27352a")
        for x, w in ((0.03, 110), (0.99, 150)):
            p.fill(outline.curve([(s.w * x - w * 0.5, -20, 1), (s.w * x + w * 0.5, -20, 1),
                                  (s.w * x + w * 0.42, s.h * 0.6), (s.w * x + w * 0.8, s.h, 1),
                                  (s.w * x - w * 0.8, s.h, 1), (s.w * x - w * 0.4, s.h * 0.6)]),
                   tone)  # fmt: skip
        with p.moved(0, s.h):
            trees.reeds(p, (-20, s.w * 0.3), 260, tone, s.fixed(187), count=16)
            trees.reeds(p, (s.w * 0.74, s.w), 230, tone, s.fixed(188), count=14)

    return [
        horizon.painted(horizon.heaven(s, (120, 90, "#67806f"), (50, 70, "#58705c"))),
        horizon.softened(
            s, horizon.drawn(s, lambda p: stand(p, 0.5, 9, 560, 10), horizon.MID), 0.5
        ),
        horizon.earth(s, "#8b9666", "#4e5a3c", rise=12, lit=True),
        horizon.drawn(s, lambda p: stand(p, 0.2, 6, 820, 70), horizon.GROUND),
        horizon.drawn(s, floor, horizon.ROWS),
        _shafts(s),
        horizon.front(s, edge),
    ]


def _shafts(s: stage.Stage) -> stage.Sheet:
    """Light that falls through the crowns."""
    p, x, y = s.pen(over=1), s.orb[0], s.horizon
    clear = s.light.weather in ("clear", "wind")
    for k, w in ((-0.5, 60), (-0.26, 110), (0.02, 60)):
        foot = x + k * 1300
        if clear:
            p.fill(
                outline.straight([(x + k * 360, s.h * 0.1), (x + k * 360 + w * 0.6, s.h * 0.1),
                                  (foot + w * 2.4, y + 330), (foot, y + 330)]),
                colour.pale(s.light.rim, 0.2),
            )  # fmt: skip
    image = backdrop.blurred(s, p.sheet(), 14).astype(np.float32)
    rows = np.arange(s.height, dtype=np.float32) / s.unit
    fade = np.clip(np.minimum((rows - s.h * 0.14) / 240, (y + 300 - rows) / 260), 0, 1)
    image *= (fade * (0.12 if s.light.night else 0.24))[:, None, None]
    return stage.Sheet(image.astype(np.uint8), horizon.ROWS)


def field(s: stage.Stage) -> list[stage.Sheet]:
    """Rows of crops under a wide sky, a tree, a far village; at a school its sports ground."""
    if s.era == "campus":
        return _sports(s)
    y = s.horizon

    def far(p: pen.Pen) -> None:
        chance = s.fixed(88)
        for k in range(3):
            with p.moved(s.w * (0.5 - s.side * 0.16) - k * s.side * 105, y + 8):
                if s.western:
                    terraces.house(p, 110, 70, s.light, chance, far=0.36, timber=k != 1)
                    continue
                houses.cottage(p, 118, 56, s.light, chance, far=0.42, gable=k == 1)
        horizon.grove(s, y + 4, (0.5 - s.side * 0.04, 120), (0.5 - s.side * 0.4, 170), far=0.4)(p)
        with p.moved(s.w * (0.5 + s.side * 0.27), y + 26):
            trees.tree(p, 450, s.light, chance, far=0.16, leaf=horizon.leaf(s))

    found = [
        horizon.painted(horizon.heaven(s, (60, 90, "#6f8590"), (16, 40, "#6e8468"))),
        horizon.drawn(s, far, horizon.MID),
        horizon.earth(s, "#a9a469", "#6d6a44", rise=8, lit=True),
    ]
    if "melons" in s.objects:
        return found

    def wheat(p: pen.Pen) -> None:
        tone, chance = horizon.shade(s, "#5b5a34"), s.fixed(189)
        with p.moved(0, s.h):
            trees.reeds(p, (-30, s.w * 0.3), 330, tone, chance, count=26)
            trees.reeds(p, (s.w * 0.74, s.w + 10), 300, tone, chance, count=22)

    rows = horizon.drawn(s, lambda p: crops.rows(p, s), horizon.ROWS)
    return [*found, rows, horizon.front(s, wheat)]


def _sports(s: stage.Stage) -> list[stage.Sheet]:
    """A running track around a lawn, a goal, the school behind trees."""
    y = s.horizon

    def school(p: pen.Pen) -> None:
        chance = s.fixed(88)
        for k, (x, w) in enumerate(((0.5 - s.side * 0.2, 330), (0.5 + s.side * 0.24, 230))):
            with p.moved(s.w * x, y + 6):
                houses.block(p, w, 190 - 40 * k, s.light, chance, far=0.36)
        horizon.grove(s, y + 8, (0.1, 190), (0.32, 150), (0.72, 170), (0.92, 210), far=0.26)(p)

    def track(p: pen.Pen) -> None:
        clay = s.light.hexed("#b06a52" if s.light.weather != "snow" else "#d8d4d6")
        lane = s.light.hexed("#efe6d8")
        near = [(-20, s.h * 0.8), (s.w + 20, s.h * 0.76), (s.w + 20, s.h + 20), (-20, s.h + 20)]
        p.fill(outline.straight([(-20, y + 44), (s.w + 20, y + 34), (s.w + 20, y + 66),
                                 (-20, y + 76)]), clay)  # fmt: skip
        p.fill(outline.straight(near), clay)
        for k in range(5):
            a = s.h * (0.8 + 0.05 * k)
            line = [(-20, a), (s.w + 20, a - s.h * 0.04 * (1 - 0.1 * k))]
            p.line(outline.straight(line), 5 + k, paint=lane, taper=(0, 0))
        x = s.w * (0.5 + s.side * 0.3)
        for bar in (
            [(x - 90, y + 120), (x - 90, y - 10)],
            [(x + 90, y + 120), (x + 90, y - 10)],
            [(x - 94, y - 10), (x + 94, y - 10)],
        ):
            p.line(outline.straight(bar), 9, paint=lane, taper=(0, 0))  # fmt: skip

    def bough(p: pen.Pen) -> None:
        start = (s.w * (0.5 - s.side * 0.54), s.h * 0.1)
        trees.bough(p, start, s.side * s.w * 0.34, horizon.shade(s, "#34422f"), s.fixed(78),
                    needles=False)  # fmt: skip

    return [
        horizon.painted(horizon.heaven(s, (50, 60, "#6f8590"))),
        horizon.drawn(s, school, horizon.MID),
        horizon.earth(s, "#8fae6a", "#5f8048", rise=4, lit=True),
        horizon.drawn(s, track, horizon.ROWS),
        horizon.front(s, bough),
    ]


PLACES: dict[str, Callable[[stage.Stage], list[stage.Sheet]]] = {
    "river": river,
    "sea": sea,
    "mountain": mountain,
    "forest": forest,
    "field": field,
}
