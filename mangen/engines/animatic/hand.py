"""Hands: at rest, as a fist, open, pointing. Drawn along +x, the thumb at -y."""

from __future__ import annotations

from mangen.engines.animatic import colour, outline, pen
from mangen.engines.animatic.build import Spot
from mangen.engines.animatic.colour import Colour


def draw(
    p: pen.Pen, at: Spot, angle: float, skin: Colour, *, size: float, form: str, flip: bool
) -> None:
    """One hand with its wrist at `at`; `angle` in degrees is the forearm's."""
    over = 180.0 if flip else 0.0
    with p.moved(*at, turn=angle), p.moved(0, 0, scale=size, turn=over, flip=flip):
        shape = {"fist": _fist, "palm": _palm, "point": _point}.get(form, _rest)
        shape(p, skin, colour.dark(skin, 0.16), colour.dark(skin, 0.5))


def _rest(p: pen.Pen, skin: Colour, shade: Colour, line: Colour) -> None:
    knots = [(-14, -15), (6, -19), (24, -17), (42, -9), (49, 1), (44, 10), (22, 18), (-14, 15)]
    p.shape(outline.curve(knots), skin, shade=shade, shift=(3, -5), width=5)
    for x, y in ((25, -5), (24, 5)):
        p.line(outline.curve([(x, y), (x + 20, y + 1)], closed=False), 3, paint=line)
    thumb = [(0, -16), (12, -27), (27, -23), (25, -15), (12, -11)]
    p.shape(outline.curve(thumb), skin, width=4.2)
    p.fill(outline.ellipse(8, -11, 10, 7), skin)


def _fist(p: pen.Pen, skin: Colour, shade: Colour, line: Colour) -> None:
    knots = [(-14, -15), (4, -22), (24, -21), (33, -8), (33, 8), (24, 21), (2, 21), (-14, 15)]
    p.shape(outline.curve(knots), skin, shade=shade, shift=(3, -5), width=5)
    for y in (-9, 1, 11):
        p.line(outline.curve([(18, y), (32, y + 1)], closed=False), 3, paint=line)
    thumb = [(2, -14), (10, -19), (23, -12), (22, -3), (10, -5)]
    p.shape(outline.curve(thumb), skin, width=3.8)


def _fingers(p: pen.Pen, skin: Colour, tips: list[tuple[Spot, Spot]], width: float) -> None:
    limbs = [outline.limb([a, b], [width, width * 0.82]) for a, b in tips]
    ends = [outline.ellipse(*b, width * 0.41, width * 0.41) for _, b in tips]
    for part in (*limbs, *ends):
        p.ink(part, 8.5)
    for part in (*limbs, *ends):
        p.fill(part, skin)


def _palm(p: pen.Pen, skin: Colour, shade: Colour, line: Colour) -> None:
    tips = [((20, -14), (47, -26)), ((25, -5), (56, -8)), ((25, 6), (54, 9)), ((20, 15), (45, 24)),
            ((2, -14), (17, -38))]  # fmt: skip
    base = [(-14, -14), (6, -20), (25, -18), (31, 0), (25, 19), (4, 20), (-14, 14)]
    p.ink(outline.curve(base), 8.5)
    for tip in tips:
        _fingers(p, skin, [tip], 14)
    p.shape(outline.curve(base), skin, shade=shade, shift=(3, -5), width=0)
    p.line(outline.curve([(2, -8), (12, 2), (8, 14)], closed=False), 3, paint=line)


def _point(p: pen.Pen, skin: Colour, shade: Colour, line: Colour) -> None:
    _fingers(p, skin, [((20, -12), (58, -14))], 14)
    _fist(p, skin, shade, line)
