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
        if lit.weather == "snow":
            cap = outline.curve([(-w * 0.42, -h * 1.12, 1), (-w * 0.3, -h * 1.27), (-w * 0.2,
                -h * 1.47, 1),
                                 (w * 0.2, -h * 1.47, 1), (w * 0.3, -h * 1.27), (w * 0.42,
                                 -h * 1.12, 1),
                                 (w * 0.2, -h * 1.22), (0, -h * 1.16), (-w * 0.2,
                                 -h * 1.22)])  # fmt: skip
            p.fill(cap, lit.hexed("#f0f0f2", far))
    for k in (-0.26, 0.24):
        glow = lit.lamp if chance.random() < 0.7 and lit.dim else colour.dark(wall, 0.62)
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
            burning = chance.random() < 0.45 and lit.dim
            glass = lit.lamp if burning else colour.mix(colour.dark(wall, 0.5), lit.sky[1], 0.3)
            p.fill(outline.box(x - 17, y - 24, 34, 46), colour.dark(wall, 0.3))
            p.fill(outline.box(x - 14, y - 21, 28, 40), glass)
    p.fill(outline.box(-w / 2 - 8, -h - 10, w + 16, 16), colour.dark(wall, 0.3))


def gate(p: pen.Pen, w: float, h: float, lit: light.Light) -> None:
    """A two-winged plank door under a lintel, red paper on its posts, rings on its wings."""
    wood, frame, brass = lit.hexed("#5d4538"), lit.hexed("#3b2f2b"), lit.hexed("#8a713f")
    p.shape(outline.box(-w / 2 - 20, -h, w + 40, h), frame, width=5)
    for side in (-1, 1):
        x = -w / 2 + 2 if side < 0 else 4
        wing = outline.box(x, -h + 24, w / 2 - 6, h - 26)
        tone = wood if side < 0 else colour.dark(wood, 0.1)
        p.shape(wing, tone, width=4.5)
        for k in range(1, 4):
            p.line(outline.straight([(x + k * w / 8, -h + 30), (x + k * w / 8, -4)]), 3.4,
                   paint=colour.dark(wood, 0.45), taper=(0, 0))  # fmt: skip
        p.fill(outline.box(x + 4, -h + 28, 9, h - 36), colour.pale(tone, 0.14))
        p.ink(outline.ellipse(side * 34, -h * 0.47, 17, 18), 7, colour.dark(brass, 0.4))
        p.shape(outline.ellipse(side * 34, -h * 0.505, 10, 10), brass, width=3.5)
        post = side * (w / 2 + 40)
        paper = lit.hexed("#b4473a")
        strip = outline.curve([(post - 20, -h + 70, 1), (post + 20, -h + 66, 1),
                               (post + 18, -h * 0.3, 1), (post + 4, -h * 0.27, 1),
                               (post - 17, -h * 0.3, 1)])  # fmt: skip
        p.fill(strip, paper)
        p.fill(outline.moved(strip, side * 9, 0), colour.dark(paper, 0.2), alpha=0.3)
    p.shape(outline.box(-w / 2 - 62, -h - 30, w + 124, 34), colour.pale(frame, 0.08), width=4.5)
    p.shape(outline.box(-w / 2 - 30, -10, w + 60, 22), lit.hexed("#8d877e"), width=4.5)


def coping(p: pen.Pen, span: tuple[float, float], y: float, lit: light.Light) -> None:
    """Tiles along the top of a wall: ridge, channels and round ends, and their shadow below."""
    tile = lit.hexed("#4b4950")
    line = colour.dark(tile, 0.5)
    p.fill(outline.box(span[0] - 20, y + 30, span[1] - span[0] + 40, 26), (42, 40, 45), alpha=0.35)
    p.shape(outline.box(span[0] - 20, y - 44, span[1] - span[0] + 40, 20), colour.dark(tile, 0.2),
            width=3.5)  # fmt: skip
    p.fill(outline.box(span[0] - 20, y - 26, span[1] - span[0] + 40, 50), colour.dark(tile, 0.3))
    for k in range(int((span[1] - span[0]) / 30) + 2):
        x = span[0] - 10 + 30 * k
        tone = colour.pale(tile, 0.05 * (k % 3))
        p.shape(outline.curve([(x - 13, y + 18, 1), (x - 12, y - 22, 1), (x, y - 34),
                               (x + 12, y - 22, 1), (x + 13, y + 18, 1)]), tone, width=3,
                line=line)  # fmt: skip
        p.shape(outline.ellipse(x, y + 24, 14, 14), tone, width=3, line=line)
        p.fill(outline.ellipse(x, y + 24, 5, 5), colour.dark(tile, 0.3))
    if lit.weather == "snow":
        knots: list[tuple[float, ...]] = [(span[0] - 20, y - 62, 1), (span[1] + 20, y - 62, 1)]
        knots += [(span[1] + 20 - 30 * k, y - (34 if k % 2 else 20))
                  for k in range(int((span[1] - span[0]) / 30) + 2)]  # fmt: skip
        p.fill(outline.curve(knots), lit.hexed("#f0f0f2"))


def jar(p: pen.Pen, h: float, lit: light.Light) -> None:
    """A great glazed water jar."""
    tone, w = lit.hexed("#6e5648"), h * 0.56
    p.fill(outline.ellipse(12, 0, w * 1.1, h * 0.1), (20, 16, 24), alpha=0.35)
    p.shape(outline.curve([(-w * 0.72, -h, 1), (-w, -h * 0.58), (-w * 0.6, 0, 1), (w * 0.6, 0, 1),
                           (w, -h * 0.58), (w * 0.72, -h, 1)]), tone,
            shade=colour.dark(tone, 0.36), width=5)  # fmt: skip
    p.line(outline.curve([(-w * 0.9, -h * 0.7), (0, -h * 0.62), (w * 0.9, -h * 0.7)], closed=False),
           4, paint=colour.dark(tone, 0.4))  # fmt: skip
    p.shape(outline.ellipse(0, -h, w * 0.76, h * 0.11), colour.dark(tone, 0.45), width=5)


def brazier(p: pen.Pen, h: float, lit: light.Light) -> None:
    """A bronze bowl on three legs; it burns when lamps do."""
    bronze = lit.hexed("#6f5a3a")
    w = h * 0.34
    for x in (-0.7, 0, 0.7):
        p.line(outline.straight([(x * w * 0.7, -h * 0.5), (x * w * 1.2, 0)]), h * 0.07,
               paint=colour.dark(bronze, 0.3), taper=(0, 0))  # fmt: skip
    if lit.dim:
        p.glow(0, -h, h * 1.5, (255, 160, 70), alpha=0.6)
        for k, tone in enumerate(((232, 106, 44), (250, 176, 70), (255, 232, 150))):
            r = w * (0.8 - 0.24 * k)
            p.fill(outline.curve([(-r, -h * 0.66, 1), (-r * 0.8, -h * 0.9), (-r * 0.1, -h * 1.1),
                                  (0, -h * (1.5 - 0.16 * k), 1), (r * 0.5, -h * 1.06),
                                  (r, -h * 0.66, 1)]), tone)  # fmt: skip
    p.shape(outline.curve([(-w * 1.15, -h * 0.72, 1), (w * 1.15, -h * 0.72, 1), (w * 0.7,
        -h * 0.42),
                           (-w * 0.7, -h * 0.42)]), bronze, shade=colour.dark(bronze, 0.35),
            width=5)  # fmt: skip


def banner(p: pen.Pen, w: float, lit: light.Light, hue: float) -> None:
    """A shop's cloth hanging from a pole at the origin."""
    cloth = lit.on(colour.hsv(0.02 + 0.1 * hue, 0.5, 0.72))
    p.line(outline.straight([(-w, -4), (w, -4)]), w * 0.12, taper=(0, 0))
    p.shape(outline.curve([(-w * 0.5, 0, 1), (w * 0.5, 0, 1), (w * 0.46, w * 1.6), (w * 0.5,
        w * 2.4, 1),
                           (0, w * 2.2, 1), (-w * 0.5, w * 2.4, 1)]), cloth,
            shade=colour.dark(cloth, 0.25), width=2.5)  # fmt: skip
    p.ink(
        outline.ellipse(0, w * 1.05, w * 0.28, w * 0.28), max(1.0, w * 0.07), lit.hexed("#efe2c4")
    )


def shopfront(p: pen.Pen, w: float, side: int, hue: float, lit: light.Light, *, far: float) -> None:
    """The ground floor of a town house: a lit window under an awning, a sign on the edge."""
    h = w * 0.42
    glass = (
        colour.mix((255, 214, 140), lit.haze, far * 0.6) if lit.dim else lit.hexed("#8fa3a6", far)
    )
    line = colour.mix(colour.INK, lit.haze, far)
    p.shape(outline.box(-w * 0.42, -h * 0.8, w * 0.84, h * 0.78), glass, width=3, line=line)
    p.line(outline.straight([(0, -h * 0.8), (0, 0)]), 3, paint=line, taper=(0, 0))
    cloth = lit.on(colour.hsv(hue, 0.5, 0.7), far)
    for k in range(6):
        x = -w * 0.48 + k * w * 0.16
        tone = cloth if k % 2 else lit.hexed("#ece2cc", far)
        p.shape(outline.curve([(x, -h * 1.06, 1), (x + w * 0.16, -h * 1.06, 1),
                               (x + w * 0.16, -h * 0.8, 1), (x + w * 0.08, -h * 0.72),
                               (x, -h * 0.8, 1)]), tone, width=2.5, line=line)  # fmt: skip
    sign = outline.box(side * w * 0.5 - w * 0.06, -h * 2.6, w * 0.12, h * 1.2)
    neon = colour.hsv(0.93 if hue < 0.5 else 0.08, 0.56, 1.0)
    if lit.dim:
        p.glow(side * w * 0.5, -h * 2, w * 0.4, neon, alpha=0.6 * (1 - far))
    p.shape(
        sign,
        colour.mix(neon, lit.haze, far) if lit.dim else lit.on(colour.grey(neon, 0.4), far),
        width=3,
        line=line,
    )


def stall(p: pen.Pen, w: float, lit: light.Light, chance: random.Random) -> None:
    """A market stall: a striped awning over heaped baskets, a lamp within."""
    h = w * 0.9
    cloth = lit.on(colour.hsv(chance.random(), 0.46, 0.7))
    wood = lit.hexed("#7a5a42")
    back = outline.box(-w / 2 + 8, -h, w - 16, h * 0.66)
    p.fill(back, (120, 74, 44) if lit.dim else colour.dark(wood, 0.35), alpha=0.8)
    for x in (-w / 2 + 8, w / 2 - 16):
        p.shape(outline.box(x, -h, 10, h), wood, width=3.5)
    if lit.dim:
        p.glow(0, -h * 0.72, w * 0.5, (255, 206, 120), alpha=0.8)
        p.fill(outline.ellipse(0, -h * 0.76, w * 0.045, w * 0.055), (255, 238, 190))
    p.shape(
        outline.box(-w / 2, -h * 0.38, w, h * 0.38), wood, shade=colour.dark(wood, 0.3), width=4
    )
    for k in range(1, 6):
        x = -w / 2 + k * w / 6
        p.line(outline.straight([(x, -h * 0.36), (x, -4)]), 3, paint=colour.dark(wood, 0.4))
    r = w * 0.052
    for k in range(4):
        hue = chance.random() * 0.35
        x, tone = -w / 2 + (k + 0.5) * w / 4, lit.on(colour.hsv(hue, 0.6, 0.82))
        p.shape(outline.curve([(x - r * 2.2, -h * 0.46, 1), (x + r * 2.2, -h * 0.46, 1),
                               (x + r * 1.7, -h * 0.36, 1), (x - r * 1.7, -h * 0.36, 1)]),
                lit.hexed("#b08a52"), width=3)  # fmt: skip
        for dx, dy in ((-1.2, 0), (0, 0), (1.2, 0), (-0.6, -1), (0.6, -1), (0, -1.9)):
            p.shape(outline.ellipse(x + dx * r, -h * 0.49 + dy * r, r, r * 0.95), tone, width=2.5)
    for k in range(6):
        x0, x1 = -w / 2 - 14 + k * (w + 28) / 6, -w / 2 - 14 + (k + 1) * (w + 28) / 6
        p.shape(outline.curve([(x0 * 0.9, -h * 1.16, 1), (x1 * 0.9, -h * 1.16, 1), (x1,
            -h * 0.92, 1),
                               ((x0 + x1) / 2, -h * 0.87), (x0, -h * 0.92, 1)]),
                cloth if k % 2 else lit.hexed("#ece2cc"), width=3.5)  # fmt: skip


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


def pavilion(p: pen.Pen, w: float, lit: light.Light, *, far: float) -> None:
    """An open pavilion under a sweeping roof."""
    red, tile, stone = (lit.hexed(c, far) for c in ("#8f4a3c", "#4a5560", "#a49d90"))
    line = colour.mix(colour.INK, lit.haze, far)
    h = w * 0.62
    p.shape(outline.box(-w * 0.52, -w * 0.08, w * 1.04, w * 0.1), stone, width=3, line=line)
    for x in (-0.4, -0.14, 0.14, 0.4):
        p.shape(outline.box(x * w - w * 0.025, -h, w * 0.05, h * 0.9), red, width=2.5, line=line)
    p.fill(outline.box(-w * 0.4, -w * 0.2, w * 0.8, w * 0.035), red)
    p.shape(
        outline.curve([(-w * 0.72, -h * 1.12, 1), (-w * 0.42, -h * 1.06), (0, -h * 0.98),
                       (w * 0.42, -h * 1.06), (w * 0.72, -h * 1.12, 1), (w * 0.3, -h * 1.34),
                       (w * 0.06, -h * 1.78, 1), (-w * 0.06, -h * 1.78, 1), (-w * 0.3, -h * 1.34)]),
        tile, shade=colour.dark(tile, 0.3), width=3, line=line,
    )  # fmt: skip
    p.shape(outline.ellipse(0, -h * 1.84, w * 0.04, w * 0.05), red, width=2.5, line=line)
