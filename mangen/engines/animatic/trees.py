"""Trees and what else grows or lies on the ground, drawn around a foot at the origin."""

from __future__ import annotations

import math
import random

import numpy as np

from mangen.engines.animatic import colour, light, outline, pen
from mangen.engines.animatic.colour import Colour


def tree(
    p: pen.Pen, h: float, lit: light.Light, chance: random.Random, *, far: float, leaf: str | None
) -> None:
    """A tree that forks by chance; `leaf` a colour, None for bare winter branches."""
    bark = lit.hexed("#4d3f3a", far)
    tips: list[tuple[float, float]] = []
    least = h * 0.07 * 0.66 ** (4.5 if leaf else 6.5)

    def fork(foot: tuple[float, float], angle: float, length: float, thick: float) -> None:
        x, y = foot
        tip = (x + math.sin(angle) * length, y - math.cos(angle) * length)
        middle = ((x + tip[0]) / 2 + chance.uniform(-0.1, 0.1) * length, (y + tip[1]) / 2)
        spine = outline.curve([foot, middle, tip], closed=False)
        p.fill(outline.ribbon(spine, np.linspace(thick, thick * 0.62, len(spine))), bark)
        if thick * 0.66 < least:
            tips.append(tip)
            return
        for _ in range(2 if chance.random() < 0.75 else 3):
            shorter = length * chance.uniform(0.66, 0.84)
            fork(tip, angle + chance.uniform(-0.62, 0.62), shorter, thick * 0.66)

    fork((0, 4), chance.uniform(-0.08, 0.08), h * 0.3, h * 0.07)
    if leaf:
        tone = lit.hexed(leaf, far)
        for k, shade in enumerate((colour.dark(tone, 0.34), tone, colour.pale(tone, 0.16))):
            for x, y in tips[k :: 1 if k < 2 else 3]:
                r = h * (0.115 - 0.02 * k)
                p.fill(_leafage(x - k * r * 0.25, y - k * r * 0.35, r, chance), shade)


def _leafage(x: float, y: float, r: float, chance: random.Random) -> outline.Points:
    return outline.curve(
        [(x + math.cos(a) * r * k * 1.15, y + math.sin(a) * r * k)
         for a, k in ((i * math.tau / 9, chance.uniform(0.78, 1.14)) for i in range(9))]
    )  # fmt: skip


def pine(p: pen.Pen, h: float, lit: light.Light, chance: random.Random, *, far: float) -> None:
    trunk, needle = lit.hexed("#4a3b35", far), lit.hexed("#3c5a4c", far)
    p.fill(
        outline.straight([(-h * 0.03, 4), (h * 0.03, 4), (h * 0.01, -h), (-h * 0.01, -h)]), trunk
    )
    for k in range(6):
        y, r = -h * (0.22 + 0.13 * k), h * (0.25 - 0.034 * k)
        sway = chance.uniform(-0.08, 0.08) * r
        tier = outline.curve([(-r + sway, y + r * 0.32, 1), (-r * 0.5, y - r * 0.1), (sway,
            y - r * 0.62, 1),
                              (r * 0.5, y - r * 0.1), (r + sway, y + r * 0.32, 1), (0,
                                  y + r * 0.16)])  # fmt: skip
        p.fill(tier, colour.dark(needle, 0.28))
        p.fill(outline.moved(tier, r * 0.07, -r * 0.1), needle)
    if lit.weather == "snow":
        for k in range(6):
            y, r = -h * (0.24 + 0.13 * k), h * (0.2 - 0.03 * k)
            p.line(outline.curve([(-r, y), (0, y - r * 0.4), (r, y)], closed=False), r * 0.2,
                   paint=lit.hexed("#f0f0f2", far))  # fmt: skip


def bamboo(p: pen.Pen, h: float, lit: light.Light, chance: random.Random, *, far: float) -> None:
    cane = lit.hexed("#7c9a5c", far)
    lean, joints = chance.uniform(-0.07, 0.07) * h, 9
    leafy = colour.mix(cane, lit.hexed("#557a4c", far), 0.7)
    for k in range(joints):
        a, b = k / joints, (k + 1) / joints - 0.008
        piece = outline.straight([(lean * a * a, -h * a), (lean * b * b, -h * b)])
        p.line(piece, h * 0.024 * (1 - 0.4 * a), paint=cane, taper=(0, 0))
        p.line(outline.moved(piece, h * 0.005, 0), h * 0.006, paint=colour.pale(cane, 0.3),
               taper=(0, 0))  # fmt: skip
    for k in range(3, joints):
        b = (k + 0.98) / joints
        for _ in range(2):
            side = chance.choice((-1, 1))
            x, y = lean * b * b, -h * b
            reach = h * chance.uniform(0.07, 0.17)
            tip = (x + side * reach, y + h * chance.uniform(-0.05, 0.03))
            p.line(outline.straight([(x, y), tip]), h * 0.006, paint=colour.dark(cane, 0.2))
            for _ in range(5):
                t = chance.uniform(0.3, 1.05)
                lx, ly = x + (tip[0] - x) * t, y + (tip[1] - y) * t
                r, drop = h * chance.uniform(0.045, 0.085), chance.uniform(0.25, 1.1)
                end = (lx + side * r * 0.8, ly + r * drop)
                p.fill(outline.curve([(lx, ly, 1), (lx + side * r * 0.5, ly + r * drop * 0.3),
                                      (*end, 1), (lx + side * r * 0.3, ly + r * drop * 0.6)]),
                       colour.dark(leafy, chance.uniform(0, 0.32)))  # fmt: skip


def reeds(
    p: pen.Pen,
    span: tuple[float, float],
    h: float,
    tone: Colour,
    chance: random.Random,
    *,
    count: int,
) -> None:
    """Grass or reeds along the ground line, leaning one way."""
    for _ in range(count):
        x, up = chance.uniform(*span), h * chance.uniform(0.45, 1)
        lean = up * chance.uniform(0.05, 0.4)
        p.line(outline.curve([(x, 6), (x + lean * 0.25, -up * 0.6), (x + lean, -up)], closed=False),
               max(3.0, h * 0.05), paint=colour.dark(tone, chance.uniform(0, 0.3)), taper=(0,
                   0.8))  # fmt: skip


def rock(p: pen.Pen, r: float, lit: light.Light, chance: random.Random, *, far: float) -> None:
    tone = lit.hexed("#77767a", far)
    p.shape(outline.curve([(-r, 4, 1), (-r * 0.8, -r * chance.uniform(0.4, 0.7)),
                           (-r * 0.1, -r * chance.uniform(0.7, 1.0)), (r * 0.7, -r * 0.5), (r, 4,
                               1)]),
            tone, shade=colour.dark(tone, 0.34), shift=(r * 0.14, -r * 0.12), width=4,
            line=colour.mix(colour.INK, lit.haze, far))  # fmt: skip


def bough(
    p: pen.Pen,
    start: tuple[float, float],
    reach: float,
    tone: Colour,
    chance: random.Random,
    *,
    needles: bool,
) -> None:
    """A branch that hangs into the picture from a side; `reach` is negative to the left."""
    x, y = start
    spine = outline.curve([(x, y), (x + reach * 0.5, y + abs(reach) * 0.1),
                           (x + reach, y + abs(reach) * 0.04)], closed=False)  # fmt: skip
    p.line(spine, abs(reach) * 0.07, paint=tone, taper=(0, 0.9))
    for k in range(2, len(spine), 2):
        bx, by = float(spine[k][0]), float(spine[k][1])
        size = abs(reach) * chance.uniform(0.09, 0.17)
        if needles:
            for a in range(-80, 81, 16):
                tip = (bx + math.sin(math.radians(a)) * size,
                       by - math.cos(math.radians(a)) * size * 0.8)  # fmt: skip
                p.line(outline.straight([(bx, by), tip]), size * 0.08, paint=tone)
        else:
            for _ in range(3):
                p.fill(_leafage(bx + chance.uniform(-size, size), by + chance.uniform(-size, size),
                                size * 0.6, chance), tone)  # fmt: skip


def strewn(
    p: pen.Pen,
    area: tuple[float, float, float],
    tone: Colour,
    chance: random.Random,
    *,
    count: int,
    bloom: Colour | None = None,
) -> None:
    """Tufts, pebbles and flowers over open ground: (width, upper, lower) edge of the area."""
    wide, top, bottom = area
    for t in sorted(chance.random() ** 1.5 for _ in range(count)):
        x, y, kind = chance.uniform(0, wide), top + t * (bottom - top), chance.random()
        with p.moved(x, y, scale=0.3 + 1.1 * t):
            shade = colour.dark(tone, chance.uniform(0.1, 0.36))
            if kind < 0.2:
                p.fill(outline.ellipse(0, 0, chance.uniform(8, 22), chance.uniform(4, 9)), shade)
                continue
            for lean in (-20, -8, 4, 16):
                top_ = (lean * 1.2, -chance.uniform(16, 40))
                p.line(outline.curve([(lean * 0.3, 0), (lean * 0.6, top_[1] * 0.6), top_],
                       closed=False), 6, paint=shade, taper=(0, 0.8))  # fmt: skip
                if bloom is not None and kind > 0.72:
                    p.fill(outline.ellipse(*top_, 6, 5), bloom)
