"""Skies: a gradient with clouds, stars, the sun or the moon, painted on float32 RGB canvases."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from mangen.engines.animatic import colour, noise, stage
from mangen.engines.animatic.colour import Colour

_COVERED = frozenset({"rain", "thunder", "fog", "snow"})


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
    canvas = gradient(
        s, [(0, top), (line * 0.28, colour.mix(top, mid, 0.5)), (line * 0.6, mid), (line, low)]
    )
    covered = s.light.weather in _COVERED
    named = "moon" in s.objects and s.light.night
    x, y, r = s.orb
    if s.light.night and (not covered or named):
        stars(s, canvas)
    elif covered and not s.light.night and orb:
        shine(s, canvas, x, s.horizon - s.h * 0.14, r=s.h * 0.2, tone=(255, 226, 160), strength=0.4)
    if orb and not covered and not s.light.night:
        if s.light.time in ("dawn", "dusk"):
            sun(s, canvas, x, s.horizon - s.h * 0.08, r=r * 0.62, tone=(255, 214, 140))
        else:
            sun(s, canvas, x, y * 0.86, r=r * 0.38, tone=(255, 246, 214))
    _overcast(s, canvas, heavy=covered)
    if orb and s.light.night and (not covered or named):
        moon(s, canvas, x, y, r)
    return canvas


def _overcast(s: stage.Stage, canvas: noise.Floats, *, heavy: bool) -> None:
    """Three bands: a dark one above, a light one in the middle, a thin one over the horizon."""
    top, mid, low = s.light.sky
    dark, light = colour.dark(top, 0.16), colour.mix(low, (255, 255, 255), 0.35)
    if s.light.night:
        dark, light = colour.mix(top, mid, 0.7), colour.mix(mid, (190, 206, 232), 0.42)
    if s.light.weather in ("rain", "thunder"):
        dark, light = colour.dark(top, 0.3), colour.mix(mid, low, 0.4)
    if s.light.weather in ("snow", "fog"):
        dark = colour.mix(top, mid, 0.3) if s.light.night else colour.dark(mid, 0.1)
    chance = s.fixed(3)
    force = 0.72 if heavy else 0.45
    for k, (at, thick, tone) in enumerate(
        ((0.13, 90.0, dark), (0.3, 70.0, light), (0.42, 54.0, light), (0.5, 30.0, dark))
    ):
        y = s.h * (at + 0.03 * chance.random())
        clouds(s, canvas, y, thick=thick, salt=20 + k, tone=tone, alpha=force * (1 - 0.12 * k))


def stars(s: stage.Stage, canvas: noise.Floats) -> None:
    chance = s.fixed(2)
    for _ in range(190):
        x, y = chance.random() * s.width, chance.random() ** 1.3 * s.horizon * 0.9 * s.unit
        bright = chance.random() ** 2.5
        under = canvas[int(y), int(x)]
        tone = tuple(
            float(v) for v in under + (np.array([255, 243, 207]) - under) * (0.4 + 0.6 * bright)
        )
        radius = (0.8 + 1.9 * bright) * s.unit
        cv2.circle(canvas, (int(x * 16), int(y * 16)), int(radius * 16), tone, -1, cv2.LINE_AA, 4)


def moon(s: stage.Stage, canvas: noise.Floats, x: float, y: float, r: float) -> None:
    """A large golden moon with its seas, a cut edge and a halo."""
    shine(s, canvas, x, y, r=r * 3.5, tone=(240, 169, 58), strength=0.5)
    shine(s, canvas, x, y, r=r * 1.75, tone=(255, 216, 115), strength=0.55)
    px, py, pr = x * s.unit, y * s.unit, r * s.unit
    x0, x1 = max(0, int(px - pr - 4)), min(s.width, int(px + pr + 5))
    y0, y1 = max(0, int(py - pr - 4)), min(s.height, int(py + pr + 5))
    if x1 <= x0 or y1 <= y0:
        return
    yy, xx = np.mgrid[y0:y1, x0:x1].astype(np.float32)
    dx, dy = (xx - px) / pr, (yy - py) / pr
    angle = (np.arctan2(dy, dx) / (2 * np.pi) + 0.5) * 359
    edge = 1 + noise.line(360, 5, waves=26, octaves=2)[angle.astype(int)] * 0.012
    far = np.hypot(dx, dy) / edge
    lit = np.hypot(dx + 0.16, dy + 0.2)[..., None]
    ramp = np.clip((lit - 0.1) / 1.1, 0, 1)
    face = np.array((255, 246, 207), np.float32) * (1 - ramp) + np.array((247, 191, 75)) * ramp
    seas = np.zeros(far.shape, np.float32)
    for cx, cy, rx, ry in ((-0.1, -0.52, 0.44, 0.24), (0.5, 0.06, 0.36, 0.38),
                           (-0.52, 0.36, 0.3, 0.26), (-0.02, 0.72, 0.2, 0.14)):  # fmt: skip
        seas = np.maximum(
            seas, np.clip((1.12 - np.hypot((dx - cx) / rx, (dy - cy) / ry)) * 3, 0, 1)
        )
    seas = cv2.GaussianBlur(seas, (0, 0), max(0.3, pr * 0.045))[..., None] * 0.5
    face = face * (1 - seas) + np.array((224, 160, 64), np.float32) * seas
    rim = np.clip(1 - np.abs(far - 0.975) * pr / max(1.0, 3 * s.unit), 0, 1)[..., None] * 0.8
    face = face * (1 - rim) + np.array((255, 246, 210), np.float32) * rim
    disc = np.clip((1 - far) * pr, 0, 1)[..., None]
    canvas[y0:y1, x0:x1] = canvas[y0:y1, x0:x1] * (1 - disc) + face * disc


def sun(
    s: stage.Stage, canvas: noise.Floats, x: float, y: float, *, r: float, tone: Colour
) -> None:
    shine(s, canvas, x, y, r=r * 6, tone=tone, strength=0.75)
    yy, xx = np.mgrid[: s.height, : s.width].astype(np.float32)
    far = np.hypot(xx / s.unit - x, yy / s.unit - y) / r
    disc = np.clip((1 - far) * r * s.unit * 0.5, 0, 1)[..., None]
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
    """Add light around a point, brightest at it; soft, and so drawn at a quarter of the size."""
    step = 4
    size = (-(-s.height // step), -(-s.width // step))
    yy, xx = np.mgrid[: size[0], : size[1]].astype(np.float32) * step
    far = np.hypot(xx / s.unit - x, yy / s.unit - y)
    small = (strength / (1 + 7 * (far / r) ** 2.2)).astype(np.float32)
    glow = cv2.resize(small, (s.width, s.height), interpolation=cv2.INTER_LINEAR)
    canvas[:] = 255 - (255 - canvas) * (1 - glow[..., None] * (np.array(tone, np.float32) / 255))


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
    top, bottom = int((y - 2.4 * thick) * s.unit), int((y + 2.4 * thick) * s.unit)
    top, bottom = max(0, top), min(s.height, bottom)
    if bottom <= top:
        return
    small = noise.field(
        bottom - top, max(8, s.width // 8), s.home * 7 + salt, cell=48 * s.unit, octaves=4
    )
    wide = cv2.resize(small, (s.width, bottom - top), interpolation=cv2.INTER_CUBIC)
    yy = np.arange(top, bottom, dtype=np.float32)[:, None] / s.unit
    veil = (np.clip((wide - 0.48) * 4.6, 0, 1) * np.exp(-(((yy - y) / thick) ** 2)) * alpha)[
        ..., None
    ]
    part = canvas[top:bottom]
    part[:] = part * (1 - veil) + np.array(tone, np.float32) * veil


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
    bumps = noise.line(s.width, s.home * 13 + salt, waves=waves, rough=rough)
    top = (y - (np.tanh(bumps * 0.8) * 1.2 + 0.4) * rise) * s.unit
    start = max(0, int(top.min()) - 2)
    if start >= s.height:
        return
    part = canvas[start:]
    yy = np.arange(start, s.height, dtype=np.float32)[:, None]
    mask = np.clip((yy - top[None]) / 1.3, 0, 1)[..., None]
    deep = np.clip((yy - top[None]) / (fade * s.unit), 0, 1) ** 0.8
    grain = noise.field(part.shape[0], s.width, s.home + salt, cell=90 * s.unit, octaves=3)
    deep = np.clip(deep + (grain - 0.5) * 0.26 * (1 - deep), 0, 1)[..., None]
    paint = np.array(tone, np.float32) * (1 - deep) + np.array(s.light.haze, np.float32) * deep
    part[:] = part * (1 - mask) + paint * mask
