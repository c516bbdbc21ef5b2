"""Title and end cards: a scene in the dark, large type, a red seal."""

from __future__ import annotations

import re

import cv2
import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import brush, colour, lettering, outline, pen, stage

SEAL: colour.Colour = (178, 44, 38)
DEPTH = 0.9
VEIL_DEPTH = 0.8
_VERTICAL = 14  #: more characters than these are set in lines
_END = "完"
_ONE_COLUMN = 5
_ASIDE = 0.4  #: where a single column stands: the moon has the other side


_CHAPTER = re.compile(r"^\W*第[\d０-９〇零一二三四五六七八九十百千两]+[章回节集话卷部]\W*")


def sheets(s: stage.Stage, request: protocol.PanelRequest) -> list[stage.Sheet]:
    """What lies over the scene: a veil, then title, subtitle and seal."""
    title = lettering.clean(request.title) or (_END if request.kind == "end" else "")
    subtitle = lettering.clean(request.subtitle)
    upright = 0 < len(title) <= _VERTICAL and not any(c.isascii() for c in title) and s.h > s.w
    type_ = _columns(s, title) if upright else _lines(s, title)
    image, bottom, right = type_
    middle = s.w * _ASIDE if upright and len(title) <= _ONE_COLUMN else s.w / 2
    if subtitle:
        image = pen.over(image, _subtitle(s, subtitle, (middle * s.unit, bottom + 76 * s.unit)))
    seal_at = (right + 60, bottom / s.unit - 74) if upright else (s.w / 2, s.h * 0.2)
    image = pen.over(image, _seal(s, seal_at, subtitle or title))
    return [stage.Sheet(_veil(s), VEIL_DEPTH), stage.Sheet(_shadowed(s, image), DEPTH)]


def _veil(s: stage.Stage) -> protocol.Image:
    yy, xx = np.mgrid[: s.height, : s.width].astype(np.float32)
    far = np.hypot((xx / s.width - 0.5) / 0.5, (yy / s.height - 0.42) / 0.5)
    alpha = np.clip(0.42 - 0.3 * far, 0.06, 0.42)
    sheet = np.zeros((s.height, s.width, 4), np.uint8)
    sheet[..., :3] = np.array((14, 14, 26), np.float32) * alpha[..., None]
    sheet[..., 3] = alpha * 255
    return sheet


def _columns(s: stage.Stage, title: str) -> tuple[protocol.Image, float, float]:
    """Set upright, columns from the right; answers sheet, lower edge (px), right edge (units)."""
    count = 1 if len(title) <= _ONE_COLUMN else 2 if len(title) <= 10 else 3
    rows = -(-len(title) // count)
    unit = min(236.0, s.h * 0.5 / rows / 1.06, s.w * 0.62 / count / 1.2)
    size = max(8, round(unit * s.unit))
    top = s.h * 0.44 - rows * unit * 0.53
    middle = s.w * (0.5 if count > 1 else _ASIDE)
    glyphs = []
    for k, character in enumerate(title):
        column, row = divmod(k, rows)
        x = middle + ((count - 1) / 2 - column) * unit * 1.2
        glyphs.append((character, x * s.unit, (top + (row + 0.5) * unit * 1.06) * s.unit))
    image = _brushed(s, glyphs, size, unit * s.unit * 0.03)
    return image, (top + rows * unit * 1.06) * s.unit, middle + count * unit * 0.56


def _lines(s: stage.Stage, title: str) -> tuple[protocol.Image, float, float]:
    room = s.w * 0.66 * s.unit
    size, lines = 0, [""]
    for unit in (170, 140, 116, 96, 80, 66, 54, 44, 36):
        size = max(8, round(unit * s.unit))
        lines = lettering.wrapped(title, size, room, weight=900) or [""]
        whole = lettering.widest_word(title, size) <= room
        if whole and len(lines) * size * 1.24 <= s.h * 0.42 * s.unit and len(lines) <= 6:
            break
    step = size * 1.24
    top = s.height * 0.43 - step * (len(lines) - 1) / 2
    glyphs = [(line, s.width / 2, top + k * step) for k, line in enumerate(lines)]
    image = _brushed(s, glyphs, size, size * 0.035)
    return image, top + step * (len(lines) - 0.45), s.w / 2


def _subtitle(s: stage.Stage, text: str, at: tuple[float, float]) -> protocol.Image:
    size = max(8, round(38 * s.unit))
    lines = lettering.wrapped(text, size, s.width * 0.56, weight=600)[:3]
    glyphs = [(line, at[0], at[1] + k * size * 1.4) for k, line in enumerate(lines)]
    return lettering.draw(s.width, s.height, glyphs, size=size, weight=600, paint=(240, 228, 200),
                          stroke=size * 0.07)  # fmt: skip


def _seal(s: stage.Stage, at: tuple[float, float], text: str) -> protocol.Image:
    """A red seal of two characters of the text, or of a plain pattern where it has none."""
    p = s.pen()
    words = _CHAPTER.sub("", text) or text  # a seal says what the chapter is called, not which
    characters = [c for c in words if "\u4e00" <= c <= "\u9fff"][:2]
    with p.moved(*at, turn=-3):
        p.fill(outline.curve([(-40, -66, 1), (0, -68), (40, -66, 1), (42, 0), (40, 66, 1), (0, 68),
            (-40, 66, 1),
                              (-42, 0)]), SEAL)  # fmt: skip
        p.ink(outline.box(-33, -58, 66, 116), 3.5, (244, 226, 206))
        if not characters:
            for k in range(3):
                p.ink(outline.ellipse(0, 0, 24 - 8 * k, 46 - 14 * k), 4, (244, 226, 206))
    image = p.sheet(wobble=1.4 * s.unit, seed=s.seed % 89)
    if characters:
        size = max(8, round(50 * s.unit))
        x, y = at[0] * s.unit, at[1] * s.unit
        step = 27 * s.unit if len(characters) > 1 else 0
        glyphs = [(c, x, y + (2 * k - 1) * step) for k, c in enumerate(characters)]
        image = pen.over(
            image, lettering.draw(s.width, s.height, glyphs, size=size, paint=(244, 226, 206))
        )
    return image


def _brushed(
    s: stage.Stage, glyphs: list[tuple[str, float, float]], size: int, stroke: float
) -> protocol.Image:
    """Glyphs written with the brush, or with type made to look so."""
    image = lettering.draw(s.width, s.height, glyphs, size=size, stroke=stroke, face_of=brush.face)
    words = "".join(text for text, _, _ in glyphs).replace(" ", "")
    if words.isascii() or all(map(brush.has, words)):
        return pen.wobbled(image, 1.3 * s.unit, s.seed % 83)
    return brush.dried(s, image)


def _shadowed(s: stage.Stage, image: protocol.Image) -> protocol.Image:
    alpha = cv2.GaussianBlur(image[..., 3], (0, 0), 9 * s.unit).astype(np.float32) / 255 * 0.7
    below = np.zeros_like(image)
    below[..., :3] = np.array((10, 9, 18), np.float32) * alpha[..., None]
    below[..., 3] = alpha * 255
    return pen.over(below, image)
