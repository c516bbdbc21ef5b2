"""Tools and weapons, about 600 units tall, standing on the origin: fork, sword, staff, drum ..."""

from __future__ import annotations

import math
from collections.abc import Callable

from mangen.engines.animatic import colour, light, outline, pen

_INK = 8


def fork(p: pen.Pen, lit: light.Light) -> None:
    """A steel pitchfork, its tines up."""
    wood, steel = lit.hexed("#a97b45"), lit.hexed("#b9c2c9")
    with p.moved(0, -300, turn=14):
        p.shape(outline.box(-11, -90, 22, 390), wood, shade=colour.dark(wood, 0.3), shift=(-7, 0),
                width=_INK)  # fmt: skip
        p.shape(outline.box(-16, -118, 32, 44), colour.dark(steel, 0.3), width=_INK)
        for x in (-62, 0, 62):
            tine = outline.curve([(x * 0.25, -110), (x, -150), (x, -290)], closed=False)
            p.line(tine, 34, taper=(0, 0.5))
            p.line(tine, 18, paint=steel, taper=(0, 0.5))
        bar = outline.curve([(-62, -170), (-40, -118), (0, -108), (40, -118), (62, -170)],
                            closed=False)  # fmt: skip
        p.line(bar, 34, taper=(0, 0))
        p.line(bar, 18, paint=steel, taper=(0, 0))


def sword(p: pen.Pen, lit: light.Light) -> None:
    """A straight sword, its point down, with a tassel."""
    steel, brass, grip = lit.hexed("#cfd8de"), lit.hexed("#b98f45"), lit.hexed("#4b2f2b")
    with p.moved(0, -300, turn=12):
        blade = outline.curve(
            [(-26, -150, 1), (26, -150, 1), (24, 230, 1), (0, 296, 1), (-24, 230, 1)]
        )
        p.shape(blade, steel, shade=colour.dark(steel, 0.25), shift=(-14, 0), width=_INK)
        p.line(outline.straight([(0, -140), (0, 250)]), 5, paint=colour.dark(steel, 0.4))
        p.shape(outline.curve([(-86, -158, 1), (-70, -186), (0, -178), (70, -186), (86, -158, 1),
                               (0, -140)]), brass, width=_INK)  # fmt: skip
        p.shape(outline.box(-17, -276, 34, 98), grip, width=_INK)
        for y in (-256, -232, -208):
            p.line(outline.straight([(-15, y + 8), (15, y - 6)]), 5, paint=brass, taper=(0, 0))
        p.shape(outline.ellipse(0, -290, 26, 21), brass, width=_INK)
        red = lit.hexed("#b8392f")
        tail = outline.curve([(0, -296), (-60, -250), (-70, -150), (-80, -60)], closed=False)
        p.line(tail, 20, paint=red, taper=(0.4, 0))
        for k in (-1, 0, 1):
            p.line(outline.straight([(-78, -70), (-80 + 14 * k, 0)]), 9, paint=red)


def staff(p: pen.Pen, lit: light.Light) -> None:
    """A gnarled staff with a gourd."""
    wood, gourd = lit.hexed("#7b5a3a"), lit.hexed("#c99a4a")
    spine = outline.curve([(-30, 0), (0, -200), (-16, -400), (20, -540), (70, -590), (110, -560),
                           (90, -520)], closed=False)  # fmt: skip
    p.line(spine, 46, taper=(0, 0.3))
    p.line(spine, 30, paint=wood, taper=(0, 0.3))
    p.line(outline.straight([(84, -530), (92, -440)]), 6, taper=(0, 0))
    p.shape(outline.ellipse(94, -420, 30, 30), gourd, shade=colour.dark(gourd, 0.3), width=_INK)
    p.shape(outline.ellipse(94, -356, 44, 46), gourd, shade=colour.dark(gourd, 0.3), width=_INK)
    p.line(outline.straight([(60, -396), (128, -396)]), 12, paint=lit.hexed("#b8392f"))


def flag(p: pen.Pen, lit: light.Light) -> None:
    """A swallow-tailed banner in the wind."""
    cloth, pole = lit.hexed("#b23a32"), lit.hexed("#5d4538")
    p.shape(outline.box(-192, -600, 20, 600), pole, width=_INK)
    p.shape(outline.curve([(-182, -580, 1), (-60, -610), (60, -560), (250, -590, 1), (170, -470, 1),
                           (240, -340, 1), (60, -320), (-60, -360), (-182, -330, 1)]), cloth,
            shade=colour.dark(cloth, 0.3), width=_INK)  # fmt: skip
    p.ink(outline.ellipse(0, -462, 62, 62), 12, lit.hexed("#e2b95a"))
    for x in (-90, 90):
        p.line(outline.curve([(x, -570), (x + 20, -460), (x, -350)], closed=False), 8,
               paint=colour.dark(cloth, 0.4))  # fmt: skip


def drum(p: pen.Pen, lit: light.Light) -> None:
    """A big red drum on a frame, two sticks on it."""
    red, skin, wood = lit.hexed("#a8352d"), lit.hexed("#e9d9b4"), lit.hexed("#5d4538")
    for x in (-200, 176):
        p.shape(outline.box(x, -150, 26, 150), wood, width=_INK)
    p.shape(outline.box(-220, -170, 440, 30), wood, width=_INK)
    p.shape(outline.curve([(-200, -470, 1), (200, -470, 1), (240, -310), (200, -160, 1),
                           (-200, -160, 1), (-240, -310)]), red, shade=colour.dark(red, 0.35),
            shift=(30, 0), width=_INK)  # fmt: skip
    for k in range(-4, 5):
        p.shape(outline.ellipse(k * 48, -430 + abs(k) * -2, 9, 9), lit.hexed("#d9b25a"), width=4)
    p.shape(outline.ellipse(0, -472, 202, 54), skin, shade=colour.dark(skin, 0.14), width=_INK)
    for a, b in (((-120, -560), (60, -480)), ((150, -570), (-10, -470))):
        p.line(outline.straight([a, b]), 22, taper=(0, 0))
        p.line(outline.straight([a, b]), 12, paint=lit.hexed("#c99a5a"), taper=(0, 0))


def bell(p: pen.Pen, lit: light.Light) -> None:
    """A bronze bell on a beam."""
    bronze = lit.hexed("#8a7a48")
    p.shape(outline.box(-230, -600, 460, 34), lit.hexed("#5d4538"), width=_INK)
    p.ink(outline.ellipse(0, -540, 34, 34), 16, colour.dark(bronze, 0.4))
    p.shape(outline.curve([(-90, -500), (0, -530), (90, -500), (130, -330), (150, -160),
                           (200, -90, 1), (-200, -90, 1), (-150, -160), (-130, -330)]), bronze,
            shade=colour.dark(bronze, 0.4), shift=(34, 0), width=_INK)  # fmt: skip
    for y, w in ((-440, 110), (-330, 130), (-180, 152)):
        p.line(outline.curve([(-w, y), (0, y + 18), (w, y)], closed=False), 8,
               paint=colour.dark(bronze, 0.45), taper=(0, 0))  # fmt: skip
    p.shape(outline.ellipse(0, -76, 30, 34), colour.dark(bronze, 0.3), width=_INK)


def lantern(p: pen.Pen, lit: light.Light) -> None:
    """A paper lantern with a burning candle, hung from a crook."""
    red = lit.hexed("#b53a30")
    paper = colour.mix((255, 214, 130), lit.hexed("#f0a050"), 0.6 if lit.dyes else 0.0)
    hook = outline.curve(
        [(-170, 0), (-170, -500), (-110, -590), (-10, -590), (20, -520)], closed=False
    )
    p.line(hook, 22, paint=lit.hexed("#5d4538"), taper=(0, 0))
    p.glow(20, -290, 430, (255, 180, 84), alpha=0.7 if lit.dim else 0.4)
    body = outline.ellipse(20, -300, 150, 176)
    p.shape(body, paper, shade=(240, 160, 74), shift=(20, -20), width=_INK)
    for k in (-0.62, -0.22, 0.22, 0.62):
        rib = outline.curve([(20 + k * 90, -470), (20 + k * 220, -300), (20 + k * 90, -130)],
                            closed=False)  # fmt: skip
        p.line(rib, 6, paint=(196, 110, 48), taper=(0, 0))
    for y in (-492, -138):
        p.shape(outline.box(-44, y, 128, 34), red, width=_INK)
    p.line(outline.straight([(20, -104), (20, -20)]), 12, paint=red, taper=(0, 0))


def umbrella(p: pen.Pen, lit: light.Light) -> None:
    """An oil-paper umbrella, open."""
    paper, wood = lit.hexed("#b8473a"), lit.hexed("#7b5a3a")
    with p.moved(0, -300, turn=16):
        p.shape(outline.box(-9, -230, 18, 520), wood, width=_INK)
        p.shape(outline.curve([(9, 290), (20, 330), (58, 320), (60, 290), (44, 290), (40, 306),
                               (26, 300)]), wood, width=5)  # fmt: skip
        dome = outline.curve([(-320, -60, 1), (-220, -190), (0, -280, 1), (220, -190), (320,
            -60, 1),
                              (240, -84), (160, -50), (80, -84), (0, -50), (-80, -84), (-160, -50),
                              (-240, -84)])  # fmt: skip
        p.shape(dome, paper, shade=colour.dark(paper, 0.28), shift=(24, -14), width=_INK)
        for x, foot in ((-160, -50), (-60, -62), (60, -62), (160, -50)):
            rib = outline.curve([(0, -276), (x * 0.8, -190), (x, foot)], closed=False)
            p.line(rib, 6, paint=colour.dark(paper, 0.4))
        p.line(outline.curve([(-262, -116), (0, -168), (262, -116)], closed=False), 10,
               paint=lit.hexed("#e9d3a0"))  # fmt: skip
        p.shape(outline.box(-12, -310, 24, 36), wood, width=_INK)


def clock(p: pen.Pen, lit: light.Light) -> None:
    """A wall clock with a pendulum."""
    wood, face = lit.hexed("#6b4531"), lit.hexed("#f0e6cf")
    p.shape(outline.curve([(-150, -590, 1), (0, -640), (150, -590, 1), (150, -60, 1), (0, -10),
                           (-150, -60, 1)]), wood, shade=colour.dark(wood, 0.3),
                           width=_INK)  # fmt: skip
    p.shape(outline.ellipse(0, -440, 122, 122), face, width=_INK)
    for k in range(12):
        a = math.radians(30 * k)
        x, y = math.sin(a), -math.cos(a)
        tick = [(x * 92, -440 + y * 92), (x * 108, -440 + y * 108)]
        p.line(outline.straight(tick), 8 if k % 3 else 13, taper=(0, 0))
    p.line(outline.straight([(0, -440), (-46, -490)]), 14, taper=(0, 0.4))
    p.line(outline.straight([(0, -440), (20, -528)]), 10, taper=(0, 0.4))
    p.shape(outline.box(-70, -280, 140, 200), colour.dark(wood, 0.5), width=_INK)
    p.line(outline.straight([(0, -280), (26, -130)]), 7, paint=lit.hexed("#d9b25a"), taper=(0, 0))
    p.shape(outline.ellipse(28, -124, 30, 30), lit.hexed("#d9b25a"), width=_INK)


def watch(p: pen.Pen, lit: light.Light) -> None:
    """A pocket watch on its chain, its lid open."""
    gold, face = lit.hexed("#d9b25a"), lit.hexed("#f3ead6")
    links = outline.curve([(14, -470), (90, -540), (40, -600), (150, -620), (250, -560),
                           (330, -600)], closed=False)  # fmt: skip
    p.line(links, 22, taper=(0, 0))
    p.line(links, 11, paint=gold, taper=(0, 0))
    p.shape(outline.ellipse(-236, -230, 120, 190), colour.dark(gold, 0.12),
            shade=colour.dark(gold, 0.4), width=_INK)  # fmt: skip
    p.shape(outline.ellipse(0, -462, 44, 40), gold, width=_INK)
    p.shape(outline.box(-24, -446, 48, 40), colour.dark(gold, 0.2), width=_INK)
    p.shape(outline.ellipse(0, -220, 212, 212), gold, shade=colour.dark(gold, 0.34), width=_INK)
    p.shape(outline.ellipse(0, -220, 168, 168), face, width=7)
    for k in range(12):
        a = math.radians(30 * k)
        x, y = math.sin(a), -math.cos(a)
        tick = [(x * 130, -220 + y * 130), (x * 152, -220 + y * 152)]
        p.line(outline.straight(tick), 9 if k % 3 else 15, taper=(0, 0))
    p.line(outline.straight([(0, -220), (-62, -280)]), 16, taper=(0, 0.4))
    p.line(outline.straight([(0, -220), (34, -338)]), 11, taper=(0, 0.4))
    p.fill(outline.ellipse(0, -220, 13, 13), colour.INK)


TOOLS: dict[str, Callable[[pen.Pen, light.Light], None]] = {
    "fork": fork, "sword": sword, "staff": staff, "flag": flag, "drum": drum, "bell": bell,
    "lantern": lantern, "umbrella": umbrella, "clock": clock, "watch": watch,
}  # fmt: skip
