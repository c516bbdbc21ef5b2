"""Captions: paper boxes in a corner that say where and when."""

from __future__ import annotations

import math

import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import balloon, colour, outline, pen, typeset

_SIZE = 30.0  #: units of the type
_PAD = 15.0
_COLUMN = 7  #: most characters of a column


def placed(room: balloon.Room, text: str) -> balloon.Balloon:
    """The corner that hides nobody; the box as a balloon of the same measures."""
    best: tuple[float, balloon.Balloon] | None = None
    for scale in (1.0, 0.85, 0.7, 0.55):
        mask = _set(room, text, max(6, round(_SIZE * scale * room.unit)))
        a = mask.shape[1] / 2 + _PAD * room.unit * scale
        b = mask.shape[0] / 2 + _PAD * room.unit * scale
        left, top, right, low = room.safe
        for rank, (x, y) in enumerate(
            ((left + a, top + b), (right - a, top + b), (left + a, low - b), (right - a, low - b))
        ):
            one = balloon.Balloon(mask=mask, x=x, y=y, a=a, b=b)
            hidden = sum(balloon.shared(one.box, box) for box in (*room.faces, *room.taken))
            outside = max(0.0, 2 * a - (right - left)) + max(0.0, 2 * b - (low - top))
            cost = rank * 0.1 + (1 - scale) + 1000 * hidden / (4 * a * b) + 10 * outside
            cost += sum(balloon.shared(one.box, head) for head in room.heads) / (4 * a * b)
            if best is None or cost < best[0]:
                best = cost, one
    assert best is not None
    return best[1]


def _set(room: balloon.Room, text: str, size: int) -> typeset.Mask:
    if not typeset.is_upright(text):
        return typeset.level(text, round(size * 0.9), room.width * 0.5)
    words = text.split()
    if 1 < len(words) <= 3 and max(map(len, words)) <= _COLUMN:
        return _columns([typeset.upright(word, size, 1) for word in words], size)
    return typeset.upright(text, size, -(-len(text) // _COLUMN))


def _columns(parts: list[typeset.Mask], size: int) -> typeset.Mask:
    """Words side by side from the right, tops level."""
    gap = round(size * (typeset.PITCH - 1.0))
    tall = max(part.shape[0] for part in parts)
    sheet = np.zeros((tall, sum(part.shape[1] + gap for part in parts) - gap), np.uint8)
    x = sheet.shape[1]
    for part in parts:
        x -= part.shape[1]
        sheet[: part.shape[0], x : x + part.shape[1]] = part
        x -= gap
    return sheet


def draw(room: balloon.Room, one: balloon.Balloon) -> protocol.Patch:
    """Paper with a double edge and a hard shadow."""
    u = room.unit
    left, top = math.floor(one.x - one.a - 4 * u), math.floor(one.y - one.b - 4 * u)
    width, height = math.ceil(2 * one.a + 14 * u), math.ceil(2 * one.b + 14 * u)
    p = pen.Pen(width, height, 1.0, over=3)
    with p.moved(one.x - left, one.y - top):
        box = outline.box(-one.a, -one.b, 2 * one.a, 2 * one.b)
        p.fill(outline.moved(box, 5 * u, 6 * u), (20, 14, 20), alpha=0.5)
        p.shape(box, colour.PAPER, width=max(1.0, 4 * u))
        inner = outline.box(-one.a + 6 * u, -one.b + 6 * u, 2 * one.a - 12 * u, 2 * one.b - 12 * u)
        p.ink(inner, max(0.5, 1.2 * u))
    sheet = p.sheet()
    balloon.write(sheet, one, (left, top))
    x, y = max(0, left), max(0, top)
    return protocol.Patch(image=pen.straight(sheet[y - top :, x - left :]), x=x, y=y)
