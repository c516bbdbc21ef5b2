"""Props out of doors: houses, trees, boats and the like, drawn around a foot at the origin."""

from __future__ import annotations

import math
import random

import numpy as np

from mangen.engines.animatic import colour, light, outline, pen
from mangen.engines.animatic.colour import Colour


def cottage(
    p: pen.Pen,
    w: float,
    h: float,
    lit: light.Light,
    chance: random.Random,
    *,
    far: float,
    gable: bool,
) -> None:
    """A whitewashed house under dark tiles, with stepped gables or a curved roof."""
    wall, tile = lit.hexed("#ded6c4", far), lit.hexed("#4a4c55", far)
    line = colour.mix(colour.INK, lit.haze, far)
    p.shape(outline.box(-w / 2, -h, w, h + 4), wall, width=4, line=line)
    p.fill(outline.box(-w / 2 + 3, -h, w - 6, h * 0.16), colour.dark(wall, 0.22))
    for _ in range(4):
        p.fill(outline.box(-w / 2 + w * chance.uniform(0.08, 0.9), -h * chance.uniform(0.5, 0.85),
                           chance.uniform(2, 6), h * chance.uniform(0.15, 0.4)),
               colour.dark(wall, 0.12), alpha=0.6)  # fmt: skip
    if gable:
        for step, up in enumerate((0.26, 0.46, 0.26)):
            x = -w / 2 + step * w / 3
            p.fill(outline.box(x, -h * (1 + up), w / 3 + 1, h * up + 2), wall)
            p.shape(outline.curve([(x - 12, -h * (1 + up) + 5, 1), (x - 4, -h * (1 + up) - 10, 1),
                                   (x + w / 3 + 4, -h * (1 + up) - 10, 1),
                                   (x + w / 3 + 12, -h * (1 + up) + 5, 1)]), tile, width=3.5,
                                       line=line)  # fmt: skip
    else:
        p.shape(outline.curve([(-w / 2 - 26, -h + 10, 1), (-w * 0.3, -h * 1.24), (-w * 0.2,
            -h * 1.42, 1),
                               (w * 0.2, -h * 1.42, 1), (w * 0.3, -h * 1.24), (w / 2 + 26, -h + 10,
                                   1)]),
                tile, shade=colour.dark(tile, 0.3), width=4.5, line=line)  # fmt: skip
        for rib in range(9):
            x = (rib - 4) / 4
            p.line(outline.straight([(x * w * 0.2, -h * 1.4), (x * (w / 2 + 18), -h + 8)]), 2.6,
                   paint=colour.dark(tile, 0.35), taper=(0, 0))  # fmt: skip
    for k in (-0.26, 0.24):
        glow = lit.lamp if lit.dim and chance.random() < 0.7 else colour.dark(wall, 0.62)
        p.shape(
            outline.box(k * w - w * 0.08, -h * 0.66, w * 0.16, h * 0.26), glow, width=3, line=line
        )
        p.line(
            outline.straight([(k * w, -h * 0.66), (k * w, -h * 0.4)]), 2.5, paint=line, taper=(0, 0)
        )
    p.fill(
        outline.box(-w * 0.07, -h * 0.44, w * 0.15, h * 0.46),
        colour.dark(lit.hexed("#6b4a38", far), 0.2),
    )


def block(
    p: pen.Pen, w: float, h: float, lit: light.Light, chance: random.Random, *, far: float
) -> None:
    """A town house of storeys and windows."""
    base = chance.choice(("#b9b3a6", "#a8b2ba", "#c4b09a", "#9ba5a0", "#b59f94"))
    wall = lit.hexed(base, far)
    line = colour.mix(colour.INK, lit.haze, far)
    p.shape(outline.box(-w / 2, -h, w, h + 4), wall, shade=colour.dark(wall, 0.2), shift=(14, 0),
            width=4, line=line)  # fmt: skip
    rows, columns = max(2, int(h / 92)), max(2, int(w / 70))
    for r in range(rows):
        for c in range(columns):
            x = -w / 2 + (c + 0.5) * w / columns
            y = -h + (r + 0.5) * h / rows
            burning = lit.dim and chance.random() < 0.45
            glass = lit.lamp if burning else colour.mix(colour.dark(wall, 0.5), lit.sky[1], 0.3)
            p.fill(outline.box(x - 17, y - 24, 34, 46), colour.dark(wall, 0.3))
            p.fill(outline.box(x - 14, y - 21, 28, 40), glass)
    p.fill(outline.box(-w / 2 - 8, -h - 10, w + 16, 16), colour.dark(wall, 0.3))


def tree(
    p: pen.Pen, h: float, lit: light.Light, chance: random.Random, *, far: float, leaf: str | None
) -> None:
    """A tree that forks by chance; `leaf` a colour, None for bare winter branches."""
    bark = lit.hexed("#4d3f3a", far)
    tips: list[tuple[float, float]] = []
    least = h * 0.07 * 0.66 ** (4.5 if leaf else 5.5)

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
    cane = lit.hexed("#6f8f5a", far)
    lean = chance.uniform(-0.06, 0.06) * h
    for k in range(7):
        a, b = k / 7, (k + 1) / 7 - 0.012
        p.line(outline.straight([(lean * a * a, -h * a), (lean * b * b, -h * b)]), h * 0.022,
            paint=cane,
               taper=(0, 0))  # fmt: skip
        if k > 2:
            for side in (-1, 1):
                x, y, r = lean * b * b, -h * b, h * chance.uniform(0.07, 0.13)
                for d in (0.2, 0.75):
                    p.fill(outline.curve([(x, y, 1), (x + side * r * 0.5, y + r * (d - 0.25)),
                                          (x + side * r, y + r * d, 1),
                                          (x + side * r * 0.45, y + r * (d + 0.02))]),
                           colour.dark(cane, chance.uniform(0, 0.3)))  # fmt: skip


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


def lantern(p: pen.Pen, r: float, lit: light.Light) -> None:
    """A red paper lantern hanging below the origin."""
    if lit.dim:
        p.glow(0, r * 1.5, r * 4, (255, 176, 90), alpha=0.6)
    red = (206, 66, 52) if lit.dim else lit.hexed("#b53a30")
    p.line(outline.straight([(0, 0), (0, r * 0.6)]), 3, taper=(0, 0))
    p.shape(outline.ellipse(0, r * 1.5, r, r * 0.86), red, shade=colour.dark(red, 0.26),
        shift=(r * 0.2, 0),
            width=3.5)  # fmt: skip
    for k in (-0.5, 0, 0.5):
        p.line(outline.curve([(k * r, r * 0.76), (k * r * 1.5, r * 1.5), (k * r, r * 2.24)],
            closed=False),
               2.4, paint=colour.dark(red, 0.4), taper=(0, 0))  # fmt: skip
    for y in (0.66, 2.2):
        p.shape(outline.box(-r * 0.45, r * y, r * 0.9, r * 0.16), (224, 178, 82), width=2.5)
    p.line(outline.straight([(0, r * 2.36), (0, r * 3.1)]), 4, paint=(224, 178, 82), taper=(0, 0))


def boat(p: pen.Pen, w: float, lit: light.Light) -> None:
    """A black-awninged boat, lying at the origin, with a lamp at the bow."""
    k = w / 640
    hull, awning = lit.hexed("#5a4334"), lit.hexed("#3b3a42")
    with p.moved(0, 0, scale=k):
        p.fill(outline.ellipse(0, 38, 330, 17), colour.dark(hull, 0.5), alpha=0.4)
        for x in (-118, -6, 106):
            hood = outline.curve(
                [(x - 68, 0, 1), (x - 62, -84), (x, -126), (x + 62, -84), (x + 68, 0, 1)]
            )
            p.shape(hood, awning, shade=colour.dark(awning, 0.3), width=5)
            for d in (-40, -14, 14, 40):
                p.line(outline.curve([(x + d * 1.2, -4), (x + d, -70), (x + d * 0.5, -116)],
                    closed=False),
                       3, paint=colour.pale(awning, 0.18))  # fmt: skip
        p.shape(outline.curve([(-330, -36, 1), (-276, 16), (-200, 38), (200, 38), (280, 14),
                               (342, -48, 1), (220, -8), (0, -2), (-220, -8)]), hull,
                shade=colour.dark(hull, 0.34), shift=(4, -14))  # fmt: skip
        p.line(outline.straight([(202, -100), (202, -72)]), 4)
        if lit.dim or lit.weather != "clear":
            p.glow(202, -56, 110, (255, 184, 90), alpha=0.8)
        p.shape(outline.ellipse(202, -54, 15, 20), (240, 168, 70), width=3.5)


def stall(p: pen.Pen, w: float, lit: light.Light, chance: random.Random) -> None:
    """A market stall with a striped awning and heaped baskets."""
    h = w * 0.9
    cloth = lit.on(colour.hsv(chance.random(), 0.5, 0.66))
    wood = lit.hexed("#7a5a42")
    for x in (-w / 2 + 8, w / 2 - 16):
        p.shape(outline.box(x, -h, 10, h), wood, width=3.5)
    p.shape(
        outline.box(-w / 2, -h * 0.38, w, h * 0.38), wood, shade=colour.dark(wood, 0.3), width=4
    )
    for k in range(4):
        x, tone = -w / 2 + (k + 0.5) * w / 4, lit.on(colour.hsv(chance.random() * 0.35, 0.62, 0.8))
        for dx, dy in ((-12, 0), (12, 0), (0, -14)):
            p.shape(outline.ellipse(x + dx, -h * 0.42 + dy, 13, 12), tone, width=3)
    for k in range(6):
        x0, x1 = -w / 2 - 14 + k * (w + 28) / 6, -w / 2 - 14 + (k + 1) * (w + 28) / 6
        p.shape(outline.curve([(x0 * 0.9, -h * 1.16, 1), (x1 * 0.9, -h * 1.16, 1), (x1, -h * 0.92,
            1),
                               ((x0 + x1) / 2, -h * 0.87), (x0, -h * 0.92, 1)]),
                cloth if k % 2 else lit.hexed("#ece2cc"), width=3.5)  # fmt: skip


def gate(p: pen.Pen, w: float, h: float, lit: light.Light) -> None:
    """A two-winged wooden door under a tiled eave, for courtyards."""
    wood, tile, stone = lit.hexed("#5d4033"), lit.hexed("#4a4c55"), lit.hexed("#8d877e")
    p.shape(outline.box(-w / 2 - 24, -h, w + 48, h), stone, shade=colour.dark(stone, 0.3), width=5)
    for side in (-1, 1):
        x = -w / 2 if side < 0 else 2
        p.shape(
            outline.box(x, -h + 18, w / 2 - 2, h - 20), wood, shade=colour.dark(wood, 0.3), width=5
        )
        for k in range(1, 4):
            p.line(outline.straight([(x + k * w / 8, -h + 22), (x + k * w / 8, -4)]), 3,
                   paint=colour.dark(wood, 0.4), taper=(0, 0))  # fmt: skip
        p.shape(outline.ellipse(side * 26, -h * 0.48, 13, 13), lit.hexed("#c29a4c"), width=3.5)
    p.shape(outline.curve([(-w / 2 - 84, -h + 6, 1), (-w / 2 - 30, -h - 34), (-w / 2, -h - 66, 1),
                           (w / 2, -h - 66, 1), (w / 2 + 30, -h - 34), (w / 2 + 84, -h + 6, 1)]),
            tile, shade=colour.dark(tile, 0.34))  # fmt: skip


def palace(p: pen.Pen, w: float, lit: light.Light, far: float) -> None:
    """A hall of red pillars under two sweeping golden roofs, upon a white terrace."""
    red, gold, white = (
        lit.hexed("#a63b30", far),
        lit.hexed("#c99a3f", far),
        lit.hexed("#ddd5c4", far),
    )
    line = colour.mix(colour.INK, lit.haze, far)
    h = w * 0.3
    for k in range(3):
        p.shape(outline.box(-w * (0.6 - 0.05 * k), -18 * (k + 1), w * (1.2 - 0.1 * k), 20), white,
            width=3.5,
                line=line)  # fmt: skip
    p.shape(
        outline.box(-w * 0.42, -54 - h, w * 0.84, h), colour.dark(red, 0.35), width=4, line=line
    )
    for k in range(8):
        x = -w * 0.42 + (k + 0.1) * w * 0.84 / 7.2
        p.shape(outline.box(x, -54 - h, w * 0.026, h), red, width=3, line=line)
        if lit.dim:
            p.fill(
                outline.box(x + w * 0.045, -54 - h * 0.7, w * 0.04, h * 0.5), lit.lamp, alpha=0.8
            )
    for k, (reach, y, tall) in enumerate(
        ((0.6, -54 - h, h * 0.42), (0.44, -54 - h * 1.62, h * 0.56))
    ):
        if k:
            p.shape(
                outline.box(-w * 0.3, y - 4, w * 0.6, h * 0.3),
                colour.dark(red, 0.1),
                width=3.5,
                line=line,
            )
        roof = outline.curve([(-w * reach, y - 12, 1), (-w * reach * 0.8, y - tall * 0.2),
                              (-w * reach * 0.58, y - tall, 1), (w * reach * 0.58, y - tall, 1),
                              (w * reach * 0.8, y - tall * 0.2), (w * reach, y - 12, 1),
                              (w * reach * 0.8, y + 12), (0, y + 16), (-w * reach * 0.8,
                                  y + 12)])  # fmt: skip
        p.shape(roof, gold, shade=colour.dark(gold, 0.34), width=4, line=line)
        for r in range(15):
            x = (r - 7) / 7
            p.line(outline.straight([(x * w * reach * 0.56, y - tall + 4), (x * w * reach * 0.84,
                y + 8)]),
                   2.6, paint=colour.dark(gold, 0.4), taper=(0, 0))  # fmt: skip
