"""Belongings: small things for tables and hands, drawn large: up to 600 units, foot at the origin.

Nothing here carries readable words.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mangen.engines.animatic import colour, decor, furniture, light, outline, pen

_INK = 8


def book(p: pen.Pen, lit: light.Light) -> None:
    """Three books, an open one on top."""
    for k, (tone, w) in enumerate((("#4f6a82", 480), ("#8a4a3e", 430))):
        y, cover = -76 * k, lit.hexed(tone)
        p.shape(
            outline.box(-w / 2, y - 76, w, 76), cover, shade=colour.dark(cover, 0.3), width=_INK
        )
        p.fill(outline.box(-w / 2 + 26, y - 62, w - 30, 46), lit.hexed("#efe4c8"))
        for row in range(3):
            p.line(outline.straight([(-w / 2 + 30, y - 50 + 14 * row), (w / 2 - 8,
                y - 50 + 14 * row)]),
                   3, paint=lit.hexed("#b9a984"), taper=(0, 0))  # fmt: skip
    paper = lit.hexed("#f3ead2")
    for side in (-1, 1):
        page = outline.curve([(0, -176, 1), (side * 110, -236), (side * 290, -206, 1),
                              (side * 300, -300, 1), (side * 120, -330), (0, -272, 1)])  # fmt: skip
        p.shape(page, paper if side > 0 else colour.dark(paper, 0.08), width=_INK)
        for row in range(4):
            y = -290 + 22 * row
            p.line(outline.curve([(side * 40, y + 12), (side * 130, y - 20), (side * 260, y)],
                                 closed=False), 5, paint=lit.hexed("#a0937a"))  # fmt: skip


def letter(p: pen.Pen, lit: light.Light) -> None:
    """An envelope with a red stripe and a seal, a folded sheet half out."""
    paper, cover = lit.hexed("#f6eed8"), lit.hexed("#e3d3ac")
    with p.moved(0, -10, turn=-6):
        p.shape(outline.box(-190, -430, 380, 300), paper, width=_INK)
        for row in range(6):
            x = 150 - 54 * row
            p.line(outline.curve([(x, -404), (x + 4, -320), (x - 2, -230)], closed=False), 9,
                   paint=lit.hexed("#8d8272"))  # fmt: skip
        p.shape(outline.box(-240, -290, 480, 290), cover, shade=colour.dark(cover, 0.16),
                width=_INK)  # fmt: skip
        flap = outline.curve([(-240, -290, 1), (0, -110, 1), (240, -290, 1)], closed=False)
        p.line(flap, 9, taper=(0, 0))
        p.shape(outline.ellipse(0, -122, 44, 42), lit.hexed("#b0352f"), width=_INK)


def phone(p: pen.Pen, lit: light.Light) -> None:
    """A telephone whose screen is lit."""
    with p.moved(0, 0, turn=8):
        p.glow(0, -280, 380, (150, 206, 255), alpha=0.6 if lit.dim else 0.3)
        p.shape(outline.curve([(-134, -20), (-134, -540), (-110, -570), (110, -570), (134, -540),
                               (134, -20), (110, 4), (-110, 4)]), (44, 46, 56),
                               width=_INK)  # fmt: skip
        p.fill(outline.box(-112, -520, 224, 470), (92, 148, 206))
        p.fill(outline.box(-112, -520, 224, 250), (138, 190, 232))
        for k in range(3):
            x = -86 if k % 2 else -40
            p.fill(outline.curve([(x, -440 + 110 * k), (x + 126, -440 + 110 * k),
                                  (x + 126, -372 + 110 * k), (x, -372 + 110 * k)]),
                   (240, 246, 250) if k % 2 else (150, 226, 160))  # fmt: skip
        p.ink(outline.box(-112, -520, 224, 470), 5)
        p.fill(outline.box(-30, -552, 60, 10), (90, 94, 104))


def cup(p: pen.Pen, lit: light.Light) -> None:
    """A cup of tea with its steam."""
    china = lit.hexed("#dfe6e2")
    for x in (-50, 40):
        steam = outline.curve(
            [(x, -330), (x + 40, -400), (x - 20, -480), (x + 30, -570)], closed=False
        )
        p.line(steam, 22, paint=(255, 255, 250), alpha=0.5)
    p.shape(outline.ellipse(0, -14, 250, 40), china, shade=colour.dark(china, 0.25), width=_INK)
    p.shape(outline.curve([(180, -240), (270, -250), (270, -150), (150, -110), (150, -140),
                           (226, -168), (224, -214), (170, -200)]), china, width=_INK)  # fmt: skip
    p.shape(outline.curve([(-190, -290, 1), (-180, -130), (-90, -24, 1), (90, -24, 1), (180, -130),
                           (190, -290, 1)]), china, shade=colour.dark(china, 0.25), shift=(-22, 0),
            width=_INK)  # fmt: skip
    p.line(outline.curve([(-184, -230), (0, -196), (184, -230)], closed=False), 12,
           paint=lit.hexed("#4f7395"))  # fmt: skip
    p.shape(outline.ellipse(0, -290, 190, 44), lit.hexed("#8a5a34"), width=_INK)


def wine(p: pen.Pen, lit: light.Light) -> None:
    """A wine jar under red cloth, and two small cups."""
    clay = lit.hexed("#6f4a38")
    p.shape(outline.curve([(-110, -400, 1), (-220, -300), (-230, -150), (-130, 0, 1), (130, 0, 1),
                           (230, -150), (220, -300), (110, -400, 1)]), clay,
            shade=colour.dark(clay, 0.4), shift=(-30, -10), width=_INK)  # fmt: skip
    with p.moved(0, -190, turn=45):
        p.shape(outline.box(-80, -80, 160, 160), lit.hexed("#b0352f"), width=6)
    red = lit.hexed("#b8392f")
    p.shape(outline.curve([(-140, -380, 1), (-100, -470), (0, -500), (100, -470), (140, -380, 1),
                           (60, -410), (0, -384), (-60, -410)]), red,
            shade=colour.dark(red, 0.3), width=_INK)  # fmt: skip
    for x in (-300, 290):
        bowl = outline.curve([(x - 70, -90, 1), (x + 70, -90, 1), (x + 36, 0, 1), (x - 36, 0, 1)])
        p.shape(bowl, lit.hexed("#d9dcd2"), width=_INK)
        p.shape(outline.ellipse(x, -90, 70, 16), lit.hexed("#e9d8a8"), width=6)


def food(p: pen.Pen, lit: light.Light) -> None:
    """Bowls of rice and dishes, chopsticks, steam."""
    for x in (-60, 30):
        steam = outline.curve(
            [(x, -300), (x + 36, -370), (x - 16, -440), (x + 20, -520)], closed=False
        )
        p.line(steam, 20, paint=(255, 255, 250), alpha=0.45)
    for x, tone, heap in ((-190, "#4f7395", "#f6f1e2"), (200, "#b5523f", "#7fa04f")):
        ware = lit.hexed(tone)
        p.shape(outline.ellipse(x, -150, 116, 76), lit.hexed(heap), width=_INK)
        p.shape(outline.curve([(x - 140, -150, 1), (x + 140, -150, 1), (x + 60, 0, 1),
                               (x - 60, 0, 1)]), ware, shade=colour.dark(ware, 0.3),
                width=_INK)  # fmt: skip
    dish = lit.hexed("#dfe3da")
    p.shape(outline.ellipse(0, -10, 190, 40), dish, width=_INK)
    fish = lit.hexed("#c98a4a")
    p.shape(outline.curve([(-150, -34), (-60, -84), (70, -70), (110, -40, 1), (170, -76, 1),
                           (160, -6, 1), (110, -34, 1), (60, -10), (-70, -4)]), fish,
            shade=colour.dark(fish, 0.25), width=_INK)  # fmt: skip
    for d in (0, 26):
        p.line(outline.straight([(120 + d, -240), (330, -330 + d)]), 12, paint=lit.hexed("#7b4a30"),
               taper=(0, 0))  # fmt: skip


def bag(p: pen.Pen, lit: light.Light) -> None:
    """A travelling bag."""
    hide = lit.hexed("#8a5c3c")
    handle = outline.curve([(-120, -360), (-90, -500), (90, -500), (120, -360)], closed=False)
    p.line(handle, 40, taper=(0, 0))
    p.line(handle, 24, paint=colour.dark(hide, 0.2), taper=(0, 0))
    p.shape(outline.curve([(-250, -20), (-260, -300), (-200, -370), (200, -370), (260, -300),
                           (250, -20), (200, 0), (-200, 0)]), hide, shade=colour.dark(hide, 0.34),
            shift=(-26, -14), width=_INK)  # fmt: skip
    for x in (-150, 150):
        p.shape(outline.box(x - 22, -370, 44, 370), colour.dark(hide, 0.22), width=6)
        p.shape(outline.box(x - 30, -250, 60, 50), lit.hexed("#d0a850"), width=6)


def fan(p: pen.Pen, lit: light.Light) -> None:
    """A folding fan with a painted branch."""
    paper, rib = lit.hexed("#efe4c6"), lit.hexed("#5d4030")
    leaf = [outline.ellipse(0, -60, r, r, start=200, end=340) for r in (480, 210)]
    p.shape(np.concatenate([leaf[0], leaf[1][::-1]]), paper, width=_INK)
    for k in range(10):
        a = math.radians(200 + 140 * k / 9)
        c, d = math.cos(a), math.sin(a)
        p.line(outline.straight([(c * 210, -60 + d * 210), (c * 476, -60 + d * 476)]), 4,
               paint=colour.dark(paper, 0.25), taper=(0, 0))  # fmt: skip
        p.line(outline.straight([(0, -60), (c * 214, -60 + d * 214)]), 22, paint=rib, taper=(0, 0))
    p.line(outline.curve([(-250, -340), (-90, -370), (60, -460), (150, -440)], closed=False), 14,
           paint=lit.hexed("#4b4038"))  # fmt: skip
    for x, y in ((-180, -370), (-60, -400), (40, -460), (120, -420), (-110, -340), (90, -486)):
        p.fill(outline.ellipse(x, y, 20, 18), lit.hexed("#c8524a"))
    p.shape(outline.ellipse(0, -60, 22, 22), lit.hexed("#d0a850"), width=_INK)


def flower(p: pen.Pen, lit: light.Light) -> None:
    """A bunch of flowers in a vase."""
    vase, green = lit.hexed("#8fb0ae"), lit.hexed("#5a7d4e")
    blooms = ((-150, -460, "#d8616a"), (0, -540, "#e8a0a0"), (150, -470, "#d8616a"),
              (-70, -390, "#f0d9c0"), (80, -390, "#e8a0a0"))  # fmt: skip
    for x, y, _ in blooms:
        p.line(outline.curve([(0, -200), (x * 0.4, -320), (x, y)], closed=False), 12, paint=green,
               taper=(0, 0))  # fmt: skip
        leaf = outline.curve(
            [(x * 0.4, -320, 1), (x * 0.9, -330), (x * 1.2, -380, 1), (x * 0.7, -370)]
        )
        p.shape(leaf, green, width=5)
    for x, y, tone in blooms:
        petal = lit.hexed(tone)
        for k in range(6):
            a = math.tau * k / 6
            p.shape(outline.ellipse(x + math.cos(a) * 40, y + math.sin(a) * 40, 34, 32), petal,
                    width=6)  # fmt: skip
        p.shape(outline.ellipse(x, y, 26, 25), lit.hexed("#e6b94e"), width=5)
    p.shape(outline.curve([(-70, -240, 1), (-50, -180), (-110, -80), (-70, 0, 1), (70, 0, 1),
                           (110, -80), (50, -180), (70, -240, 1)]), vase,
            shade=colour.dark(vase, 0.3), shift=(-18, 0), width=_INK)  # fmt: skip


def photograph(p: pen.Pen, lit: light.Light) -> None:
    """A framed picture of two people, nobody's faces."""
    frame, print_ = lit.hexed("#5d4538"), lit.hexed("#cfc2a6")
    p.shape(outline.box(-220, -500, 440, 500), frame, width=_INK)
    inner = outline.box(-180, -460, 360, 420)
    p.fill(inner, print_)
    with p.clipped(inner):
        for x, size, tone in ((-70, 1.0, "#5a5048"), (80, 0.86, "#7a6a58")):
            with p.moved(x, -20, scale=size):
                p.fill(outline.curve([(-110, 20, 1), (-100, -150), (-30, -200), (30, -200),
                                      (100, -150), (110, 20, 1)]), lit.hexed(tone))  # fmt: skip
                p.fill(outline.ellipse(0, -270, 66, 76), lit.hexed("#dcc8a4"))
                p.fill(outline.curve([(-72, -260), (-60, -350), (60, -350), (72, -260), (40, -306),
                                      (-40, -306)]), lit.hexed("#3a322e"))  # fmt: skip
        p.fill(
            outline.straight([(-180, -460), (-60, -460), (-180, -260)]), (255, 255, 250), alpha=0.3
        )
    p.ink(inner, 5)


def ring(p: pen.Pen, lit: light.Light) -> None:
    """A ring with a stone in an open case."""
    case = lit.hexed("#7a2f3a")
    p.shape(outline.curve([(-220, -330, 1), (-190, -560), (190, -560), (220, -330, 1)]), case,
            width=_INK)  # fmt: skip
    p.fill(outline.curve([(-180, -340, 1), (-160, -520), (160, -520), (180, -340, 1)]),
           lit.hexed("#e9dcc6"))  # fmt: skip
    p.shape(outline.box(-230, -230, 460, 230), case, shade=colour.dark(case, 0.35), width=_INK)
    p.shape(outline.ellipse(0, -236, 224, 60), lit.hexed("#d9c9ae"), width=_INK)
    p.ink(outline.ellipse(0, -300, 92, 92), 30)
    p.ink(outline.ellipse(0, -300, 92, 92), 17, lit.hexed("#e3bd5c"))
    p.fill(outline.ellipse(0, -214, 150, 34), lit.hexed("#d9c9ae"))
    p.shape(outline.straight([(-50, -430), (-26, -466), (26, -466), (50, -430), (0, -374)]),
            (206, 236, 246), shade=(150, 200, 222), width=6)  # fmt: skip
    p.glow(0, -430, 150, (255, 255, 255), alpha=0.6)


def money(p: pen.Pen, lit: light.Light) -> None:
    """Round coins with square holes, and a silver ingot."""
    brass, silver = lit.hexed("#c79a4a"), lit.hexed("#d6dade")
    for x, n in ((-190, 4), (190, 6)):
        for k in range(n):
            p.shape(outline.ellipse(x + 6 * (k % 2), -26 - 34 * k, 120, 40), brass,
                    shade=colour.dark(brass, 0.3), width=6)  # fmt: skip
        top = -26 - 34 * (n - 1)
        p.shape(outline.straight([(x - 26, top), (x, top - 13), (x + 26, top), (x, top + 13)]),
                colour.dark(brass, 0.6), width=4)  # fmt: skip
    p.shape(outline.curve([(-180, -150, 1), (-120, -40), (0, 0), (120, -40), (180, -150, 1),
                           (90, -110), (-90, -110)]), silver, shade=colour.dark(silver, 0.3),
            width=_INK)  # fmt: skip
    p.shape(outline.ellipse(0, -120, 84, 62), silver, shade=colour.dark(silver, 0.16), width=_INK)


def mirror(p: pen.Pen, lit: light.Light) -> None:
    """A round mirror on a stand."""
    wood, glass = lit.hexed("#6b4531"), lit.hexed("#bcd2d8")
    p.shape(outline.curve([(-160, 0, 1), (-120, -60), (120, -60), (160, 0, 1)]), wood, width=_INK)
    p.shape(outline.box(-16, -140, 32, 90), wood, width=_INK)
    p.shape(outline.ellipse(0, -350, 226, 236), wood, shade=colour.dark(wood, 0.3), width=_INK)
    p.shape(outline.ellipse(0, -350, 186, 196), glass, width=_INK)
    for x, w in ((-60, 50), (30, 22)):
        p.fill(outline.straight([(x, -500), (x + w, -500), (x - 90 + w, -220), (x - 90, -220)]),
               (255, 255, 255), alpha=0.4)  # fmt: skip


def lamp(p: pen.Pen, lit: light.Light) -> None:
    """An oil lamp with a glass chimney."""
    brass = lit.hexed("#a9803f")
    p.glow(0, -340, 420, (255, 200, 110), alpha=0.7 if lit.dim else 0.35)
    p.shape(outline.curve([(-140, 0, 1), (140, 0, 1), (60, -50), (50, -90), (150, -150), (60,
        -214, 1),
                           (-60, -214, 1), (-150, -150), (-50, -90), (-60, -50)]), brass,
            shade=colour.dark(brass, 0.35), width=_INK)  # fmt: skip
    glass = outline.curve([(-60, -214, 1), (-110, -330), (-50, -460), (-46, -590, 1), (46, -590, 1),
                           (50, -460), (110, -330), (60, -214, 1)])  # fmt: skip
    p.fill(glass, (255, 226, 160), alpha=0.7)
    for k, tone in ((1.0, (250, 160, 60)), (0.55, (255, 244, 190))):
        p.fill(outline.curve([(0, -220, 1), (-46 * k, -290), (0, -280 - 130 * k, 1), (46 * k,
            -290)]),
               tone)  # fmt: skip
    p.ink(glass, 6)


def candlestick(p: pen.Pen, lit: light.Light) -> None:
    decor.candle(p, 560, lit)


def teapot(p: pen.Pen, lit: light.Light) -> None:
    with p.moved(0, 0, scale=3.4):
        furniture.teapot(p, lit.hexed("#8a5a44"))


BELONGINGS: dict[str, Callable[[pen.Pen, light.Light], None]] = {
    "book": book, "books": book, "letter": letter, "phone": phone, "cup": cup, "wine": wine,
    "food": food, "bag": bag, "fan": fan, "flower": flower, "flowers": flower,
    "photograph": photograph, "ring": ring, "money": money, "mirror": mirror, "lamp": lamp,
    "candle": candlestick, "tea": teapot,
}  # fmt: skip
