"""Streets: ways between houses that run to the horizon, lanes of old towns and modern avenues."""

from __future__ import annotations

from mangen.engines.animatic import colour, horizon, houses, outline, pen, stage, terraces, trees


def street(s: stage.Stage) -> list[stage.Sheet]:
    """Houses along a way; lanterns or street lamps; the sky between."""

    def far(p: pen.Pen) -> None:
        if s.western:
            with p.moved(s.w / 2, s.horizon + 6):
                if s.era == "medieval":
                    terraces.castle(p, 260, s.light, 0.5)
                else:
                    _spire(p, s)
        elif s.old:
            with p.moved(s.w / 2, s.horizon + 6):
                houses.pavilion(p, 150, s.light, far=0.5)
        else:
            chance = s.fixed(79)
            for k in range(9):
                with p.moved(s.w * (k + 0.5) / 9, s.horizon + 6):
                    w = s.w * chance.uniform(0.09, 0.14)
                    houses.block(p, w, w * chance.uniform(1.6, 4.6), s.light, chance, far=0.6)

    def sides(p: pen.Pen) -> None:
        paving(p, s)
        _rows(s, p)

    def near(p: pen.Pen) -> None:
        if s.western:
            dark = horizon.shade(s, "#2c2a2e")
            p.fill(outline.box(s.w * (0.5 + s.side * 0.52) - 90, -20, 180, s.h + 40), dark)
        elif s.old:
            with p.moved(s.w * (0.5 + s.side * 0.4), s.h * 0.09):
                houses.lantern(p, 80, s.light)
        else:
            start = (s.w * (0.5 + s.side * 0.55), s.h * 0.1)
            trees.bough(p, start, -s.side * s.w * 0.34, horizon.shade(s, "#34422f"), s.fixed(78),
                        needles=False)  # fmt: skip

    return [
        horizon.painted(horizon.heaven(s, (60, 70, "#6f7d8c"))),
        horizon.softened(s, horizon.drawn(s, far, horizon.MID), 0.5),
        horizon.earth(s, *(("#85878a", "#5d5e63") if not s.old else ("#9a917f", "#6a6152"))),
        horizon.drawn(s, sides, horizon.GROUND),
        horizon.front(s, near),
    ]


def _rows(s: stage.Stage, p: pen.Pen) -> None:
    """Houses on both sides, the far ones first."""
    chance, y = s.fixed(81), s.horizon
    for step in range(6, 0, -1):
        k = 1 / step
        far = 0.55 - 0.5 * k
        for side in (-1, 1):
            w = (330 + 100 * chance.random()) * k + 50
            tall, sign, hue = chance.random(), chance.random(), chance.random()
            x = s.w / 2 + side * (s.w * (0.05 + 0.26 * k) + w * 0.5)
            with p.moved(x, y + 150 * k**1.35):
                if s.western:
                    timber = s.era == "medieval"
                    terraces.house(
                        p, w, w * (1.3 + 0.6 * tall), s.light, chance, far=far, timber=timber
                    )
                    continue
                if not s.old:
                    houses.block(p, w, w * (2.0 + 1.3 * tall), s.light, chance, far=far)
                    houses.shopfront(p, w, -side, hue, s.light, far=far)
                    continue
                h = w * (1.05 + 0.35 * tall)
                houses.cottage(p, w, h, s.light, chance, far=far, gable=step % 2 == 0)
                if step < 5:
                    with p.moved(-side * w * 0.46, -h * 0.86):
                        houses.lantern(p, 34 * k + 9, s.light)
                    if sign < 0.6:
                        with p.moved(-side * (w * 0.5 + 16 * k), -h * 0.74):
                            houses.banner(p, 44 * k + 10, s.light, hue)
        if not s.old and step in (2, 4):
            for side in (-1, 1):
                with p.moved(
                    s.w / 2 + side * s.w * (0.05 + 0.4 * k), y + 170 * k**1.3, scale=1.5 * k
                ):
                    if s.western:
                        terraces.gaslamp(p, s.light)
                    else:
                        _lamp(s, p, side)


def _spire(p: pen.Pen, s: stage.Stage) -> None:
    """A church at the end of the street."""
    stone = s.light.hexed("#6f6a66", 0.55)
    p.fill(outline.box(-46, -240, 92, 244), stone)
    p.fill(outline.straight([(-54, -236), (0, -470), (54, -236)]), colour.dark(stone, 0.2))
    glass = s.light.lamp if s.light.dim else colour.dark(stone, 0.4)
    p.fill(outline.ellipse(0, -190, 20, 20), glass)


def _lamp(s: stage.Stage, p: pen.Pen, side: int) -> None:
    iron = s.light.hexed("#4a4c52")
    p.line(outline.straight([(0, 0), (0, -520)]), 14, paint=iron, taper=(0, 0))
    neck = [(0, -516), (-side * 40, -544), (-side * 84, -532)]
    p.line(outline.curve(neck, closed=False), 10, paint=iron, taper=(0, 0))
    if s.light.dim:
        p.glow(-side * 86, -520, 190, s.light.lamp, alpha=0.85)
        p.glow(-side * 70, 0, 170, s.light.lamp, alpha=0.3, squash=0.25)
    p.fill(outline.ellipse(-side * 86, -524, 26, 13), s.light.lamp)


def paving(
    p: pen.Pen, s: stage.Stage, y: float | None = None, *, tone: colour.Colour | None = None
) -> None:
    """Stone slabs from `y` down in perspective; a roadway with marks where it is modern."""
    y = s.horizon if y is None else y
    middle = s.w / 2
    old = s.old or s.western or tone is not None or s.place != "street"
    asphalt = "#9a9892" if old else "#6c6e74"
    stone = tone or s.light.hexed("#a39a8a" if s.old or s.western else asphalt)
    if s.light.weather == "snow":
        stone = s.light.hexed("#d3d5dc")
    wide = (0.06, 0.49) if s.place == "street" else (0.6, 1.2)
    verge = [(middle - s.w * wide[0], y), (middle + s.w * wide[0], y),
             (middle + s.w * sum(wide), s.h), (middle - s.w * sum(wide), s.h)]  # fmt: skip
    p.fill(outline.straight(verge), colour.mix(stone, s.light.haze, 0.16))
    rows = 11
    chance = s.fixed(77)
    for k in range(rows):
        t, u = (k / rows) ** 1.9, ((k + 1) / rows) ** 1.9
        top, bottom = y + (s.h - y) * t, y + (s.h - y) * u
        a, b = s.w * (wide[0] + wide[1] * t), s.w * (wide[0] + wide[1] * u)
        row = colour.dark(colour.mix(stone, s.light.haze, 0.2 * (1 - t)), 0.16 * t)
        p.fill(outline.straight([(middle - a, top), (middle + a, top), (middle + b, bottom + 2),
                                 (middle - b, bottom + 2)]), row)  # fmt: skip
        if not old:
            continue
        seam = colour.dark(row, 0.24)
        count = 5 if s.place == "street" else 8
        for c in range(-count, count):
            x0 = (c + 0.5 * (k % 2)) / count
            if chance.random() < 0.3:
                slab = [(x0, a), (x0 + 1 / count, a), (x0 + 1 / count, b), (x0, b)]
                at = [(middle + x * half, top if n < 2 else bottom)
                      for n, (x, half) in enumerate(slab)]  # fmt: skip
                p.fill(outline.straight(at), colour.dark(row, chance.uniform(-0.05, 0.1)))
            crack = [(middle + x0 * a, top), (middle + x0 * b, bottom)]
            p.line(outline.straight(crack), 1.5 + 3 * t, paint=seam, taper=(0, 0))
        joint = outline.straight([(middle - a, top), (middle + a, top)])
        p.line(joint, 1.5 + 3.5 * t, paint=seam, taper=(0, 0))
    if s.light.weather in ("rain", "thunder"):
        _puddles(p, s, y)
    if old:
        return
    for side in (-1, 1):
        kerb = [(middle + side * s.w * wide[0], y), (middle + side * s.w * sum(wide), s.h)]
        p.line(outline.straight(kerb), 22, paint=colour.pale(stone, 0.3), taper=(0.9, 0))
    for k in range(7):
        a, b = (k / 7) ** 1.9, ((k + 0.5) / 7) ** 1.9
        ya, yb = y + (s.h - y) * a, y + (s.h - y) * b
        mark = [(middle - 2 - 12 * a, ya), (middle + 2 + 12 * a, ya), (middle + 2 + 12 * b, yb),
                (middle - 2 - 12 * b, yb)]  # fmt: skip
        p.fill(outline.straight(mark), colour.pale(stone, 0.55))


def _puddles(p: pen.Pen, s: stage.Stage, y: float) -> None:
    """Light that lies on wet stone."""
    chance = s.fixed(76)
    tones = (s.light.lamp, s.light.sky[2], (255, 150, 150)) if s.light.dim else (s.light.sky[1],)
    for _ in range(26):
        t = chance.random()
        x, yy = s.w * chance.uniform(0.05, 0.95), y + 30 + (s.h - y) * t
        spot = outline.ellipse(x, yy, 40 + 130 * t * chance.random(), 4 + 12 * t)
        p.fill(spot, chance.choice(tones), alpha=0.26)
