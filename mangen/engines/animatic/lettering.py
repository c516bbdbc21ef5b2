"""Lettering: the one font, which of its glyphs exist, and large lines of text as sheets."""

from __future__ import annotations

import functools
import pathlib
import unicodedata
from collections.abc import Callable
from typing import Any

import manimgx_fonts_cjk
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from mangen.engines import protocol
from mangen.engines.animatic import colour

FONT = pathlib.Path(manimgx_fonts_cjk.__file__).with_name("NotoSansCJK-VF.otf.ttc")
_SIMPLIFIED = 2  #: index of the simplified Chinese face in the collection
_NO_GLYPH = "\U0010fffe"  #: a noncharacter: whatever it draws is the font's empty box


@functools.cache
def font(size: int, weight: int = 800) -> ImageFont.FreeTypeFont:
    """Noto Sans CJK at a size in pixels and a weight of 100..900."""
    face = ImageFont.truetype(str(FONT), size, index=_SIMPLIFIED)
    face.set_variation_by_axes([weight])
    return face


@functools.cache
def drawable(character: str) -> bool:
    """Whether the font has a glyph of its own for the character."""
    if character.isspace():
        return True
    if unicodedata.category(character) in ("Cc", "Cf", "Mn", "Me", "Cs", "Co", "Cn"):
        return False
    face = font(40)
    return bytes(face.getmask(character)) != bytes(face.getmask(_NO_GLYPH))


def clean(text: str) -> str:
    """The text without what the font can't draw; white space becomes single spaces."""
    kept = "".join(c for c in unicodedata.normalize("NFC", text) if drawable(c))
    return " ".join(kept.split())


def wrapped(text: str, size: int, width: float, *, weight: int = 800) -> list[str]:
    """Lines no wider than `width` pixels, broken between words or ideographs."""
    face = font(size, weight)
    lines, line = [], ""
    for piece in _pieces(text):
        if line and face.getlength((line + piece).rstrip()) > width:
            lines.append(line.rstrip())
            line = piece.lstrip()
        else:
            line += piece
        while face.getlength(line) > width and len(line) > 1:
            cut = max(1, next((k for k in range(len(line), 0, -1)
                               if face.getlength(line[:k]) <= width), 1))  # fmt: skip
            lines.append(line[:cut])
            line = line[cut:]
    return [*lines, line.rstrip()] if line.strip() else lines


def widest_word(text: str, size: int) -> float:
    """Pixels of the longest piece that should not be broken."""
    return max((font(size, 900).getlength(piece) for piece in _pieces(text)), default=0.0)


_NEVER_FIRST = "，。！？、；：…—”’）》」』,.!?;:)"


def _pieces(text: str) -> list[str]:
    pieces: list[str] = []
    for character in text:
        joins = pieces and (
            character in _NEVER_FIRST
            or (character.isascii() and not character.isspace() and pieces[-1][-1].isascii()
                and not pieces[-1][-1].isspace())
        )  # fmt: skip
        if joins:
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


def draw(
    width: int,
    height: int,
    glyphs: list[tuple[str, float, float]],
    *,
    size: int,
    weight: int = 900,
    paint: colour.Colour = (255, 250, 240),
    stroke: float = 0.0,
    edge: colour.Colour = colour.INK,
    face_of: Callable[[str, int], ImageFont.FreeTypeFont] | None = None,
) -> protocol.Image:
    """A premultiplied sheet with texts centred at (x, y) pixels each, edged by `stroke` pixels."""
    sheet: np.ndarray[Any, np.dtype[Any]] = np.zeros((height, width, 4), np.float32)
    for line, tone in ((stroke, edge), (0.0, paint)):
        if line == 0.0 and tone is edge:
            continue
        mask = Image.new("L", (width, height))
        pencil = ImageDraw.Draw(mask)
        for text, x, y in glyphs:
            face = face_of(text, size) if face_of else font(size, weight)
            pencil.text((x, y), text, fill=255, font=face, anchor="mm", stroke_width=line)
        alpha = np.asarray(mask, np.float32)[..., None] / 255
        sheet = sheet * (1 - alpha) + np.array((*tone, 255), np.float32) * alpha
    return (sheet + 0.5).astype(np.uint8)
