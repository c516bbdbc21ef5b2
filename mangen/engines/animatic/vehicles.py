"""Vehicles, seen from the side, their wheels on the origin."""

from __future__ import annotations

import math
from collections.abc import Callable

from mangen.engines.animatic import boat, colour, light, outline, pen
from mangen.engines.animatic.colour import Colour

_INK = 7


def _wheel(p: pen.Pen, x: float, r: float, tyre: Colour, hub: Colour) -> None:
    p.shape(outline.ellipse(x, -r, r, r), tyre, width=_INK)
    p.shape(outline.ellipse(x, -r, r * 0.52, r * 0.52), hub, width=5)


def car(p: pen.Pen, lit: light.Light) -> None:
    """A saloon car, about 700 units long; its lamps burn in the dark."""
    paint, glass = lit.hexed("#a8403a"), lit.hexed("#a9c3cc")
    p.fill(outline.ellipse(0, 0, 370, 22), (14, 12, 22), alpha=0.4)
    if lit.dim:
        p.glow(400, -130, 260, (255, 236, 180), alpha=0.7)
    p.shape(outline.curve([(-350, -60, 1), (-356, -150), (-300, -180), (-200, -190), (-130, -290),
                           (90, -296), (190, -196), (320, -176), (352, -130), (350, -60, 1)]),
                           paint,
            shade=colour.dark(paint, 0.34), shift=(0, -46), width=_INK)  # fmt: skip
    for knots in (((-168, -196), (-116, -270), (-20, -274), (-20, -196)),
                  ((4, -196), (4, -274), (80, -272), (150, -196))):  # fmt: skip
        p.shape(outline.straight(knots), (255, 220, 150) if lit.dim else glass, width=6)
    p.line(
        outline.straight([(-8, -190), (-8, -70)]), 5, paint=colour.dark(paint, 0.5), taper=(0, 0)
    )
    for x in (-60, 50):
        p.line(outline.straight([(x, -168), (x + 34, -168)]), 8, paint=lit.hexed("#d9dde0"),
               taper=(0, 0))  # fmt: skip
    p.shape(outline.ellipse(334, -134, 17, 20), (255, 240, 196), width=5)
    p.shape(outline.box(-356, -150, 20, 34), (226, 84, 70), width=5)
    for x in (-210, 210):
        _wheel(p, x, 66, lit.hexed("#2f2d34"), lit.hexed("#b9bdc2"))


def bicycle(p: pen.Pen, lit: light.Light) -> None:
    """A bicycle on its stand, about 520 units long."""
    steel, black = lit.hexed("#3f6a70"), lit.hexed("#2f2d34")
    for x in (-170, 170):
        p.ink(outline.ellipse(x, -120, 118, 118), 17, black)
        p.ink(outline.ellipse(x, -120, 104, 104), 5, lit.hexed("#b9bdc2"))
        for k in range(8):
            a = math.tau * k / 8
            p.line(outline.straight([(x, -120), (x + math.cos(a) * 104,
                -120 + math.sin(a) * 104)]), 3,
                   paint=lit.hexed("#9aa0a6"), taper=(0, 0))  # fmt: skip
    frame = ((-170, -120), (-60, -300), (110, -300), (0, -120), (-170, -120)), (
        (-76, -330), (0, -120)), ((100, -360), (170, -120))  # fmt: skip
    for line in frame:
        p.line(outline.straight(line), 24, taper=(0, 0))
        p.line(outline.straight(line), 13, paint=steel, taper=(0, 0))
    p.shape(outline.curve([(-130, -344), (-110, -366), (-40, -358), (-30, -342)]), black, width=6)
    bar = outline.curve([(60, -390), (110, -376), (130, -400), (96, -420)], closed=False)
    p.line(bar, 16, taper=(0, 0))
    p.shape(outline.ellipse(0, -120, 30, 30), lit.hexed("#b9bdc2"), width=6)
    basket = outline.straight([(130, -372), (240, -372), (222, -280), (146, -280)])
    p.shape(basket, lit.hexed("#b08a52"), width=6)


def train(p: pen.Pen, lit: light.Light) -> None:
    """A steam engine with a carriage, about 900 units long."""
    black, red, green = lit.hexed("#33343c"), lit.hexed("#a8403a"), lit.hexed("#4c6a5d")
    p.fill(outline.box(-470, -14, 940, 14), lit.hexed("#6d6660"))
    for k, (x, y, r) in enumerate(
        ((230, -420, 46), (160, -480, 64), (60, -520, 84), (-70, -540, 96))
    ):
        p.fill(outline.ellipse(x, y, r, r * 0.72), (236, 234, 230), alpha=0.8 - 0.15 * k)
    p.shape(outline.box(-460, -250, 360, 200), green, shade=colour.dark(green, 0.3), width=_INK)
    p.shape(outline.box(-474, -272, 388, 26), colour.dark(green, 0.3), width=_INK)
    for k in range(4):
        pane = outline.box(-440 + 84 * k, -220, 60, 70)
        p.shape(pane, (255, 220, 150) if lit.dim else lit.hexed("#a9c3cc"), width=5)
    p.shape(outline.box(-70, -300, 130, 250), red, shade=colour.dark(red, 0.3), width=_INK)
    p.shape(outline.box(-40, -270, 74, 84), (255, 220, 150) if lit.dim else lit.hexed("#a9c3cc"),
            width=5)  # fmt: skip
    p.shape(outline.box(-86, -322, 164, 26), black, width=_INK)
    p.shape(outline.curve([(60, -220, 1), (330, -220, 1), (366, -150), (330, -80, 1), (60, -80,
        1)]),
            black, shade=colour.dark(black, 0.4), width=_INK)  # fmt: skip
    p.shape(
        outline.straight([(230, -220), (216, -340), (290, -340), (276, -220)]), black, width=_INK
    )
    p.shape(outline.straight([(350, -60), (430, -20), (330, -20)]), red, width=_INK)
    if lit.dim:
        p.glow(380, -170, 260, (255, 236, 180), alpha=0.8)
    p.shape(outline.ellipse(364, -170, 22, 24), (255, 240, 196), width=5)
    for x, r in ((-400, 34), (-180, 34), (-20, 46), (110, 46), (220, 46), (300, 34)):
        _wheel(p, x, r, black, red)


def wupeng(p: pen.Pen, lit: light.Light) -> None:
    """A black-awninged boat, about 700 units long."""
    with p.moved(0, -50):
        boat.covered(p, 680, lit)


VEHICLES: dict[str, Callable[[pen.Pen, light.Light], None]] = {
    "car": car, "bicycle": bicycle, "train": train, "boat": wupeng,
}  # fmt: skip
