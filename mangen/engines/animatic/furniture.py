"""Furniture: what stands and hangs indoors, drawn around a foot or a middle at the origin."""

from __future__ import annotations

import random

from mangen.engines.animatic import colour, light, outline, pen
from mangen.engines.animatic.colour import Colour


def window(p: pen.Pen, w: float, h: float, lit: light.Light, *, old: bool) -> None:
    """A window with its sky, its bars and its sill; the upper left corner is the origin."""
    frame = lit.hexed("#6a4a38" if old else "#cfc8bb")
    glass = outline.box(0, 0, w, h)
    p.fill(outline.box(-14, -14, w + 28, h + 28), colour.dark(frame, 0.1))
    p.ink(outline.box(-14, -14, w + 28, h + 28), 5)
    top, mid, low = lit.sky
    for k in range(32):  # each band reaches down to the sill, so that no seam shows
        t = k / 31
        tone = (
            colour.mix(top, mid, t * 1.8) if t < 0.55 else colour.mix(mid, low, (t - 0.55) / 0.45)
        )
        p.fill(outline.box(0, h * k / 32, w, h - h * k / 32), tone)
    with p.clipped(glass):
        if lit.night and lit.weather == "clear":
            p.glow(w * 0.68, h * 0.26, w * 0.5, (255, 226, 150), alpha=0.6)
            p.fill(outline.ellipse(w * 0.68, h * 0.26, w * 0.11, w * 0.11), (255, 232, 160))
        p.fill(outline.curve([(-20, h, 1), (w * 0.2, h * 0.74), (w * 0.5, h * 0.84), (w * 0.8,
            h * 0.7),
                              (w + 20, h, 1)]), colour.mix(colour.dark(mid, 0.4), low,
                                  0.3))  # fmt: skip
        if not old:
            p.fill(outline.straight([(w * 0.1, h), (w * 0.46, 0), (w * 0.62, 0), (w * 0.26, h)]),
                   (255, 255, 255), alpha=0.14)  # fmt: skip
    bars = [(0.5, True)] if not old else [(0.2, True), (0.4, True), (0.6, True), (0.8, True)]
    bars += [(0.5, False)] if not old else [(0.25, False), (0.5, False), (0.75, False)]
    for at, upright in bars:
        spine = [(w * at, 0), (w * at, h)] if upright else [(0, h * at), (w, h * at)]
        p.line(outline.straight(spine), 13 if not old else 10, taper=(0, 0))
        p.line(outline.straight(spine), 7 if not old else 5, paint=frame, taper=(0, 0))
    p.ink(glass, 5)
    p.shape(outline.box(-26, h + 10, w + 52, 20), frame, width=5)


def curtain(p: pen.Pen, w: float, h: float, tone: Colour) -> None:
    """One side of a curtain hanging from the origin to the right (negative `w`: to the left)."""
    cloth = outline.curve([(0, 0, 1), (w, 0, 1), (w * 0.7, h * 0.5), (w * 0.86, h, 1), (0, h, 1)])
    p.shape(cloth, tone, shade=colour.dark(tone, 0.25), width=4.5)
    for k in (0.22, 0.46, 0.7):
        p.line(outline.curve([(w * k, 6), (w * k * 0.8, h * 0.5), (w * k * 0.9, h - 6)],
            closed=False), 4,
               paint=colour.dark(tone, 0.35))  # fmt: skip


def planks(p: pen.Pen, y: float, w: float, h: float, tone: Colour) -> None:
    """A wooden floor in perspective from `y` to `h`, with its skirting."""
    p.fill(outline.box(0, y, w, h - y), tone)
    for k in range(-9, 10):
        x = w / 2 + k * w * 0.09
        p.line(outline.straight([(x, y), (w / 2 + (x - w / 2) * 3.1, h)]), 3.2,
            paint=colour.dark(tone, 0.32),
               taper=(0.1, 0))  # fmt: skip
    for k in range(1, 6):
        p.line(outline.straight([(0, y + (h - y) * (k / 6) ** 1.6), (w,
            y + (h - y) * (k / 6) ** 1.6)]), 2.4,
               paint=colour.dark(tone, 0.18), taper=(0, 0))  # fmt: skip
    p.shape(outline.box(-10, y - 26, w + 20, 28), colour.dark(tone, 0.28), width=4)


def tiles(p: pen.Pen, y: float, w: float, h: float, tone: Colour) -> None:
    """A tiled floor in perspective."""
    p.fill(outline.box(0, y, w, h - y), tone)
    for row in range(8):
        y0, y1 = y + (h - y) * (row / 8) ** 1.7, y + (h - y) * ((row + 1) / 8) ** 1.7
        k0, k1 = 1 + 2.2 * (row / 8) ** 1.7, 1 + 2.2 * ((row + 1) / 8) ** 1.7
        for c in range(-6, 6):
            if (row + c) % 2:
                xs = [
                    w / 2 + (c + d) * w * 0.13 * k for d, k in ((0, k0), (1, k0), (1, k1), (0, k1))
                ]
                p.fill(outline.straight([(xs[0], y0), (xs[1], y0), (xs[2], y1), (xs[3], y1)]),
                       colour.dark(tone, 0.13))  # fmt: skip
    p.shape(outline.box(-10, y - 18, w + 20, 20), colour.dark(tone, 0.25), width=4)


def table(p: pen.Pen, w: float, h: float, tone: Colour) -> None:
    for x in (-w / 2 + 14, w / 2 - 36):
        p.shape(outline.box(x, -h, 22, h), colour.dark(tone, 0.2), width=4.5)
    p.shape(outline.box(-w / 2 + 10, -h + 10, w - 20, 30), colour.dark(tone, 0.14), width=4.5)
    p.shape(outline.curve([(-w / 2, -h, 1), (-w / 2 + 26, -h - 26, 1), (w / 2 - 26, -h - 26, 1),
                           (w / 2, -h, 1), (w / 2, -h + 14, 1), (-w / 2, -h + 14, 1)]), tone,
                               width=5)  # fmt: skip


def teapot(p: pen.Pen, tone: Colour) -> None:
    """A pot and two cups on a table top at the origin."""
    p.shape(outline.curve([(30, -34), (58, -50), (64, -44, 1), (34, -14)]), tone, width=3.5)
    p.shape(outline.ellipse(0, -28, 36, 27), tone, shade=colour.dark(tone, 0.25), width=4)
    p.shape(outline.ellipse(0, -56, 7, 6), tone, width=3)
    for x in (-78, 92):
        p.shape(outline.curve([(x - 15, -22, 1), (x + 15, -22, 1), (x + 9, 0, 1), (x - 9, 0, 1)]),
            tone,
                width=3.5)  # fmt: skip


def chair(p: pen.Pen, h: float, tone: Colour) -> None:
    for x in (-0.22, 0.2):
        p.shape(outline.box(x * h, -h * 0.46, h * 0.05, h * 0.46), colour.dark(tone, 0.2), width=4)
        p.shape(outline.box(x * h, -h, h * 0.05, h * 0.56), tone, width=4)
    p.shape(outline.box(-h * 0.22, -h, h * 0.46, h * 0.13), tone, width=4.5)
    p.shape(outline.box(-h * 0.26, -h * 0.5, h * 0.55, h * 0.07), tone, width=4.5)


def shelf(
    p: pen.Pen,
    w: float,
    h: float,
    tone: Colour,
    *,
    chance: random.Random,
    lit: light.Light,
    goods: str,
) -> None:
    """A case of shelves, full of books, jars or files."""
    p.shape(outline.box(-w / 2, -h, w, h), colour.dark(tone, 0.42), width=5)
    rows = max(3, int(h / 120))
    for r in range(rows):
        y = -h + (r + 1) * h / rows
        x = -w / 2 + 12
        while x < w / 2 - 30:
            hue = chance.choice((0.05, 0.08, 0.1, 0.12, 0.33, 0.56))  # earthen, celadon, blue
            ware = lit.on(colour.hsv(hue, chance.uniform(0.12, 0.4), chance.uniform(0.5, 0.8)))
            if goods == "jars":
                r_ = 21
                p.shape(outline.curve([(x + 4, y - 6, 1), (x, y - 34), (x + 12, y - 52), (x + 28,
                    y - 52),
                                       (x + 2 * r_, y - 34), (x + 2 * r_ - 4, y - 6, 1)]), ware,
                        shade=colour.dark(ware, 0.25), width=3)  # fmt: skip
                p.fill(outline.box(x + 11, y - 60, 20, 9), lit.hexed("#b5402f"))
                x += 50
            else:
                wide, tall = chance.uniform(13, 27), chance.uniform(0.58, 0.86) * h / rows
                p.shape(outline.box(x, y - 6 - tall, wide, tall), ware, width=2.6)
                p.fill(outline.box(x + 3, y - 6 - tall * 0.8, wide - 6, 5), colour.pale(ware, 0.5))
                x += wide + (2 if chance.random() < 0.86 else 26)
        p.shape(outline.box(-w / 2, y - 8, w, 13), tone, width=4)
    for side in (-1, 1):
        p.shape(outline.box(side * w / 2 - 8, -h - 8, 16, h + 8), tone, width=4.5)


def scroll(p: pen.Pen, w: float, h: float, lit: light.Light, chance: random.Random) -> None:
    """A hanging landscape in ink; the middle of its upper edge is the origin."""
    paper = lit.hexed("#eae0c8")
    p.shape(outline.box(-w / 2, 0, w, h), lit.hexed("#7c6a52"), width=4)
    sheet = outline.box(-w / 2 + 14, 26, w - 28, h - 52)
    p.fill(sheet, paper)
    with p.clipped(sheet):
        for k in range(3):
            y = h * (0.4 + 0.17 * k)
            p.fill(outline.curve([(-w, h, 1), (-w * 0.5, y + chance.uniform(-20, 20)),
                                  (-w * 0.15, y - chance.uniform(20, 70)), (w * 0.2, y + 14),
                                  (w * 0.5, y - chance.uniform(0, 50)), (w, h, 1)]),
                   colour.mix(colour.INK, paper, 0.72 - 0.17 * k))  # fmt: skip
        p.fill(outline.ellipse(w * 0.2, h * 0.2, 17, 17), lit.hexed("#b5402f"), alpha=0.75)
    for y in (-7, h - 5):
        p.shape(outline.box(-w / 2 - 14, y, w + 28, 13), lit.hexed("#4b352b"), width=4)


def lamp(p: pen.Pen, lit: light.Light, *, drop: float) -> None:
    """A shaded lamp on a cord of `drop` units below the origin."""
    if lit.dim:
        p.glow(0, drop + 50, 330, lit.lamp, alpha=0.55)
    p.line(outline.straight([(0, 0), (0, drop)]), 4, taper=(0, 0))
    p.fill(
        outline.ellipse(0, drop + 46, 26, 19), (255, 240, 196) if lit.dim else lit.hexed("#efe6cf")
    )
    p.shape(outline.curve([(-22, drop, 1), (22, drop, 1), (66, drop + 46, 1), (0, drop + 54),
                           (-66, drop + 46, 1)]), lit.hexed("#4f6a62"),
                               shade=lit.hexed("#35483f"))  # fmt: skip


def bed(p: pen.Pen, w: float, lit: light.Light, *, ward: bool) -> None:
    """A bed with pillow and quilt; a ward's has rails and wheels."""
    frame = lit.hexed("#aeb6bb" if ward else "#6b4a38")
    quilt = lit.hexed("#e4eaec" if ward else "#8e4a48")
    h = w * 0.3
    p.shape(outline.box(-w / 2 - 12, -h * 1.9, 20, h * 1.9), frame, width=4.5)
    p.shape(outline.box(w / 2 - 8, -h * 1.4, 20, h * 1.4), frame, width=4.5)
    p.shape(outline.box(-w / 2, -h * 0.8, w, h * 0.36), frame, width=4.5)
    p.shape(outline.curve([(-w / 2 + 8, -h * 0.8, 1), (-w / 2 + 14, -h * 1.3), (-w * 0.24,
        -h * 1.26),
                           (-w * 0.2, -h * 0.8, 1)]), lit.hexed("#f1ede2"),
                               shade=lit.hexed("#cfcabd"))  # fmt: skip
    p.shape(outline.curve([(-w * 0.24, -h * 0.6, 1), (-w * 0.27, -h * 1.12), (w * 0.1, -h * 1.2),
                           (w / 2 - 8, -h * 1.05), (w / 2 - 8, -h * 0.44, 1)]), quilt,
            shade=colour.dark(quilt, 0.25))  # fmt: skip
    for k in (-0.08, 0.12, 0.3):
        p.line(outline.curve([(k * w, -h * 1.08), (k * w + 12, -h * 0.8), (k * w, -h * 0.55)],
            closed=False), 4,
               paint=colour.dark(quilt, 0.3))  # fmt: skip


def blackboard(p: pen.Pen, w: float, h: float, lit: light.Light, chance: random.Random) -> None:
    """A board with chalk marks; the middle of its upper edge is the origin."""
    p.shape(outline.box(-w / 2 - 14, -14, w + 28, h + 28), lit.hexed("#8a6a48"), width=5)
    board = lit.hexed("#2f4a41")
    p.shape(outline.box(-w / 2, 0, w, h), board, width=4)
    chalk = colour.mix(board, (240, 240, 230), 0.6)
    for row in range(4):
        x = -w * 0.42
        y = h * (0.2 + 0.19 * row)
        while x < w * (0.1 if row % 2 else 0.3):
            step = chance.uniform(14, 44)
            p.line(outline.curve([(x, y), (x + step * 0.5, y - chance.uniform(-7, 9)), (x + step,
                y)],
                                 closed=False), 4, paint=chalk)  # fmt: skip
            x += step + 12
    p.line(outline.ellipse(w * 0.36, h * 0.34, 46, 46), 4, paint=chalk, taper=(0, 0))
    p.line(outline.straight([(w * 0.36, h * 0.34), (w * 0.36 + 40, h * 0.24)]), 4, paint=chalk)
    p.shape(outline.box(-w / 2, h + 6, w, 14), lit.hexed("#a98458"), width=4)


def desk(p: pen.Pen, w: float, lit: light.Light, *, screen: bool) -> None:
    """A school or office desk, seen from the front."""
    top = lit.hexed("#a9885f" if not screen else "#b4aca0")
    h = w * 0.6
    if screen:
        p.shape(outline.box(-w * 0.06, -h - 40, w * 0.12, 44), lit.hexed("#3a3c44"), width=4)
        p.shape(
            outline.box(-w * 0.24, -h - w * 0.36, w * 0.48, w * 0.3),
            lit.hexed("#2b2d35"),
            width=4.5,
        )
        p.fill(
            outline.box(-w * 0.22, -h - w * 0.345, w * 0.44, w * 0.27), (124, 166, 190), alpha=0.75
        )
    p.shape(outline.box(-w / 2 + 10, -h, w - 20, h * 0.96), colour.dark(top, 0.24), width=5)
    p.shape(outline.box(-w / 2, -h - 12, w, 26), top, width=5)
    p.line(outline.straight([(0, -h + 16), (0, -6)]), 4, paint=colour.dark(top, 0.5), taper=(0, 0))
