"""Subtitles drawn onto frames: Noto Sans CJK, warm white, ink outline, soft shadow."""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import pathlib
from typing import Any, TypeAlias

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from mangen.comic import subtitles

Array: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]
#: RGB -> Y, U, V of BT.601 limited range, for values of 0..1 each
_MATRIX = np.array(
    [[65.481, 128.553, 24.966], [-37.797, -74.203, 112.0], [112.0, -93.786, -18.214]], np.float32
)
_OFFSET = np.array([16.0, 128.0, 128.0], np.float32)
_FILL, _INK, _SHADOW = "#fffaf0", "#17121a", (14, 6, 10)
_CENTRE = 1046 / 1280
_WIDEST = 0.94  #: of the frame: a wider row is drawn smaller
_UNSEEN = "，。、；："  #: not drawn at the end of a cue, as is the custom
_SC = 2  #: the simplified Chinese face in the collection


@dataclasses.dataclass(frozen=True, slots=True)
class _Overlay:
    """A cue as pixels, at even x, y and of even size; colours are multiplied by coverage."""

    x: int
    y: int
    rgb: Array
    rest: Array  #: 255 - coverage, one channel
    luma: Array
    chroma: tuple[Array, Array]
    chroma_rest: Array


class Burner:
    """Draws cues onto frames of one size (even). Sizes are 720x1280's, scaled."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.scale = subtitles.scale_of(width, height)
        self._overlay = functools.lru_cache(maxsize=8)(self._drawn)

    def burn(self, frame: Array, cue: subtitles.Cue) -> None:
        """Draw onto an RGB frame, shape (height, width, 3), in place."""
        over = self._overlay(cue.rows)
        if over is None:
            return
        rows, columns = over.rest.shape
        part = frame[over.y : over.y + rows, over.x : over.x + columns]
        part[:] = _blended(part, np.asarray(cv2.merge([over.rest] * 3), np.uint8), over.rgb)

    def burn_planes(self, frame: Array, cue: subtitles.Cue) -> None:
        """Draw onto a yuv420p frame, shape (height * 3 / 2, width), BT.601, in place.

        A frame that comes and goes as planes spares two conversions and keeps its colours.
        """
        over = self._overlay(cue.rows)
        if over is None:
            return
        rows, columns = over.rest.shape
        part = frame[over.y : over.y + rows, over.x : over.x + columns]
        part[:] = _blended(part, over.rest, over.luma)
        x, y, size = over.x // 2, over.y // 2, self.width * self.height
        for i, colour in enumerate(over.chroma):
            start = size + i * size // 4
            plane = frame.reshape(-1)[start : start + size // 4]
            part = plane.reshape(self.height // 2, self.width // 2)
            part = part[y : y + rows // 2, x : x + columns // 2]
            part[:] = _blended(part, over.chroma_rest, colour)

    def _drawn(self, rows: tuple[str, ...]) -> _Overlay | None:
        shown = [*rows[:-1], rows[-1].rstrip(_UNSEEN) or rows[-1]] if rows else []
        shown = ["".join(ch for ch in row if _has(ch)) for row in shown]
        shown = [row for row in shown if row.strip()]
        if not shown:
            return None
        size, stroke = 46 * self.scale, max(1, round(7 * self.scale))
        font = _font(size)
        widest = max(font.getlength(row) for row in shown)
        room = self.width * _WIDEST - 2 * stroke
        if widest > room:
            size *= room / widest
            font, widest = _font(size), room
        blur = 6 * self.scale
        margin = stroke + round(3 * blur)
        pitch = size + 10 * self.scale
        w, h = round(widest) + 2 * margin, round(pitch * len(shown)) + 2 * margin
        picture = self._picture(shown, font, (w, h), (margin + pitch / 2, pitch, stroke, blur))
        return self._placed(picture)

    def _picture(
        self,
        rows: list[str],
        font: ImageFont.FreeTypeFont,
        size: tuple[int, int],
        measures: tuple[float, float, int, float],
    ) -> Array:
        first, pitch, stroke, blur = measures
        shadow = Image.new("RGBA", size, (*_SHADOW, 0))
        words = Image.new("RGBA", size, (0, 0, 0, 0))
        under, over = ImageDraw.Draw(shadow), ImageDraw.Draw(words)
        wider, lower = stroke + max(1, round(2 * self.scale)), 3 * self.scale
        for i, row in enumerate(rows):
            at = (size[0] / 2, first + i * pitch)
            under.text((at[0], at[1] + lower), row, (*_SHADOW, 190), font, "mm",
                       stroke_width=wider, stroke_fill=(*_SHADOW, 190))  # fmt: skip
            over.text(at, row, _FILL, font, "mm", stroke_width=stroke, stroke_fill=_INK)
        blurred = shadow.filter(ImageFilter.GaussianBlur(blur))
        return np.asarray(Image.alpha_composite(blurred, words))

    def _placed(self, picture: Array) -> _Overlay:
        rows, columns = picture.shape[:2]
        x = (self.width - columns) // 2 // 2 * 2
        y = round(self.height * _CENTRE - rows / 2) // 2 * 2
        top, left = max(0, -y), max(0, -x)
        picture = picture[top : top + self.height, left : left + self.width]
        x, y = max(0, x), max(0, min(y, self.height - picture.shape[0]))
        y -= y % 2
        rows, columns = (n // 2 * 2 for n in picture.shape[:2])
        picture = picture[:rows, :columns]
        cover = picture[..., 3:].astype(np.float32) / 255
        rgb = picture[..., :3].astype(np.float32) / 255 * cover
        yuv = rgb @ _MATRIX.T + _OFFSET * cover
        half = cv2.resize(yuv, (columns // 2, rows // 2), interpolation=cv2.INTER_AREA)
        thin = cv2.resize(cover, (columns // 2, rows // 2), interpolation=cv2.INTER_AREA)
        return _Overlay(
            x, y, _bytes(rgb * 255), _bytes(255 - 255 * cover[..., 0]), _bytes(yuv[..., 0]),
            (_bytes(half[..., 1]), _bytes(half[..., 2])), _bytes(255 - 255 * thin),
        )  # fmt: skip


def to_planes(rgb: Array) -> Array:
    """RGB of even size as yuv420p, BT.601 limited range, shape (height * 3 / 2, width)."""
    return np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2YUV_I420), np.uint8)


def _blended(under: Array, rest: Array, over: Array) -> Array:
    return np.asarray(cv2.add(cv2.multiply(under, rest, scale=1 / 255), over), np.uint8)


def _bytes(values: Any) -> Array:
    return np.ascontiguousarray(np.clip(np.rint(values), 0, 255).astype(np.uint8))


@functools.lru_cache(maxsize=8)
def _font(size: float) -> ImageFont.FreeTypeFont:
    spec = importlib.util.find_spec("manimgx_fonts_cjk")
    assert spec is not None, "manimgx-fonts-cjk is a dependency"
    folder = pathlib.Path(next(iter(spec.submodule_search_locations or ())))
    font = ImageFont.truetype(folder / "NotoSansCJK-VF.otf.ttc", size, index=_SC)
    font.set_variation_by_axes([800])
    return font


@functools.lru_cache(maxsize=8192)
def _has(ch: str) -> bool:
    """Whether the font draws this character, rather than an empty box."""
    if ch == " ":
        return True
    font = _font(24)
    return bytes(font.getmask(ch)) != bytes(font.getmask("\U0010fffe"))
