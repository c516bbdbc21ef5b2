"""Outlines: arrays of shape (n, 2), float64, made from few points by splines and ribbons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

Points: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Knot: TypeAlias = Sequence[float]

_STEPS = 9
_T = np.linspace(0, 1, _STEPS, endpoint=False)[:, None]
_H00, _H10 = 2 * _T**3 - 3 * _T**2 + 1, _T**3 - 2 * _T**2 + _T
_H01, _H11 = -2 * _T**3 + 3 * _T**2, _T**3 - _T**2


def curve(knots: Sequence[Knot], *, closed: bool = True) -> Points:
    """A Catmull-Rom spline through the knots; a knot with a third number is a corner."""
    n = len(knots)
    p = np.array([(k[0], k[1]) for k in knots], np.float64)
    corner = [len(k) > 2 for k in knots]
    parts = []
    for i in range(n if closed else n - 1):
        a, b = i, (i + 1) % n
        before = a if corner[a] or (not closed and a == 0) else (a - 1) % n
        after = b if corner[b] or (not closed and b == n - 1) else (b + 1) % n
        m1, m2 = (p[b] - p[before]) / 2, (p[after] - p[a]) / 2
        parts.append(_H00 * p[a] + _H10 * m1 + _H01 * p[b] + _H11 * m2)
    if not closed:
        parts.append(p[-1:])
    return np.concatenate(parts)


def straight(knots: Sequence[Knot]) -> Points:
    """The knots as they are."""
    return np.array([(k[0], k[1]) for k in knots], np.float64)


def box(x: float, y: float, width: float, height: float) -> Points:
    """A rectangle from its upper left corner."""
    return straight([(x, y), (x + width, y), (x + width, y + height), (x, y + height)])


def ellipse(
    x: float, y: float, rx: float, ry: float, *, turn: float = 0, start: float = 0, end: float = 360
) -> Points:
    """An ellipse, or a part of it, angles in degrees."""
    whole = abs(end - start) >= 360
    a = np.radians(np.linspace(start, end, 40, endpoint=not whole))
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    ex, ey = rx * np.cos(a), ry * np.sin(a)
    return np.stack([x + c * ex - s * ey, y + s * ex + c * ey], 1)


def ribbon(spine: Points, widths: Points) -> Points:
    """The polygon around a spine; `widths` holds the full width at each point of it."""
    step = np.gradient(spine, axis=0)
    step /= np.maximum(np.hypot(step[:, 0], step[:, 1])[:, None], 1e-9)
    side = np.stack([-step[:, 1], step[:, 0]], 1) * (widths[:, None] / 2)
    return np.concatenate([spine + side, (spine - side)[::-1]])


def brush(spine: Points, width: float, *, taper: tuple[float, float] = (0.3, 0.3)) -> Points:
    """A stroke of the pen that swells over the first and dies over the last part of its way."""
    way = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(spine, axis=0).T))])
    t = way / max(way[-1], 1e-9)
    grow = np.clip(t / taper[0], 0, 1) if taper[0] else np.ones_like(t)
    fade = np.clip((1 - t) / taper[1], 0, 1) if taper[1] else np.ones_like(t)
    return ribbon(spine, width * (0.18 + 0.82 * np.sqrt(grow * fade)))


def limb(
    joints: Sequence[tuple[float, float]], widths: Sequence[float], *, bend: float = 0.5
) -> Points:
    """A smooth limb through joints with a width at each; `bend` rounds the middle joints."""
    spine = curve(joints, closed=False)
    sharp = np.stack(
        [
            np.interp(np.linspace(0, 1, len(spine)), np.linspace(0, 1, len(joints)), axis)
            for axis in np.array(joints, np.float64).T
        ],
        1,
    )
    spine = spine * bend + sharp * (1 - bend)
    return ribbon(
        spine,
        np.interp(np.linspace(0, 1, len(spine)), np.linspace(0, 1, len(widths)), np.array(widths)),
    )


def moved(points: Points, dx: float, dy: float) -> Points:
    """The same outline elsewhere."""
    there: Points = points + np.array([dx, dy])
    return there
