"""On board and at the quay: a ship's deck, a harbour, the inside of a spaceship."""

from __future__ import annotations

from collections.abc import Callable

from mangen.engines.animatic import (
    backdrop,
    boat,
    colour,
    furniture,
    horizon,
    interior,
    outline,
    pen,
    stage,
    terraces,
)


def _waters(s: stage.Stage) -> stage.Sheet:
    _, mid, low = s.light.sky
    deep = colour.dark(colour.mix(mid, (16, 52, 92), 0.5), 0.12)
    canvas = backdrop.water(s, s.horizon, s.h, colour.mix(low, deep, 0.6), deep)
    return stage.Sheet(backdrop.below(s, canvas, s.horizon), horizon.WATER)


def ship(p: pen.Pen, s: stage.Stage, *, far: float) -> None:
    """A square-rigged ship about 640 units tall, afloat at the origin."""
    hull, cloth = s.light.hexed("#40322c", far), s.light.hexed("#d6cbb0", far)
    line = colour.mix(colour.INK, s.light.haze, far)
    for x, tall in ((-150, 520), (40, 620), (210, 480)):
        p.line(outline.straight([(x, -40), (x, -tall)]), 13, paint=line, taper=(0, 0))
        for k in range(3):
            y, w = -tall + 40 + 150 * k, 90 + 26 * k
            sail = [(x - w, y, 1), (x + w, y, 1), (x + w * 1.1, y + 118, 1), (x, y + 100),
                    (x - w * 1.1, y + 118, 1)]  # fmt: skip
            if y < -110:
                p.shape(outline.curve(sail), cloth, shade=colour.dark(cloth, 0.2), width=7,
                        line=line)  # fmt: skip
    p.line(outline.straight([(300, -90), (430, -170)]), 12, paint=line, taper=(0, 0))
    body = [(-330, -110, 1), (-270, -60, 1), (300, -60, 1), (370, -110, 1), (270, 20, 1),
            (-260, 20, 1)]  # fmt: skip
    p.shape(outline.straight(body), hull, shade=colour.dark(hull, 0.3), width=8, line=line)
    p.line(outline.straight([(-300, -44), (310, -44)]), 12, paint=s.light.hexed("#c9a46a", far),
           taper=(0, 0))  # fmt: skip


def lighthouse(p: pen.Pen, s: stage.Stage, *, far: float) -> None:
    """A striped tower on rocks, about 600 units tall; its lamp sweeps when others burn."""
    white, red = s.light.hexed("#e6ded0", far), s.light.hexed("#a8433a", far)
    line = colour.mix(colour.INK, s.light.haze, far)
    rock = s.light.hexed("#5d5a58", far)
    p.shape(outline.curve([(-240, 20, 1), (-150, -60), (-40, -86), (90, -70), (210, 20, 1)]), rock,
            shade=colour.dark(rock, 0.3), width=6, line=line)  # fmt: skip
    for k in range(5):
        a, b = 74 - 7 * k, 74 - 7 * (k + 1)
        y = -70 - 84 * k
        p.shape(outline.straight([(-a, y), (a, y), (b, y - 84), (-b, y - 84)]),
                red if k % 2 else white, width=5, line=line)  # fmt: skip
    p.shape(outline.box(-54, -510, 108, 20), s.light.hexed("#3d3d42", far), width=4, line=line)
    if s.light.dim:
        p.glow(0, -545, 330, s.light.lamp, alpha=0.9)
        for side in (-1, 1):
            beam = [(0, -556), (side * 1100, -700), (side * 1100, -480), (0, -534)]
            p.fill(outline.straight(beam), s.light.lamp, alpha=0.2)
    glass = s.light.lamp if s.light.dim else s.light.hexed("#bcd0d2", far)
    p.shape(outline.box(-32, -572, 64, 62), glass, width=5, line=line)
    p.shape(outline.curve([(-44, -570, 1), (0, -626), (44, -570, 1)]), red, width=5, line=line)


def deck(s: stage.Stage) -> list[stage.Sheet]:
    """The deck of a sailing ship: planks, the rail, mast and shrouds, the sea beyond."""
    y, side = s.horizon + 120, s.side
    steel = s.era in ("modern", "campus", "future")

    def far(p: pen.Pen) -> None:
        with p.moved(s.w * (0.5 - side * 0.3), s.horizon + 14, scale=0.24):
            if "lighthouse" in s.objects:
                lighthouse(p, s, far=0.3)
            elif s.era in ("ancient", "xianxia", "republic", "countryside"):
                boat.sail(p, s.light, far=0.4)

    def boards(p: pen.Pen) -> None:
        _boards(p, s, y, steel=steel)

    def rig(p: pen.Pen) -> None:
        _rig(p, s, y, steel=steel)
        with p.moved(s.w * (0.5 - side * 0.34), y + 130):
            _barrel(p, s)

    def near(p: pen.Pen) -> None:
        tone = horizon.shade(s, "#3d3028")
        x = s.w * (0.5 - side * 0.5)
        p.line(outline.straight([(x, -10), (x + side * s.w * 0.12, s.h)]), 22, paint=tone,
               taper=(0, 0))  # fmt: skip

    return [
        horizon.painted(horizon.heaven(s)),
        _waters(s),
        horizon.drawn(s, far, horizon.WATER),
        horizon.drawn(s, boards, horizon.GROUND),
        horizon.drawn(s, rig, horizon.ROWS),
        horizon.front(s, near),
    ]


def _boards(p: pen.Pen, s: stage.Stage, y: float, *, steel: bool) -> None:
    """Planks that run away from us, and the rail at their end."""
    wood, dark = s.light.hexed("#9a7650"), s.light.hexed("#5a4032")
    tone = s.light.hexed("#8d9296") if steel else wood
    p.fill(outline.straight([(-20, y), (s.w + 20, y), (s.w + 20, s.h + 10), (-20, s.h + 10)]),
           tone)  # fmt: skip
    for k in range(-9, 10):
        seam = [(s.w / 2 + k * s.w * 0.07, y), (s.w / 2 + k * s.w * 0.2, s.h)]
        p.line(outline.straight(seam), 4, paint=colour.dark(tone, 0.3), taper=(0.3, 0))
    rail = s.light.hexed("#d9dcda") if steel else dark
    for up, wide in ((120, 26), (64, 10)):
        p.shape(outline.box(-20, y - up, s.w + 40, wide), rail, width=4.5)
    for k in range(12):
        p.shape(outline.box(s.w * (k + 0.5) / 12 - 9, y - 104, 18, 108), rail, width=3.5)


def _rig(p: pen.Pen, s: stage.Stage, y: float, *, steel: bool) -> None:
    """The mast with its shrouds, a sail overhead."""
    side, dark = s.side, s.light.hexed("#5a4032")
    x = s.w * (0.5 + side * 0.33)
    p.shape(outline.box(x - 30, -20, 60, y + 130), dark, shade=colour.dark(dark, 0.35),
            shift=(14, 0))  # fmt: skip
    for k in (-1, 1):
        foot = x + k * s.w * 0.26
        for n in range(3):
            rope = [(x, s.h * 0.02), (foot + 34 * n, y - 104)]
            p.line(outline.straight(rope), 4.5, paint=colour.dark(dark, 0.2), taper=(0, 0))
        for n in range(1, 9):
            t = 0.3 + n * 0.07
            a = (x + (foot - x) * t, s.h * 0.02 + (y - 104 - s.h * 0.02) * t)
            b = (x + (foot + 68 - x) * t, a[1])
            p.line(outline.straight([a, b]), 3.5, paint=colour.dark(dark, 0.2), taper=(0, 0))
    if not steel:
        cloth = s.light.hexed("#d8ccae")
        sail = [
            (x - s.w * 0.42, s.h * 0.06, 1),
            (x + s.w * 0.42, s.h * 0.03, 1),
            (x + s.w * 0.4, s.h * 0.26, 1),
            (x, s.h * 0.22),
            (x - s.w * 0.4, s.h * 0.3, 1),
        ]
        p.shape(outline.curve(sail), cloth, shade=colour.dark(cloth, 0.2), width=6)  # fmt: skip


def _barrel(p: pen.Pen, s: stage.Stage) -> None:
    tone = s.light.hexed("#7d5a3c")
    p.fill(outline.ellipse(0, 0, 92, 14), (14, 12, 22), alpha=0.3)
    p.shape(outline.curve([(-62, 0, 1), (-84, -90), (-62, -180, 1), (62, -180, 1), (84, -90),
                           (62, 0, 1)]), tone, shade=colour.dark(tone, 0.32), width=5)  # fmt: skip
    for y in (-36, -144):
        hoop = outline.curve([(-74, y), (0, y + 9), (74, y)], closed=False)
        p.line(hoop, 11, paint=s.light.hexed("#4a4a50"), taper=(0, 0))
    p.shape(outline.ellipse(0, -180, 62, 13), colour.dark(tone, 0.2), width=4.5)


def harbour(s: stage.Stage) -> list[stage.Sheet]:
    """A quay of stone: moored boats, masts, a row of houses across the water."""
    y, edge, side = s.horizon, s.horizon + 190, s.side
    old = s.era in ("victorian", "medieval", "republic", "ancient", "xianxia", "countryside")

    def town(p: pen.Pen) -> None:
        horizon.row(s, y + 4, far=0.36, size=130)(p)
        if "lighthouse" in s.objects:
            with p.moved(s.w * (0.5 - side * 0.26), y + 8, scale=0.42):
                lighthouse(p, s, far=0.3)

    def moored(p: pen.Pen) -> None:
        if s.era in ("victorian", "medieval"):
            with p.moved(s.w * (0.5 + side * 0.24), y + 96, scale=0.62):
                ship(p, s, far=0.16)
        elif old:
            with p.moved(s.w * (0.5 + side * 0.2), y + 90, scale=0.5):
                boat.sail(p, s.light, far=0.14)
        else:
            _trawler(p, s, (s.w * (0.5 + side * 0.2), y + 100))

    def quay(p: pen.Pen) -> None:
        _quay(p, s, edge)

    def stores(p: pen.Pen) -> None:
        with p.moved(s.w * (0.5 - side * 0.35), edge + 130):
            _barrel(p, s)
            with p.moved(-side * 150, 24):
                _crate(p, s)

    def near(p: pen.Pen) -> None:
        if s.era in ("victorian", "medieval"):
            with p.moved(s.w * (0.5 + side * 0.42), s.h * 0.86, scale=1.5):
                terraces.gaslamp(p, s.light)
        else:
            p.line(outline.straight([(s.w * (0.5 + side * 0.44), -10), (s.w * (0.5 + side * 0.44),
                                     s.h)]), 30, paint=horizon.shade(s, "#3d3028"),
                   taper=(0, 0))  # fmt: skip

    return [
        horizon.painted(horizon.heaven(s, (50, 70, "#6f7d8c"))),
        horizon.softened(s, horizon.drawn(s, town, horizon.MID), 0.3),
        _waters(s),
        horizon.drawn(s, moored, horizon.WATER + 0.03),
        horizon.drawn(s, quay, horizon.GROUND),
        horizon.drawn(s, stores, horizon.ROWS),
        horizon.front(s, near),
    ]


def _quay(p: pen.Pen, s: stage.Stage, edge: float) -> None:
    """Blocks of stone along the water, with bollards."""
    stone = s.light.hexed("#d3d5da" if s.light.weather == "snow" else "#8d877b")
    p.shape(outline.box(-20, edge, s.w + 40, s.h - edge + 20), stone, width=5)
    p.fill(outline.box(-20, edge + 4, s.w + 40, 30), colour.pale(stone, 0.2))
    chance = s.fixed(77)
    for k in range(7):
        t = (k / 7) ** 1.7
        yy = edge + 34 + (s.h - edge) * t
        p.line(outline.straight([(-20, yy), (s.w + 20, yy)]), 2 + 3 * t,
               paint=colour.dark(stone, 0.25), taper=(0, 0))  # fmt: skip
        for _ in range(5):
            x = s.w * chance.random()
            seam = [(x, yy), (x + (x - s.w / 2) * 0.12, yy + 30 + 90 * t)]
            p.line(outline.straight(seam), 2 + 2 * t, paint=colour.dark(stone, 0.25),
                   taper=(0, 0))  # fmt: skip
    for x in (0.2, 0.84):
        with p.moved(s.w * x, edge + 26):
            p.shape(outline.curve([(-24, 0, 1), (-20, -64), (-32, -84), (0, -96), (32, -84),
                                   (20, -64), (24, 0, 1)]), s.light.hexed("#3b3d42"),
                    width=4.5)  # fmt: skip


def _crate(p: pen.Pen, s: stage.Stage) -> None:
    tone = s.light.hexed("#a07d54")
    p.shape(outline.box(-80, -150, 160, 150), tone, shade=colour.dark(tone, 0.25), width=5)
    for bar in ([(-80, 0), (80, -150)], [(-80, -150), (80, -150)], [(-80, 0), (80, 0)]):
        p.line(outline.straight(bar), 14, paint=colour.dark(tone, 0.2), taper=(0, 0))


def _trawler(p: pen.Pen, s: stage.Stage, at: tuple[float, float]) -> None:
    hull, white = s.light.hexed("#2f5a78", 0.1), s.light.hexed("#e3ded2", 0.1)
    with p.moved(*at):
        p.shape(outline.box(-60, -170, 130, 110), white, width=5)
        p.fill(outline.box(-46, -150, 100, 36), s.light.lamp if s.light.dim else (96, 120, 132))
        p.line(outline.straight([(120, -60), (120, -330)]), 10, taper=(0, 0))
        p.shape(outline.straight([(-240, -80), (270, -110), (200, 16), (-190, 16)]), hull,
                shade=colour.dark(hull, 0.3), width=5)  # fmt: skip


def spaceship(s: stage.Stage) -> list[stage.Sheet]:
    """A cabin among the stars: a round window with a planet, panels of lights, ribs."""
    y, side = interior.floor(s), s.side
    hull, dark = s.light.hexed("#c3c9d2"), s.light.hexed("#59616e")
    alarm = s.mood in ("tense", "dark")
    glow = (255, 96, 84) if alarm else (120, 214, 255)

    def back(p: pen.Pen) -> None:
        furniture.tiles(p, y, s.w, s.h, s.light.hexed("#8b929d"))
        x, r = s.w * (0.5 - side * 0.16), min(250.0, s.w * 0.28)
        port = outline.ellipse(x, y - 520, r, r)
        p.fill(port, (10, 12, 30))
        chance = s.fixed(72)
        with p.clipped(port):
            for _ in range(70):
                spot = outline.ellipse(x + r * chance.uniform(-1, 1),
                                       y - 520 + r * chance.uniform(-1, 1), 2.4, 2.4)  # fmt: skip
                p.fill(spot, (236, 240, 255), alpha=chance.uniform(0.4, 1))
            planet = (206, 106, 72) if s.home & 1 else (96, 146, 190)
            globe = outline.ellipse(x + r * 0.3, y - 520 + r * 0.62, r * 0.72, r * 0.72)
            p.shape(globe, planet, shade=colour.dark(planet, 0.5), shift=(-26, -30), width=0)
        p.ink(port, 26, dark)
        p.ink(outline.ellipse(x, y - 520, r + 18, r + 18), 5)
        for k in range(5):
            at = s.w * k / 4
            p.shape(outline.curve([(at - 34, y, 1), (at - 22, y * 0.5), (at - 60, -20, 1),
                                   (at + 60, -20, 1), (at + 22, y * 0.5), (at + 34, y, 1)]), hull,
                    shade=colour.dark(hull, 0.22), width=4.5) if k in (0, 4) else None  # fmt: skip
        p.shape(outline.box(-20, y - 250, s.w + 40, 60), dark, width=4.5)
        for k in range(14):
            lamp = outline.ellipse(s.w * (k + 0.5) / 14, y - 220, 11, 11)
            p.glow(s.w * (k + 0.5) / 14, y - 220, 34, glow, alpha=0.4)
            p.shape(lamp, glow if (k * 5 + s.home) % 3 else (255, 214, 120), width=3)
        p.fill(outline.box(-20, y - 860, s.w + 40, 20), glow, alpha=0.8)

    def front(p: pen.Pen) -> None:
        with p.moved(s.w * (0.5 + side * 0.32), y + 110):
            p.shape(outline.straight([(-170, 0), (170, 0), (130, -250), (-130, -250)]), hull,
                    shade=colour.dark(hull, 0.3), width=5)  # fmt: skip
            screen = outline.straight([(-110, -330), (110, -330), (120, -200), (-120, -200)])
            p.glow(0, -270, 200, glow, alpha=0.35)
            p.shape(screen, (24, 44, 66), width=5)
            with p.clipped(screen):
                for k in range(5):
                    bar = 60 + 30 * ((k * 7 + s.home) % 5)
                    p.fill(outline.box(-100, -318 + 24 * k, bar, 9), glow, alpha=0.9)

    def near(p: pen.Pen) -> None:
        tone = horizon.shade(s, "#39404c")
        edge = [(s.w * (0.5 - side * 0.52), -10, 1), (s.w * (0.5 - side * 0.38), -10, 1),
                (s.w * (0.5 - side * 0.46), s.h * 0.5), (s.w * (0.5 - side * 0.36), s.h + 10, 1),
                (s.w * (0.5 - side * 0.52), s.h + 10, 1)]  # fmt: skip
        p.fill(outline.curve(edge), tone)

    return interior.sheets(s, s.light.hexed("#a9b2c0"), back, front, near)


PLACES: dict[str, Callable[[stage.Stage], list[stage.Sheet]]] = {
    "deck": deck,
    "harbour": harbour,
}
#: how far below the horizon one can stand
DROPS = {"deck": 120.0, "harbour": 200.0}
