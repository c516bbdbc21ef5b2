"""Faces: eyes, brows, nose and mouth of a head, and the eight emotions on it.

Local units: the chin lies near y = 100, the crown near -100, the eyes near 0; +-75 is half a face.
`turn` of -1..1 shifts features by their depth, which reads as a turned head.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from mangen.engines.animatic import colour, marks, outline, pen

INK = colour.INK


@dataclasses.dataclass(frozen=True, slots=True)
class Mien:
    """An emotion as numbers: y shifts in units, openness and shares in 0..1."""

    brow_in: float = 0
    brow_out: float = 0
    lid: float = 0.12  #: how far the upper lid hangs; below 0 the eyes are wide
    mouth: str = "flat"
    blush: float = 0.0
    look: tuple[float, float] = (0, 0)
    tear: bool = False
    sweat: bool = False
    closed: bool = False
    gloom: bool = False


MIENS: dict[str, Mien] = {
    "calm": Mien(),
    "happy": Mien(-4, -5, 0.3, "grin", 0.3, closed=True),
    "sad": Mien(-12, 7, 0.38, "frown", 0.05, (0, 4), tear=True),
    "angry": Mien(12, -9, 0.28, "grit", 0.14),
    "surprised": Mien(-15, -14, -0.18, "o", 0.1),
    "afraid": Mien(-14, 6, -0.1, "wavy", 0.0, sweat=True, gloom=True),
    "shy": Mien(-7, 2, 0.34, "small", 0.6, (5, 5)),
    "tired": Mien(-4, 5, 0.62, "slack", 0.0, (0, 3), gloom=True),
}

CHIN = {"child": 92, "youth": 102, "adult": 106, "elder": 106}
_EYES = {
    "child": (33, 15, 1.24), "youth": (34, 7, 1.16), "adult": (34, 3, 1.0), "elder": (34, 3, 0.88),
}  # fmt: skip
_NOSE = {"child": 40, "youth": 42, "adult": 44, "elder": 46}
_MOUTH = {"child": 64, "youth": 72, "adult": 75, "elder": 76}


def half_width(look: Mapping[str, Any]) -> float:
    return 75.0 * float(look["face"])


def contour(look: Mapping[str, Any], turn: float) -> outline.Points:
    """The outline of the face, without hair."""
    w, chin = half_width(look), CHIN[look["age"]]
    jaw = 22 + 30 * look["jaw"]
    shift = turn * 9
    return outline.curve(
        [
            (-w, -36), (-w + 1, 14), (-w + 8 + shift * 0.4, chin - 50), (-jaw + shift, chin - 10),
            (shift, chin), (jaw + shift, chin - 10), (w - 8 + shift * 0.4, chin - 50), (w - 1, 14),
            (w, -36), (w * 0.66, -88), (0, -102), (-w * 0.66, -88),
        ]
    )  # fmt: skip


Box = tuple[float, float, float, float]  #: left, top, right, bottom


def box(look: Mapping[str, Any]) -> Box:
    """The face from the hairline to the chin, without the ears."""
    w = half_width(look)
    return -w, -78.0, w, float(CHIN[look["age"]])


def mouth_at(look: Mapping[str, Any], turn: float) -> tuple[float, float]:
    """The middle of the mouth."""
    return turn * 25, float(_MOUTH[look["age"]])


def mouth_box(look: Mapping[str, Any], turn: float) -> Box:
    """All that a moving mouth touches."""
    x, y = mouth_at(look, turn)
    return x - 34, y - 18, x + 34, y + 30


def eyes_box(look: Mapping[str, Any], turn: float) -> Box:
    """All that a blink touches."""
    apart, y, size = _EYES[look["age"]]
    reach = apart + 36 * size * look["eyes"]
    return turn * 23 - reach, y - 30 * size * look["eyes"], turn * 23 + reach, y + 34 * size


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
    mien = MIENS.get(emotion, MIENS["calm"])
    skin = colour.of(look["skin"])
    shade = colour.mix(skin, (122, 63, 74), 0.34)
    w = half_width(look)
    for side in (-1, 1):
        if turn * side < 0.7:
            x = side * (w + 1) - turn * 10
            p.shape(outline.ellipse(x, 8, 14, 23), skin, width=5)
            p.line(outline.curve([(x - 3, -4), (x + 4, 6), (x, 20)], closed=False), 4, paint=shade)
            if look["earrings"]:
                p.shape(outline.ellipse(x, 40, 6, 9), colour.of("#e2b64f"), width=3)
    face = contour(look, turn)
    p.fill(face, shade)
    with p.clipped(face):
        p.fill(outline.moved(face, 14, -9), skin)
        p.fill(outline.ellipse(turn * 10, -66, w + 16, 50), shade, alpha=0.5)  # under the hair
        blush = min(0.7, mien.blush + look["ruddy"])
        if blush:
            for side in (-1, 1):
                p.glow(side * 46 + turn * 20, 44, 36, (216, 73, 63), alpha=blush, squash=0.68)
        if mien.gloom:
            for k in range(6):
                x = -44 + k * 17 + turn * 18
                p.line(outline.straight([(x, -62), (x, -36 + 6 * (k % 2))]), 3.4, paint=(70, 70,
                    110),
                       alpha=0.5)  # fmt: skip
    p.ink(face, 5.5)
    for side in (-1, 1):
        _eye(p, look, mien, side, turn=turn, shade=shade, blink=blink)
        _brow(p, look, mien, side, turn)
    _nose(p, look, turn, shade)
    _mouth(p, look, mien, turn, skin=skin, shade=shade, mouth=mouth)
    _marks(p, look, mien, turn, shade)


def _eye(
    p: pen.Pen,
    look: Mapping[str, Any],
    mien: Mien,
    side: int,
    *,
    turn: float,
    shade: colour.Colour,
    blink: bool,
) -> None:
    apart, y, size = _EYES[look["age"]]
    size *= look["eyes"]
    narrow = 1 - 0.22 * max(0.0, side * turn)
    x = side * apart + turn * 23
    w = 19 * size * narrow
    if blink and not mien.closed:
        lid = outline.curve([(x - w, y + 2), (x, y + 10 * size), (x + w, y + 2)], closed=False)
        p.line(lid, 7, taper=(0.25, 0.25))
        return
    if mien.closed:
        arc = outline.curve([(x - w, y + 5), (x, y - 9 * size), (x + w, y + 5)], closed=False)
        p.line(arc, 7.5, taper=(0.25, 0.25))
        if look["female"]:
            p.line(outline.straight([(x + side * w, y + 3), (x + side * (w + 9), y - 5)]), 4.5)
        return
    hang = max(0.0, mien.lid)
    h = 16 * size * (1 - 0.62 * hang) * (1.22 if mien.lid < 0 else 1)
    sag = 4 if look["age"] == "elder" else 0
    left, right = y + 3 + (sag if side < 0 else 0), y + 3 + (sag if side > 0 else 0)
    opening = outline.curve(
        [(x - w, left, 1), (x - w * 0.45, y - h * 0.86), (x + w * 0.4, y - h * 0.9),
         (x + w, right, 1), (x + w * 0.45, y + h * 0.72), (x - w * 0.4, y + h * 0.72)]
    )  # fmt: skip
    p.fill(opening, (252, 247, 238))
    iris = colour.of(look["iris"])
    r = 13 * size * (0.82 if mien.lid < 0 else 1)
    ix, iy = x + turn * 7 + mien.look[0], y + mien.look[1] - 1
    with p.clipped(opening):
        p.fill(outline.ellipse(ix, iy, r * 0.92, r * 1.06), colour.dark(iris, 0.1))
        p.fill(outline.ellipse(ix, iy + r * 0.42, r * 0.66, r * 0.52), colour.pale(iris, 0.3))
        p.fill(outline.ellipse(ix, iy, r * 0.46, r * 0.52), (14, 10, 14))
        p.fill(outline.box(x - w - 4, y - h - 6, 2 * w + 8, h * 0.55 + 5), shade, alpha=0.3)
        p.fill(outline.ellipse(ix + r * 0.34, iy - r * 0.42, r * 0.3, r * 0.32), (255, 255, 255))
        p.fill(outline.ellipse(ix - r * 0.36, iy + r * 0.4, r * 0.15, r * 0.15), (255, 255, 255))
    lash = outline.curve(
        [(x - w - 3, left + 1), (x - w * 0.4, y - h * 0.9), (x + w * 0.4, y - h * 0.92),
         (x + w + 3, right + 1)], closed=False,
    )  # fmt: skip
    p.line(
        lash,
        9 if look["female"] else 7,
        taper=(0.4 if side > 0 else 0.12, 0.12 if side > 0 else 0.4),
    )
    if look["female"]:
        end = right if side > 0 else left
        p.line(outline.straight([(x + side * w, end), (x + side * (w + 10), end - 8)]), 4.5)
    p.line(outline.curve([(x - w * 0.5, y + h * 0.78), (x + w * 0.5, y + h * 0.78)], closed=False),
        3,
           paint=colour.mix(shade, INK, 0.5))  # fmt: skip
    if look["age"] == "elder" or mien.lid > 0.5:
        bag = outline.curve(
            [(x - w + 3, y + h * 0.7 + 5), (x, y + h * 0.7 + 12), (x + w - 3, y + h * 0.7 + 5)],
            closed=False,
        )
        p.line(bag, 4, paint=colour.dark(shade, 0.2))


def _brow(p: pen.Pen, look: Mapping[str, Any], mien: Mien, side: int, turn: float) -> None:
    apart, y, size = _EYES[look["age"]]
    x = side * apart + turn * 23
    reach = 25 * size * (1 - 0.2 * max(0.0, side * turn))
    y = y - 31 * size - look["brow_turn"] * 0.6
    inner = (x - side * reach * 0.72, y + mien.brow_in)
    outer = (x + side * reach, y + mien.brow_out + 3 + look["brow_turn"] * 0.5)
    middle = ((inner[0] + outer[0]) / 2, (inner[1] + outer[1]) / 2 - 6)
    hair = colour.of(look["hair"])
    tone = colour.dark(hair, 0.25) if look["hat"] == "none" else colour.mix(hair, INK, 0.5)
    p.line(outline.curve([inner, middle, outer], closed=False), look["brow"] * 1.15, paint=tone,
           taper=(0.12, 0.6))  # fmt: skip


def _nose(p: pen.Pen, look: Mapping[str, Any], turn: float, shade: colour.Colour) -> None:
    x, y, d = turn * 31, _NOSE[look["age"]], 1 if turn >= 0 else -1
    size = look["nose"]
    tone = colour.mix(shade, INK, 0.5)
    if look["age"] == "child" or look["female"]:
        p.line(outline.curve([(x, y - 5), (x + 6 * d * size, y), (x - 2 * d, y + 3)],
            closed=False), 4,
               paint=tone)  # fmt: skip
        return
    p.line(
        outline.curve([(x - 2 * d, y - 22), (x + 8 * d * size, y - 2), (x + 1 * d, y + 4),
                       (x - 8 * d, y + 1)], closed=False), 4.6, paint=tone,
    )  # fmt: skip


def _mouth(
    p: pen.Pen,
    look: Mapping[str, Any],
    mien: Mien,
    turn: float,
    *,
    skin: colour.Colour,
    shade: colour.Colour,
    mouth: int | None,
) -> None:
    x, y = turn * 25, _MOUTH[look["age"]]
    lip = colour.mix(skin, (176, 48, 58), 0.62 if look["female"] else 0.18)
    shapes: dict[str, list[tuple[float, float]]] = {
        "flat": [(-15, 0), (0, 2), (15, -1)],
        "frown": [(-16, 6), (0, -4), (16, 6)],
        "grit": [(-18, 4), (-6, -2), (8, -1), (18, 5)],
        "wavy": [(-16, 2), (-8, -4), (0, 2), (8, -4), (16, 2)],
        "small": [(-8, 0), (0, 3), (8, 0)],
        "slack": [(-13, 4), (0, 1), (13, 3)],
        "grin": [(-20, -4), (0, 8), (20, -4)],
        "o": [(-9, 1), (0, -1), (9, 1)],
    }
    if mouth is None:
        mouth = {"o": 3, "grin": 3}.get(mien.mouth, 0)
    if mouth:
        wide, top, deep = {"o": (11.0, 8.0, 19.0), "grin": (23.0, 4.0, 19.0)}.get(
            mien.mouth, (15.0, 5.0, 19.0)
        )
        if mien.mouth in ("frown", "wavy", "grit"):
            wide, top = 16, 8
        k = (0.0, 0.4, 0.7, 1.0)[min(3, mouth)]
        wide, top, deep = wide * (1.16 - 0.16 * k), top * k, deep * k
        hole = outline.curve(
            [(x - wide, y - 2, 1), (x, y - top + 4 if mien.mouth == "grin" else y - top),
             (x + wide, y - 2, 1), (x + wide * 0.62, y + deep * 0.75), (x, y + deep),
             (x - wide * 0.62, y + deep * 0.75)]
        )  # fmt: skip
        p.fill(hole, (94, 31, 38))
        with p.clipped(hole):
            p.fill(outline.ellipse(x, y + deep, wide * 0.75, deep * 0.5), (204, 92, 92))
            if mien.mouth != "o":
                p.fill(outline.box(x - wide, y - 8, 2 * wide, 10), (250, 246, 240))
        p.ink(hole, 4.5)
        return
    knots = [(x + dx, y + dy) for dx, dy in shapes[mien.mouth]]
    if look["female"] and mien.mouth in ("flat", "small"):
        p.fill(outline.ellipse(x, y + 4, 10, 5), lip, alpha=0.8)
    p.line(
        outline.curve(knots, closed=False), 6, paint=colour.mix(INK, lip, 0.22), taper=(0.2, 0.2)
    )
    if mien.mouth == "grit":
        p.line(outline.straight([(x - 24, y - 2), (x - 20, y + 10)]), 3.5, paint=shade)
    elif not look["female"]:
        p.line(outline.curve([(x - 8, y + 12), (x, y + 14), (x + 8, y + 12)], closed=False), 3.6,
               paint=shade)  # fmt: skip


def _marks(
    p: pen.Pen, look: Mapping[str, Any], mien: Mien, turn: float, shade: colour.Colour
) -> None:
    apart, eye, size = _EYES[look["age"]]
    x, mouth, middle = turn * 25, _MOUTH[look["age"]], turn * 23
    deep = colour.dark(shade, 0.22)
    if look["lines"]:
        marks.lines(p, x, eye, apart + 27, deep)
    marks.spots(p, look, x, mouth, deep)
    marks.beard(p, look["beard"], x, mouth, colour.of(look["hair"]))
    if look["glasses"]:
        marks.glasses(p, apart, eye, size, middle)
    if mien.tear:
        marks.tears(p, apart, eye, middle)
    if mien.sweat:
        marks.sweat(p, half_width(look) - 12 + turn * 8)
