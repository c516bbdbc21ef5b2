"""The cast: where the people of a panel stand, how large, and how light falls on them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import cv2
import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import colour, figure, outline, pen, stage, wardrobe

DEPTH = 0.75
MOST = 4  #: more people than these would only hide each other
#: no chin lies below this share of the panel's height: there the subtitles stand
CHIN_MAX = 0.69

_PLACES: dict[int, tuple[float, ...]] = {
    1: (0.5,), 2: (0.315, 0.685), 3: (0.25, 0.5, 0.75), 4: (0.2, 0.4, 0.6, 0.8),
}  # fmt: skip
_CROWD = {1: 1.0, 2: 0.86, 3: 0.74, 4: 0.64}
#: framing -> (size in a tall frame, in a wide one, where adult eyes lie)
_FRAMINGS: dict[str, tuple[float, float, float]] = {
    "establish": (0.5, 0.42, 0.0),
    "medium": (1.16, 0.84, 0.405),
    "close": (2.0, 1.36, 0.43),
    "action": (0.9, 0.66, 0.44),
    "insert": (1.16, 0.84, 0.405),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Standing:
    """One person placed: feet at (x, y) units, `size` units a body unit."""

    look: Mapping[str, Any]
    act: figure.Act
    x: float
    y: float
    size: float


def placed(
    s: stage.Stage, figures: Sequence[protocol.Figure], framing: str, foot: float
) -> list[Standing]:
    """Everyone's place, size and pose, the further back first; `foot` is where one can stand."""
    shown = figures[:MOST]
    tall, wide, eyes = _FRAMINGS.get(framing, _FRAMINGS["medium"])
    share = min(1.0, max(0.0, (s.h / s.w - 0.5625) / (1.7778 - 0.5625)))
    people = []
    for k, one in enumerate(shown):
        look = wardrobe.complete(one.features, one.sheet)
        size = (wide + (tall - wide) * share) * _CROWD[len(shown)]
        if framing == "close" and len(shown) > 1:
            size *= 0.92
        x = _PLACES[len(shown)][k]
        head = -figure.head_centre(look)
        if framing == "establish":
            y = foot
            x = 0.5 + (x - 0.5) * 0.72 + (0.1 if len(shown) == 1 and s.seed % 2 else -0.06)
        else:
            if look["age"] == "child" and len(shown) == 1:
                size *= 1.22
            y = s.h * eyes + 850 * size
        y -= max(0.0, y - head * size - (s.h * CHIN_MAX - 118 * size))
        look_at = 0.0 if len(shown) == 1 else (0.5 - x) * 1.9
        if len(shown) == 1:
            look_at = (0.0, 0.35, -0.35)[s.seed % 3]
        act = figure.Act(
            emotion=one.emotion,
            pose=figure.pose_of(one.emotion, s.seed + k),
            turn=max(-0.8, min(0.8, look_at)),
            speaking=one.speaking,
        )
        if framing == "action":
            act = dataclasses.replace(act, pose="dash", lean=9.0 if look_at >= 0 else -9.0)
        people.append(Standing(look=look, act=act, x=x * s.w, y=y, size=size))
    return sorted(people, key=lambda p: p.y)


def sheet(s: stage.Stage, people: Sequence[Standing]) -> protocol.Image:
    """All people on one premultiplied sheet, in the scene's light."""
    p = s.pen()
    for one in people:
        with p.moved(one.x, one.y, scale=one.size):
            p.fill(outline.ellipse(6, 0, 150, 20), colour.dark(s.light.tint, 0.85), alpha=0.3)
            figure.draw(p, one.look, one.act)
    return lit(p.sheet(wobble=1.1 * s.unit, seed=s.seed % 97), s)


def lit(image: protocol.Image, s: stage.Stage) -> protocol.Image:
    """Tint a premultiplied sheet, shade its dark side and draw a rim of light on the other."""
    alpha = image[..., 3].astype(np.float32) / 255
    tint = np.array(colour.mix((255, 255, 255), s.light.tint, 0.7), np.float32) / 255
    small = cv2.resize(alpha, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
    soft = cv2.GaussianBlur(small, (0, 0), 6.5 * s.unit)
    slope = cv2.Sobel(soft, cv2.CV_32F, 1, 0, ksize=3) - 0.5 * cv2.Sobel(
        soft, cv2.CV_32F, 0, 1, ksize=3
    )
    shade = cv2.resize(np.clip(slope * 1.6 - 0.06, 0, 0.24), alpha.shape[::-1])[..., None]
    rgb = image[..., :3] * tint * (1 - shade * np.array([0.9, 0.85, 0.6], np.float32))
    shift = np.array([[1, 0, -4.0 * s.unit], [0, 1, 2.4 * s.unit]], np.float32)
    moved = cv2.warpAffine(alpha, shift, alpha.shape[::-1])
    rim = cv2.GaussianBlur(np.clip(alpha - moved, 0, 1), (0, 0), 0.8)[..., None]
    strength = 0.75 if s.light.dim else 0.4
    rgb = rgb * (1 - rim * strength) + np.array(s.light.rim, np.float32) * rim * strength
    out = image.copy()
    out[..., :3] = np.minimum(np.clip(rgb + 0.5, 0, 255), image[..., 3:4])
    return out


def eyes(s: stage.Stage, one: Standing) -> protocol.Image:
    """A slanted strip across the panel with nothing but somebody's eyes: an insert."""
    p = s.pen()
    y = s.h * 0.42
    half = min(170.0, s.h * 0.17)
    strip = outline.straight([(-20, y - half + 40), (s.w + 20, y - half - 40), (s.w + 20,
        y + half - 40),
                              (-20, y + half + 40)])  # fmt: skip
    p.fill(strip, colour.dark(s.light.haze, 0.45))
    with p.clipped(strip):
        k = s.w / 900 * 3.3 if s.w < s.h else s.w / 1600 * 3.6
        with p.moved(s.w / 2, y - figure.head_centre(one.look) * k, scale=k):
            figure.draw(p, one.look, dataclasses.replace(one.act, pose="stand", lean=0.0))
    image = lit(p.sheet(wobble=1.1 * s.unit, seed=s.seed % 97), s)
    frame = s.pen()
    for edge in (strip[:2], strip[2:][::-1]):
        frame.line(edge, 26, paint=colour.PAPER, taper=(0, 0))
        frame.line(outline.moved(edge, 0, 13 if edge[0][1] < y else -13), 6, taper=(0, 0))
    return pen.over(image, frame.sheet())
