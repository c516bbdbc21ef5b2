"""Fixtures: large things that are part of a place: fire, trees, doors, beds; about 600 units tall.

Each stands on the origin.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from mangen.engines.animatic import (
    colour,
    crops,
    decor,
    furniture,
    houses,
    light,
    outline,
    pen,
    trees,
)


def fire(p: pen.Pen, lit: light.Light) -> None:
    """A wood fire."""
    p.glow(0, -180, 560, (255, 150, 60), alpha=0.7)
    wood = lit.hexed("#5d4030")
    for k, tone in enumerate(((222, 84, 36), (244, 148, 50), (255, 206, 96), (255, 244, 190))):
        r, h = 190 - 44 * k, 480 - 110 * k
        p.fill(outline.curve([(-r, -60, 1), (-r * 1.1, -h * 0.4), (-r * 0.5, -h * 0.62, 1),
                              (-r * 0.3, -h * 0.5), (0, -h, 1), (r * 0.3, -h * 0.6),
                              (r * 0.7, -h * 0.74, 1), (r * 1.06, -h * 0.36), (r, -60, 1),
                              (0, -20)]), tone)  # fmt: skip
    for x, turn in ((-110, 16), (110, -16), (0, 4)):
        with p.moved(x * 0.4, -40, turn=turn):
            p.shape(outline.box(-210, -26, 420, 52), wood, shade=colour.dark(wood, 0.4), width=7)
            p.shape(outline.ellipse(212, 0, 20, 26), lit.hexed("#b08a5c"), width=6)


def tree(p: pen.Pen, lit: light.Light) -> None:
    bare = lit.weather == "snow"
    trees.tree(p, 640, lit, random.Random(5), far=0, leaf=None if bare else "#6f8a5c")


def door(p: pen.Pen, lit: light.Light) -> None:
    decor.door(p, (290, 580), lit, old=True)


def window(p: pen.Pen, lit: light.Light) -> None:
    """A window by itself; rain runs down it, snow falls behind it."""
    with p.moved(-210, -560):
        furniture.window(p, 420, 500, lit, old=False)
        chance = random.Random(4)
        if lit.weather == "snow":
            for _ in range(50):
                x, y = chance.uniform(10, 410), chance.uniform(10, 490)
                p.fill(outline.ellipse(x, y, 7, 7), (248, 248, 250))
        if lit.weather in ("rain", "thunder"):
            for _ in range(40):
                x, y = chance.uniform(10, 410), chance.uniform(10, 400)
                p.line(outline.straight([(x, y), (x - 6, y + chance.uniform(20, 90))]), 5,
                       paint=(226, 236, 244), alpha=0.7)  # fmt: skip


def bed(p: pen.Pen, lit: light.Light) -> None:
    furniture.bed(p, 620, lit, ward=False)


def desk(p: pen.Pen, lit: light.Light) -> None:
    furniture.desk(p, 560, lit, screen=False)
    with p.moved(-120, -346):
        furniture.teapot(p, lit.hexed("#8fb0ae"))


def table(p: pen.Pen, lit: light.Light) -> None:
    furniture.table(p, 560, 300, lit.hexed("#7a5540"))
    with p.moved(0, -326, scale=1.6):
        furniture.teapot(p, lit.hexed("#c9d2cf"))


def throne(p: pen.Pen, lit: light.Light) -> None:
    """A gilded seat."""
    gold, red = lit.hexed("#c0923f"), lit.hexed("#a0342d")
    p.shape(outline.curve([(-190, -200, 1), (-200, -480), (-130, -560), (0, -620, 1), (130, -560),
                           (200, -480), (190, -200, 1)]), gold,
            shade=colour.dark(gold, 0.35), width=8)  # fmt: skip
    p.shape(outline.curve([(-130, -220, 1), (-140, -450), (0, -520), (140, -450), (130, -220, 1)]),
            red, width=7)  # fmt: skip
    p.ink(outline.ellipse(0, -380, 62, 62), 9, gold)
    p.shape(outline.box(-230, -230, 460, 90), red, shade=colour.dark(red, 0.3), width=8)
    for x in (-250, 200):
        p.shape(outline.box(x, -320, 50, 320), gold, shade=colour.dark(gold, 0.35), width=8)
    p.shape(outline.box(-230, -140, 460, 140), colour.dark(gold, 0.3), width=8)


def screen(p: pen.Pen, lit: light.Light) -> None:
    decor.screen(p, (560, 560), lit, random.Random(6))


def chair(p: pen.Pen, lit: light.Light) -> None:
    furniture.chair(p, 560, lit.hexed("#7a5540"))


def melons(p: pen.Pen, lit: light.Light) -> None:
    """Three great melons among their leaves."""
    green = lit.on((52, 140, 84))
    chance = random.Random(8)
    leafy = colour.dark(colour.mix(green, (40, 108, 92), 0.5), 0.2)
    for x, y, r in ((-200, -150, 150), (210, -140, 140), (0, -110, 190)):
        for _ in range(3):
            spot = (x + chance.uniform(-1.3, 1.3) * r, y + r * chance.uniform(0.3, 0.8))
            crops.leaf(p, *spot, size=r / 54, tone=leafy, chance=chance)
        with p.moved(x, y, turn=chance.uniform(-14, 14)):
            crops.melon(p, r, green, (255, 233, 174))
    for x in (-280, -90, 120, 300):
        tone = colour.pale(leafy, 0.1)
        crops.leaf(p, x, chance.uniform(-10, 10), size=2.2, tone=tone, chance=chance)


def brazier(p: pen.Pen, lit: light.Light) -> None:
    houses.brazier(p, 420, lit)


FIXTURES: dict[str, Callable[[pen.Pen, light.Light], None]] = {
    "fire": fire, "tree": tree, "door": door, "window": window, "bed": bed, "desk": desk,
    "table": table, "throne": throne, "screen": screen, "chair": chair, "melons": melons,
    "brazier": brazier,
}  # fmt: skip
