"""Eyes and brows, in the face's units."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from mangen.engines.animatic import colour, mien, outline, pen

INK = colour.INK
#: age -> half the distance between the eyes, their y, their size
_AGES = {
    "child": (33.5, 14.0, 1.26), "youth": (34.5, 7.0, 1.2), "adult": (35.0, 3.5, 1.1),
    "elder": (34.5, 4.0, 0.9),
}  # fmt: skip
#: form -> half width, half height, how far the outer corner rises, flatness of the upper lid
_FORMS = {
    "almond": (19.5, 15.0, 2.0, 0.86), "round": (18.0, 18.0, 0.0, 0.95),
    "phoenix": (22.0, 12.5, 7.0, 0.82), "droopy": (19.5, 14.5, -4.0, 0.88),
    "sharp": (21.0, 12.0, 4.0, 0.74), "wide": (20.5, 17.0, 2.0, 0.9),
}  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """One eye on a turned head."""

    side: int
    x: float
    y: float
    w: float  #: half width
    h: float  #: half height of the open eye
    size: float
    lift: float
    flat: float


def middle(look: Mapping[str, Any], turn: float) -> tuple[float, float, float, float]:
    """The x between the eyes, half their distance, their y and size."""
    apart, y, size = _AGES[look["age"]]
    return turn * 23, apart * look.get("apart", 1.0), y, size


def place(look: Mapping[str, Any], side: int, turn: float) -> Place:
    """Where one eye lies; the eye on the far side of a turned head is narrower."""
    x, apart, y, size = middle(look, turn)
    w, h, lift, flat = _FORMS.get(look["eye"], _FORMS["almond"])
    size *= look["eyes"] * (1.08 if look["female"] and look["age"] != "child" else 1.0)
    narrow = 1 - 0.26 * max(0.0, side * turn)
    x += side * apart * (1 - 0.1 * max(0.0, side * turn))
    return Place(side, x, y, w * size * narrow, h * size, size, lift, flat)


def draw(
    p: pen.Pen, look: Mapping[str, Any], face: mien.Mien, turn: float, shade: colour.Colour,
    *, blink: bool,
) -> None:  # fmt: skip
    """Both eyes with their brows."""
    for side in (-1, 1):
        at = place(look, side, turn)
        if blink or (face.mouth == "grin" and look["smile_eyes"]):
            _shut(p, look, at, up=not blink or (face.mouth == "grin" and look["smile_eyes"]))
        else:
            _open(p, look, face, at, turn=turn, shade=shade)
        _brow(p, look, face, at)


def _shut(p: pen.Pen, look: Mapping[str, Any], at: Place, *, up: bool) -> None:
    bow = -10 * at.size if up else 9 * at.size
    y = at.y + 4
    lid = outline.curve([(at.x - at.w, y), (at.x, y + bow), (at.x + at.w, y)], closed=False)
    p.line(lid, 7.5, taper=(0.2, 0.2))
    if look["female"]:
        end = (at.x + at.side * (at.w + 9), y - 6 if up else y + 4)
        p.line(outline.straight([(at.x + at.side * at.w, y - 1), end]), 4.5)


def _open(
    p: pen.Pen, look: Mapping[str, Any], face: mien.Mien, at: Place, *, turn: float,
    shade: colour.Colour,
) -> None:  # fmt: skip
    s, x, y, w = at.side, at.x, at.y, at.w
    h = at.h * (1 - 0.66 * max(0.0, face.lid)) * (1.24 if face.lid < 0 else 1)
    sag = 5.0 if look["age"] == "elder" else 0.0
    near, far = y + 3.0, y + 2.0 - at.lift + sag
    slant, low = face.slant, h * 0.72 * (1 - face.cheek)
    upper = [
        (x - s * w, near, 1),
        (x - s * w * 0.45, y - h * at.flat + max(0.0, slant)),
        (x + s * w * 0.42, y - h * at.flat - at.lift * 0.35 - min(0.0, slant)),
        (x + s * w, far, 1),
    ]
    lower = [(x + s * w * 0.45, y + low - at.lift * 0.3), (x - s * w * 0.4, y + low)]
    opening = outline.curve([*upper, *lower])
    p.fill(opening, (252, 247, 238))
    iris = colour.of(look["iris"])
    r = 14.0 * at.size * (0.78 if face.lid < 0 else 1)
    ix, iy = x + turn * 6 + face.look[0], y + face.look[1] - 1
    with p.clipped(opening):
        p.fill(outline.ellipse(ix, iy, r * 0.94, r * 1.1), colour.dark(iris, 0.3))
        p.fill(outline.ellipse(ix, iy + 1, r * 0.78, r * 0.94), iris)
        p.fill(outline.ellipse(ix, iy + r * 0.45, r * 0.6, r * 0.5), colour.pale(iris, 0.3))
        p.fill(outline.ellipse(ix, iy + r * 0.72, r * 0.5, r * 0.22), colour.pale(iris, 0.6))
        p.fill(outline.ellipse(ix, iy, r * 0.4, r * 0.48), (14, 10, 14))
        lid = [(px, py + h * 0.34, *rest) for px, py, *rest in upper]
        band = [*upper, *reversed(lid)]
        p.fill(outline.straight(band), shade, alpha=0.34)
        p.fill(outline.ellipse(ix + r * 0.34, iy - r * 0.42, r * 0.33, r * 0.37), (255, 255, 255))
        p.fill(outline.ellipse(ix - r * 0.36, iy + r * 0.42, r * 0.15, r * 0.15), (255, 255, 255))
    _lids(p, look, at, upper, low=low, shade=shade)
    if look["age"] == "elder" or face.lid > 0.5:
        bag = [(x - w + 4, y + low + 6), (x, y + low + 13), (x + w - 4, y + low + 6)]
        p.line(outline.curve(bag, closed=False), 4, paint=colour.dark(shade, 0.2))


def _lids(
    p: pen.Pen, look: Mapping[str, Any], at: Place, upper: list[tuple[float, ...]], *, low: float,
    shade: colour.Colour,
) -> None:  # fmt: skip
    """The line of the lashes, the fold over it and the lower lid."""
    s, (x_in, y_in, *_), (x_out, y_out, *_) = at.side, upper[0], upper[-1]
    lash = [(x_in - s * 2, y_in), *[k[:2] for k in upper[1:-1]], (x_out + s * 3, y_out)]
    p.line(outline.curve(lash, closed=False), 9.5 if look["female"] else 7.5, taper=(0.45, 0.1))
    if look["female"]:
        for k, (dx, dy) in enumerate(((11, -9), (10, -3))):
            start = (x_out - s * 2, y_out - 2 + 3 * k)
            tip = (x_out + s * dx, y_out + dy)
            p.line(outline.straight([start, tip]), 4.6 - k, taper=(0, 0.6))
    if look["eye"] in ("round", "wide", "almond", "droopy"):
        fold = [(kx, ky - 7 * at.size) for kx, ky, *_ in upper[1:-1]]
        fold.append((x_out + s * 2, y_out - 8 * at.size))
        p.line(outline.curve(fold, closed=False), 3.2, paint=colour.mix(shade, INK, 0.3))
    under = [(at.x - at.w * 0.5, at.y + low), (at.x + at.w * 0.55, at.y + low - at.lift * 0.3)]
    p.line(outline.curve(under, closed=False), 3, paint=colour.mix(shade, INK, 0.5))


#: form -> y of the inner end, middle and outer end; share of the width; taper of the outer end
_BROWS = {
    "straight": (0.0, -3.0, 1.0, 1.0, 0.5), "arch": (3.0, -9.0, 4.0, 0.8, 0.75),
    "slant": (6.0, -5.0, -8.0, 1.0, 0.7), "soft": (-2.0, -4.0, 5.0, 0.72, 0.7),
    "bushy": (1.0, -6.0, 3.0, 1.35, 0.35), "short": (0.0, -4.0, 0.0, 1.2, 0.4),
}  # fmt: skip


def _brow(p: pen.Pen, look: Mapping[str, Any], face: mien.Mien, at: Place) -> None:
    start, peak, end, thick, taper = _BROWS.get(look["brow_form"], _BROWS["straight"])
    reach = (21 if look["brow_form"] == "short" else 26) * at.size * at.w / (19.5 * at.size)
    y = at.y - 15 - 15 * at.size - look["brow_turn"] * 0.5
    inner = (at.x - at.side * (reach * 0.74 + face.pinch), y + start + face.brow_in)
    outer = (at.x + at.side * reach, y + end + face.brow_out)
    middle_ = (
        at.x + at.side * reach * 0.2, y + peak + (face.brow_in + face.brow_out) / 2,
    )  # fmt: skip
    hair = colour.of(look["hair"])
    tone = colour.mix(hair, INK, 0.45)
    width = min(12.5, look["brow"] * thick * (0.82 if look["female"] else 1.12))
    p.line(
        outline.curve([inner, middle_, outer], closed=False), width, paint=tone, taper=(0.1, taper)
    )
    if look["nick"] and at.side > 0:
        x, y = (middle_[0] + outer[0]) / 2, (middle_[1] + outer[1]) / 2
        cut = outline.straight([(x - 3, y - 9), (x + 4, y + 9)])
        p.line(cut, 4.6, paint=colour.of(look["skin"]), taper=(0, 0))
