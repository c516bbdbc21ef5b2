"""The finish of every frame: vignette into halftone dots, paper grain, a wobbly paper border."""

from __future__ import annotations

import functools
import math
from typing import TypeAlias

import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import colour, noise, outline, pen

Finish: TypeAlias = "tuple[protocol.Image, protocol.Image]"
BORDER = 17  #: units


@functools.lru_cache(maxsize=4)
def of(width: int, height: int) -> Finish:
    """(factor, addend) of a frame size: frame x factor / 255 + addend."""
    unit = min(width, height) / 720
    factor = _vignette(width, height, unit)
    border = _border(width, height, unit)
    inside = (255 - border[..., 3:4].astype(np.float32)) / 255
    return (factor * inside + 0.5).astype(np.uint8), np.ascontiguousarray(border[..., :3])


def _vignette(width: int, height: int, unit: float) -> noise.Floats:
    yy, xx = np.mgrid[:height, :width].astype(np.float32)
    far = np.hypot((xx - width / 2) / (width * 0.62), (yy - height * 0.46) / (height * 0.6))
    dark = np.clip((far - 0.55) / 0.75, 0, 1) ** 1.6
    factor = 1 - dark[..., None] * 0.62 * (1 - np.array([30, 24, 40], np.float32) / 255)
    a, step = math.radians(32), 2 * math.pi / (8 * unit)
    u = (xx * math.cos(a) + yy * math.sin(a)) * step
    v = (yy * math.cos(a) - xx * math.sin(a)) * step
    dots = (np.cos(u) + np.cos(v)) / 2
    print_ = np.clip((dots - 1 + 1.7 * np.clip(dark - 0.08, 0, 1)) * 3.2, 0, 1) * 0.18
    factor *= 1 - print_[..., None] * np.array([0.9, 0.9, 0.7], np.float32)
    grain = (noise.field(height, width, 7, cell=3, octaves=2) - 0.5) * 0.09
    grain += (noise.field(height, width, 8, cell=90 * unit, octaves=3) - 0.5) * 0.05
    result: noise.Floats = np.clip(factor * (1 + grain[..., None]) * 255, 0, 255)
    return result


def _border(width: int, height: int, unit: float) -> protocol.Image:
    p = pen.Pen(width, height, unit)
    w, h, b = width / unit, height / unit, BORDER
    wave = noise.line(400, 3, waves=40, octaves=4, rough=0.6) * 2.2
    knots = [(side, k / 100, wave[side * 100 + k]) for side in range(4) for k in range(100)]
    inner = outline.straight(
        [
            ((b + (w - 2 * b) * t, b + n), (w - b + n, b + (h - 2 * b) * t),
             (w - b - (w - 2 * b) * t, h - b + n), (b + n, h - b - (h - 2 * b) * t))[side]
            for side, t, n in knots
        ]
    )  # fmt: skip
    rim = outline.straight([(-4, -4), (w + 4, -4), (w + 4, h + 4), (-4, h + 4), (-4, -4)])
    p.fill(np.concatenate([rim, inner, inner[:1], rim[:1]]), colour.PAPER)
    p.ink(inner, 5)
    return p.sheet()
