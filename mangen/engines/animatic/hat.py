"""Hats, in the face's units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mangen.engines.animatic import colour, face, outline, pen
from mangen.engines.animatic.colour import Colour

_BLACK: Colour = (40, 38, 46)
_STRAW: Colour = (214, 178, 104)
_GOLD: Colour = (226, 178, 74)


def draw(p: pen.Pen, look: Mapping[str, Any], turn: float) -> None:
    """Draw the look's hat; `w` is half the face, `g` how far the crown leans with the turn."""
    shape = _SHAPES.get(look["hat"])
    if shape:
        tone = colour.of(look["hat_colour"])
        shape(p, face.half_width(look), turn * 10, tone)


def _felt(p: pen.Pen, w: float, g: float, tone: Colour) -> None:
    shade = colour.dark(tone, 0.3)
    dome = [(-w - 12, -52, 1), (-w + 4, -120), (g, -164), (w - 4, -120), (w + 12, -52, 1)]
    p.shape(outline.curve(dome), tone, shade=shade)
    gloss = [(-w * 0.66 + g, -96), (-w * 0.4 + g, -134), (-8 + g, -148)]
    p.line(outline.curve(gloss, closed=False), 9, paint=colour.pale(tone, 0.25), alpha=0.6)
    brim = [
        (-w - 24, -36, 1),
        (-w - 8, -80),
        (g, -104),
        (w + 8, -80),
        (w + 24, -36, 1),
        (g, -58),
    ]
    p.shape(outline.curve(brim), colour.pale(tone, 0.09), shade=shade, shift=(4, -9))


def _straw(p: pen.Pen, w: float, g: float, _: Colour) -> None:
    cone = [
        (-w - 78, -42, 1),
        (-w * 0.3 + g, -130),
        (g, -166, 1),
        (w * 0.3 + g, -130),
        (w + 78, -42, 1),
        (g, -26),
    ]
    p.shape(outline.curve(cone), _STRAW, shade=colour.dark(_STRAW, 0.28))
    for k in range(1, 5):
        y = -150 + 24 * k
        ring = [(-w * 0.36 * k + g, y), (g, y + 12 + 2 * k), (w * 0.36 * k + g, y)]
        p.line(outline.curve(ring, closed=False), 3.4, paint=colour.dark(_STRAW, 0.4))


def _dome(p: pen.Pen, w: float, g: float, tone: Colour) -> None:
    knots = [
        (-w - 6, -58, 1),
        (-w + 4, -118),
        (g, -148),
        (w - 4, -118),
        (w + 6, -58, 1),
        (g, -70),
    ]
    p.shape(outline.curve(knots), tone, shade=colour.dark(tone, 0.3))


def _cap(p: pen.Pen, w: float, g: float, tone: Colour) -> None:
    _dome(p, w, g, tone)
    peak = [(-w * 0.8 + g * 2, -62, 1), (g * 2, -82), (w * 0.8 + g * 2, -62, 1), (g * 2, -38)]
    p.shape(outline.curve(peak), colour.dark(tone, 0.3), width=5)
    p.shape(outline.ellipse(g, -148, 8, 6), tone, width=4)


def _bowler(p: pen.Pen, w: float, g: float, tone: Colour) -> None:
    _dome(p, w, g, tone)
    reach = w + 34
    brim = [(-reach + g, -62, 1), (g, -80), (reach + g, -62, 1), (g, -42)]
    p.shape(outline.curve(brim), colour.dark(tone, 0.3), width=5)


def _headscarf(p: pen.Pen, w: float, g: float, tone: Colour) -> None:
    knots = [
        (-w - 8, -30, 1),
        (-w - 4, -100),
        (g, -136),
        (w + 4, -100),
        (w + 8, -30, 1),
        (g, -74),
    ]
    p.shape(outline.curve(knots), tone, shade=colour.dark(tone, 0.28))
    tail = [(w + 2, -44, 1), (w + 40, -20), (w + 20, 10, 1), (w + 6, -20)]
    p.shape(outline.curve(tail), tone)


def _official(p: pen.Pen, w: float, g: float, _: Colour) -> None:
    half = [(w + 4, -58, 1), (w, -108), (w * 0.5 + g, -128), (w * 0.4 + g, -160)]
    other = [(-w * 0.4 + g, -160), (-w * 0.5 + g, -128), (-w, -108), (-w - 4, -58, 1)]
    p.shape(outline.curve([*half, *other, (g, -74)]), _BLACK, shade=colour.dark(_BLACK, 0.5))
    for side in (-1, 1):
        wing = outline.ellipse(side * (w + 62), -92, 54, 12, turn=side * 5)
        p.shape(wing, _BLACK)


def _crown(p: pen.Pen, w: float, g: float, _: Colour) -> None:
    knots: list[tuple[float, ...]] = [(-w * 0.8 + g, -92, 1)]
    for k in range(5):
        x = (-0.8 + 0.4 * k) * w + g
        knots.append((x, -150 - (18 if k == 2 else 0), 1))
        if k < 4:
            knots.append((x + 0.2 * w, -118, 1))
    rim = [(w * 0.8 + g, -92, 1), (g, -104)]
    p.shape(outline.curve([*knots, *rim]), _GOLD, shade=colour.dark(_GOLD, 0.25))
    p.shape(outline.ellipse(g, -124, 9, 11), (190, 54, 48), width=3)


def _beret(p: pen.Pen, w: float, g: float, tone: Colour) -> None:
    knots = [(-w - 8, -66, 1), (-w - 28, -100), (-w * 0.4 + g, -150), (w * 0.7 + g, -132),
             (w + 6, -72, 1), (g, -82)]  # fmt: skip
    p.shape(outline.curve(knots), tone, shade=colour.dark(tone, 0.3))
    stem = outline.straight([(-w * 0.1 + g, -144), (-w * 0.06 + g, -160)])
    p.line(stem, 8, taper=(0, 0))


_SHAPES: dict[str, Callable[[pen.Pen, float, float, Colour], None]] = {
    "felt": _felt,
    "straw": _straw,
    "cap": _cap,
    "bowler": _bowler,
    "scarf": _headscarf,
    "official": _official,
    "crown": _crown,
    "beret": _beret,
}
