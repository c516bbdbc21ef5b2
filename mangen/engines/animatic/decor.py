"""Decor: what makes a room somebody's: plants, pictures, candles, screens, a sofa."""

from __future__ import annotations

import math
import random

from mangen.engines.animatic import colour, light, outline, pen
from mangen.engines.animatic.colour import Colour


def plant(p: pen.Pen, h: float, lit: light.Light, chance: random.Random) -> None:
    """Broad leaves in a pot."""
    pot, green = lit.hexed("#b07a5a"), lit.hexed("#5a7d56")
    for k in range(9):
        a = math.radians(-70 + 17.5 * k + chance.uniform(-8, 8))
        r = h * chance.uniform(0.5, 0.72)
        x, y = math.sin(a) * r, -h * 0.3 - math.cos(a) * r
        mid = (x * 0.5 + math.cos(a) * h * 0.06, (y - h * 0.3) / 2 + math.sin(a) * h * 0.06)
        back = (x * 0.5 - math.cos(a) * h * 0.06, (y - h * 0.3) / 2 - math.sin(a) * h * 0.06)
        blade = outline.curve([(0, -h * 0.28, 1), mid, (x, y, 1), back])
        tone = colour.dark(green, 0.3 * (k % 3) / 2)
        p.shape(blade, tone, width=3.5)
        p.line(outline.straight([(0, -h * 0.28), (x * 0.9, y * 0.9 - h * 0.03)]), 2.5,
               paint=colour.dark(tone, 0.35))  # fmt: skip
    p.shape(outline.curve([(-h * 0.18, -h * 0.32, 1), (h * 0.18, -h * 0.32, 1), (h * 0.13, 0, 1),
                           (-h * 0.13, 0, 1)]), pot, shade=colour.dark(pot, 0.3))  # fmt: skip


def picture(p: pen.Pen, size: tuple[float, float], lit: light.Light, chance: random.Random) -> None:
    """A framed landscape; the middle of its upper edge is the origin."""
    w, h = size
    p.shape(outline.box(-w / 2, 0, w, h), lit.hexed("#5b4334"), width=4.5)
    inner = outline.box(-w / 2 + 12, 12, w - 24, h - 24)
    hue = chance.random()
    p.fill(inner, lit.on(colour.hsv(0.55 + 0.1 * hue, 0.25, 0.86)))
    with p.clipped(inner):
        for k in range(3):
            y = h * (0.45 + 0.16 * k)
            p.fill(outline.curve([(-w, h, 1), (-w * 0.4, y - chance.uniform(0, 20)), (0, y + 8),
                                  (w * 0.4, y - chance.uniform(0, 26)), (w, h, 1)]),
                   lit.on(colour.hsv(0.2 + 0.2 * hue + 0.06 * k, 0.3,
                   0.72 - 0.12 * k)))  # fmt: skip
    p.ink(inner, 3)


def candle(p: pen.Pen, h: float, lit: light.Light) -> None:
    """A candlestick; its flame burns when lamps do."""
    brass, wax = lit.hexed("#8a6a3a"), lit.hexed("#c94f40")
    if lit.dim:
        p.glow(0, -h * 1.06, h * 1.5, lit.lamp, alpha=0.6)
    p.shape(outline.curve([(-h * 0.2, 0, 1), (h * 0.2, 0, 1), (h * 0.06, -h * 0.12), (h * 0.05,
        -h * 0.5),
                           (h * 0.14, -h * 0.58, 1), (-h * 0.14, -h * 0.58, 1), (-h * 0.05,
                           -h * 0.5),
                           (-h * 0.06, -h * 0.12)]), brass, width=4)  # fmt: skip
    p.shape(outline.box(-h * 0.055, -h * 0.94, h * 0.11, h * 0.38), wax, width=3.5)
    if lit.dim:
        for k, tone in ((1.0, (250, 170, 70)), (0.6, (255, 240, 180))):
            p.fill(outline.curve([(0, -h * 0.92, 1), (-h * 0.07 * k, -h * 1.02),
                                  (0, -h * (0.96 + 0.24 * k), 1), (h * 0.07 * k, -h * 1.02)]),
                   tone)  # fmt: skip


def screen(p: pen.Pen, size: tuple[float, float], lit: light.Light, chance: random.Random) -> None:
    """A folding screen with painted branches."""
    w, h = size
    wood, silk = lit.hexed("#5f3f30"), lit.hexed("#d9c9a0")
    for k in range(4):
        x, up = -w / 2 + k * w / 4, 10 * (k % 2)
        p.shape(outline.box(x, -h + up, w / 4, h - 2 * up), wood, width=4.5)
        leaf = outline.box(x + 10, -h + up + 14, w / 4 - 20, h * 0.7)
        p.fill(leaf, colour.dark(silk, 0.08 * (k % 2)))
        with p.clipped(leaf):
            bend = outline.curve([(x, -h * 0.3), (x + w * 0.1, -h * 0.56), (x + w * 0.26,
                -h * 0.8)],
                                 closed=False)  # fmt: skip
            p.line(bend, 8, paint=lit.hexed("#5d5346"))
            for _ in range(6):
                at = bend[chance.randrange(len(bend))]
                fx, fy = (
                    float(at[0]) + chance.uniform(-16, 16),
                    float(at[1]) + chance.uniform(-14, 14),
                )
                p.fill(outline.ellipse(fx, fy, 8, 7), lit.hexed("#c8776c"))
        p.ink(leaf, 3)


def sofa(p: pen.Pen, w: float, tone: Colour) -> None:
    """A wide seat with cushions."""
    h = w * 0.4
    dim = colour.dark(tone, 0.26)
    p.shape(outline.curve([(-w * 0.44, -h * 0.3, 1), (-w * 0.44, -h * 0.9), (-w * 0.36, -h),
                           (w * 0.36, -h), (w * 0.44, -h * 0.9), (w * 0.44, -h * 0.3, 1)]), tone,
            shade=dim)  # fmt: skip
    p.line(outline.straight([(0, -h * 0.96), (0, -h * 0.46)]), 4, paint=dim)
    p.shape(outline.curve([(-w * 0.42, -h * 0.48, 1), (w * 0.42, -h * 0.48, 1), (w * 0.42,
        -h * 0.2, 1),
                           (-w * 0.42, -h * 0.2, 1)]), colour.pale(tone, 0.08))  # fmt: skip
    p.shape(outline.box(-w * 0.42, -h * 0.22, w * 0.84, h * 0.2), dim)
    for x in (-0.5, 0.38):
        p.shape(outline.curve([(w * x, 0, 1), (w * x, -h * 0.56), (w * (x + 0.06), -h * 0.64),
                               (w * (x + 0.12), -h * 0.56), (w * (x + 0.12), 0, 1)]), tone,
                shade=dim)  # fmt: skip
    pillow = colour.shifted(tone, 0.42, 0.9, 1.1)
    with p.moved(-w * 0.26, -h * 0.46, turn=-10):
        p.shape(outline.curve([(-h * 0.22, 0), (-h * 0.2, -h * 0.36), (h * 0.2, -h * 0.36),
                               (h * 0.22, 0)]), pillow, shade=colour.dark(pillow, 0.25),
                width=4.5)  # fmt: skip


def standing_lamp(p: pen.Pen, h: float, lit: light.Light) -> None:
    shade = (255, 226, 160) if lit.dim else lit.hexed("#e3d6b8")
    if lit.dim:
        p.glow(0, -h * 0.9, h * 0.55, lit.lamp, alpha=0.6)
    p.line(outline.straight([(0, -h * 0.8), (0, 0)]), 9, paint=lit.hexed("#4a403a"), taper=(0, 0))
    p.shape(outline.ellipse(0, 0, h * 0.12, h * 0.025), lit.hexed("#4a403a"), width=4)
    p.shape(outline.curve([(-h * 0.08, -h, 1), (h * 0.08, -h, 1), (h * 0.15, -h * 0.78, 1),
                           (-h * 0.15, -h * 0.78, 1)]), shade, width=4.5)  # fmt: skip


def door(p: pen.Pen, size: tuple[float, float], lit: light.Light, *, old: bool) -> None:
    """A door in its frame, its foot's middle at the origin."""
    w, h = size
    wood = lit.hexed("#6b4a38" if old else "#b9a58a")
    p.shape(outline.box(-w / 2 - 16, -h - 16, w + 32, h + 16), colour.dark(wood, 0.25), width=5)
    p.shape(outline.box(-w / 2, -h, w, h), wood, width=4.5)
    for x, y, a, b in ((0.1, 0.06, 0.8, 0.42), (0.1, 0.55, 0.8, 0.38)):
        pane = outline.box(-w / 2 + w * x, -h + h * y, w * a, h * b)
        p.shape(pane, colour.dark(wood, 0.1), width=3.5)
        if old and y < 0.2:
            p.fill(pane, (250, 214, 150) if lit.dim else lit.hexed("#d9cba6"))
            for k in range(1, 5):
                p.line(outline.straight([(-w / 2 + w * (x + a * k / 5), -h + h * y),
                                         (-w / 2 + w * (x + a * k / 5), -h + h * (y + b))]), 5,
                       paint=wood, taper=(0, 0))  # fmt: skip
                p.line(outline.straight([(-w / 2 + w * x, -h + h * (y + b * k / 5)),
                                         (-w / 2 + w * (x + a), -h + h * (y + b * k / 5))]), 5,
                       paint=wood, taper=(0, 0))  # fmt: skip
            p.ink(pane, 3.5)
    p.shape(outline.ellipse(w * 0.36, -h * 0.47, 9, 9), lit.hexed("#b08c48"), width=3)


def gauze(p: pen.Pen, w: float, h: float, tone: Colour) -> None:
    """A drape gathered to one side, hanging from the origin to the right (or left)."""
    cloth = outline.curve([(0, 0, 1), (w, 0, 1), (w * 0.8, h * 0.34), (w * 0.24, h * 0.62),
                           (w * 0.3, h, 1), (0, h, 1)])  # fmt: skip
    p.shape(cloth, tone, shade=colour.dark(tone, 0.26), width=4.5)
    for k in (0.25, 0.5, 0.75):
        fold = outline.curve([(w * k, 6), (w * k * 0.8, h * 0.3), (w * (0.06 + 0.14 * k), h * 0.6)],
                             closed=False)  # fmt: skip
        p.line(fold, 5, paint=colour.dark(tone, 0.34))
    tie = outline.curve(
        [(-4, h * 0.6, 1), (w * 0.27, h * 0.59, 1), (w * 0.27, h * 0.64, 1), (-4, h * 0.65, 1)]
    )
    p.shape(tie, colour.shifted(tone, 0.0, 1.3, 0.7), width=3.5)
