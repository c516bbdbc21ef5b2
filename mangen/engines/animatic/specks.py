"""Specks: light and small things laid on a frame in place, cheaply enough for every frame."""

from __future__ import annotations

import functools
import math

import cv2
import numpy as np

from mangen.engines import protocol

Tone = tuple[int, int, int]


def lighten(frame: protocol.Image, mask: protocol.Image, tone: Tone) -> None:
    """Add light of a tone where the mask is: nothing gets darker."""
    parts = [cv2.convertScaleAbs(mask, alpha=part / 255 * 0.72) for part in tone]
    cv2.add(frame, cv2.merge(parts), frame)


def blend(frame: protocol.Image, mask: protocol.Image, tone: Tone) -> None:
    """Mix the frame with a tone by the mask."""
    cv2.multiply(frame, cv2.merge([cv2.bitwise_not(mask)] * 3), frame, 1 / 255)
    parts = [cv2.convertScaleAbs(mask, alpha=part / 255) for part in tone]
    cv2.add(frame, cv2.merge(parts), frame)


@functools.lru_cache(maxsize=64)
def _soft(radius: int) -> protocol.Image:
    """A soft round spot with a rim of nothing, so that it can be moved by parts of a pixel."""
    size = 2 * radius + 3
    yy, xx = np.mgrid[:size, :size] - (radius + 1)
    found: protocol.Image = (np.clip(1 - np.hypot(xx, yy) / radius, 0, 1) ** 1.5 * 255).astype(
        np.uint8
    )
    return found


def spot(frame: protocol.Image, x: float, y: float, *, r: float, tone: Tone, force: float) -> None:
    """Add a soft spot of light, placed to parts of a pixel."""
    sprite = _soft(max(1, round(r)))
    size = sprite.shape[0]
    left, top = math.floor(x - size / 2), math.floor(y - size / 2)
    height, width = frame.shape[:2]
    x0, y0, x1, y1 = max(0, left), max(0, top), min(width, left + size), min(height, top + size)
    if x1 <= x0 or y1 <= y0:
        return
    part = np.array([[1, 0, x - size / 2 - left], [0, 1, y - size / 2 - top]], np.float32)
    moved = cv2.warpAffine(sprite, part, (size, size))[y0 - top : y1 - top, x0 - left : x1 - left]
    light = cv2.merge([cv2.convertScaleAbs(moved, alpha=force * one / 255) for one in tone])
    frame[y0:y1, x0:x1] = cv2.add(frame[y0:y1, x0:x1], light)


def leaf(
    frame: protocol.Image, at: tuple[float, float], size: float, turn: float, tone: Tone
) -> None:
    """A tumbling leaf: it turns, and now and then shows its edge."""
    c, s, flat = math.cos(turn), math.sin(turn), 0.25 + 0.75 * abs(math.cos(turn * 0.7))
    knots = ((-1.3, 0), (-0.5, -0.5 * flat), (0.5, -0.45 * flat), (1.3, 0), (0.5, 0.45 * flat),
             (-0.5, 0.5 * flat))  # fmt: skip
    points = [(at[0] + size * (u * c - v * s), at[1] + size * (u * s + v * c)) for u, v in knots]
    fixed = np.round(np.array(points) * 16).astype(np.int32)
    cv2.fillPoly(frame, [fixed], tone, cv2.LINE_AA, 4)
