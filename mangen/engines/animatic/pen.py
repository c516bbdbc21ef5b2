"""The pen: fills, inks and clips outlines on a premultiplied RGBA sheet, finer than it ends.

OpenCV blends an anti-aliased opaque colour linearly into all four channels, which on a
premultiplied sheet is exactly source-over.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import cv2
import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import colour, noise, outline

_SHIFT = 4


class Pen:
    """A transparent sheet of width x height pixels, drawn `over` times finer.

    `scale` is pixels a unit; `moved` nests further transforms. Ink widths are in local units.
    """

    def __init__(self, width: int, height: int, scale: float = 1.0, *, over: int = 2) -> None:
        self.width, self.height, self._over = width, height, over
        self.image: protocol.Image = np.zeros((height * over, width * over, 4), np.uint8)
        self._matrix = np.array([[scale * over, 0, 0], [0, scale * over, 0], [0, 0, 1]], float)

    @contextlib.contextmanager
    def moved(
        self, x: float, y: float, *, scale: float = 1.0, turn: float = 0.0, flip: bool = False
    ) -> Iterator[None]:
        """Draw around another origin; `turn` in degrees clockwise."""
        before = self._matrix
        c, s = math.cos(math.radians(turn)) * scale, math.sin(math.radians(turn)) * scale
        side = -1 if flip else 1
        self._matrix = before @ np.array([[c * side, -s, x], [s * side, c, y], [0, 0, 1]])
        try:
            yield
        finally:
            self._matrix = before

    def _place(self, points: outline.Points) -> outline.Points:
        placed: outline.Points = points @ self._matrix[:2, :2].T + self._matrix[:2, 2]
        return placed

    def _fixed(self, points: outline.Points) -> np.ndarray:
        return np.round((self._place(points) - 0.5) * (1 << _SHIFT)).astype(np.int32)

    def fill(self, points: outline.Points, paint: colour.Colour, *, alpha: float = 1.0) -> None:
        """Fill an outline."""
        if alpha >= 1:
            cv2.fillPoly(self.image, [self._fixed(points)], (*paint, 255), cv2.LINE_AA, _SHIFT)
            return
        found = self._mask(points)
        if found is not None:
            mask, region = found
            self._blend(region, mask, paint, alpha)

    def veil(self, points: outline.Points, paint: colour.Colour, *, alpha: float) -> None:
        """Put a translucent outline in the place of what was there: much faster than a blend."""
        tone = [round(part * alpha) for part in (*paint, 255)]
        cv2.fillPoly(self.image, [self._fixed(points)], tone, cv2.LINE_AA, _SHIFT)

    def line(
        self,
        points: outline.Points,
        width: float,
        *,
        paint: colour.Colour = colour.INK,
        taper: tuple[float, float] = (0.3, 0.3),
        alpha: float = 1.0,
    ) -> None:
        """Draw one stroke along an open line, swelling and dying like a brush's."""
        self.fill(outline.brush(points, width, taper=taper), paint, alpha=alpha)

    def ink(self, points: outline.Points, width: float, paint: colour.Colour = colour.INK) -> None:
        """Draw the closed outline itself, equally wide all around."""
        thick = max(1, round(width * math.sqrt(abs(np.linalg.det(self._matrix[:2, :2])))))
        cv2.polylines(
            self.image,
            [self._fixed(points)],
            isClosed=True,
            color=(*paint, 255),
            thickness=thick,
            lineType=cv2.LINE_AA,
            shift=_SHIFT,
        )

    def shape(
        self,
        points: outline.Points,
        paint: colour.Colour,
        *,
        shade: colour.Colour | None = None,
        shift: tuple[float, float] = (12, -6),
        width: float = 5,
        line: colour.Colour = colour.INK,
    ) -> None:
        """Fill and ink an outline; with `shade`, its side away from the light stays shaded."""
        if shade is None:
            self.fill(points, paint)
        else:
            self.fill(points, shade)
            with self.clipped(points):
                self.fill(outline.moved(points, *shift), paint)
        if width:
            self.ink(points, width, line)

    def glow(
        self, x: float, y: float, r: float, paint: colour.Colour, *, alpha: float, squash: float = 1
    ) -> None:
        """Blend a soft round spot."""
        found = self._mask(outline.box(x - r, y - r * squash, 2 * r, 2 * r * squash))
        if found is None:
            return
        _, region = found
        (cx, cy) = self._place(np.array([[x, y]]))[0]
        rx = r * math.sqrt(abs(np.linalg.det(self._matrix[:2, :2])))
        yy, xx = np.mgrid[region[0], region[1]].astype(np.float32)
        far = np.hypot((xx - cx) / rx, (yy - cy) / (rx * squash))
        soft = np.clip(1 - far, 0, 1) ** 1.6
        self._blend(region, (soft * 255).astype(np.uint8), paint, alpha)

    @contextlib.contextmanager
    def clipped(self, points: outline.Points) -> Iterator[None]:
        """Keep what is drawn meanwhile inside an outline."""
        found = self._mask(points)
        whole, matrix = self.image, self._matrix
        if found is None:
            self.image = np.zeros((1, 1, 4), np.uint8)
        else:
            mask, region = found
            self.image = whole[region].copy()
            away = np.eye(3)
            away[:2, 2] = -region[1].start, -region[0].start
            self._matrix = away @ matrix
        try:
            yield
        finally:
            drawn, self.image, self._matrix = self.image, whole, matrix
            if found is not None:
                below = whole[region]
                edge = np.nonzero((mask > 0) & (mask < 255))
                inside = mask[edge][:, None].astype(np.uint16)
                mixed = (drawn[edge] * inside + below[edge] * (255 - inside) + 127) // 255
                as_one = below.view(np.uint32), drawn.view(np.uint32)
                np.copyto(as_one[0][..., 0], as_one[1][..., 0], where=mask == 255)
                below[edge] = mixed

    def _mask(self, points: outline.Points) -> tuple[protocol.Image, tuple[slice, slice]] | None:
        placed = self._place(points)
        x0, y0 = np.floor(placed.min(0)).astype(int) - 2
        x1, y1 = np.ceil(placed.max(0)).astype(int) + 3
        height, width = self.image.shape[:2]
        x0, y0, x1, y1 = max(0, x0), max(0, y0), min(width, x1), min(height, y1)
        if x1 <= x0 or y1 <= y0:
            return None
        mask = np.zeros((y1 - y0, x1 - x0), np.uint8)
        fixed = np.round((placed - 0.5 - (x0, y0)) * (1 << _SHIFT)).astype(np.int32)
        cv2.fillPoly(mask, [fixed], (255,), cv2.LINE_AA, _SHIFT)
        return mask, (slice(y0, y1), slice(x0, x1))

    def _blend(
        self,
        region: tuple[slice, slice],
        mask: protocol.Image,
        paint: colour.Colour,
        alpha: float,
    ) -> None:
        weight = (mask.astype(np.float32) * np.float32(alpha / 255))[..., None]
        part = self.image[region]
        part[:] = (part * (1 - weight) + np.array((*paint, 255), np.float32) * weight + 0.5).astype(
            np.uint8
        )

    def sheet(self, *, wobble: float = 0.0, seed: int = 0) -> protocol.Image:
        """The premultiplied RGBA sheet at its own size; `wobble` pixels make lines hand-drawn."""
        if self._over == 1:
            small = self.image.copy()
        else:
            size = (self.width, self.height)
            fine = cv2.resize(self.image, size, interpolation=cv2.INTER_AREA)
            small = np.asarray(fine, np.uint8)
        return wobbled(small, wobble, seed) if wobble else small


Waves = tuple[np.ndarray[Any, np.dtype[np.float32]], np.ndarray[Any, np.dtype[np.float32]]]


def waves(height: int, width: int, pixels: float, seed: int) -> Waves:
    """Where each pixel of a sheet comes from when slow noise moves it by about +-`pixels`."""
    yy, xx = np.mgrid[:height, :width].astype(np.float32)
    dx = noise.field(height, width, seed, cell=28, octaves=2) - np.float32(0.5)
    dy = noise.field(height, width, seed + 1, cell=28, octaves=2) - np.float32(0.5)
    return xx + dx * np.float32(pixels * 4), yy + dy * np.float32(pixels * 4)


def displaced(image: protocol.Image, by: Waves) -> protocol.Image:
    """The image with each pixel taken from where `by` says."""
    moved = cv2.remap(image, *by, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
    return np.asarray(moved, np.uint8)


def wobbled(image: protocol.Image, pixels: float, seed: int) -> protocol.Image:
    """The image displaced by slow noise of about +-`pixels`."""
    return displaced(image, waves(image.shape[0], image.shape[1], pixels, seed))


def over(below: protocol.Image, above: protocol.Image) -> protocol.Image:
    """Lay a premultiplied RGBA sheet over an RGB or premultiplied RGBA picture of its size."""
    channels = below.shape[2]
    rest = cv2.merge([cv2.bitwise_not(cv2.extractChannel(above, 3))] * channels)
    upper = above if channels == 4 else cv2.cvtColor(above, cv2.COLOR_RGBA2RGB)
    return np.asarray(cv2.add(cv2.multiply(below, rest, scale=1 / 255), upper), np.uint8)


def straight(sheet: protocol.Image) -> protocol.Image:
    """Premultiplied -> straight alpha, as PNG has it."""
    out = sheet.copy()
    partly = (sheet[..., 3] > 0) & (sheet[..., 3] < 255)
    some = sheet[partly].astype(np.float32)
    out[partly, :3] = np.clip(some[:, :3] * (255 / some[:, 3:]) + 0.5, 0, 255)
    return out


def premultiplied(image: protocol.Image) -> protocol.Image:
    """Straight -> premultiplied alpha."""
    alpha = image[..., 3:4].astype(np.uint16)
    rgb = (image[..., :3] * alpha + 127) // 255
    return np.concatenate([rgb.astype(np.uint8), image[..., 3:4]], 2)
