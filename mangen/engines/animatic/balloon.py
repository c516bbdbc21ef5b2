"""Balloons: white shapes around what somebody says, where no face is, their tails at the mouth.

All in pixels of the frame. Placing is a search over shapes of the text and places for each.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import cv2
import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import colour, lettering, outline, pen, typeset

Box = tuple[float, float, float, float]  #: left, top, right, bottom
_WHITE: colour.Colour = (255, 253, 246)
EDGE = 0.05  #: nothing lies nearer to the frame's sides, as a share of them
LOWEST = 0.78  #: nor lower
_SIZE = 50.0  #: units of the type
_SIZES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
_BULGE = 2.6  #: exponent of the shape: 2 is an ellipse, more is squarer
_PAD = 17.0
LOUD = frozenset({"angry", "surprised"})
SOFT = frozenset({"shy", "tired"})


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The frame a balloon is placed in."""

    width: int
    height: int
    faces: Sequence[Box] = ()  #: never covered
    heads: Sequence[Box] = ()  #: rather not covered
    taken: Sequence[Box] = ()  #: by other words

    @property
    def unit(self) -> float:
        return min(self.width, self.height) / 720

    @property
    def safe(self) -> Box:
        """Where words may stand."""
        w, h = self.width, self.height
        return w * EDGE, h * EDGE, w * (1 - EDGE), h * LOWEST


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Balloon:
    """A balloon that has its place. `box` is the body's, without the tail."""

    mask: typeset.Mask
    x: float  #: its middle
    y: float
    a: float  #: half its width
    b: float

    @property
    def box(self) -> Box:
        return self.x - self.a, self.y - self.b, self.x + self.a, self.y + self.b


def placed(room: Room, text: str, mouth: tuple[float, float] | None) -> Balloon:
    """The best place for a text; the type gets smaller where only that keeps faces free."""
    best: tuple[float, Balloon] | None = None
    for scale in _SIZES:
        for mask in _settings(text, max(6, round(_SIZE * scale * room.unit)), room):
            a, b = _around(mask, room.unit * scale)
            found = _search(room, mask, (a, b), mouth)
            if found and (best is None or found[0] + (1 - scale) * 2 < best[0]):
                best = found[0] + (1 - scale) * 2, found[1]
        if best is not None and best[0] < _HARD:
            return best[1]
    if best is None:  # not even the smallest type fits the frame: its middle is what is left
        mask = next(iter(_settings(text, 6, room)))
        a, b = _around(mask, room.unit * _SIZES[-1])
        return Balloon(mask=mask, x=room.width / 2, y=b + room.height * EDGE, a=a, b=b)
    return best[1]


_HARD = 50.0


def _settings(text: str, size: int, room: Room) -> list[typeset.Mask]:
    if typeset.is_upright(text):
        most = max(1, min(5, -(-len(text) // 3)))
        return [typeset.upright(text, size, n) for n in range(1, most + 1)]
    size = max(6, round(size * 0.84))
    least = lettering.widest_word(text, size)
    return [typeset.level(text, size, max(least, room.width * share))
            for share in (0.24, 0.32, 0.42, 0.56)]  # fmt: skip


def _around(mask: typeset.Mask, unit: float) -> tuple[float, float]:
    """Half the width and height of the shape that holds a text."""
    w, h = mask.shape[1] / 2, mask.shape[0] / 2
    if h >= w:
        a = w * 1.24 + _PAD * unit
        return a, (h + 4 * unit) / (1 - (w / a) ** _BULGE) ** (1 / _BULGE)
    b = h * 1.24 + _PAD * unit
    return (w + 4 * unit) / (1 - (h / b) ** _BULGE) ** (1 / _BULGE), b


def _search(
    room: Room, mask: typeset.Mask, half: tuple[float, float], mouth: tuple[float, float] | None
) -> tuple[float, Balloon] | None:
    a, b = half
    left, top, right, low = room.safe
    if 2 * a > right - left or 2 * b > low - top:
        return None
    best: tuple[float, Balloon] | None = None
    for x in np.linspace(left + a, right - a, 11):
        for y in np.linspace(top + b, low - b, 11):
            one = Balloon(mask=mask, x=float(x), y=float(y), a=a, b=b)
            cost = _cost(room, one, mouth)
            if best is None or cost < best[0]:
                best = cost, one
    return best


def _cost(room: Room, one: Balloon, mouth: tuple[float, float] | None) -> float:
    box, area = one.box, 4 * one.a * one.b
    cost = 1.0 * (one.y / room.height) + 0.35 * max(0.0, one.a / one.b - 0.85)
    cost += 0.25 * max(0.0, one.b / one.a - 2.3)
    for face in room.faces:
        share = shared(box, face)
        if share > 0:
            cost += _HARD + 100 * share / area
    cost += sum(_HARD + 100 * shared(box, t) / area for t in room.taken if shared(box, t) > 0)
    cost += sum(1.6 * shared(box, head) / area for head in room.heads)
    if mouth is not None:
        far = math.hypot(one.x - mouth[0], one.y - mouth[1])
        cost += 0.6 * far / min(room.width, room.height)
        cost += 0.5 * (one.y > mouth[1])
        for t in np.linspace(0.1, 0.75, 8):  # a tail across another face points to the wrong one
            x, y = one.x + (mouth[0] - one.x) * t, one.y + (mouth[1] - one.y) * t
            for f in room.faces:
                own = f[0] <= mouth[0] <= f[2] and f[1] <= mouth[1] <= f[3]
                cost += 0.6 * (not own and f[0] < x < f[2] and f[1] < y < f[3])
    return cost


def shared(one: Box, other: Box) -> float:
    """The area two boxes share."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return wide * high if wide > 0 and high > 0 else 0.0


def draw(
    room: Room, one: Balloon, mouth: tuple[float, float] | None, *, emotion: str, seed: int
) -> protocol.Patch:
    """The balloon drawn, with tail and words, as a patch of the frame."""
    unit = room.unit
    body = _body(one, emotion, seed)
    tail = _tail(room, one, mouth or _away(room, one))
    grow = (0.27 * max(one.a, one.b) if emotion in LOUD else 0.0) + 16 * unit
    left = math.floor(max(0.0, min(one.x - one.a - grow, tail[:, 0].min() - 10 * unit)))
    top = math.floor(max(0.0, min(one.y - one.b - grow, tail[:, 1].min() - 10 * unit)))
    right = math.ceil(min(float(room.width), max(one.x + one.a + grow, tail[:, 0].max() + 10)))
    low = math.ceil(min(float(room.height), max(one.y + one.b + grow, tail[:, 1].max() + 10)))
    p = pen.Pen(right - left, low - top, 1.0, over=3)
    width = max(1.5, 5 * unit)
    with p.moved(-left, -top):
        if emotion in SOFT:
            p.fill(body, _WHITE)
            p.fill(tail, _WHITE)
            _dashed(p, body, width * 0.9, 15 * unit)
        else:
            p.ink(body, 2 * width)
            p.ink(tail, 2 * width)
            p.fill(body, _WHITE)
            p.fill(tail, _WHITE)
    sheet = _shadowed(p.sheet(), unit)
    write(sheet, one, (left, top))
    return protocol.Patch(image=pen.straight(sheet), x=left, y=top)


def _body(one: Balloon, emotion: str, seed: int) -> outline.Points:
    if emotion in LOUD:
        return _jagged(one, seed)
    a = np.linspace(0, math.tau, 144, endpoint=False)
    phase = seed % 628 / 100
    grow = 1 + 0.012 * np.sin(5 * a + phase) + 0.008 * np.sin(3 * a + 2 * phase)
    return _shape(one, a, grow)


def _shape(one: Balloon, a: np.ndarray, grow: np.ndarray) -> outline.Points:
    c, n = np.cos(a), np.sin(a)
    x = np.sign(c) * np.abs(c) ** (2 / _BULGE) * one.a * grow
    y = np.sign(n) * np.abs(n) ** (2 / _BULGE) * one.b * grow
    points: outline.Points = np.stack([one.x + x, one.y + y], 1)
    return points


def _jagged(one: Balloon, seed: int) -> outline.Points:
    """A shout: spikes all around, none alike."""
    spikes = 2 * max(9, round((one.a + one.b) * 2.8 / max(34.0, 0.32 * min(one.a, one.b))))
    spikes = min(spikes, 44)
    random = np.random.default_rng([seed, 41])
    a = np.linspace(0, math.tau, spikes, endpoint=False) + random.uniform(-0.03, 0.03, spikes)
    grow = np.where(np.arange(spikes) % 2, random.uniform(1.13, 1.26, spikes), 0.98)
    return _shape(one, a, grow)


def _away(room: Room, one: Balloon) -> tuple[float, float]:
    """Where a voice comes from that nobody in the picture has: the nearer side."""
    side = -1 if one.x < room.width / 2 else 1
    return one.x + side * (one.a + 90 * room.unit), one.y + one.b * 0.75


def _tail(room: Room, one: Balloon, to: tuple[float, float]) -> outline.Points:
    """A bent tail from inside the body to near the mouth."""
    unit = room.unit
    dx, dy = to[0] - one.x, to[1] - one.y
    far = math.hypot(dx, dy) or 1.0
    rim = 1 / (abs(dx / one.a) ** _BULGE + abs(dy / one.b) ** _BULGE) ** (1 / _BULGE) if far else 0
    edge = (one.x + dx * rim, one.y + dy * rim)
    out = math.hypot(to[0] - edge[0], to[1] - edge[1]) if rim < 1 else 0.0
    long = max(20 * unit, min(150 * unit, out * 0.62, _clear(room, edge, to) - 4 * unit))
    ux, uy = dx / far, dy / far
    base = (one.x + dx * rim * 0.62, one.y + dy * rim * 0.62)
    wide = min(26 * unit, 0.42 * min(one.a, one.b))
    tip = (edge[0] + ux * long, edge[1] + uy * long)
    tip = (min(room.width - 6.0, max(6.0, tip[0])), min(room.height - 6.0, max(6.0, tip[1])))
    bend = 0.22 * (1 if ux < 0 else -1) * long
    middle = (edge[0] + ux * long * 0.35 - uy * bend, edge[1] + uy * long * 0.35 + ux * bend)
    return outline.curve(
        [
            (base[0] - uy * wide, base[1] + ux * wide, 1),
            (middle[0] - uy * wide * 0.55, middle[1] + ux * wide * 0.55),
            (*tip, 1),
            (middle[0] + uy * wide * 0.55, middle[1] - ux * wide * 0.55),
            (base[0] + uy * wide, base[1] - ux * wide, 1),
        ]
    )


def _clear(room: Room, start: tuple[float, float], mouth: tuple[float, float]) -> float:
    """How far one can go from a point towards a mouth before a face begins."""
    steps = np.linspace(0, 1, 60)
    xs, ys = (start[i] + (mouth[i] - start[i]) * steps for i in (0, 1))
    met = np.zeros(60, bool)
    for left, top, right, low in room.faces:
        met |= (left < xs) & (xs < right) & (top < ys) & (ys < low)
    first = int(met.argmax()) if met.any() else 59
    return float(steps[first]) * math.hypot(mouth[0] - start[0], mouth[1] - start[1])


def _dashed(p: pen.Pen, body: outline.Points, width: float, dash: float) -> None:
    closed = np.concatenate([body, body[:1]])
    way = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(closed, axis=0).T))])
    count = max(6, round(way[-1] / (dash * 1.7)))
    for k in range(count):
        at = np.linspace(k, k + 0.58, 8) * way[-1] / count
        part = np.stack([np.interp(at, way, closed[:, i]) for i in (0, 1)], 1)
        p.line(part, width, taper=(0, 0))


def _shadowed(sheet: protocol.Image, unit: float) -> protocol.Image:
    """A soft shadow below and to the right."""
    shift = np.array([[1, 0, 4 * unit], [0, 1, 5 * unit]], np.float32)
    moved = cv2.warpAffine(sheet[..., 3], shift, sheet.shape[1::-1])
    alpha = cv2.GaussianBlur(moved, (0, 0), max(0.5, 4 * unit)).astype(np.float32) * 0.35
    below = np.zeros_like(sheet)
    below[..., 3] = alpha
    return pen.over(below, sheet)


def write(sheet: protocol.Image, one: Balloon, origin: tuple[int, int]) -> None:
    """Lay the words' mask into the middle of the body, in ink."""
    tall, wide = one.mask.shape
    x, y = round(one.x - wide / 2) - origin[0], round(one.y - tall / 2) - origin[1]
    y0, x0 = max(0, y), max(0, x)
    part = sheet[y0 : y + tall, x0 : x + wide]
    mask = one.mask[y0 - y : y0 - y + part.shape[0], x0 - x : x0 - x + part.shape[1]]
    cover = mask[..., None].astype(np.float32) / 255
    ink = np.array((*colour.INK, 255), np.float32)
    part[:] = part * (1 - cover) + ink * cover + 0.5
