"""Type in the picture: words set upright in columns, or level in lines, as one-channel masks."""

from __future__ import annotations

import dataclasses
import functools
import unicodedata
from typing import Any, TypeAlias

import budoux
import numpy as np
from PIL import Image, ImageDraw

from mangen.engines.animatic import lettering

Mask: TypeAlias = "np.ndarray[Any, np.dtype[np.uint8]]"
PITCH = 1.28  #: from column to column, in ems
_STEP = 1.1  #: from one ideograph to the one below
_CORNER = frozenset("，。、；：,.;:")  #: they stand in the upper right of their cell
_TURNED = frozenset("…—－-~～〜–（）()《》〈〉【】「」『』〔〕[]“”‘’")
_NEVER_FIRST = frozenset("，。！？、；：…—”’）》〉】」』〕,.!?;:)]~～")
_NEVER_LAST = frozenset("“‘（《〈【「『〔([")
_BAD = 1e6


@dataclasses.dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    turned: bool = False
    corner: bool = False
    long: float = _STEP  #: ems


def is_upright(text: str) -> bool:
    """Whether text is set in columns: ideographs or kana are its greater part."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return wide > 0 and wide * 2 >= sum(not c.isspace() for c in text)


def upright(text: str, size: int, columns: int) -> Mask:
    """Text in at most so many columns from the right, broken where it reads best."""
    cells = _cells(text, size)
    parts = _broken(cells, _breaks(text, cells), columns)
    tall = max((sum(c.long for c in part) for part in parts), default=1.0)
    height, width = int(tall * size) + 2, int((PITCH * (len(parts) - 1) + 1.06) * size) + 2
    sheet = Image.new("L", (width, height))
    for k, part in enumerate(parts):
        x = width - (0.53 + PITCH * k) * size
        y = 0.0
        for cell in part:
            _set(sheet, cell, (x, y), size)
            y += cell.long * size
    return np.asarray(sheet, np.uint8)


def level(text: str, size: int, width: float) -> Mask:
    """Text in centred lines of at most `width` pixels, where its words allow."""
    face = lettering.font(size, 700)
    lines = lettering.wrapped(text, size, width, weight=700) or [""]
    widest = max(face.getlength(line) for line in lines)
    step = size * 1.2
    sheet = Image.new("L", (int(widest) + 4, int(step * len(lines)) + 4))
    pencil = ImageDraw.Draw(sheet)
    for k, line in enumerate(lines):
        pencil.text((sheet.width / 2, 2 + (k + 0.5) * step), line, 255, face, "mm")
    return np.asarray(sheet, np.uint8)


def _cells(text: str, size: int) -> list[_Cell]:
    """One cell an ideograph or mark; two digits or letters stand side by side, more lie turned."""
    cells: list[_Cell] = []
    run = ""
    for c in [*text, ""]:
        if c and c.isascii() and c.isalnum():
            run += c
            continue
        if run:
            long = lettering.font(size, 800).getlength(run) / size + 0.1
            cells.append(_Cell(run) if len(run) <= 2 else _Cell(run, turned=True, long=long))
            run = ""
        if not c:
            continue
        if c.isspace():
            cells.append(_Cell("", long=0.5))
        elif c in _CORNER:
            cells.append(_Cell(c, corner=True, long=0.72))
        elif c in _TURNED:
            cells.append(_Cell(c, turned=True, long=1.0))
        else:
            cells.append(_Cell(c, long=0.98 if c in "！？!?" else _STEP))
    return cells


@functools.cache
def _parser() -> budoux.Parser:
    return budoux.load_default_simplified_chinese_parser()


def _breaks(text: str, cells: list[_Cell]) -> list[float]:
    """What it costs to begin a column before each cell."""
    starts, at = set(), 0
    for phrase in _parser().parse(text) if text else []:
        starts.add(at)
        at += len(phrase)
    costs, at = [], 0
    for k, cell in enumerate(cells):
        if k == 0:
            costs.append(0.0)
        else:
            before = cells[k - 1].text[-1:]
            bad = cell.text[:1] in _NEVER_FIRST or before in _NEVER_LAST
            after_mark = before in _NEVER_FIRST or not before
            costs.append(_BAD if bad else -1.5 if after_mark else 0.4 if at in starts else 12.0)
        at += max(1, len(cell.text))
    return costs


def _broken(cells: list[_Cell], costs: list[float], columns: int) -> list[list[_Cell]]:
    """At most so many columns, as even as good breaks allow (a shortest path)."""
    n = len(cells)
    if not n:
        return []
    way = np.concatenate([[0.0], np.cumsum([c.long for c in cells])])
    even = way[-1] / max(1, min(columns, n))
    best: list[dict[int, tuple[float, int]]] = [{0: (0.0, -1)}]
    for _ in range(max(1, min(columns, n))):
        found: dict[int, tuple[float, int]] = {}
        for start, (spent, _back) in best[-1].items():
            for end in range(start + 1, n + 1):
                long = way[end] - way[start]
                if long > even * 1.9 + 1 and end > start + 1:
                    break
                over = max(0.0, long - even)
                cost = spent + over * over + 0.12 * (even - long) ** 2 * (end < n)
                cost += costs[end] if end < n else 0.0
                if end not in found or cost < found[end][0]:
                    found[end] = (cost, start)
        best.append(found)
    ends = [(step[n][0], k) for k, step in enumerate(best) if n in step]
    _, k = min(ends) if ends else (0.0, 0)
    if not ends:
        return [cells]
    parts, end = [], n
    while end > 0:
        start = best[k][end][1]
        parts.append(cells[start:end])
        end, k = start, k - 1
    return parts[::-1]


def _set(sheet: Image.Image, cell: _Cell, at: tuple[float, float], size: int) -> None:
    """Draw one cell whose upper edge's middle is `at`."""
    if not cell.text:
        return
    face = lettering.font(size, 800)
    x, y = at
    if cell.turned:
        long = max(size, int(face.getlength(cell.text))) + size
        tile = Image.new("L", (long, 2 * size))
        ImageDraw.Draw(tile).text((long / 2, size), cell.text, 255, face, "mm")
        tile = tile.transpose(Image.Transpose.ROTATE_270)
        spot = (round(x - tile.width / 2), round(y + cell.long * size / 2 - tile.height / 2))
    else:
        if len(cell.text) > 1:  # two side by side in one cell
            face = lettering.font(max(6, round(size * 0.8)), 800)
        tile = Image.new("L", (2 * size, 2 * size))
        ImageDraw.Draw(tile).text((size, size), cell.text, 255, face, "mm")
        spot = (round(x - size), round(y + cell.long * size / 2 - size))
        if cell.corner:
            left, top, right, low = tile.getbbox() or (0, 0, 0, 0)
            spot = (
                round(x + 0.27 * size - (left + right) / 2),
                round(y + 0.2 * size - (top + low) / 2),
            )
    sheet.paste(255, spot, tile)
