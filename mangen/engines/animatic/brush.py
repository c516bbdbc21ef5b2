"""The brush: the hand that titles are written in, and strokes that run dry where it can't.

A brush font is used where its file lies in `fonts`, glyph by glyph: display fonts lack rare
characters. The rest is the text font's heaviest weight, roughened.
"""

from __future__ import annotations

import functools
import pathlib

import cv2
import numpy as np
from PIL import ImageFont

from mangen.engines import protocol
from mangen.engines.animatic import lettering, noise, pen, stage

FONT = pathlib.Path(__file__).with_name("fonts") / "ma_shan_zheng.woff"
_NO_GLYPH = "\U0010fffe"


@functools.cache
def _font(size: int) -> ImageFont.FreeTypeFont | None:
    return ImageFont.truetype(str(FONT), size) if FONT.exists() else None


@functools.cache
def has(character: str) -> bool:
    """Whether the brush font has a glyph of its own for the character."""
    face = _font(40)
    if face is None or character.isspace():
        return False
    return bytes(face.getmask(character)) != bytes(face.getmask(_NO_GLYPH))


def face(text: str, size: int) -> ImageFont.FreeTypeFont:
    """The font a piece of a title is written in."""
    brush = _font(size) if text and all(has(c) or c.isspace() for c in text) else None
    return brush or lettering.font(size, 900)


def dried(s: stage.Stage, sheet: protocol.Image) -> protocol.Image:
    """Type that looks painted: edges tremble, and streaks along the stroke stay dry."""
    u = s.unit
    waves = pen.waves(s.height, s.width, 2.6 * u, s.seed % 83)
    fine = noise.field(s.height, s.width, s.seed % 71, cell=max(2.0, 5 * u), octaves=1)
    x, y = waves[0] + (fine - np.float32(0.5)) * np.float32(4 * u), waves[1]
    rough = pen.displaced(sheet, (x, y))
    narrow = noise.field(s.height, max(8, s.width // 22), s.seed % 67, cell=max(2.0, 3.2 * u))
    streaks = cv2.resize(narrow, (s.width, s.height), interpolation=cv2.INTER_CUBIC)
    patchy = noise.field(s.height, s.width, s.seed % 61, cell=120 * u, octaves=2)
    dry = np.clip((streaks - 0.52) * 9, 0, 1) * np.clip((patchy - 0.46) * 7, 0, 1)
    kept = rough * (1 - 0.6 * dry[..., None])
    return np.asarray(kept + 0.5, np.uint8)
