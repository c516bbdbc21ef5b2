"""Houses of the West, brick or timber, around the middle of their foot; their lamps and gates."""

from __future__ import annotations

import random

from mangen.engines.animatic import colour, light, outline, pen

_BRICKS = ("#8d5a49", "#9a6a50", "#7d5650", "#a07a5e", "#86645a")
_PLASTERS = ("#d8cbae", "#cdbfa0", "#dccfb8", "#c9b48f")


def house(
    p: pen.Pen, w: float, h: float, lit: light.Light, chance: random.Random, *, far: float,
    timber: bool,
) -> None:  # fmt: skip
    """A town house under a steep roof with chimneys: of brick, or of beams and plaster."""
    wall = lit.hexed(chance.choice(_PLASTERS if timber else _BRICKS), far)
    slate = lit.hexed("#7a5a3c" if timber else "#4d5059", far)
    line = colour.mix(colour.INK, lit.haze, far)
    p.shape(outline.box(-w / 2, -h, w, h + 4), wall, shade=colour.dark(wall, 0.2), shift=(12, 0),
            width=4, line=line)  # fmt: skip
    if timber:
        _beams(p, w, h, lit.hexed("#4a3428", far))
    else:
        _courses(p, w, h, colour.dark(wall, 0.16))
    _chimney(p, w, h, lit, far=far)
    peak = h * 0.1 + w * (0.5 if timber else 0.34)
    roof = [(-w / 2 - 20, -h + 6, 1), (-w * 0.26, -h - peak, 1), (w * 0.26, -h - peak, 1),
            (w / 2 + 20, -h + 6, 1)]  # fmt: skip
    if timber:
        roof = [(-w / 2 - 24, -h + 10, 1), (0, -h - peak * 1.2, 1), (w / 2 + 24, -h + 10, 1)]
    tiles = outline.curve(roof)
    p.shape(tiles, slate, shade=colour.dark(slate, 0.28), width=4, line=line)
    with p.clipped(tiles):
        for k in range(1, 7):
            y = -h + 6 - peak * 1.1 * k / 6
            p.line(outline.straight([(-w, y), (w, y)]), 2.4, paint=colour.dark(slate, 0.3),
                   taper=(0, 0))  # fmt: skip
        if lit.weather == "snow":
            p.fill(outline.box(-w, -h - peak * 1.3, 2 * w, peak * 0.9), lit.hexed("#eef0f4", far))
    _windows(p, (w, h), lit, chance, far=far)
    _door(p, (w, h), lit, chance, far=far)


def _beams(p: pen.Pen, w: float, h: float, wood: colour.Colour) -> None:
    wide = max(5.0, w * 0.035)
    for y in (-h + wide, -h * 0.56, -wide):
        p.fill(outline.box(-w / 2, y - wide / 2, w, wide), wood)
    for x in (-0.48, -0.2, 0.16, 0.48):
        p.fill(outline.box(x * w - wide / 2, -h, wide, h), wood)
    for x, side in ((-0.48, 1), (0.48, -1)):
        brace = [(x * w, -h * 0.58), (x * w + side * w * 0.27, -h + wide)]
        p.line(outline.straight(brace), wide, paint=wood, taper=(0, 0))


def _courses(p: pen.Pen, w: float, h: float, tone: colour.Colour) -> None:
    """Bricks here and there, lines of mortar all along."""
    step = max(14.0, w * 0.07)
    for k in range(int(h / step)):
        y = -h + k * step
        p.line(outline.straight([(-w / 2 + 3, y), (w / 2 - 3, y)]), 1.8, paint=tone, taper=(0, 0))
        for c in range(-3, 4):
            x = (c + 0.5 * (k % 2)) * w / 7
            if (k * 7 + c * 3) % 5 == 0 and abs(x) < w * 0.46:
                p.fill(outline.box(x, y, w / 9, step), tone, alpha=0.5)
    p.fill(outline.box(-w / 2 + 3, -h * 0.02 - step, w - 6, step), tone)


def _chimney(p: pen.Pen, w: float, h: float, lit: light.Light, *, far: float) -> None:
    brick = lit.hexed("#7a5148", far)
    line = colour.mix(colour.INK, lit.haze, far)
    top = -h - w * 0.62
    p.shape(outline.box(w * 0.18, top, w * 0.16, w * 0.5), brick, width=3.5, line=line)
    for x in (0.2, 0.27):
        p.shape(outline.box(w * x, top - w * 0.08, w * 0.05, w * 0.09), colour.dark(brick, 0.2),
                width=3, line=line)  # fmt: skip
    for k in range(3):
        r = w * (0.05 + 0.035 * k)
        p.fill(outline.ellipse(w * (0.26 + 0.07 * k), top - w * (0.16 + 0.13 * k), r * 1.3, r),
               colour.mix(lit.haze, (255, 255, 255), 0.3), alpha=0.4 - 0.1 * k)  # fmt: skip


def _windows(
    p: pen.Pen, size: tuple[float, float], lit: light.Light, chance: random.Random, *, far: float
) -> None:
    w, h = size
    rows = max(1, round(h / w / 0.62)) + 1
    white = lit.hexed("#e4dccb", far)
    for r in range(rows - 1):
        y = -h * (0.94 - 0.86 * r / rows)
        tall = h * 0.5 / rows
        for x in (-0.28, 0.02, 0.3):
            burning = lit.dim and chance.random() < 0.55
            glass = lit.lamp if burning else colour.mix(lit.hexed("#56636e", far), lit.sky[1], 0.3)
            if burning:
                p.glow(x * w, y + tall / 2, tall * 0.9, lit.lamp, alpha=0.25 * (1 - far))
            wide = w * 0.15
            p.fill(outline.box(x * w - wide / 2 - 5, y - 6, wide + 10, tall + 12), white)
            p.fill(outline.box(x * w - wide / 2, y, wide, tall), glass)
            for bar in (
                [(x * w, y), (x * w, y + tall)],
                [(x * w - wide / 2, y + tall / 2), (x * w + wide / 2, y + tall / 2)],
            ):
                p.line(outline.straight(bar), 3, paint=white, taper=(0, 0))  # fmt: skip


def _door(
    p: pen.Pen, size: tuple[float, float], lit: light.Light, chance: random.Random, *, far: float
) -> None:
    w, h = size
    tone = lit.hexed(chance.choice(("#3d4f46", "#5a2f30", "#2f3b52", "#5a4230")), far)
    wide, tall = w * 0.17, min(h * 0.34, w * 0.42)
    x = -w * 0.28 if chance.random() < 0.5 else w * 0.02
    p.fill(outline.box(x - wide / 2 - 7, -tall - 9, wide + 14, tall + 9), lit.hexed("#d9cfba", far))
    p.shape(outline.box(x - wide / 2, -tall, wide, tall), tone, width=3,
            line=colour.mix(colour.INK, lit.haze, far))  # fmt: skip
    glass = lit.lamp if lit.dim else lit.hexed("#8fa0a6", far)
    p.fill(outline.box(x - wide / 2 + 3, -tall + 3, wide - 6, tall * 0.15), glass)
    p.fill(outline.ellipse(x + wide * 0.3, -tall * 0.48, 4, 4), lit.hexed("#c9a04a", far))
    p.fill(outline.box(x - wide * 0.8, -7, wide * 1.6, 11), lit.hexed("#a59c8c", far))


def gaslamp(p: pen.Pen, lit: light.Light) -> None:
    """A street lamp of iron and glass, about 520 units tall."""
    iron = lit.hexed("#2f3436")
    p.line(outline.straight([(0, 0), (0, -420)]), 15, paint=iron, taper=(0, 0))
    for y, r in ((-8, 26), (-60, 16), (-410, 18)):
        p.fill(outline.box(-r, y - 8, 2 * r, 14), iron)
    p.line(outline.straight([(-44, -372), (44, -372)]), 8, paint=iron, taper=(0, 0))
    if lit.dim:
        p.glow(0, -470, 260, lit.lamp, alpha=0.9)
        p.glow(0, 0, 190, lit.lamp, alpha=0.3, squash=0.25)
    glass = lit.lamp if lit.dim else lit.hexed("#c9d2cc")
    p.shape(outline.straight([(-26, -424), (26, -424), (40, -506), (-40, -506)]), glass, width=5)
    p.shape(outline.straight([(-48, -504), (48, -504), (16, -548), (-16, -548)]), iron, width=4)
    p.line(outline.straight([(0, -424), (0, -506)]), 4, paint=iron, taper=(0, 0))


def railing(p: pen.Pen, span: tuple[float, float], y: float, h: float, lit: light.Light) -> None:
    """An iron fence with spikes along a line, and its gate in the middle."""
    iron = lit.hexed("#33383a")
    for up in (0.22, 0.86):
        p.line(outline.straight([(span[0], y - h * up), (span[1], y - h * up)]), h * 0.035,
               paint=iron, taper=(0, 0))  # fmt: skip
    count = max(4, int((span[1] - span[0]) / (h * 0.12)))
    for k in range(count + 1):
        x = span[0] + (span[1] - span[0]) * k / count
        p.line(outline.straight([(x, y), (x, y - h)]), h * 0.025, paint=iron, taper=(0, 0))
        p.fill(outline.straight([(x - h * 0.03, y - h), (x, y - h * 1.09), (x + h * 0.03, y - h)]),
               iron)  # fmt: skip


def castle(p: pen.Pen, w: float, lit: light.Light, far: float) -> None:
    """Towers and walls with battlements, a gate between."""
    stone, roof = lit.hexed("#a39c8e", far), lit.hexed("#5a4a66", far)
    line = colour.mix(colour.INK, lit.haze, far)
    parts = ((0, 0.5, 0.46), (-0.34, 0.17, 0.62), (0.34, 0.17, 0.62), (0.1, 0.16, 0.84),
             (-0.1, 0.12, 0.7))  # fmt: skip
    for x, wide, tall in parts:
        left, top = (x - wide / 2) * w, -tall * w
        p.shape(outline.box(left, top, wide * w, tall * w), stone, shade=colour.dark(stone, 0.22),
                shift=(w * 0.03, 0), width=4, line=line)  # fmt: skip
        if wide > 0.4:
            for k in range(9):
                p.shape(outline.box(left + k * wide * w / 8.5, top - w * 0.03, w * 0.032, w * 0.03),
                        stone, width=3, line=line)  # fmt: skip
        else:
            p.shape(outline.straight([(left - w * 0.02, top), (x * w, top - w * 0.24),
                                      (left + wide * w + w * 0.02, top)]), roof,
                    shade=colour.dark(roof, 0.3), width=4, line=line)  # fmt: skip
            glass = lit.lamp if lit.dim else colour.dark(stone, 0.6)
            p.fill(outline.ellipse(x * w, top + w * 0.1, w * 0.018, w * 0.035), glass)
    arch = [(-w * 0.07, 0, 1), (-w * 0.07, -w * 0.12), (0, -w * 0.18), (w * 0.07, -w * 0.12),
            (w * 0.07, 0, 1)]  # fmt: skip
    p.shape(outline.curve(arch), lit.hexed("#3a2c26", far), width=4, line=line)
