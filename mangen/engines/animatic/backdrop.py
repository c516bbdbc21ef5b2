"""Backdrops: what is painted rather than drawn below the sky: ground, water, walls, reflections.

Functions return float32 RGB canvases or premultiplied RGBA sheets of the stage's pixel size.
"""

from __future__ import annotations

import cv2
import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import colour, noise, sky, stage
from mangen.engines.animatic.colour import Colour


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
    edge: Colour | None = None,
) -> protocol.Image:
    """Earth from `y` down: a soft upper edge, two tones, brush texture that widens towards us.

    `edge` is light that lies on its crest.
    """
    top = (y - noise.line(s.width, s.home * 17 + salt, waves=3, octaves=3) * rise) * s.unit
    start = max(0, min(s.height - 1, int(top.min()) - 1))
    yy = np.arange(start, s.height, dtype=np.float32)[:, None]
    alpha = np.clip(yy - top[None], 0, 1)
    deep = np.clip((yy / s.unit - y) / max(1, s.h - y), 0, 1)[..., None]
    paint = np.array(far, np.float32) * (1 - deep) + np.array(near, np.float32) * deep
    small = noise.field(
        s.height - start, max(8, s.width // 5), s.home * 19 + salt, cell=34 * s.unit, octaves=4
    )
    streak = cv2.resize(small, (s.width, s.height - start), interpolation=cv2.INTER_CUBIC)
    paint = paint * (1 + ((streak - 0.5) * 2 * grain)[..., None])
    if edge is not None:
        lit = np.exp(-((((yy - top[None]) / s.unit - 4) / 6.5) ** 2))[..., None] * 0.62
        paint = paint * (1 - lit) + np.array(edge, np.float32) * lit
    return _sheet(s, paint, alpha, start)


def water(
    s: stage.Stage, y: float, end: float, far: Colour, near: Colour, *, count: int = 560
) -> noise.Floats:
    """A canvas of still water from `y` down: short strokes of light, dense below sun or moon.

    The strokes lie between `y` and `end`.
    """
    canvas = sky.gradient(s, [(y / s.h, far), (min(0.99, y / s.h + 0.14), near), (1, near)])
    chance = np.random.default_rng([s.home, 41])
    x0 = s.orb[0]
    clear = s.light.weather in ("clear", "wind") or (s.light.night and "moon" in s.objects)
    gold = (255, 224, 138) if s.light.night else colour.pale(s.light.rim, 0.3)
    pale = colour.mix(near, s.light.sky[2], 0.42)
    for _ in range(count):
        t = chance.random() ** 1.25
        yy = y + 3 + t * (end - y)
        spread = 60 + 260 * t
        under_orb = chance.random() < (0.66 if clear else 0.0)
        x = chance.normal(x0, spread * 0.7) if under_orb else chance.random() * s.w
        length = (10 + 92 * t) * chance.random() + 5
        near_orb = float(np.exp(-(((x - x0) / (40 + 150 * t)) ** 2))) if clear else 0.0
        tone = colour.mix(pale, gold, near_orb)
        if not under_orb and chance.random() < 0.4:
            tone = colour.dark(near, 0.2)
        p0 = np.array([x - length / 2, yy]) * s.unit
        row = int(min(s.height - 1, max(0, p0[1])))
        alpha = 0.3 + 0.62 * near_orb
        blended = tuple(float(v) for v in np.array(tone) * alpha + canvas[row, 0] * (1 - alpha))
        thick = max(1, round((1.4 + 3.2 * t) * s.unit))
        ends = [(int(v[0] * 16), int(v[1] * 16)) for v in (p0, p0 + np.array([length, 0]) * s.unit)]
        cv2.line(canvas, ends[0], ends[1], blended, thick, cv2.LINE_AA, 4)
    return canvas


def mirrored(
    s: stage.Stage, canvas: noise.Floats, sheet: protocol.Image, y: float, *, alpha: float = 0.45
) -> None:
    """Lay a sheet's blurred reflection on the water that begins at `y`."""
    line = round(y * s.unit)
    deep = min(line, s.height - line)
    if deep < 4:
        return
    above = sheet[line - deep : line][::-1]
    squashed = cv2.resize(above, (s.width, max(2, int(deep * 0.62))), interpolation=cv2.INTER_AREA)
    soft = cv2.GaussianBlur(squashed, (0, 0), sigmaX=3.2 * s.unit, sigmaY=6.5 * s.unit)
    part = canvas[line : line + soft.shape[0]]
    fade = np.linspace(alpha, alpha * 0.25, soft.shape[0], dtype=np.float32)[:, None, None]
    weight = soft[..., 3:4].astype(np.float32) / 255 * fade
    part[:] = part * (1 - weight) + soft[..., :3].astype(np.float32) * fade


def below(s: stage.Stage, canvas: noise.Floats, y: float) -> protocol.Image:
    """The part of a canvas below `y` as a sheet."""
    start = max(0, min(s.height - 1, int(y * s.unit)))
    return _sheet(s, canvas[start:], np.ones(canvas[start:].shape[:2], np.float32), start)


def wall(s: stage.Stage, tone: Colour, salt: int, *, glow: Colour | None = None) -> noise.Floats:
    """A plastered wall: mottled, darker towards the corners; `glow` lights it from a side."""
    canvas = np.broadcast_to(np.array(tone, np.float32), (s.height, s.width, 3)).copy()
    canvas *= (
        1 + ((s.noise(salt, 180) - 0.5) * 0.24 + (s.noise(salt + 1, 26, 2) - 0.5) * 0.09)[..., None]
    )
    xx = np.linspace(-1, 1, s.width, dtype=np.float32)[None, :]
    yy = np.linspace(-1, 0.8, s.height, dtype=np.float32)[:, None]
    canvas *= (1 - 0.36 * np.clip(np.hypot(xx * 0.85, yy) - 0.35, 0, 1))[..., None]
    if glow is not None:
        x = s.w * (0.5 - 0.22 * s.side)
        sky.shine(s, canvas, x, s.h * 0.38, r=s.h * 0.4, tone=glow, strength=0.4)
    return canvas


def plaster(s: stage.Stage, y: float, top: Colour, foot: Colour, salt: int) -> protocol.Image:
    """An old outer wall from `y` down: blotched, stained by rain, dark at its foot."""
    start = max(0, min(s.height - 1, int(y * s.unit)))
    deep = np.linspace(0, 1, s.height - start, dtype=np.float32)[:, None, None] ** 1.3
    paint = np.array(top, np.float32) * (1 - deep) + np.array(foot, np.float32) * deep
    shape = (s.height - start, s.width)
    big = noise.field(*shape, s.home * 23 + salt, cell=150 * s.unit, octaves=4)
    fine = noise.field(*shape, s.home * 23 + salt + 1, cell=24 * s.unit, octaves=2)
    paint = paint * (0.82 + 0.24 * big + 0.12 * fine)[..., None]
    stain = (np.clip((big - 0.55) * 7, 0, 1) * 0.3)[..., None]
    paint = paint * (1 - stain) + np.array(colour.dark(foot, 0.3), np.float32) * stain
    return _sheet(s, paint, np.ones(shape, np.float32), start)


def shaded(sheet: protocol.Image, shadow: protocol.Image, blur: float, alpha: float) -> None:
    """Cast a soft shadow of one sheet on another, in place."""
    small = cv2.resize(shadow[..., 3], None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    soft = cv2.GaussianBlur(small, (0, 0), max(0.3, blur / 2))
    veil = cv2.resize(soft, sheet.shape[1::-1], interpolation=cv2.INTER_LINEAR)
    keep = 1 - veil.astype(np.float32)[..., None] * np.float32(alpha / 255)
    sheet[..., :3] = sheet[..., :3] * keep + 0.5


def faded(s: stage.Stage) -> protocol.Image:
    """What memory leaves of a picture: its edges lost in the paper, uneven as a wash is."""
    xx = np.linspace(-1, 1, s.width, dtype=np.float32)[None, :]
    yy = np.linspace(-1, 1, s.height, dtype=np.float32)[:, None]
    away = np.hypot(np.abs(xx) ** 1.6, np.abs(yy) ** 1.9) + (s.noise(83, 120) - 0.5) * 0.36
    alpha = np.clip((away - 0.62) / 0.5, 0, 1) ** 1.4 * 0.94
    paper = np.array(colour.mix(colour.PAPER, s.light.haze, 0.22 if s.light.night else 0.1))
    tone = np.broadcast_to(paper.astype(np.float32), (s.height, s.width, 3))
    return _sheet(s, tone, np.asarray(alpha, np.float32), 0)


def blurred(s: stage.Stage, sheet: protocol.Image, units: float) -> protocol.Image:
    """A sheet out of focus."""
    return np.asarray(cv2.GaussianBlur(sheet, (0, 0), max(0.3, units * s.unit)), np.uint8)


def _sheet(s: stage.Stage, paint: noise.Floats, alpha: noise.Floats, start: int) -> protocol.Image:
    image = np.zeros((s.height, s.width, 4), np.uint8)
    image[start:, :, :3] = np.clip(paint, 0, 255) * alpha[..., None] + 0.5
    image[start:, :, 3] = alpha * 255 + 0.5
    return image
