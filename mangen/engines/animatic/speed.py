"""Lines over a whole panel: speed around an action, and the plain grounds of a reaction."""

from __future__ import annotations

import math

import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import colour, outline, pen, stage

_RAYS = frozenset({"surprised", "angry"})
_DROPS = frozenset({"sad", "tired"})
_DARK = frozenset({"afraid"})
_GROUNDS: dict[str, tuple[str, str]] = {
    "surprised": ("#f4efe2", "#c9b98f"), "angry": ("#d9a08a", "#7c2f2b"),
    "sad": ("#8093a8", "#2e3c55"), "tired": ("#a3a39c", "#55585f"),
    "afraid": ("#5d5a78", "#191727"), "happy": ("#fbe9b7", "#eab66a"),
    "shy": ("#fbe3dc", "#e6a6a0"), "calm": ("#e6dcc4", "#a99a80"),
}  # fmt: skip


def lines(s: stage.Stage, at: tuple[float, float]) -> protocol.Image:
    """Lines that run from the edges towards a point, which stays free."""
    p, chance = s.pen(), s.chance(30)
    wide, high = s.w / 2, s.h / 2  # a camera sees four fifths of it: lines from every edge
    pale = colour.mix(s.light.haze, (255, 250, 235), 0.85)
    for k in range(112):
        angle = math.tau * (k + chance.random()) / 112
        near = chance.uniform(0.62, 0.98) if k % 5 else chance.uniform(0.5, 0.62)
        c, d = math.cos(angle) * wide * 1.08, math.sin(angle) * high
        spine = outline.straight([(at[0] + c * r, at[1] + d * r) for r in (2.2, 1.3, near)])
        width = chance.uniform(5, 17) * (1.0 if k % 5 else 1.6)
        stroke = outline.brush(spine, width, taper=(0, 1.0))
        p.veil(stroke, pale if k % 4 else colour.INK, alpha=chance.uniform(0.4, 0.8))
    return p.sheet()


def ground(s: stage.Stage, emotion: str, at: tuple[float, float]) -> protocol.Image:
    """An opaque plain ground that shows what somebody feels, around the point of the face."""
    pale, deep = (s.light.on(colour.of(c)) for c in _GROUNDS.get(emotion, _GROUNDS["calm"]))
    yy, xx = np.mgrid[: s.height, : s.width].astype(np.float32) / s.unit
    far = np.hypot(xx - at[0], (yy - at[1]) * 0.8) / (0.62 * math.hypot(s.w, s.h) / 2)
    t = np.clip(far - 0.25, 0, 1)[..., None]
    if emotion in _DROPS:
        t = np.clip((s.h - yy) / s.h, 0, 1)[..., None] ** 0.8
    plain = np.array(pale, np.float32) * (1 - t) + np.array(deep, np.float32) * t
    plain = plain * (0.97 + 0.06 * s.noise(31, 60)[..., None])
    ink = _dots(s, xx, yy, np.clip(t[..., 0], 0, 1), emotion)
    plain = plain * (1 - ink) + np.array(colour.dark(deep, 0.45), np.float32) * ink
    sheet = np.dstack([plain, np.full((s.height, s.width), 255, np.float32)])
    flat = np.clip(sheet + 0.5, 0, 255).astype(np.uint8)
    p, chance = s.pen(), s.chance(32)
    if emotion in _RAYS:
        _rays(p, s, at, colour.dark(deep, 0.3 if emotion == "angry" else 0.1))
    elif emotion in _DROPS:
        for _ in range(54):
            x, y, long = chance.uniform(0, s.w), chance.uniform(0, s.h), chance.uniform(60, 260)
            p.line(outline.straight([(x, y), (x, y + long)]), chance.uniform(2, 5),
                   paint=colour.pale(pale, 0.5), alpha=0.4)  # fmt: skip
    elif emotion not in _DARK:
        for _ in range(16):
            x, y, r = chance.uniform(0, s.w), chance.uniform(0, s.h), chance.uniform(14, 64)
            p.fill(outline.ellipse(x, y, r, r), colour.pale(pale, 0.7), alpha=0.34)
    drawn = p.sheet()
    rest = 255 - drawn[..., 3:4].astype(np.uint16)
    return (drawn + (flat * rest + 127) // 255).astype(np.uint8)


def _rays(p: pen.Pen, s: stage.Stage, at: tuple[float, float], paint: colour.Colour) -> None:
    chance = s.chance(33)
    far = math.hypot(s.w, s.h)
    for k in range(110):
        angle = math.tau * (k + chance.random()) / 110
        near = 0.36 * min(s.w, s.h) * chance.uniform(1.0, 1.6)
        c, d = math.cos(angle), math.sin(angle)
        spine = outline.straight([(at[0] + c * r, at[1] + d * r * 1.2) for r in (far, near)])
        p.line(spine, chance.uniform(8, 34), paint=paint, taper=(0, 1.0))


def _dots(
    s: stage.Stage, xx: np.ndarray, yy: np.ndarray, t: np.ndarray, emotion: str
) -> np.ndarray:
    """Screentone: dots at 32 degrees that grow with `t`."""
    a, step = math.radians(32), math.tau / 15
    u = (xx * math.cos(a) + yy * math.sin(a)) * step
    v = (yy * math.cos(a) - xx * math.sin(a)) * step
    dots = (np.cos(u) + np.cos(v)) / 2
    strength = 0.75 if emotion in _DARK else 0.3
    return (np.clip((dots - 1 + 1.5 * t) * 3.0 * max(0.4, s.unit), 0, 1) * strength)[..., None]
