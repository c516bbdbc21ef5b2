"""The cast: the people of a composition drawn, lit, and their mouths and eyes drawn again."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import cv2
import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import colour, figure, outline, pen, stage
from mangen.engines.animatic.composition import Standing

DEPTH = 0.75
BACK_DEPTH = 0.98  #: of who stands between the camera and the others
MOUTHS = 4
_SEEN = 7  #: differences in a channel by no more are chance
Box = tuple[int, int, int, int]  #: left, top, right, bottom in pixels
Boxed = Callable[[Mapping[str, Any], figure.Act], tuple[float, float, float, float]]


class Drawing:
    """The people of one panel on one sheet, and parts of it drawn again with other faces."""

    def __init__(self, s: stage.Stage, people: Sequence[Standing], tilt: float = 0.0) -> None:
        self.s, self.people, self.tilt = s, people, tilt
        self._waves = pen.waves(s.height, s.width, 1.1 * s.unit, s.seed % 97)
        p = s.pen()
        self._draw(p, people)
        flat = pen.displaced(p.sheet(), self._waves)
        self._light = Lighting(flat[..., 3], s)
        self.image = self._light.on(flat)

    def _draw(self, p: pen.Pen, people: Sequence[Standing]) -> None:
        w, h = self.s.w / 2, self.s.h / 2
        with p.moved(w, h, turn=self.tilt), p.moved(-w, -h):
            for one in people:
                if one.region is None:
                    _person(p, one, self.s)
                else:
                    with p.clipped(one.region):
                        _person(p, one, self.s)

    def faces(self, layer: int) -> tuple[protocol.Face, ...]:
        """Every face on the sheet, with patches for lids, and for lips of who speaks."""
        return tuple(self._face(k, one, layer) for k, one in enumerate(self.people))

    def _face(self, number: int, one: Standing, layer: int) -> protocol.Face:
        lips, lids = self._box(one, figure.mouth_box), self._box(one, figure.eyes_box)
        mouths = range(MOUTHS if one.speaking else 0)
        return protocol.Face(
            name=one.name,
            layer=layer,
            box=self._box(one, figure.face_box, 0),
            mouth=self._spot(one, figure.mouth_at(one.look, one.act)),
            mouths=tuple(self._patch(lips, number, dataclasses.replace(one.act, mouth=k))
                         for k in mouths),
            blink=self._patch(lids, number, dataclasses.replace(one.act, blink=True)),
        )  # fmt: skip

    def _patch(self, box: Box, number: int, act: figure.Act) -> protocol.Patch:
        """What differs in a box when one of the people acts otherwise; clear elsewhere."""
        left, top, right, bottom = box
        if right <= left or bottom <= top:
            return protocol.Patch(image=np.zeros((1, 1, 4), np.uint8), x=0, y=0)
        room = math.ceil(5 * self.s.unit) + 2
        x0, y0 = max(0, left - room), max(0, top - room)
        x1, y1 = min(self.s.width, right + room), min(self.s.height, bottom + room)
        p = pen.Pen(x1 - x0, y1 - y0, self.s.unit, over=stage.OVER)
        with p.moved(-x0 / self.s.unit, -y0 / self.s.unit):
            # who stands behind is hidden by the face; who stands before may hide it
            changed = dataclasses.replace(self.people[number], act=act)
            self._draw(p, [changed, *self.people[number + 1 :]])
        part = np.s_[y0:y1, x0:x1]
        waves = self._waves[0][part] - np.float32(x0), self._waves[1][part] - np.float32(y0)
        drawn = self._light.on(pen.displaced(p.sheet(), waves), part)
        inner = np.s_[top - y0 : bottom - y0, left - x0 : right - x0]
        new, old = drawn[inner], self.image[top:bottom, left:right]
        other = cv2.absdiff(new, old).max(2) > _SEEN
        grown = cv2.dilate(other.astype(np.uint8), np.ones((3, 3), np.uint8))
        straight = pen.straight(new)
        straight[grown == 0] = 0
        return protocol.Patch(image=straight, x=left, y=top)

    def _spot(self, one: Standing, at: tuple[float, float]) -> tuple[int, int]:
        x, y = self._tilted(one.x + at[0] * one.size, one.y + at[1] * one.size)
        return round(x * self.s.unit), round(y * self.s.unit)

    def _tilted(self, x: float, y: float) -> tuple[float, float]:
        c, n = math.cos(math.radians(self.tilt)), math.sin(math.radians(self.tilt))
        x, y = x - self.s.w / 2, y - self.s.h / 2
        return c * x - n * y + self.s.w / 2, n * x + c * y + self.s.h / 2

    def _box(self, one: Standing, of: Boxed, room: float = 5) -> Box:
        """A box of a person in pixels of the panel, `room` units larger, inside its region."""
        left, top, right, bottom = of(one.look, one.act)
        spots = [
            self._tilted(one.x + x * one.size, one.y + y * one.size)
            for x in (left, right)
            for y in (top, bottom)
        ]
        xs, ys = [x for x, _ in spots], [y for _, y in spots]
        u = self.s.unit
        edges = (
            math.floor((min(xs) - room) * u), math.floor((min(ys) - room) * u),
            math.ceil((max(xs) + room) * u), math.ceil((max(ys) + room) * u),
        )  # fmt: skip
        return (
            min(self.s.width, max(0, edges[0])), min(self.s.height, max(0, edges[1])),
            min(self.s.width, max(0, edges[2])), min(self.s.height, max(0, edges[3])),
        )  # fmt: skip


class Lighting:
    """What the scene's light does to a sheet of people: tint, a dark side, a bright rim."""

    def __init__(self, alpha: protocol.Image, s: stage.Stage) -> None:
        cover = alpha.astype(np.float32) / 255
        tint = colour.mix((255, 255, 255), s.light.tint, 0.7)
        self._tint = np.array(tint, np.float32) / 255
        small = cv2.resize(cover, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
        soft = cv2.GaussianBlur(small, (0, 0), 6.5 * s.unit)
        slope = cv2.Sobel(soft, cv2.CV_32F, 1, 0, ksize=3) - 0.5 * cv2.Sobel(
            soft, cv2.CV_32F, 0, 1, ksize=3
        )
        self._shade = cv2.resize(np.clip(slope * 1.6 - 0.06, 0, 0.24), cover.shape[::-1])
        shift = np.array([[1, 0, -4.0 * s.unit], [0, 1, 2.4 * s.unit]], np.float32)
        moved = cv2.warpAffine(cover, shift, cover.shape[::-1])
        rim = cv2.GaussianBlur(np.clip(cover - moved, 0, 1), (0, 0), 0.8)
        self._rim = rim * np.float32(0.75 if s.light.dim else 0.4)
        self._bright = np.array(s.light.rim, np.float32)

    def on(self, image: protocol.Image, part: tuple[slice, slice] = np.s_[:, :]) -> protocol.Image:
        """A premultiplied sheet, or the part of one that `image` is, in the light."""
        shade, rim = self._shade[part][..., None], self._rim[part][..., None]
        rgb = image[..., :3] * self._tint * (1 - shade * np.array([0.9, 0.85, 0.6], np.float32))
        rgb = rgb * (1 - rim) + self._bright * rim
        out = image.copy()
        out[..., :3] = np.minimum(np.clip(rgb + 0.5, 0, 255), image[..., 3:4])
        return out


def _person(p: pen.Pen, one: Standing, s: stage.Stage) -> None:
    with p.moved(one.x, one.y, scale=one.size):
        p.fill(outline.ellipse(6, 0, 150, 20), colour.dark(s.light.tint, 0.85), alpha=0.3)
        figure.draw(p, one.look, one.act)


def back(s: stage.Stage, one: Standing) -> protocol.Image:
    """Somebody near seen from behind, dark and out of focus: hair, nape and cloth."""
    p = s.pen(over=1)
    hair = colour.mix(s.light.on(colour.of(one.look["hair"])), (92, 104, 140), 0.16)
    cloth = colour.dark(s.light.on(colour.of(one.look["main"])), 0.24)
    nape = colour.dark(s.light.on(colour.of(one.look["skin"])), 0.34)
    seat = figure.seat(one.look, one.act)
    with p.moved(one.x, one.y, scale=one.size):
        figure.draw(p, one.look, one.act)
    alpha = p.sheet()[..., 3].astype(np.float32) / 255
    bands = s.pen(over=1)
    bands.fill(outline.box(-9, -9, s.w + 18, s.h + 18), cloth)
    with bands.moved(one.x, one.y, scale=one.size), bands.moved(seat.x, seat.y, scale=seat.scale):
        bands.fill(outline.box(-400, -600, 800, 706), nape)
        bands.fill(outline.curve([(-110, -300), (110, -300), (104, 40), (60, 84), (0, 96),
                                  (-60, 84), (-104, 40)]), hair)  # fmt: skip
        bands.fill(outline.box(-400, -600, 800, 640), hair)
        for x in (-82, -58, -34, -10, 14, 38, 62, 84):
            strand = outline.curve([(x * 0.3, -116), (x * 0.98, -40), (x, 74)], closed=False)
            bands.line(strand, 5, paint=colour.dark(hair, 0.5), alpha=0.6)
        shine = outline.curve([(-78, -52), (-30, -78), (34, -80), (80, -54)], closed=False)
        bands.line(shine, 20, paint=colour.pale(hair, 0.3), alpha=0.5)
        if one.look.get("hair_style") == "long":
            bands.fill(outline.box(-104, 0, 208, 330), hair)
    rgb = bands.sheet()[..., :3].astype(np.float32)
    shift = np.array([[1, 0, -9.0 * s.unit], [0, 1, 6.0 * s.unit]], np.float32)
    rim = np.clip(alpha - cv2.warpAffine(alpha, shift, alpha.shape[::-1]), 0, 1)[..., None]
    rgb += (np.array(s.light.rim, np.float32) - rgb) * rim * 0.7
    sheet = np.dstack([rgb * alpha[..., None], alpha * 255])
    soft = cv2.GaussianBlur(sheet, (0, 0), 3.4 * s.unit)
    return np.asarray(np.clip(soft + 0.5, 0, 255), np.uint8)


def eyes(s: stage.Stage, one: Standing) -> protocol.Image:
    """A slanted strip across the panel with nothing but somebody's eyes: an insert."""
    p = s.pen()
    y = s.h * 0.42
    half = min(170.0, s.h * 0.17)
    strip = outline.straight(
        [(-20, y - half + 40), (s.w + 20, y - half - 40), (s.w + 20, y + half - 40),
         (-20, y + half + 40)]
    )  # fmt: skip
    p.fill(strip, colour.dark(s.light.haze, 0.45))
    act = dataclasses.replace(one.act, pose="stand", lean=0.0, gesture="", held="")
    seat = figure.seat(one.look, act)
    with p.clipped(strip):
        k = s.w / 900 * 3.3 if s.w < s.h else s.w / 1600 * 3.6
        with p.moved(s.w / 2 - seat.x * k, y - seat.y * k, scale=k):
            figure.draw(p, one.look, act)
    flat = p.sheet(wobble=1.1 * s.unit, seed=s.seed % 97)
    image = Lighting(flat[..., 3], s).on(flat)
    frame = s.pen()
    for edge in (strip[:2], strip[2:][::-1]):
        frame.line(edge, 26, paint=colour.PAPER, taper=(0, 0))
        frame.line(outline.moved(edge, 0, 13 if edge[0][1] < y else -13), 6, taper=(0, 0))
    return pen.over(image, frame.sheet())
