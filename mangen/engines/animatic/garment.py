"""Garments: their cuts, and what is sewn on each kind of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from mangen.engines.animatic import colour, outline, pen
from mangen.engines.animatic.colour import Colour

LONG = frozenset({"robe", "gown", "qipao", "dress", "coat"})  #: garments that cover the legs

#: kind -> where its hem lies (share of the hip's height above the ground) and how wide it falls
_HEMS = {
    "robe": (0.06, 1.85), "gown": (0.13, 1.42), "coat": (0.42, 1.32), "dress": (0.5, 1.9),
    "qipao": (0.3, 1.05),
}  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True)
class Cloth:
    """A garment on a body: half widths, heights (negative y is up) and colours."""

    shoulder: float
    waist: float
    hip_wide: float
    neck: float
    top: float
    hip: float
    waist_y: float
    hem: float
    flare: float
    main: Colour
    dark: Colour
    trim: Colour
    inner: Colour
    skin: Colour
    child: bool
    female: bool


def hem_of(kind: str, hip: float) -> tuple[float, float]:
    """The y of a garment's hem, and how many hips wide it is there."""
    share, flare = _HEMS.get(kind, (0.0, 1.02))
    return (hip * share, flare) if share else (hip + 24, flare)


def cut(c: Cloth) -> outline.Points:
    """The outline of a garment without its sleeves."""
    half = c.hip_wide * (1 + (c.flare - 1) * 0.35)
    right = [
        (c.hip_wide * c.flare, c.hem, 1),
        (half, c.hip + 6),
        (c.waist + 2, c.waist_y),
        (c.shoulder - 8, c.top + 110),
        (c.shoulder - 3, c.top + 46),
        (c.shoulder - 24, c.top + 8),
        (40, c.neck + 6),
    ]
    left = [(-x, y, *corner) for x, y, *corner in reversed(right)]
    return outline.curve([*left, (0, c.hem + 14), *right, (0, c.neck + 14)])


def sew(p: pen.Pen, kind: str, c: Cloth) -> None:
    """Draw what is on the cloth; the caller clips to its outline."""
    if kind in LONG:
        for k in (-0.6, -0.15, 0.3, 0.7):
            knots = [
                (k * c.waist, c.waist_y + 50),
                (k * c.hip_wide * 1.15, (c.hip + c.hem) / 2),
                (k * c.hip_wide * c.flare, c.hem),
            ]
            p.line(outline.curve(knots, closed=False), 6, paint=c.dark)
    _SEWN.get(kind, _shirt)(p, c)


def patch(p: pen.Pen, c: Cloth) -> None:
    """A mended hole."""
    x, y = c.shoulder * 0.3, c.waist_y - 6
    p.shape(outline.box(x, y, 52, 46), colour.mix(c.trim, (154, 74, 63), 0.6), width=4)
    for k in range(3):
        stitch = outline.straight([(x - 6, y + 9 + 14 * k), (x + 7, y + 9 + 14 * k)])
        p.line(stitch, 3.4, paint=c.inner)


def collar(p: pen.Pen, kind: str, c: Cloth) -> None:
    """What stands or lies around the neck, over the cloth's edge."""
    n = c.neck
    if kind in ("gown", "qipao", "jacket"):
        tone = colour.pale(c.main, 0.14) if kind != "qipao" else c.trim
        band = [
            (-36, n - 26, 1),
            (-41, n + 16),
            (0, n + 30),
            (41, n + 16),
            (36, n - 26, 1),
            (0, n - 4),
        ]
        p.shape(outline.curve(band), tone, shade=colour.dark(tone, 0.2), shift=(6, -4))
    elif kind in ("shirt", "uniform", "suit", "coat"):
        tone = colour.pale(c.main, 0.3) if kind == "shirt" else c.inner
        for side in (-1, 1):
            flap = [(side * 36, n - 18), (side * 54, n + 18), (side * 20, n + 44), (0, n + 10)]
            p.shape(outline.straight(flap), tone, width=4.5)
        if kind == "uniform":
            bow = [(-20, n + 26), (20, n + 26), (27, n + 64), (0, n + 50), (-27, n + 64)]
            p.shape(outline.straight(bow), c.trim, width=4)
    elif kind == "hoodie":
        hood = [(-44, n - 20), (-76, n + 14), (0, n + 62), (76, n + 14), (44, n - 20), (0, n + 16)]
        p.shape(outline.curve(hood), colour.dark(c.main, 0.16))


def _button(p: pen.Pen, x: float, y: float, c: Cloth) -> None:
    loop = outline.straight([(x - 19, y), (x + 19, y)])
    p.line(loop, 8, paint=colour.dark(c.main, 0.6), taper=(0, 0))
    p.shape(outline.ellipse(x, y, 7, 7), c.trim, width=3)


def _across(y: float, c: Cloth, *, sag: float = 14) -> outline.Points:
    wide = c.hip_wide * max(1.2, c.flare)
    return outline.curve([(-wide, y - sag), (0, y), (wide, y - sag)], closed=False)


def _robe(p: pen.Pen, c: Cloth) -> None:
    s, n = c.shoulder, c.neck - 10
    p.fill(outline.straight([(-48, n), (48, n), (-6, c.waist_y - 30)]), c.inner)
    under = [(30, n), (60, n), (-s * 0.2, c.waist_y + 6), (-s * 0.5, c.waist_y)]
    upper = [(-60, n), (-30, n), (s * 0.5, c.waist_y), (s * 0.2, c.waist_y + 6)]
    for knots in (under, upper):
        p.shape(outline.straight(knots), c.trim, width=4.5)
    sash = colour.dark(c.trim, 0.3)
    p.shape(outline.box(-s - 40, c.waist_y - 4, 2 * s + 80, 44), sash, width=5)
    p.line(
        outline.straight([(-s, c.waist_y + 18), (s, c.waist_y + 18)]),
        6,
        paint=colour.pale(sash, 0.3),
        taper=(0, 0),
    )
    y = c.waist_y + 38
    tail = min(170, (c.hem - y) * 0.6)
    p.shape(
        outline.straight([(-12, y), (14, y), (22, y + tail), (-16, y + tail - 4)]), sash, width=4.5
    )
    p.line(_across(c.hem - 2, c), 18, paint=c.trim, taper=(0, 0))


def _gown(p: pen.Pen, c: Cloth) -> None:
    knots = [(4, c.neck + 10), (-12, c.top + 60), (-c.shoulder + 16, c.top + 92)]
    p.line(outline.curve(knots, closed=False), 6, taper=(0, 0.1))
    for x, y in ((2, c.neck + 26), (-26, c.top + 68), (-c.shoulder + 26, c.top + 92)):
        _button(p, x, y, c)


def _qipao(p: pen.Pen, c: Cloth) -> None:
    knots = [(6, c.neck + 16), (-10, c.top + 68), (-c.shoulder + 16, c.top + 100)]
    p.line(outline.curve(knots, closed=False), 8, paint=c.trim, taper=(0, 0.1))
    _gown(p, c)
    p.line(_across(c.hem, c), 12, paint=c.trim, taper=(0, 0))
    for x, y in ((-44, 0.24), (30, 0.42), (-20, 0.66), (40, 0.84)):
        with p.moved(x, c.top + 90 + (c.hem - c.top - 90) * y):
            for k in range(5):
                with p.moved(0, 0, turn=72 * k):
                    p.fill(outline.ellipse(0, -9, 6, 8), colour.pale(c.main, 0.3))
            p.fill(outline.ellipse(0, 0, 4, 4), c.trim)


def _jacket(p: pen.Pen, c: Cloth) -> None:
    p.line(outline.straight([(0, c.neck), (0, c.hem + 20)]), 5, taper=(0, 0))
    count = 3 if c.child else 4
    for k in range(count):
        _button(p, 0, c.top + 48 + k * (c.hem - c.top - 70) / count, c)
    for k in range(1, 6):
        y = c.top + k * (c.hem - c.top) / 6
        for side in (-1, 1):
            knots = [(side * c.shoulder, y), (side * c.shoulder * 0.5, y + 9), (side * 24, y)]
            p.line(outline.curve(knots, closed=False), 3.6, paint=c.dark)
    p.line(_across(c.hem + 8, c), 12, paint=c.trim, taper=(0, 0))


def _vest(p: pen.Pen, c: Cloth) -> None:
    opening = [(-30, c.neck - 10, 1), (30, c.neck - 10, 1), (0, c.top + 58, 1)]
    p.fill(outline.curve(opening), c.skin)
    p.line(outline.straight([(0, c.top + 40), (0, c.hem + 20)]), 5, taper=(0, 0))
    for k in range(3):
        y = c.top + 78 + k * 42
        p.line(outline.straight([(-20, y), (20, y)]), 9, paint=c.trim, taper=(0, 0))
    p.line(_across(c.hem + 4, c), 13, paint=c.trim, taper=(0, 0))


def _suit(p: pen.Pen, c: Cloth) -> None:
    n, low = c.neck - 10, c.waist_y + 24
    p.fill(outline.straight([(-46, n), (46, n), (0, low)]), c.inner)
    tie = [(-9, n + 32), (9, n + 32), (14, low - 60), (0, low - 30), (-14, low - 60)]
    p.shape(outline.straight(tie), c.trim, width=4)
    _lapels(p, c, low)
    pocket = outline.straight([(c.shoulder * 0.36, c.top + 120), (c.shoulder * 0.68, c.top + 116)])
    p.line(pocket, 7, paint=c.inner, taper=(0, 0))


def _coat(p: pen.Pen, c: Cloth) -> None:
    low = c.waist_y + 24
    p.fill(outline.straight([(-46, c.neck - 10), (46, c.neck - 10), (0, low)]), c.inner)
    _lapels(p, c, low)
    belt = outline.straight([(-c.shoulder, c.waist_y + 52), (c.shoulder, c.waist_y + 52)])
    p.line(belt, 22, taper=(0, 0))
    p.line(belt, 14, paint=c.dark, taper=(0, 0))
    p.shape(outline.box(-15, c.waist_y + 40, 30, 24), c.trim, width=4)


def _lapels(p: pen.Pen, c: Cloth, low: float) -> None:
    tone = colour.pale(c.main, 0.1)
    n = c.neck - 10
    for side in (-1, 1):
        knots = [
            (side * 58, n),
            (side * 90, c.top + 62),
            (side * 62, c.top + 80),
            (0, low),
            (side * 30, n),
        ]
        p.shape(outline.straight(knots), tone, width=5)
    p.line(outline.straight([(0, low), (0, c.hem + 30)]), 5, taper=(0, 0))
    for k in range(2):
        p.shape(outline.ellipse(14, low + 26 + 52 * k, 6, 6), c.trim, width=3)


def _shirt(p: pen.Pen, c: Cloth) -> None:
    p.line(outline.straight([(0, c.neck), (0, c.hem + 20)]), 4, paint=c.dark, taper=(0, 0))
    for k in range(4):
        p.fill(outline.ellipse(0, c.top + 44 + k * 54, 5, 5), colour.pale(c.main, 0.6))
    pocket = outline.box(c.shoulder * 0.24, c.top + 92, 44, 48)
    p.ink(pocket, 3.4, colour.dark(c.main, 0.45))


def _uniform(p: pen.Pen, c: Cloth) -> None:
    s = c.shoulder
    p.fill(outline.box(-s - 20, c.top - 60, 2 * s + 40, 118), c.inner)
    p.line(outline.straight([(-s, c.top + 58), (s, c.top + 58)]), 12, paint=c.trim, taper=(0, 0))
    p.line(outline.straight([(0, c.neck), (0, c.hem + 20)]), 4.5, paint=c.dark, taper=(0, 0))
    p.line(_across(c.hem + 8, c), 16, paint=c.dark, taper=(0, 0))


def _hoodie(p: pen.Pen, c: Cloth) -> None:
    for side in (-1, 1):
        cord = outline.straight([(side * 22, c.neck + 40), (side * 24, c.neck + 112)])
        p.line(cord, 6, paint=c.inner, taper=(0, 0))
    y = c.waist_y
    pouch = [(-62, y + 60), (-44, y), (44, y), (62, y + 60)]
    p.line(outline.curve(pouch, closed=False), 4.5, paint=colour.dark(c.main, 0.5))
    p.line(_across(c.hem + 8, c), 16, paint=c.dark, taper=(0, 0))


def _dress(p: pen.Pen, c: Cloth) -> None:
    s = c.shoulder
    p.line(
        outline.straight([(-s, c.waist_y + 20), (s, c.waist_y + 20)]),
        22,
        paint=c.trim,
        taper=(0, 0),
    )
    p.fill(outline.curve([(-38, c.neck - 12, 1), (38, c.neck - 12, 1), (0, c.top + 36)]), c.skin)
    p.line(
        outline.curve([(-40, c.neck - 8), (0, c.top + 42), (40, c.neck - 8)], closed=False),
        5,
        taper=(0, 0),
    )


def _armour(p: pen.Pen, c: Cloth) -> None:
    scale = colour.pale(c.main, 0.12)
    for k in range(7):
        y = c.top + 30 + k * 40
        for x in range(-4, 5):
            middle = x * 42 + 21 * (k % 2)
            knots = [(middle - 21, y, 1), (middle + 21, y, 1), (middle, y + 40)]
            p.shape(outline.curve(knots), scale, shade=c.dark, shift=(4, -4), width=3.5)
    p.shape(outline.box(-c.shoulder - 20, c.waist_y + 10, 2 * c.shoulder + 40, 34), c.trim, width=5)


_SEWN: dict[str, Callable[[pen.Pen, Cloth], None]] = {
    "robe": _robe, "gown": _gown, "qipao": _qipao, "jacket": _jacket, "vest": _vest, "suit": _suit,
    "coat": _coat, "shirt": _shirt, "uniform": _uniform, "hoodie": _hoodie, "dress": _dress,
    "armour": _armour,
}  # fmt: skip
