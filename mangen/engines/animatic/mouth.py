"""Mouths and noses, in the face's units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mangen.engines.animatic import colour, mien, outline, pen
from mangen.engines.animatic.colour import Colour

INK = colour.INK
_Y = {"child": 66.0, "youth": 73.0, "adult": 76.0, "elder": 77.0}
_NOSE_Y = {"child": 41.0, "youth": 43.0, "adult": 45.0, "elder": 47.0}
_CLOSED: dict[str, list[tuple[float, float]]] = {
    "flat": [(-16, 0), (-5, 1), (0, 2.5), (6, 1), (16, -1)],
    "frown": [(-17, 7), (-6, -1), (5, -2), (17, 7)],
    "grit": [(-19, 5), (-6, -2), (8, -2), (19, 5)],
    "wavy": [(-17, 2), (-8, -5), (0, 2), (8, -4), (17, 3)],
    "small": [(-9, 0), (0, 3), (9, 0)],
    "slack": [(-13, 4), (0, 0), (13, 4)],
    "grin": [(-22, -5), (-9, 5), (0, 8), (9, 5), (22, -5)],
    "o": [(-9, 1), (0, -1), (9, 1)],
}
#: what is open wide: half width, height above and below the line, rise of the corners
_OPEN = {"grin": (25.0, -2.0, 20.0, 7.0), "o": (11.0, 9.0, 19.0, 0.0),
         "grit": (20.0, 8.0, 14.0, -3.0), "frown": (16.0, 9.0, 15.0, -4.0),
         "wavy": (16.0, 9.0, 15.0, -2.0), "small": (10.0, 5.0, 13.0, 1.0)}  # fmt: skip
_TALKING = (16.0, 6.0, 19.0, 1.0)
_SHARES = (0.0, 0.38, 0.68, 1.0)
_HOLE: Colour = (94, 31, 38)
#: emotions whose mouth stands open by itself
_AJAR = {"grin": 3, "o": 3, "grit": 2}


def at(look: Mapping[str, Any], turn: float) -> tuple[float, float]:
    """The middle of the mouth."""
    return turn * 25, _Y[look["age"]]


def draw(
    p: pen.Pen, look: Mapping[str, Any], face: mien.Mien, turn: float, shade: Colour,
    *, opening: int | None,
) -> None:  # fmt: skip
    """The mouth, `opening` 0 to 3 or None for what the emotion does with it."""
    x, y = at(look, turn)
    wide = look["mouth"] * (0.86 if look["age"] == "child" else 1.0) * (1 - 0.1 * abs(turn))
    lip = colour.mix(colour.of(look["skin"]), (178, 44, 58), 0.6 if look["female"] else 0.16)
    if opening is None:
        opening = _AJAR.get(face.mouth, 0)
    share = _SHARES[min(3, max(0, opening))]
    if share:
        _open(p, look, _OPEN.get(face.mouth, _TALKING), (x, y, wide, share), lip=lip,
              kind=face.mouth)  # fmt: skip
        return
    line = [(x + dx * wide, y + dy) for dx, dy in _CLOSED.get(face.mouth, _CLOSED["flat"])]
    if look["female"] and look["age"] != "elder" and face.mouth in ("flat", "small", "grin"):
        low = y + (9 if face.mouth == "grin" else 4)
        p.fill(outline.ellipse(x, low, 9 * wide, 4.5), lip, alpha=0.85)
        p.fill(outline.ellipse(x, low - 5, 6 * wide, 2.6), lip, alpha=0.6)
    p.line(outline.curve(line, closed=False), 6, paint=colour.mix(INK, lip, 0.2), taper=(0.2, 0.2))
    if face.mouth == "grin":
        for k in (-1, 1):
            end = (x + k * 22 * wide, y - 5)
            dimple = [(end[0] - k * 2, end[1] - 5), (end[0] + k * 3, end[1] + 4)]
            p.line(outline.straight(dimple), 3.6, paint=shade)
    elif not look["female"]:
        chin = [(x - 9, y + 12), (x, y + 14), (x + 9, y + 12)]
        p.line(outline.curve(chin, closed=False), 3.8, paint=shade)


def _open(
    p: pen.Pen, look: Mapping[str, Any], form: tuple[float, float, float, float],
    where: tuple[float, float, float, float], *, lip: Colour, kind: str,
) -> None:  # fmt: skip
    x, y, factor, share = where
    wide, up, down, rise = form
    wide *= factor * (1.12 - 0.12 * share)
    up, down = up * share, max(5.0, down * share)
    corner = y - rise + 1
    hole = outline.curve(
        [(x - wide, corner, 1), (x - wide * 0.4, y - up), (x + wide * 0.4, y - up),
         (x + wide, corner, 1), (x + wide * 0.66, y + down * 0.74), (x, y + down),
         (x - wide * 0.66, y + down * 0.74)]
    )  # fmt: skip
    p.fill(hole, _HOLE)
    with p.clipped(hole):
        if kind == "grit":
            p.fill(outline.box(x - wide, y - 12, 2 * wide, 40), (250, 246, 240))
            for k in range(-2, 3):
                gap = outline.straight([(x + k * 9, y - 10), (x + k * 9, y + 24)])
                p.line(gap, 2.4, paint=(150, 130, 130), taper=(0, 0))
            p.line(outline.straight([(x - wide, y + down * 0.4), (x + wide, y + down * 0.4)]), 2.6,
                   paint=(150, 130, 130), taper=(0, 0))  # fmt: skip
        else:
            p.fill(outline.ellipse(x, y + down, wide * 0.72, down * 0.5), (206, 92, 94))
            if kind != "o":
                p.fill(outline.box(x - wide, y - up - 8, 2 * wide, 8 + down * 0.3), (250, 246, 240))
    p.ink(hole, 4.8, colour.mix(INK, lip, 0.2 if look["female"] else 0.0))


def nose(p: pen.Pen, look: Mapping[str, Any], turn: float, shade: Colour) -> None:
    """The nose, told by its shadow's side."""
    x, y, d = turn * 31, _NOSE_Y[look["age"]], 1 if turn >= 0 else -1
    k, tone = look["nose"], colour.mix(shade, INK, 0.5)
    form = look["nose_form"]
    if look["age"] == "child":
        form = "button"
    lines: dict[str, list[list[tuple[float, float]]]] = {
        "button": [[(x - 6, y), (x, y + 4), (x + 7, y - 1)]],
        "small": [[(x + 1 * d, y - 8), (x + 7 * d * k, y), (x - 2 * d, y + 3)]],
        "straight": [[(x - 3 * d, y - 30), (x + 5 * d, y - 12), (x + 9 * d * k, y - 1),
                      (x - 1 * d, y + 4)]],
        "broad": [[(x - 2 * d, y - 18), (x + 4 * d, y - 6)],
                  [(x - 14 * k, y - 3), (x - 10 * k, y + 3), (x, y + 4), (x + 10 * k, y + 3),
                   (x + 14 * k, y - 3)]],
        "hook": [[(x - 4 * d, y - 28), (x + 8 * d * k, y - 16), (x + 12 * d * k, y),
                  (x + 4 * d, y + 6), (x - 8 * d, y + 1)]],
    }  # fmt: skip
    for line in lines.get(form, lines["small"]):
        p.line(outline.curve(line, closed=False), 4.6, paint=tone)
