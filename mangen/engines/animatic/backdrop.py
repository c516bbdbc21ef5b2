"""Backdrops: what is painted rather than drawn: skies, ridges, ground, water and walls.

Functions return float32 RGB canvases or premultiplied RGBA sheets of the stage's pixel size.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import colour, noise, stage
from mangen.engines.animatic.colour import Colour


def gradient(s: stage.Stage, stops: Sequence[tuple[float, Colour]]) -> noise.Floats:
    """A vertical gradient; stops are (share of the height, colour)."""
    y = np.linspace(0, 1, s.height)
    at = [stop[0] for stop in stops]
    rows = np.stack([np.interp(y, at, [stop[1][k] for stop in stops]) for k in range(3)], 1)
    return np.repeat(rows[:, None, :].astype(np.float32), s.width, 1)


def sky(s: stage.Stage, *, orb: bool = True) -> noise.Floats:
    """Sky with clouds, stars, and the sun or the moon where the weather shows it."""
    top, mid, low = s.light.sky
    line = s.horizon / s.h
    canvas = gradient(s, [(0, top), (line * 0.55, mid), (line, low), (1, low)])
    weather = s.light.weather
    chance = s.chance(1)
    covered = weather in ("rain", "thunder", "fog", "snow")
    if s.light.night and not covered:
        stars(s, canvas)
    if orb and not covered:
        x = s.w * (0.3 + 0.42 * chance.random())
        y = s.h * (0.2 + 0.06 * chance.random())
        if s.light.night:
            moon(s, canvas, x, y, 78 + 14 * chance.random())
        elif s.light.time in ("dawn", "dusk"):
            sun(s, canvas, x, s.horizon - s.h * 0.09, r=74, tone=(255, 226, 160))
        else:
            sun(s, canvas, x, y * 0.8, r=46, tone=(255, 248, 222))
    tone = colour.mix(low, (255, 255, 255), 0.5) if not s.light.night else colour.mix(mid, low, 0.5)
    if weather in ("rain", "thunder"):
        tone = colour.mix(top, low, 0.35)
    for k in range(3):
        y = s.h * (0.1 + 0.13 * k + 0.04 * chance.random())
        clouds(
            s, canvas, y, thick=46 + 22 * k, salt=20 + k, tone=tone, alpha=0.75 if covered else 0.5
        )
    return canvas


def stars(s: stage.Stage, canvas: noise.Floats) -> None:
    chance = s.chance(2)
    for _ in range(150):
        x, y = chance.random() * s.width, chance.random() ** 1.3 * s.horizon * 0.9 * s.unit
        bright = chance.random() ** 2.5
        under = canvas[int(y), int(x)]
        tone = tuple(
            float(v) for v in under + (np.array([255, 243, 207]) - under) * (0.4 + 0.6 * bright)
        )
        radius = (0.8 + 1.7 * bright) * s.unit
        cv2.circle(canvas, (int(x * 16), int(y * 16)), int(radius * 16), tone, -1, cv2.LINE_AA, 4)


def moon(s: stage.Stage, canvas: noise.Floats, x: float, y: float, r: float) -> None:
    """A full moon with its seas and its halo."""
    shine(s, canvas, x, y, r=r * 4.6, tone=(255, 226, 150), strength=0.6)
    far = _far(s, x, y) / r
    disc = np.clip((1 - far) * r * s.unit * 0.7, 0, 1)[..., None]
    seas = np.clip((s.noise(5, 44, 2) - 0.5) * 7, 0, 1)[..., None] * 0.42
    face = np.array([255, 228, 140], np.float32) * (1 - seas) + np.array([226, 168, 78]) * seas
    face = face * (1 - 0.16 * np.clip(far, 0, 1)[..., None] ** 3)
    canvas[:] = canvas * (1 - disc) + face * disc


def sun(
    s: stage.Stage, canvas: noise.Floats, x: float, y: float, *, r: float, tone: Colour
) -> None:
    shine(s, canvas, x, y, r=r * 6, tone=tone, strength=0.8)
    disc = np.clip((1 - _far(s, x, y) / r) * r * s.unit * 0.5, 0, 1)[..., None]
    canvas[:] = canvas * (1 - disc) + np.array(colour.pale(tone, 0.5), np.float32) * disc


def shine(
    s: stage.Stage,
    canvas: noise.Floats,
    x: float,
    y: float,
    *,
    r: float,
    tone: Colour,
    strength: float,
) -> None:
    """Add light around a point, brightest at it."""
    glow = strength / (1 + 7 * (_far(s, x, y) / r) ** 2.2)
    canvas[:] = 255 - (255 - canvas) * (1 - glow[..., None] * np.array(tone, np.float32) / 255)


def _far(s: stage.Stage, x: float, y: float) -> noise.Floats:
    yy, xx = np.mgrid[: s.height, : s.width].astype(np.float32)
    far: noise.Floats = np.hypot(xx / s.unit - x, yy / s.unit - y)
    return far


def clouds(
    s: stage.Stage,
    canvas: noise.Floats,
    y: float,
    *,
    thick: float,
    salt: int,
    tone: Colour,
    alpha: float,
) -> None:
    """A band of torn, lying cloud."""
    small = noise.field(
        s.height, max(8, s.width // 6), s.seed * 7 + salt, cell=52 * s.unit, octaves=4
    )
    wide = cv2.resize(small, (s.width, s.height), interpolation=cv2.INTER_CUBIC)
    yy = np.arange(s.height, dtype=np.float32)[:, None] / s.unit
    veil = np.clip((wide - 0.5) * 5, 0, 1) * np.exp(-(((yy - y) / thick) ** 2)) * alpha
    canvas[:] = canvas * (1 - veil[..., None]) + np.array(tone, np.float32) * veil[..., None]


def ridge(
    s: stage.Stage,
    canvas: noise.Floats,
    y: float,
    *,
    rise: float,
    salt: int,
    tone: Colour,
    waves: float = 3,
    rough: float = 0.5,
    fade: float = 240,
) -> None:
    """A line of hills that fades into haze at its foot; `rise` in units."""
    top = (
        y - (noise.line(s.width, s.seed * 13 + salt, waves=waves, rough=rough) + 0.4) * rise
    ) * s.unit
    yy = np.arange(s.height, dtype=np.float32)[:, None]
    mask = np.clip((yy - top[None]) / 1.3, 0, 1)[..., None]
    deep = np.clip((yy - top[None]) / (fade * s.unit), 0, 1) ** 0.8
    deep = np.clip(deep + (s.noise(salt + 3, 90) - 0.5) * 0.26 * (1 - deep), 0, 1)[..., None]
    paint = np.array(tone, np.float32) * (1 - deep) + np.array(s.light.haze, np.float32) * deep
    canvas[:] = canvas * (1 - mask) + paint * mask


def solid(canvas: noise.Floats) -> protocol.Image:
    """A float RGB canvas as an opaque sheet."""
    image = np.full((*canvas.shape[:2], 4), 255, np.uint8)
    image[..., :3] = np.clip(canvas + 0.5, 0, 255)
    return image


def ground(
    s: stage.Stage,
    y: float,
    far: Colour,
    near: Colour,
    *,
    salt: int,
    rise: float = 6,
    grain: float = 0.16,
) -> protocol.Image:
    """Earth from `y` down: a soft upper edge, two tones, brush texture that widens towards us."""
    top = (y - noise.line(s.width, s.seed * 17 + salt, waves=5) * rise) * s.unit
    yy = np.arange(s.height, dtype=np.float32)[:, None]
    alpha = np.clip(yy - top[None], 0, 1)
    deep = np.clip((yy / s.unit - y) / max(1, s.h - y), 0, 1)[..., None]
    paint = np.array(far, np.float32) * (1 - deep) + np.array(near, np.float32) * deep
    small = noise.field(
        s.height, max(8, s.width // 5), s.seed * 19 + salt, cell=34 * s.unit, octaves=4
    )
    streak = cv2.resize(small, (s.width, s.height), interpolation=cv2.INTER_CUBIC)
    paint = paint * (1 + ((streak - 0.5) * 2 * grain)[..., None])
    return _sheet(paint, alpha)


def water(s: stage.Stage, y: float, bottom: float, far: Colour, near: Colour) -> protocol.Image:
    """Water from `y` to `bottom` units: reflection streaks that widen towards us."""
    yy = np.arange(s.height, dtype=np.float32)[:, None] / s.unit
    alpha = np.clip((yy - y) * s.unit, 0, 1) * np.clip((bottom - yy) * s.unit, 0, 1)
    deep = np.clip((yy - y) / max(1, bottom - y), 0, 1)[..., None]
    paint = np.array(far, np.float32) * (1 - deep) + np.array(near, np.float32) * deep
    small = noise.field(s.height, max(8, s.width // 9), s.seed * 23, cell=15 * s.unit, octaves=2)
    streak = cv2.resize(small, (s.width, s.height), interpolation=cv2.INTER_CUBIC)
    spark = np.clip((streak - 0.6) * 6, 0, 1)[..., None] * (1 - 0.5 * deep)
    tone = (255, 226, 140) if s.light.night else colour.pale(s.light.sky[2], 0.4)
    middle = np.exp(-(((np.arange(s.width) / s.width - 0.55) / 0.22) ** 2))[None, :, None]
    spark = spark * (0.16 + (0.62 * middle if s.light.weather in ("clear", "wind") else 0.1))
    paint = paint * (1 - spark) + np.array(tone, np.float32) * spark
    dark = np.clip((0.4 - streak) * 5, 0, 1)[..., None] * 0.22
    return _sheet(paint * (1 - dark), np.broadcast_to(alpha, (s.height, s.width)))


def wall(s: stage.Stage, tone: Colour, salt: int, *, glow: Colour | None = None) -> noise.Floats:
    """A plastered wall: mottled, darker towards the corners; `glow` lights it from a side."""
    canvas = np.broadcast_to(np.array(tone, np.float32), (s.height, s.width, 3)).copy()
    canvas *= (
        1 + ((s.noise(salt, 180) - 0.5) * 0.22 + (s.noise(salt + 1, 26, 2) - 0.5) * 0.08)[..., None]
    )
    xx = np.linspace(-1, 1, s.width, dtype=np.float32)[None, :]
    yy = np.linspace(-1, 0.8, s.height, dtype=np.float32)[:, None]
    canvas *= (1 - 0.34 * np.clip(np.hypot(xx * 0.85, yy) - 0.35, 0, 1))[..., None]
    if glow is not None:
        shine(s, canvas, s.w * 0.26, s.h * 0.36, r=s.h * 0.42, tone=glow, strength=0.42)
    return canvas


def _sheet(paint: noise.Floats, alpha: noise.Floats) -> protocol.Image:
    image = np.empty((*alpha.shape, 4), np.uint8)
    image[..., :3] = np.clip(paint, 0, 255) * alpha[..., None] + 0.5
    image[..., 3] = alpha * 255 + 0.5
    return image
