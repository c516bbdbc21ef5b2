"""Houses, gates and halls, drawn around the middle of their foot at the origin."""

from __future__ import annotations

import random

from mangen.engines.animatic import colour, light, outline, pen


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
