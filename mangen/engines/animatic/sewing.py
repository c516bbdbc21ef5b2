"""Sewing: what lies on a garment's cloth."""

from __future__ import annotations

from collections.abc import Callable

from mangen.engines.animatic import colour, garment, outline, pen
from mangen.engines.animatic.garment import Cloth

_BADGE = (226, 188, 96)


def sew(p: pen.Pen, kind: str, c: Cloth) -> None:
    """Draw what is on the cloth; the caller clips to its outline."""
    if kind in garment.LONG and kind not in ("ruqun", "aoqun"):
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
    p.shape(outline.box(x, y, 52, 46), c.trim, width=4)
    for k in range(3):
        stitch = outline.straight([(x - 6, y + 9 + 14 * k), (x + 7, y + 9 + 14 * k)])
        p.line(stitch, 3.4, paint=c.inner)


def _button(p: pen.Pen, x: float, y: float, c: Cloth) -> None:
    loop = outline.straight([(x - 19, y), (x + 19, y)])
    p.line(loop, 8, paint=colour.dark(c.main, 0.6), taper=(0, 0))
    p.shape(outline.ellipse(x, y, 7, 7), c.trim, width=3)


def _across(y: float, c: Cloth, *, sag: float = 14) -> outline.Points:
    wide = c.hip_wide * max(1.2, c.flare)
    return outline.curve([(-wide, y - sag), (0, y), (wide, y - sag)], closed=False)


def _scale(c: Cloth) -> float:
    """How much shorter the torso is than a man's."""
    return (c.hip - c.top) / 298


def _crossed(p: pen.Pen, c: Cloth, low: float) -> None:
    """The collar of old: the right side over the left."""
    s, n = c.shoulder, c.neck - 10
    p.fill(outline.straight([(-48, n), (48, n), (-6, low - 30)]), c.inner)
    under = [(26, n), (60, n), (-s * 0.16, low + 10), (-s * 0.48, low)]
    upper = [(-60, n), (-26, n), (s * 0.5, low), (s * 0.16, low + 10)]
    for knots in (under, upper):
        p.shape(outline.straight(knots), c.trim, width=4.5)
    inner = [(-26, n), (-17, n), (s * 0.24, low - 34), (s * 0.16, low - 26)]
    p.fill(outline.straight(inner), c.inner)


def _sash(p: pen.Pen, c: Cloth, y: float, high: float) -> None:
    s, sash = c.shoulder, colour.dark(c.trim, 0.3)
    p.shape(outline.box(-s - 40, y, 2 * s + 80, high), sash, width=5)
    middle = outline.straight([(-s, y + high / 2), (s, y + high / 2)])
    p.line(middle, 6, paint=colour.pale(sash, 0.3), taper=(0, 0))
    tail = min(170.0, (c.hem - y - high) * 0.6)
    low = y + high - 4
    ends = [(-12, low), (14, low), (22, low + tail), (-16, low + tail - 4)]
    p.shape(outline.straight(ends), sash, width=4.5)
    p.shape(outline.ellipse(2, y + high + 26, 9, 9), (196, 220, 196), width=3.6)


def _robe(p: pen.Pen, c: Cloth) -> None:
    _crossed(p, c, c.waist_y)
    _sash(p, c, c.waist_y - 4, 44 * _scale(c))
    p.line(_across(c.hem - 2, c), 18, paint=c.trim, taper=(0, 0))


def _court(p: pen.Pen, c: Cloth) -> None:
    """An official's or a monarch's robe with a badge on the chest."""
    p.fill(outline.curve([(-44, c.neck - 14, 1), (44, c.neck - 14, 1), (0, c.neck + 30)]), c.inner)
    k = _scale(c)
    y = c.top + 62 * k
    p.shape(outline.box(-56 * k, y, 112 * k, 104 * k), colour.dark(c.main, 0.45), width=4.5)
    p.ink(outline.box(-48 * k, y + 8 * k, 96 * k, 88 * k), 4, _BADGE)
    swirl = [(-30 * k, y + 66 * k), (-12 * k, y + 36 * k), (8 * k, y + 62 * k),
             (28 * k, y + 30 * k)]  # fmt: skip
    p.line(outline.curve(swirl, closed=False), 10, paint=_BADGE)
    p.fill(outline.ellipse(-20 * k, y + 30 * k, 9 * k, 9 * k), _BADGE)
    _sash(p, c, c.waist_y + 10, 34 * k)
    for r in (0, 26):
        p.line(_across(c.hem - 4 - r, c), 13, paint=_BADGE if r else c.trim, taper=(0, 0))


def _ruqun(p: pen.Pen, c: Cloth) -> None:
    """A short blouse under a long skirt tied above the chest."""
    k = _scale(c)
    high = c.top + 74 * k
    s = c.shoulder + 60
    p.fill(outline.box(-s, c.neck - 60, 2 * s, high - c.neck + 70), colour.dark(c.inner, 0.16))
    p.fill(outline.box(-s + 40, c.neck - 60, 2 * s, high - c.neck + 70), c.inner)
    for side in (-1, 1):
        edge = [(side * 48, c.neck - 12), (side * 26, c.neck - 12), (side * -6, high + 8),
                (side * 16, high + 8)]  # fmt: skip
        p.shape(outline.straight(edge), c.trim, width=4)
    band = outline.straight([(-s, high), (s, high), (s, high + 34 * k), (-s, high + 34 * k)])
    p.shape(band, c.trim, width=5)
    for x in (-0.75, -0.45, -0.15, 0.15, 0.45, 0.75):
        pleat = [(x * c.chest, high + 40 * k), (x * c.hip_wide * 1.1, c.hip),
                 (x * c.hip_wide * c.flare, c.hem)]  # fmt: skip
        p.line(outline.curve(pleat, closed=False), 4.5, paint=c.dark)
    for x, tail in ((-9, 190), (9, 230)):
        ends = [(x - 7, high + 30 * k), (x + 8, high + 30 * k), (x * 2 + 12, high + tail * k),
                (x * 2 - 10, high + tail * k - 8)]  # fmt: skip
        p.shape(outline.straight(ends), colour.pale(c.trim, 0.3), width=4)
    for side in (-1, 1):
        loop = outline.ellipse(side * 22, high + 22 * k, 20, 12, turn=side * 18)
        p.shape(loop, colour.pale(c.trim, 0.3), width=4)
    p.line(_across(c.hem - 20, c), 9, paint=c.trim, taper=(0, 0))


def _beizi(p: pen.Pen, c: Cloth) -> None:
    """An open coat with wide sleeves over a robe of another colour."""
    under = colour.mix(c.inner, c.legs, 0.25)
    wide = c.chest * 0.46
    panel = [(-52, c.neck - 14), (52, c.neck - 14), (wide, c.waist_y), (wide * 1.5, c.hem + 20),
             (-wide * 1.5, c.hem + 20), (-wide, c.waist_y)]  # fmt: skip
    p.fill(outline.straight(panel), colour.dark(under, 0.14))
    p.fill(outline.moved(outline.straight(panel), 14, 0), under)
    inner = [(-30, c.neck - 12), (4, c.neck - 12), (30, c.waist_y - 60), (-6, c.waist_y - 60)]
    p.shape(outline.straight(inner), c.trim, width=4)
    other = [(30, c.neck - 12), (0, c.neck + 44)]
    p.line(outline.straight(other), 14, paint=c.trim, taper=(0, 0))
    sash = outline.box(-wide - 10, c.waist_y - 24, 2 * wide + 20, 40 * _scale(c))
    p.shape(sash, colour.dark(c.trim, 0.25), width=4.5)
    p.shape(outline.ellipse(0, c.waist_y + 6, 13, 15), (196, 220, 196), width=4)
    for side in (-1, 1):
        edge = [(side * 52, c.neck - 14), (side * wide, c.waist_y), (side * wide * 1.5, c.hem + 20)]
        p.line(outline.curve(edge, closed=False), 26, taper=(0, 0))
        p.line(outline.curve(edge, closed=False), 17, paint=c.trim, taper=(0, 0))
    p.line(_across(c.hem - 2, c), 12, paint=c.trim, taper=(0, 0))


def _aoqun(p: pen.Pen, c: Cloth) -> None:
    """A student's of the republic: a plain blouse over a dark skirt."""
    s, y = c.shoulder + 80, c.hip - 6
    p.fill(outline.box(-s, y, 2 * s, c.hem - y + 60), colour.dark(c.legs, 0.35))
    p.fill(outline.box(-s + 60, y, 2 * s, c.hem - y + 60), c.legs)
    for x in (-0.7, -0.35, 0.0, 0.35, 0.7):
        pleat = [(x * c.hip_wide, y), (x * c.hip_wide * c.flare, c.hem)]
        p.line(outline.straight(pleat), 5, paint=colour.dark(c.legs, 0.45), taper=(0, 0))
    edge = outline.curve([(-s, y - 12), (0, y + 10), (s, y - 12)], closed=False)
    p.line(edge, 15, taper=(0, 0))
    p.line(edge, 8, paint=c.trim, taper=(0, 0))
    _gown(p, c)


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
    p.line(outline.straight([(0, c.top + 40), (0, c.hem + 20)]), 5, taper=(0, 0))
    step = (c.hem - c.top - 96) / 3
    for k in range(3):
        y = c.top + 82 + k * step
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
    s, k = c.shoulder, _scale(c)
    sash = outline.straight([(-s, c.waist_y + 20), (s, c.waist_y + 20)])
    p.line(sash, 24 * k + 6, taper=(0, 0))
    p.line(sash, 24 * k, paint=c.trim, taper=(0, 0))
    p.line(_across(c.hem - 4, c), 12, paint=c.trim, taper=(0, 0))


def _armour(p: pen.Pen, c: Cloth) -> None:
    scale = colour.pale(c.main, 0.12)
    for k in range(7):
        y = c.top + 30 + k * 40
        for x in range(-4, 5):
            middle = x * 42 + 21 * (k % 2)
            knots = [(middle - 21, y, 1), (middle + 21, y, 1), (middle, y + 40)]
            p.shape(outline.curve(knots), scale, shade=c.dark, shift=(4, -4), width=3.5)
    p.shape(outline.box(-c.shoulder - 20, c.waist_y + 10, 2 * c.shoulder + 40, 34), c.trim, width=5)
    plate = outline.ellipse(0, c.top + 92, 34, 34)
    p.shape(plate, colour.pale(c.trim, 0.3), shade=c.trim, width=5)


def _zhongshan(p: pen.Pen, c: Cloth) -> None:
    """A buttoned tunic with four pockets."""
    k = _scale(c)
    p.line(outline.straight([(0, c.neck), (0, c.hem + 20)]), 5, taper=(0, 0))
    for n in range(5):
        p.shape(outline.ellipse(0, c.top + (30 + n * 58) * k, 7, 7), c.trim, width=3)
    for side in (-1, 1):
        for y, high in ((76, 52), (200, 70)):
            left = side * c.chest * 0.55 - 30 * k
            p.ink(outline.box(left, c.top + y * k, 60 * k, high * k), 4, colour.dark(c.main, 0.6))
            flap = [(left, c.top + y * k, 1), (left + 60 * k, c.top + y * k, 1),
                    (left + 30 * k, c.top + (y + 22) * k)]  # fmt: skip
            p.shape(outline.curve(flap), colour.pale(c.main, 0.1), width=4)


def _tracksuit(p: pen.Pen, c: Cloth) -> None:
    """What pupils wear: a zip, white shoulders, stripes."""
    s, k = c.shoulder + 40, _scale(c)
    yoke = [(-s, c.top - 80), (s, c.top - 80), (s, c.top + 70 * k), (0, c.top + 112 * k),
            (-s, c.top + 70 * k)]  # fmt: skip
    p.fill(outline.straight(yoke), c.inner)
    edge = [(-s, c.top + 70 * k), (0, c.top + 112 * k), (s, c.top + 70 * k)]
    p.line(outline.straight(edge), 13, paint=c.trim, taper=(0, 0))
    p.line(outline.straight([(0, c.neck), (0, c.hem + 20)]), 6, taper=(0, 0))
    p.line(outline.straight([(0, c.neck), (0, c.hem + 20)]), 2.6, paint=c.inner, taper=(0, 0))
    badge = outline.ellipse(c.chest * 0.5, c.top + 132 * k, 13 * k, 13 * k)
    p.shape(badge, c.trim, width=3.4)
    p.line(_across(c.hem + 8, c), 18, paint=c.dark, taper=(0, 0))


def _cardigan(p: pen.Pen, c: Cloth) -> None:
    low = c.waist_y + 30
    p.fill(outline.straight([(-50, c.neck - 10), (50, c.neck - 10), (0, low)]), c.inner)
    for side in (-1, 1):
        band = [(side * 54, c.neck - 12), (side * 34, c.neck - 12), (0, low), (side * 16, low + 8)]
        p.shape(outline.straight(band), c.trim, width=4.5)
    p.line(outline.straight([(0, low), (0, c.hem + 20)]), 5, taper=(0, 0))
    for n in range(3):
        p.shape(outline.ellipse(13, low + 26 + n * 44, 7, 7), c.trim, width=3)
    for n in range(1, 8):
        for side in (-1, 1):
            x = side * c.chest * (0.3 + 0.1 * n)
            rib = outline.straight([(x, c.top + 40), (x, c.hem)])
            p.line(rib, 2.6, paint=c.dark, alpha=0.5)
    p.line(_across(c.hem + 6, c), 18, paint=c.dark, taper=(0, 0))


def _tshirt(p: pen.Pen, c: Cloth) -> None:
    k = _scale(c)
    p.fill(outline.box(-c.shoulder - 20, c.top + 96 * k, 2 * c.shoulder + 40, 40 * k), c.trim)
    for side in (-1, 1):
        fold = [(side * c.waist * 0.5, c.waist_y + 60), (side * c.waist, c.waist_y + 20)]
        p.line(outline.straight(fold), 4, paint=c.dark)


def _labcoat(p: pen.Pen, c: Cloth) -> None:
    low = c.waist_y
    p.fill(outline.straight([(-46, c.neck - 10), (46, c.neck - 10), (0, low)]), c.trim)
    _lapels(p, c, low)
    pocket = outline.box(c.chest * 0.28, c.top + 120, 50, 46)
    p.ink(pocket, 4, colour.dark(c.main, 0.5))
    p.line(outline.straight([(c.chest * 0.5, c.top + 96), (c.chest * 0.5, c.top + 150)]), 7,
           paint=(70, 110, 170))  # fmt: skip


_SEWN: dict[str, Callable[[pen.Pen, Cloth], None]] = {
    "robe": _robe, "gown": _gown, "qipao": _qipao, "jacket": _jacket, "vest": _vest, "suit": _suit,
    "coat": _coat, "shirt": _shirt, "uniform": _uniform, "hoodie": _hoodie, "dress": _dress,
    "armour": _armour, "court": _court, "ruqun": _ruqun, "beizi": _beizi, "aoqun": _aoqun,
    "zhongshan": _zhongshan, "tracksuit": _tracksuit, "cardigan": _cardigan, "tshirt": _tshirt,
    "labcoat": _labcoat,
}  # fmt: skip
