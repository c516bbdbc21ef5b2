"""Collars: what stands or lies around the neck, and necks that are bare."""

from __future__ import annotations

from mangen.engines.animatic import colour, outline, pen
from mangen.engines.animatic.garment import Cloth

#: kinds that bare the throat -> half the width and depth of the opening
_OPEN = {"dress": (38.0, 66.0), "vest": (32.0, 88.0), "tshirt": (36.0, 40.0), "ruqun": (38.0, 80.0)}


def draw(p: pen.Pen, kind: str, c: Cloth) -> None:
    """What stands or lies around the neck, over the cloth's edge."""
    n = c.neck
    if kind in _OPEN:
        _bare_neck(p, c, *_OPEN[kind])
    if kind in ("gown", "qipao", "jacket", "aoqun", "zhongshan", "tracksuit"):
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
    elif kind in ("shirt", "uniform", "suit", "coat", "labcoat", "cardigan"):
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


def _bare_neck(p: pen.Pen, c: Cloth, wide: float, deep: float) -> None:
    """Skin where the edge of the cloth would cross the throat, and the edge around it."""
    n, small = c.neck, 0.72 if c.child else 1.0
    wide, low = wide * (0.82 if c.child or c.female else 1), n - 12 + deep * small
    skin = colour.mix(c.skin, (122, 63, 74), 0.3)
    hole = [(-wide + 4, n - 26, 1), (wide - 4, n - 26, 1), (wide, n - 4), (wide * 0.5, low - 26),
            (0, low, 1), (-wide * 0.5, low - 26), (-wide, n - 4)]  # fmt: skip
    p.fill(outline.curve(hole), skin)
    edge = [(-wide - 3, n - 8), (-wide * 0.52, low - 24), (0, low), (wide * 0.52, low - 24),
            (wide + 3, n - 8)]  # fmt: skip
    corner = [(x, y, 1) if x == 0 and deep > 50 else (x, y) for x, y in edge]
    p.line(outline.curve(corner, closed=False), 5, taper=(0, 0))
