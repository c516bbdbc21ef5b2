"""Faces: the skin of a head, and all that lies on it.

Local units: the chin lies near y = 100, the crown near -100, the eyes near 0; +-75 is half a face.
`turn` of -1..1 shifts features by their depth, which reads as a turned head.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mangen.engines.animatic import colour, eyes, marks, mien, outline, pen
from mangen.engines.animatic import mouth as mouths

INK = colour.INK
MIENS = mien.MIENS
CHIN = {"child": 92, "youth": 102, "adult": 106, "elder": 106}
#: shape -> its width, how far the cheek stands out, jaw's width and height, chin's width and y
_SHAPES = {
    "oval": (1.0, 0.97, 0.64, 29, 16, 0), "round": (1.05, 1.02, 0.76, 31, 25, -4),
    "square": (1.02, 0.99, 0.8, 25, 26, 1), "long": (0.93, 0.97, 0.68, 31, 18, 8),
    "heart": (1.0, 0.96, 0.6, 35, 14, 1), "diamond": (0.98, 1.05, 0.62, 33, 16, 3),
}  # fmt: skip
#: age -> what it adds to the cheek, to the jaw, and takes from the chin's point
_AGES = {"child": (0.04, 0.12, 8), "youth": (0.0, -0.03, 0), "adult": (0, 0, 0),
         "elder": (-0.02, 0.04, 2)}  # fmt: skip

Box = tuple[float, float, float, float]  #: left, top, right, bottom


def half_width(look: Mapping[str, Any]) -> float:
    shape = _SHAPES.get(look["shape"], _SHAPES["oval"])
    return 75.0 * float(look["face"]) * shape[0]


def chin(look: Mapping[str, Any]) -> float:
    """The y of the chin."""
    shape = _SHAPES.get(look["shape"], _SHAPES["oval"])
    return CHIN[look["age"]] + shape[5] * (0.5 if look["age"] == "child" else 1.0)


def box(look: Mapping[str, Any]) -> Box:
    """The face from the hairline to the chin, without the ears."""
    w = half_width(look) * 1.08
    return -w, -78.0, w, chin(look) + 3


def mouth_at(look: Mapping[str, Any], turn: float) -> tuple[float, float]:
    """The middle of the mouth."""
    return mouths.at(look, turn)


def mouth_box(look: Mapping[str, Any], turn: float) -> Box:
    """All that a moving mouth touches."""
    x, y = mouths.at(look, turn)
    return x - 38, y - 18, x + 38, y + 30


def eyes_box(look: Mapping[str, Any], turn: float) -> Box:
    """All that a blink touches."""
    both = [eyes.place(look, side, turn) for side in (-1, 1)]
    left = min(one.x - one.w for one in both) - 18
    right = max(one.x + one.w for one in both) + 18
    one = both[0]
    return left, one.y - one.h * 1.3 - 14, right, one.y + one.h + 22


def contour(look: Mapping[str, Any], turn: float) -> outline.Points:
    """The outline of the face, without hair; turned, its far cheek is cut in below the eye."""
    _, cheek, jaw, rise, point, _ = _SHAPES.get(look["shape"], _SHAPES["oval"])
    more, wide, blunt = _AGES[look["age"]]
    w, low = half_width(look), chin(look)
    jaw, point = w * (jaw + wide + 0.16 * (look["jaw"] - 0.5)), point + blunt
    right: list[tuple[float, float]] = []
    for side in (1, -1):
        away = max(0.0, side * turn)
        drift = side * turn
        half = [
            (w * 0.66 - 4 * away, -90), (w - 5 * away, -38), (w * (cheek + more) - 9 * away, 8),
            (w * (cheek + more - 0.03) - 2 * away, 36), (jaw + drift * 3, low - rise),
            (point + drift * 5, low - 3),
        ]  # fmt: skip
        if side > 0:
            right = half
        else:
            left = [(-x, y) for x, y in reversed(half)]
    return outline.curve([(turn * 2, -102), *right, *left])


def draw(
    p: pen.Pen,
    look: Mapping[str, Any],
    emotion: str,
    *,
    turn: float,
    speaking: bool = False,
    mouth: int | None = None,
    blink: bool = False,
) -> None:
    """Skin and features of one head; hair and hat come after.

    `mouth` is 0 (closed) to 3 (wide open); None leaves it to the emotion and to `speaking`.
    """
    if mouth is None and speaking:
        mouth = 2
    face = mien.of(emotion)
    skin = colour.of(look["skin"])
    shade = colour.mix(skin, (122, 63, 74), 0.34)
    w = half_width(look)
    _ears(p, look, turn, skin, shade)
    edge = contour(look, turn)
    p.fill(edge, shade)
    with p.clipped(edge):
        p.fill(outline.moved(edge, 13, -9), skin)
        fringe = 46.0 if look["hat"] == "none" else 56.0
        p.fill(outline.ellipse(turn * 10, -66, w + 16, fringe), shade, alpha=0.5)
        _bloom(p, look, face, turn)
    p.ink(edge, 5.0)
    eyes.draw(p, look, face, turn, shade, blink=blink)
    _features(p, look, face, turn, shade, opening=mouth)


def _ears(
    p: pen.Pen, look: Mapping[str, Any], turn: float, skin: colour.Colour, shade: colour.Colour
) -> None:
    w = half_width(look)
    for side in (-1, 1):
        if turn * side > 0.42:
            continue
        x = side * (w + 2) - turn * 7
        p.shape(outline.ellipse(x, 8, 14, 23, turn=side * 6), skin, width=5)
        inner = [(x + side * 5, -5), (x - side * 2, 5), (x + side * 1, 19)]
        p.line(outline.curve(inner, closed=False), 4, paint=shade)
        if look["earrings"]:
            p.line(outline.straight([(x, 28), (x, 38)]), 3, taper=(0, 0))
            p.shape(outline.ellipse(x, 43, 6, 9), colour.of("#e2b64f"), width=3)


def _bloom(p: pen.Pen, look: Mapping[str, Any], face: mien.Mien, turn: float) -> None:
    """Blush on the cheeks, and the pallor of fear under the hair."""
    blush = min(0.75, face.blush + look["ruddy"] + 0.06)
    for side in (-1, 1):
        x = side * 46 * look["face"] + turn * 18
        p.glow(x, 44, 36, (216, 73, 63), alpha=blush, squash=0.68)
        if face.blush > 0.5:
            for k in (-9, 0, 9):
                stroke = outline.straight([(x + k + 4, 38), (x + k - 4, 49)])
                p.line(stroke, 3, paint=(200, 74, 70), taper=(0.3, 0.3))
    if face.gloom:
        for k in range(7):
            x = -48 + k * 16 + turn * 18
            line = outline.straight([(x, -70), (x, -38 + 7 * (k % 2))])
            p.line(line, 3.4, paint=(70, 70, 110), alpha=0.5)


def _features(
    p: pen.Pen, look: Mapping[str, Any], face: mien.Mien, turn: float, shade: colour.Colour,
    *, opening: int | None,
) -> None:  # fmt: skip
    """Nose, mouth, and what lies on the skin or before it."""
    middle, apart, eye, size = eyes.middle(look, turn)
    x, at = mouths.at(look, turn)
    deep = colour.dark(shade, 0.38)
    if look["lines"]:
        marks.lines(p, x, eye, apart + 28, deep)
    marks.spots(p, look, x, at, deep)
    beard = look["beard"] if look["age"] in ("adult", "elder") else "none"
    if beard == "stubble":
        marks.stubble(p, x, at)
    mouths.nose(p, look, turn, shade)
    marks.beard(p, beard, x, at, colour.of(look["hair"]))
    mouths.draw(p, look, face, turn, shade, opening=opening)
    marks.moustache(p, beard, x, at, colour.of(look["hair"]))
    if look["glasses"]:
        marks.glasses(p, apart, eye, size, x=middle, turn=turn)
    if face.tear:
        marks.tears(p, apart, eye, middle)
    if face.sweat:
        marks.sweat(p, half_width(look) - 14 + turn * 8)
    if face.vein:
        marks.vein(p, half_width(look) * 0.62 + turn * 12)
