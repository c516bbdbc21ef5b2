"""The camera: where it looks at a moment of a shot. Constant velocity with soft ends."""

from __future__ import annotations

import dataclasses
import math

ZOOM = 1.09  #: never more than 1.10 within one shot
PAN = 0.068  #: of the frame's shorter side, to either side of the middle

MOTIONS = ("push", "pull", "pan_left", "pan_right", "pan_up", "pan_down", "hold", "shake")
_SNAP_S, _SHAKE_S = 0.3, 0.7


@dataclasses.dataclass(frozen=True, slots=True)
class View:
    """Offset of the middle in shares of the frame's shorter side, and the zoom."""

    x: float = 0.0
    y: float = 0.0
    zoom: float = 1.0


def soft(t: float, end: float = 0.14) -> float:
    """0..1 -> 0..1 at one speed, but for a gentle start and stop."""
    t = min(1.0, max(0.0, t))
    if t < end:
        return t * t / (2 * end) / (1 - end)
    if t > 1 - end:
        return 1 - (1 - t) ** 2 / (2 * end) / (1 - end)
    return (t - end / 2) / (1 - end)


def view(
    motion: str, frame: int, frames: int, fps: int, seed: int, *, framing: str = "medium"
) -> View:
    """Where the camera looks at one frame of a shot; the framing gives a motion its temper."""
    t = soft(frame / max(1, frames - 1))
    way = 2 * t - 1
    if motion == "shake" or (framing == "action" and motion != "pull"):
        return _shaken(frame / fps, seed)
    if motion in ("push", "pull"):
        return _zoomed(1 - t if motion == "pull" else t, seed, framing)
    if motion == "hold":
        return View(zoom=1.02 + 0.02 * t)
    dx, dy = {"pan_left": (-1, 0), "pan_right": (1, 0), "pan_up": (0, -1), "pan_down": (0, 1)}[
        motion
    ]
    near = 1.0 + 0.05 * t if framing == "establish" else 1.03
    return View(dx * PAN * way, dy * PAN * way, near)


def _zoomed(t: float, seed: int, framing: str) -> View:
    """A zoom at `t` of 0..1 of its way in: over a place it drifts aside, at a face it is close."""
    if framing == "establish":
        side = 1 if seed % 2 else -1
        return View(x=side * PAN * 0.8 * (2 * t - 1), y=-0.012 * t, zoom=1.0 + 0.06 * t)
    near = {"close": 1.03, "reaction": 1.03, "insert": 1.0}.get(framing, 1.0)
    return View(y=-0.012 * t, zoom=near * (1 + (ZOOM - 1) * t))


def _shaken(second: float, seed: int) -> View:
    snap = 1 - (1 - min(1.0, second / _SNAP_S)) ** 3
    left = max(0.0, 1 - max(0.0, second - _SNAP_S * 0.6) / _SHAKE_S) * min(1.0, second / 0.08)
    phase = (seed % 628) / 100
    x = 0.014 * left * math.sin(second * 47 + phase)
    y = 0.018 * left * math.sin(second * 61 + phase * 1.7)
    drift = 0.012 * soft(second / 6)
    return View(x, y, 1.0 + 0.07 * snap + drift)
