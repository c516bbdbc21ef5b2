"""Hair, in the face's units: what hangs behind the head and what lies on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mangen.engines.animatic import colour, face, hat, outline, pen

_CAP = {
    # fringe knots from the left temple to the right, as shares of half the face and units of y
    "short": [(-0.82, -48), (-0.5, -42), (0.05, -72), (0.28, -54), (0.82, -52)],
    "tousled": [(-0.84, -40), (-0.55, -30), (-0.36, -52), (-0.1, -30), (0.16, -54), (0.45, -34),
                (0.84, -44)],
    "side": [(-0.82, -46), (-0.42, -78), (0.2, -66), (0.84, -40)],
    "brush": [(-0.8, -56), (-0.4, -70), (0.0, -73), (0.4, -70), (0.8, -56)],
    "cropped": [(-0.8, -56), (-0.4, -70), (0.0, -74), (0.4, -70), (0.8, -56)],
    "long": [(-0.86, -36), (-0.5, -38), (-0.08, -62), (0.14, -84), (0.4, -60), (0.86, -38)],
    "waves": [(-0.86, -30), (-0.5, -44), (-0.3, -82), (0.3, -50), (0.86, -30)],
    "bob": [(-0.86, -34), (-0.45, -29), (0.0, -31), (0.45, -29), (0.86, -34)],
    "ponytail": [(-0.82, -42), (-0.4, -40), (0.1, -72), (0.4, -48), (0.84, -48)],
    "braids": [(-0.82, -50), (-0.4, -58), (0.0, -82), (0.4, -58), (0.82, -50)],
    "bun": [(-0.8, -54), (-0.45, -68), (0.0, -90), (0.45, -68), (0.8, -54)],
    "topknot": [(-0.78, -60), (-0.4, -80), (0.0, -88), (0.4, -80), (0.78, -60)],
    "long_topknot": [(-0.84, -48), (-0.45, -70), (0.04, -90), (0.4, -66), (0.84, -48)],
    "tufts": [(-0.8, -52), (-0.4, -46), (0.0, -44), (0.4, -46), (0.8, -52)],
    "balding": [],
    "bald": [],
}  # fmt: skip
_CROWN = {"brush": -136, "tousled": -136, "short": -128, "cropped": -116, "bob": -130, "side": -130}
_FLOWING = frozenset({"long", "waves", "long_topknot"})
_SIDES = {"bob": 74, "long": 40, "waves": 46, "ponytail": 6, "braids": 2, "tufts": -4}


#: what a style becomes under a hat
_FLATTENED = {"tufts": "cropped", "topknot": "cropped", "long_topknot": "long", "bun": "bob",
              "brush": "cropped"}  # fmt: skip


def _style(look: Mapping[str, Any]) -> str:
    style: str = look["hair_style"]
    return style if look["hat"] == "none" else _FLATTENED.get(style, style)


def behind(p: pen.Pen, look: Mapping[str, Any], turn: float) -> None:
    """Draw what the head and shoulders cover."""
    w, style, g = face.half_width(look), _style(look), -turn * 10
    hair = colour.of(look["hair"])
    back = colour.dark(hair, 0.28)
    if style in _FLOWING:
        _flowing(p, w, g, back, wave=14 if style == "waves" else 0)
    elif style == "bob":
        knots = [(w + 12, -40), (w + 18, 50), (w + 4, 92, 1)]
        p.shape(outline.curve([(0, -124), *knots, (0, 100), *_mirrored(knots)]), back)
    elif style == "ponytail":
        _ponytail(p, turn, back, colour.of(look["trim"]))
    elif style == "bun":
        p.shape(outline.ellipse(g, -128, 44, 36), hair, shade=back, width=5)
        gloss = outline.ellipse(g, -130, 28, 20, start=190, end=330)
        p.line(gloss, 5, paint=colour.pale(hair, 0.25))
    if style in ("topknot", "long_topknot"):
        p.shape(outline.ellipse(g, -136, 24, 28), hair, shade=back, width=5)
    for side in (-1, 1):
        if style == "tufts":
            p.shape(outline.ellipse(side * w * 0.82 + g, -112, 25, 24), hair, shade=back)
        elif style == "braids":
            p.shape(outline.ellipse(side * (w + 4) + g, 44, 14, 20), back, width=4)


def _mirrored(knots: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
    return [(-x, y, *corner) for x, y, *corner in reversed(knots)]


def _flowing(p: pen.Pen, w: float, g: float, tone: colour.Colour, *, wave: float) -> None:
    """Hair down to the shoulder blades."""
    knots = [
        (w + 10, -60),
        (w + 20, 20),
        (w + 18 + wave, 110),
        (w + 22, 190),
        (w + 8 + wave, 262, 1),
    ]
    fall = outline.curve([(0, -126), *knots, (0, 276), *_mirrored(knots)])
    p.shape(outline.moved(fall, g, 0), tone, width=5)
    for k in (-0.8, -0.35, 0.35, 0.8):
        strand = [(k * w, 60), (k * (w + 14), 150), (k * (w + 8), 250)]
        p.line(outline.curve(strand, closed=False), 4, paint=colour.dark(tone, 0.35))


def _ponytail(p: pen.Pen, turn: float, tone: colour.Colour, ribbon: colour.Colour) -> None:
    """A tail on the side the face turns away from."""
    side = -1 if turn > 0.2 or -0.2 <= turn < 0 else 1
    x = -turn * 50 + 24 * side
    knots = [
        (0, -100, 1),
        (78, -112),
        (118, -20),
        (96, 92),
        (70, 160, 1),
        (58, 60),
        (30, -40),
    ]
    p.shape(outline.curve([(x + side * dx, *rest) for dx, *rest in knots]), tone)
    p.fill(outline.ellipse(x + side * 34, -104, 14, 12), ribbon)


def front(p: pen.Pen, look: Mapping[str, Any], turn: float) -> None:
    """Draw what lies on the head, the hat included."""
    w, style, g = face.half_width(look), _style(look), turn * 10
    hair = colour.of(look["hair"])
    if style == "balding":
        for side in (-1, 1):
            p.shape(outline.curve([(side * (w + 4), 6, 1), (side * (w + 14), -40), (side * w, -72),
                                   (side * (w - 18), -50), (side * (w - 10), -20)]), hair,
                                       width=4)  # fmt: skip
    elif style != "bald":
        _cap(p, style, w, g, hair)
    if style in ("bun", "topknot", "long_topknot"):
        _knot(p, look, g)
    if style == "braids":
        for side in (-1, 1):
            for k in range(5):
                x, y = side * (w + 8 + 3 * k), 62 + 31 * k
                p.shape(outline.ellipse(x, y, 15 - k, 19, turn=side * -14), hair,
                        shade=colour.dark(hair, 0.3), width=4)  # fmt: skip
            p.shape(outline.ellipse(side * (w + 22), 208, 11, 9), colour.of(look["trim"]), width=4)
    hat.draw(p, look, turn)


def _cap(p: pen.Pen, style: str, w: float, g: float, hair: colour.Colour) -> None:
    top, low = _CROWN.get(style, -126), _SIDES.get(style, -2)
    fringe = [(k * w + g, y) for k, y in _CAP[style]]
    out = w + (14 if style in ("long", "waves", "bob") else 5)
    knots: list[tuple[float, ...]] = [
        (-out, low, 1),
        (-out - 6, -46),
        (-w * 0.78 + g * 0.5, top + 26),
    ]
    if style == "brush":
        knots += [(x * w + g, top - 4 + (7 if k % 2 else 0), 1)
                  for k, x in enumerate((-0.72, -0.5, -0.3, -0.08, 0.14, 0.34, 0.54,
                      0.74))]  # fmt: skip
    elif style == "tousled":
        knots += [(-0.4 * w + g, top + 2, 1), (-0.25 * w + g, top + 8), (0.02 * w + g, top - 8, 1),
                  (0.2 * w + g, top + 6), (0.5 * w + g, top + 4, 1)]  # fmt: skip
    else:
        knots += [(g, top)]
    knots += [(w * 0.78 + g * 0.5, top + 26), (out + 6, -46), (out, low, 1)]
    inner = max(-30.0, low * 0.5 - 26)
    knots += [(w - 7, inner), *[(x, y, 1) for x, y in reversed(fringe)], (-w + 7, inner)]
    cap = outline.curve(knots)
    p.shape(cap, hair, shade=colour.dark(hair, 0.32), shift=(8, -9), width=5)
    with p.clipped(cap):
        gloss = outline.curve([(-w * 0.62 + g, -82), (-w * 0.2 + g, -104), (w * 0.3 + g, -105),
                               (w * 0.66 + g, -84)], closed=False)  # fmt: skip
        p.line(gloss, 9, paint=colour.pale(hair, 0.3), alpha=0.55)
        for k in (-0.5, -0.2, 0.15, 0.48):
            p.line(outline.curve([(k * w * 0.5 + g, top + 12), (k * w + g, -78), (k * w * 1.15 + g,
                -52)],
                                 closed=False), 3.2, paint=colour.dark(hair, 0.5),
                                     alpha=0.6)  # fmt: skip


def _knot(p: pen.Pen, look: Mapping[str, Any], g: float) -> None:
    trim = colour.of(look["trim"])
    if look["hair_style"] != "bun":
        p.shape(outline.curve([(-22 - g, -104), (-24 - g, -120, 1), (-12 - g, -126), (-g, -134),
                               (12 - g, -126), (24 - g, -120, 1), (22 - g, -104)]), trim,
                                   width=4)  # fmt: skip
        p.line(outline.straight([(-44 - g, -116), (46 - g, -120)]), 6, paint=colour.pale(trim, 0.4))
    if look["hairpin"]:
        p.line(
            outline.straight([(-64 - g, -116), (80 - g, -142)]), 8, paint=colour.INK, taper=(0, 0)
        )
        p.line(outline.straight([(-64 - g, -116), (80 - g, -142)]), 5, paint=(224, 184, 84),
               taper=(0, 0))  # fmt: skip
        for k, tone in enumerate(((197, 72, 61), (240, 214, 150), (197, 72, 61))):
            p.shape(outline.ellipse(84 - g, -142 + k * 15, 8 - k, 8 - k), tone, width=3)
