"""Places under the sky: painted distance, a ground, and what stands on it."""

from __future__ import annotations

from collections.abc import Callable

from mangen.engines.animatic import backdrop, colour, noise, outline, pen, props, stage

_SKY, _MID, _GROUND, _NEAR = 0.15, 0.4, 0.55, 0.8


def _sky(s: stage.Stage, *ridges: tuple[float, float, str], orb: bool = True) -> noise.Floats:
    """Sky with lines of hills: (units above the horizon, rise, colour) each."""
    canvas = backdrop.sky(s, orb=orb)
    for k, (up, rise, tone) in enumerate(ridges):
        far = 0.62 - 0.2 * k
        backdrop.ridge(s, canvas, s.horizon - up, rise, 60 + k, s.light.hexed(tone, far), s.light.haze)
    return canvas


def _earth(s: stage.Stage, far: str, near: str, *, drop: float = 0, rise: float = 6) -> stage.Sheet:
    if s.light.weather == "snow":
        far, near = "#e9e8ea", "#d3d6de"
    image = backdrop.ground(
        s, s.horizon + drop, s.light.hexed(far, 0.25), s.light.hexed(near), 70, rise=rise
    )
    return stage.Sheet(image, _GROUND)


def _drawn(s: stage.Stage, draw: Callable[[pen.Pen], None], depth: float) -> stage.Sheet:
    p = s.pen()
    draw(p)
    return stage.Sheet(p.sheet(wobble=1.0 * s.unit, seed=s.seed + 1), depth)


def _leaf(s: stage.Stage) -> str | None:
    if s.light.weather == "snow":
        return None
    return ("#64835a", "#7d9256", "#a9803f", "#587a63")[s.seed % 4]


def _houses(s: stage.Stage, y: float, *, far: float, size: float) -> Callable[[pen.Pen], None]:
    chance = s.chance(80)

    def draw(p: pen.Pen) -> None:
        x = -60.0
        while x < s.w + 80:
            w = size * chance.uniform(0.8, 1.3)
            with p.moved(x + w / 2, y + 4):
                if s.old:
                    props.cottage(p, w, w * 0.5, s.light, chance, far, gable=chance.random() < 0.5)
                else:
                    props.block(p, w, w * chance.uniform(1.1, 2.4), s.light, chance, far)
            x += w * chance.uniform(0.95, 1.15)

    return draw


def street(s: stage.Stage) -> list[stage.Sheet]:
    """Houses along a way that runs to the horizon."""
    chance = s.chance(81)
    y = s.horizon

    def rows(p: pen.Pen) -> None:
        for step in range(4, 0, -1):
            k = 1 / step
            for side in (-1, 1):
                x = s.w / 2 + side * s.w * (0.16 + 0.5 * k**1.3)
                w = (230 + 150 * chance.random()) * k + 60
                with p.moved(x, y + 150 * k**1.5):
                    if s.old:
                        props.cottage(p, w * 1.35, w * (0.8 + 0.3 * chance.random()), s.light, chance,
                                      0.5 - 0.45 * k, gable=step % 2 == 0)  # fmt: skip
                        if step < 3:
                            with p.moved(-side * w * 0.5, -w * 0.8):
                                props.lantern(p, 34 * k + 8, s.light)
                    else:
                        props.block(p, w * 1.25, w * (2.0 + chance.random()), s.light, chance, 0.5 - 0.45 * k)
        if not s.old:
            for side in (-1, 1):
                x = s.w / 2 + side * s.w * 0.36
                p.line(outline.straight([(x, y + 130), (x, y - 330)]), 13, paint=s.light.hexed("#4a4c52"),
                       taper=(0, 0))  # fmt: skip
                p.line(outline.curve([(x, y - 326), (x - side * 40, y - 352), (x - side * 84, y - 340)],
                                     closed=False), 10, paint=s.light.hexed("#4a4c52"), taper=(0, 0))  # fmt: skip
                if s.light.dim:
                    p.glow(x - side * 86, y - 330, 150, s.light.lamp, alpha=0.85)
                p.fill(outline.ellipse(x - side * 86, y - 332, 24, 13), s.light.lamp)

    def road(p: pen.Pen) -> None:
        stone = s.light.hexed("#a39a8a" if s.old else "#6c6e74")
        if s.light.weather == "snow":
            stone = s.light.hexed("#dcdde2")
        p.fill(outline.straight([(s.w * 0.44, y), (s.w * 0.56, y), (s.w * 1.05, s.h), (-s.w * 0.05, s.h)]),
               stone)  # fmt: skip
        for k in range(9):
            t = (k / 9) ** 1.9
            yy = y + (s.h - y) * t
            half = s.w * (0.06 + 0.49 * t)
            p.line(outline.straight([(s.w / 2 - half, yy), (s.w / 2 + half, yy)]), 1.5 + 3.5 * t,
                   paint=colour.dark(stone, 0.2), taper=(0.05, 0.05))  # fmt: skip
            if s.old:
                for c in range(-4, 5):
                    x = s.w / 2 + (c + 0.5 * (k % 2)) * half / 4
                    p.line(outline.straight([(x, yy), (s.w / 2 + (x - s.w / 2) * 1.1, yy + 30 * t + 8)]),
                           1.5 + 3 * t, paint=colour.dark(stone, 0.17), taper=(0, 0))  # fmt: skip

    return [
        stage.Sheet(backdrop.solid(_sky(s, (60, 90, "#6f7d8c"))), _SKY),
        _earth(s, "#9a917f" if s.old else "#85878a", "#7a705f" if s.old else "#6d6e72"),
        _drawn(s, lambda p: (road(p), rows(p)) and None, _GROUND),
    ]


def market(s: stage.Stage) -> list[stage.Sheet]:
    """Stalls before a row of houses, lanterns on a line."""
    chance, y = s.chance(82), s.horizon

    def stalls(p: pen.Pen) -> None:
        for k in range(max(3, int(s.w / 300))):
            with p.moved(s.w * (k + 0.5) / max(3, int(s.w / 300)) + chance.uniform(-20, 20), y + 110):
                props.stall(p, 240, s.light, chance)
        line = outline.curve([(-20, y - 330), (s.w * 0.5, y - 262), (s.w + 20, y - 330)], closed=False)
        p.line(line, 4, taper=(0, 0))
        for k in range(5):
            at = line[int(len(line) * (k + 0.5) / 5)]
            with p.moved(float(at[0]), float(at[1])):
                props.lantern(p, 26, s.light)

    return [
        stage.Sheet(backdrop.solid(_sky(s, (40, 90, "#6f7d8c"))), _SKY),
        _drawn(s, _houses(s, y, far=0.34, size=300), _MID),
        _earth(s, "#a89a80", "#7f715d"),
        _drawn(s, stalls, _GROUND),
    ]


def courtyard(s: stage.Stage) -> list[stage.Sheet]:
    """A walled court with a gate, a tree and a water jar."""
    chance, y = s.chance(83), s.horizon + 60

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
        p.shape(outline.box(-20, y - 470, s.w + 40, 44), tile, shade=colour.dark(tile, 0.3), width=4.5)
        for k in range(int(s.w / 34) + 1):
            p.shape(outline.ellipse(k * 34, y - 428, 16, 15), colour.dark(tile, 0.1), width=3.5)
        with p.moved(s.w * (0.72 if s.seed % 2 else 0.28), y + 6):
            props.gate(p, 270, 460, s.light)

    def court(p: pen.Pen) -> None:
        x = s.w * (0.14 if s.seed % 2 else 0.86)
        with p.moved(x, y + 80):
            props.tree(p, 760, s.light, chance, 0.05, leaf=_leaf(s))
        with p.moved(s.w - x, y + 130):
            jar = s.light.hexed("#6e5648")
            p.shape(outline.curve([(-56, -116, 1), (-78, -66), (-46, 0, 1), (46, 0, 1), (78, -66),
                                   (56, -116, 1)]), jar, shade=colour.dark(jar, 0.34))  # fmt: skip
            p.shape(outline.ellipse(0, -116, 56, 14), colour.dark(jar, 0.4), width=5)

    return [
        stage.Sheet(backdrop.solid(_sky(s)), _SKY),
        _drawn(s, walls, _MID),
        _ground_at(s, y, "#b3a68a", "#8f8068"),
        _drawn(s, court, _GROUND),
    ]


def _ground_at(s: stage.Stage, y: float, far: str, near: str) -> stage.Sheet:
    return _earth(s, far, near, drop=y - s.horizon, rise=3)


def river(s: stage.Stage) -> list[stage.Sheet]:
    """A village on the far bank, a boat, reeds in front."""
    chance, y = s.chance(84), s.horizon - 60
    top, mid, low = s.light.sky

    def village(p: pen.Pen) -> None:
        for _ in range(5):
            with p.moved(chance.uniform(0, s.w), y + 4):
                props.tree(p, chance.uniform(150, 260), s.light, chance, 0.42, leaf=_leaf(s))
        _houses(s, y, far=0.4, size=190)(p)

    def near(p: pen.Pen) -> None:
        with p.moved(s.w * (0.36 + 0.3 * chance.random()), y + 180):
            props.boat(p, 470, s.light)
        tone = s.light.hexed("#5f6b4e" if s.light.weather != "snow" else "#7d7566")
        with p.moved(0, s.h * 0.97):
            props.reeds(p, -40, s.w * 0.34, 300, tone, chance, 34)
            props.reeds(p, s.w * 0.72, s.w + 20, 260, tone, chance, 26)

    bank = s.h * 0.86
    return [
        stage.Sheet(backdrop.solid(_sky(s, (90, 120, "#6d7f8f"), (30, 60, "#6a7a7c"))), _SKY),
        _drawn(s, village, _MID),
        stage.Sheet(backdrop.water(s, y, s.h, colour.mix(low, mid, 0.3), colour.dark(colour.mix(top, mid, 0.4), 0.18)),
                    0.45),
        _bank(s, bank),
        _drawn(s, near, _GROUND),
    ]  # fmt: skip


def _bank(s: stage.Stage, y: float) -> stage.Sheet:
    snow = s.light.weather == "snow"
    image = backdrop.ground(
        s, y, s.light.hexed("#dcdce0" if snow else "#7c8060"), s.light.hexed("#c6c9d2" if snow else "#4f5642"), 71,
        rise=14,
    )  # fmt: skip
    return stage.Sheet(image, _GROUND)


def sea(s: stage.Stage) -> list[stage.Sheet]:
    """The open sea behind a beach; at night the moon lies on it."""
    chance = s.chance(85)
    top, mid, low = s.light.sky
    shore = s.h * 0.74

    def surf(p: pen.Pen) -> None:
        for k in range(3):
            y = shore - 26 - 44 * k
            p.line(outline.curve([(-20, y + chance.uniform(-6, 6)), (s.w * 0.3, y + 9), (s.w * 0.62, y - 8),
                                  (s.w + 20, y + 5)], closed=False), 9 - 2 * k,
                   paint=colour.mix(low, (255, 255, 255), 0.55), alpha=0.75 - 0.2 * k)  # fmt: skip
        for x, r in ((0.08, 90), (0.94, 120), (0.86, 60)):
            with p.moved(s.w * x, shore + 40):
                props.rock(p, r, s.light, chance, 0.1)

    sand = backdrop.ground(s, shore, s.light.hexed("#cdbb94"), s.light.hexed("#9a8666"), 72, rise=16)
    return [
        stage.Sheet(backdrop.solid(_sky(s)), _SKY),
        stage.Sheet(backdrop.water(s, s.horizon, s.h, colour.mix(low, mid, 0.45), colour.dark(mid, 0.3)), 0.4),
        stage.Sheet(sand, _GROUND),
        _drawn(s, surf, _GROUND),
    ]  # fmt: skip


def mountain(s: stage.Stage) -> list[stage.Sheet]:
    """Peaks behind peaks in mist, pines on the near slope."""
    chance, y = s.chance(86), s.horizon
    canvas = backdrop.sky(s)
    for k, (up, rise, tone) in enumerate(
        ((330, 330, "#7d8ea0"), (190, 260, "#6d8090"), (70, 170, "#5c7073"), (0, 90, "#4f6358"))
    ):
        backdrop.ridge(s, canvas, y - up, rise, 64 + k, s.light.hexed(tone, 0.6 - 0.15 * k), s.light.haze,
                       waves=2.2 + k, rough=0.55, fade=330)  # fmt: skip

    def slope(p: pen.Pen) -> None:
        for x, h in ((0.05, 430), (0.16, 300), (0.9, 480), (0.8, 330), (0.98, 360)):
            with p.moved(s.w * x, y + 70 + 40 * chance.random()):
                props.pine(p, h, s.light, chance, 0.12)
        for _ in range(4):
            with p.moved(s.w * chance.random(), y + 120 + 200 * chance.random()):
                props.rock(p, chance.uniform(40, 80), s.light, chance, 0.05)

    return [
        stage.Sheet(backdrop.solid(canvas), _SKY),
        _earth(s, "#7f8a66", "#565f48", rise=30),
        _drawn(s, slope, _GROUND),
    ]


def forest(s: stage.Stage) -> list[stage.Sheet]:
    """Trunks behind trunks, crowns above, light between."""
    chance, y = s.chance(87), s.horizon
    bamboo = s.seed % 3 == 0

    def stand(p: pen.Pen, far: float, count: int, size: float, drop: float) -> None:
        for k in range(count):
            x = s.w * (k + chance.uniform(0.1, 0.9)) / count
            with p.moved(x, y + drop):
                if bamboo:
                    props.bamboo(p, size * 1.15, s.light, chance, far)
                elif k % 3 == 2:
                    props.pine(p, size * 0.9, s.light, chance, far)
                else:
                    props.tree(p, size, s.light, chance, far, leaf=_leaf(s))

    def edge(p: pen.Pen) -> None:
        for x in (0.02, 0.97):
            with p.moved(s.w * x, y + 150):
                (props.bamboo if bamboo else props.pine)(p, 1000, s.light, chance, 0.0)
        with p.moved(0, s.h * 0.99):
            props.reeds(p, -20, s.w, 130, s.light.hexed("#54693f"), chance, 46)

    return [
        stage.Sheet(backdrop.solid(_sky(s, (130, 120, "#67806f"), (60, 90, "#58705c"))), _SKY),
        _drawn(s, lambda p: stand(p, 0.5, 9, 520, 10), _MID),
        _earth(s, "#78855c", "#4e5a3c", rise=14),
        _drawn(s, lambda p: stand(p, 0.22, 5, 700, 60), _GROUND),
        _drawn(s, edge, _NEAR),
    ]


def field(s: stage.Stage) -> list[stage.Sheet]:
    """Rows of crops under a wide sky, a tree, a far village."""
    chance, y = s.chance(88), s.horizon

    def far(p: pen.Pen) -> None:
        with p.moved(s.w * (0.1 + 0.8 * chance.random()), y + 8):
            props.cottage(p, 150, 74, s.light, chance, 0.4, gable=False)
        with p.moved(s.w * (0.2 if s.seed % 2 else 0.82), y + 24):
            props.tree(p, 430, s.light, chance, 0.2, leaf=_leaf(s))

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
                            p.line(outline.curve([(0, 0), (lean * 0.5, -26), (lean, -44)], closed=False), 8,
                                   paint=colour.dark(green, chance.uniform(0, 0.22)), taper=(0, 0.7))  # fmt: skip

    return [
        stage.Sheet(backdrop.solid(_sky(s, (60, 90, "#6f8590"), (16, 40, "#6e8468"))), _SKY),
        _drawn(s, far, _MID),
        _earth(s, "#9a9a62", "#6d6a44", rise=10),
        _drawn(s, rows, _GROUND),
    ]


def palace(s: stage.Stage) -> list[stage.Sheet]:
    """A great hall across a paved square."""
    y = s.horizon

    def square(p: pen.Pen) -> None:
        tone = s.light.hexed("#b8ae9c" if s.light.weather != "snow" else "#dfe0e4")
        p.fill(outline.box(-10, y, s.w + 20, s.h - y + 10), tone)
        for row in range(9):
            yy = y + (s.h - y) * (row / 9) ** 1.8
            p.line(outline.straight([(0, yy), (s.w, yy)]), 2 + row * 0.4, paint=colour.dark(tone, 0.2),
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
            props.palace(p, min(s.w * 0.86, s.h * 0.62), s.light, 0.12)

    return [
        stage.Sheet(backdrop.solid(_sky(s, (90, 110, "#76879a"))), _SKY),
        _drawn(s, great, _MID),
        _drawn(s, square, _GROUND),
    ]


def ruin(s: stage.Stage) -> list[stage.Sheet]:
    """Broken walls and beams, bare trees, rubble."""
    chance, y = s.chance(89), s.horizon

    def walls(p: pen.Pen) -> None:
        stone = s.light.hexed("#857d72", 0.2)
        for x, w, h in ((0.02, 260, 360), (0.4, 210, 190), (0.78, 300, 430)):
            x0 = s.w * x
            knots: list[tuple[float, ...]] = [(x0, y + 24, 1)]
            for k in range(6):
                knots.append((x0 + w * k / 5, y - h * chance.uniform(0.5, 1.0), 1))
            p.shape(outline.curve([*knots, (x0 + w, y + 24, 1)]), stone, shade=colour.dark(stone, 0.3))
            p.shape(outline.box(x0 + w * 0.4, y - h * 0.42, w * 0.2, h * 0.24), colour.dark(stone, 0.6), width=4)
            for _ in range(6):
                bx, by = x0 + w * chance.uniform(0.05, 0.8), y - h * chance.uniform(0.02, 0.45)
                p.line(outline.straight([(bx, by), (bx + 34, by)]), 3.4, paint=colour.dark(stone, 0.35))
        with p.moved(s.w * 0.34, y + 20):
            props.tree(p, 520, s.light, chance, 0.15, leaf=None)

    def rubble(p: pen.Pen) -> None:
        for _ in range(9):
            with p.moved(s.w * chance.random(), y + 60 + (s.h - y) * 0.5 * chance.random()):
                props.rock(p, chance.uniform(26, 70), s.light, chance, 0.05)
        beam = s.light.hexed("#4c3a30")
        p.shape(outline.straight([(s.w * 0.62, y + 120), (s.w * 0.64, y + 84), (s.w * 0.96, y - 60),
                                  (s.w * 0.97, y - 20)]), beam, shade=colour.dark(beam, 0.3))  # fmt: skip

    return [
        stage.Sheet(backdrop.solid(_sky(s, (70, 100, "#76787e"))), _SKY),
        _drawn(s, walls, _MID),
        _earth(s, "#8d8676", "#5f594e", rise=14),
        _drawn(s, rubble, _GROUND),
    ]


PLACES: dict[str, Callable[[stage.Stage], list[stage.Sheet]]] = {
    "street": street, "market": market, "courtyard": courtyard, "river": river, "sea": sea,
    "mountain": mountain, "forest": forest, "field": field, "palace": palace, "ruin": ruin,
}  # fmt: skip
