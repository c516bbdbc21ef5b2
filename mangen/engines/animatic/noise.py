"""Seeded noise of several octaves, in one and two dimensions."""

from __future__ import annotations

from typing import Any, TypeAlias

import cv2
import numpy as np

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]


def line(n: int, seed: int, *, waves: float = 4, octaves: int = 5, rough: float = 0.5) -> Floats:
    """`n` values of about -1..1 along a line, `waves` coarsest bumps long."""
    random = np.random.default_rng([seed, 1])
    x = np.linspace(0, 1, n)
    out, strength = np.zeros(n), 1.0
    for octave in range(octaves):
        count = waves * 2**octave
        at = x * count
        cell = at.astype(int)
        f = at - cell
        f = f * f * (3 - 2 * f)
        values = random.random(int(count) + 3) * 2 - 1
        out += strength * (values[cell] * (1 - f) + values[cell + 1] * f)
        strength *= rough
    return out.astype(np.float32)


def field(
    height: int, width: int, seed: int, *, cell: float = 60, octaves: int = 4, rough: float = 0.5
) -> Floats:
    """An image of 0..1 noise, its mean near 0.5; `cell` is the coarsest bump in pixels."""
    random = np.random.default_rng([seed, 2])
    out = np.zeros((height, width), np.float32)
    strength, total = 1.0, 0.0
    for octave in range(octaves):
        size = max(1.0, cell / 2**octave)
        grid = random.random((int(height / size) + 3, int(width / size) + 3)).astype(np.float32)
        out += strength * cv2.resize(grid, (width, height), interpolation=cv2.INTER_CUBIC)
        total += strength
        strength *= rough
    return out / np.float32(total)
