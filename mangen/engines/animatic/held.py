"""Things in hands, drawn at the fist that holds them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from mangen.engines.animatic import colour, outline, pen
from mangen.engines.animatic.build import Spot
from mangen.engines.animatic.colour import Colour

KNOWN = frozenset({
    "fork", "sword", "umbrella", "book", "phone", "cup", "letter", "lantern", "bag", "fan",
    "staff", "flower",
})  # fmt: skip
_WOOD: Colour = (138, 90, 52)
_STEEL: Colour = (207, 216, 230)
_PAPER: Colour = (246, 238, 220)
_GOLD: Colour = (226, 178, 74)
_RED: Colour = (184, 58, 50)


@dataclasses.dataclass(frozen=True, slots=True)
class Grip:
    """Where a thing is held: by the fist at `at`, by the other at `other` if `both` hold it."""

    at: Spot
    other: Spot
    side: int  #: 1: at the picture's right of the body
    both: bool
    attack: bool
    bend: float  #: degrees that the torso is turned by; long things stay upright
    head: float  #: y of the head's centre
    ground: float  #: y that lies on the ground below the fist
    size: float
    accent: Colour
    tint: Colour | None = None  #: the colour that words give it

    def tone(self, own: Colour) -> Colour:
        """The colour of the thing, `own` where no words give one."""
        return own if self.tint is None else self.tint


def behind(p: pen.Pen, kind: str, g: Grip) -> None:
    """What of a thing lies behind the person."""
    if kind != "umbrella":
        return
    x, y = g.at[0] - g.side * 74 * g.size, g.head - 226 * g.size
    wide, high = 228 * g.size, 108 * g.size
    cloth = g.tone(g.accent)
    rim: list[tuple[float, ...]] = [(x - wide, y + high, 1)]
    for n in range(5):
        left = x - wide + n * wide * 0.4
        rim += [(left + wide * 0.2, y + high - 18), (left + wide * 0.4, y + high, 1)]
    dome = [(x + wide * 0.72, y + 22), (x, y - 24), (x - wide * 0.72, y + 22)]
    whole = outline.curve([*rim, *dome])
    p.shape(whole, cloth, shade=colour.dark(cloth, 0.3), shift=(16, -10), width=5.5)
    for k in (-0.6, -0.2, 0.2, 0.6):
        rib = [(x, y - 22), (x + wide * k * 0.7, y + 30), (x + wide * k, y + high - 2)]
        p.line(outline.curve(rib, closed=False), 3.6, paint=colour.dark(cloth, 0.5))
    p.line(outline.straight([(x, y - 22), (x, y - 44)]), 9, taper=(0, 0))


def draw(p: pen.Pen, kind: str, g: Grip) -> None:
    """The thing itself; the fist comes over it."""
    if kind in _THINGS:
        _THINGS[kind](p, g)


def _rod(p: pen.Pen, a: Spot, b: Spot, width: float, tone: Colour) -> None:
    rod = outline.limb([a, b], [width, width])
    p.ink(rod, 9)
    p.fill(rod, colour.dark(tone, 0.25))
    with p.clipped(rod):
        p.fill(outline.moved(rod, width * 0.3, -width * 0.3), tone)


def _axis(g: Grip) -> tuple[Spot, Spot]:
    """Where a long thing is held, and the way it points."""
    if g.both:
        dx, dy = g.at[0] - g.other[0], g.at[1] - g.other[1]
        far = math.hypot(dx, dy) or 1.0
        return g.at, (dx / far, dy / far)
    bend = math.radians(g.bend - 2 * g.side)
    return g.at, (-math.sin(bend), -math.cos(bend))


def _along(a: Spot, way: Spot, far: float, aside: float = 0.0) -> Spot:
    return a[0] + way[0] * far - way[1] * aside, a[1] + way[1] * far + way[0] * aside


def _fork(p: pen.Pen, g: Grip) -> None:
    at, way = _axis(g)
    k = g.size
    back = 360 * k if g.both else max(60.0, (g.ground - at[1] - 6))
    tip = _along(at, way, 250 * k if g.both else 300 * k)
    _rod(p, _along(at, way, -back), tip, 12 * k, _WOOD)
    for n in (-1, 1, 0):
        bend = _along(tip, way, 10, n * 30 * k)
        end = _along(tip, way, (96 if n == 0 else 82) * k, n * 30 * k)
        prong = outline.straight([tip, bend, end]) if n else outline.straight([tip, end])
        p.line(prong, 19 * k, taper=(0, 0.1))
        p.line(prong, 10 * k, paint=_STEEL, taper=(0, 0.1))
    _rod(p, _along(tip, way, -26 * k), tip, 18 * k, _STEEL)


def _staff(p: pen.Pen, g: Grip) -> None:
    at, way = _axis(g)
    back = 260 * g.size if g.both else max(60.0, g.ground - at[1] - 6)
    tip = _along(at, way, 330 * g.size)
    _rod(p, _along(at, way, -back), tip, 15 * g.size, _WOOD)
    p.shape(outline.ellipse(*tip, 20 * g.size, 20 * g.size), _GOLD, width=5)


def _sword(p: pen.Pen, g: Grip) -> None:
    angle = -0.42 if g.attack else 1.12
    way = (g.side * math.cos(angle), math.sin(angle))
    k = g.size
    long = 370 * k if g.attack else min(370 * k, max(90.0, (g.ground - g.at[1] - 8) / way[1]))
    guard, tip = _along(g.at, way, 26 * k), _along(g.at, way, long)
    blade = outline.straight([
        _along(guard, way, 0, -11 * k), _along(tip, way, -34 * k, -9 * k), tip,
        _along(tip, way, -34 * k, 9 * k), _along(guard, way, 0, 11 * k),
    ])  # fmt: skip
    p.shape(blade, _STEEL, shade=(150, 162, 186), shift=(3, -4), width=5)
    ridge = outline.straight([guard, _along(tip, way, -30 * k)])
    p.line(ridge, 3, paint=(140, 150, 176), taper=(0, 0.2))
    cross = [_along(guard, way, 0, -30 * k), _along(guard, way, 0, 30 * k)]
    p.line(outline.straight(cross), 21 * k, taper=(0, 0))
    p.line(outline.straight(cross), 12 * k, paint=_GOLD, taper=(0, 0))
    pommel = _along(g.at, way, -36 * k)
    _rod(p, guard, pommel, 15 * k, _WOOD)
    p.shape(outline.ellipse(*pommel, 11 * k, 11 * k), _GOLD, width=4)
    tassel = [pommel, (pommel[0] - g.side * 12, pommel[1] + 40 * k)]
    p.line(outline.straight(tassel), 9, paint=_RED, taper=(0, 0))


def _umbrella(p: pen.Pen, g: Grip) -> None:
    top = (g.at[0] + g.side * 2, g.head - 120 * g.size)
    _rod(p, (g.at[0] + g.side * 5, g.at[1] + 46 * g.size), top, 9 * g.size, _WOOD)


def _middle(g: Grip) -> Spot:
    return (g.at[0] + g.other[0]) / 2, (g.at[1] + g.other[1]) / 2


def _book(p: pen.Pen, g: Grip) -> None:
    x, y = _middle(g)
    k, cover = g.size, g.tone(g.accent)
    for side in (-1, 1):
        page = [(x, y - 58 * k), (x + side * 84 * k, y - 74 * k), (x + side * 84 * k, y + 34 * k),
                (x, y + 52 * k)]  # fmt: skip
        p.shape(outline.straight(page), cover, shade=colour.dark(cover, 0.25), width=5.5)
    p.line(outline.straight([(x, y - 58 * k), (x, y + 52 * k)]), 7, taper=(0, 0))
    label = [(x - 66 * k, y - 52 * k), (x - 34 * k, y - 46 * k), (x - 34 * k, y + 10 * k),
             (x - 66 * k, y + 4 * k)]  # fmt: skip
    p.shape(outline.straight(label), _PAPER, width=3)


def _letter(p: pen.Pen, g: Grip) -> None:
    x, y = _middle(g)
    k, paper = g.size, g.tone(_PAPER)
    sheet = [(x - 58 * k, y - 84 * k), (x + 56 * k, y - 90 * k), (x + 58 * k, y + 42 * k),
             (x - 54 * k, y + 46 * k)]  # fmt: skip
    p.shape(outline.straight(sheet), paper, shade=colour.dark(paper, 0.12), width=5)
    for n in range(5):
        column = x + (34 - 19 * n) * k
        line = outline.straight([(column, y - 68 * k), (column, y + (24 - 14 * (n == 4)) * k)])
        p.line(line, 3.4, paint=(120, 108, 100), taper=(0.1, 0.1))


def _phone(p: pen.Pen, g: Grip) -> None:
    x, y = g.at
    k = g.size
    with p.moved(x - g.side * 6, y - 30 * k, turn=-g.side * 9):
        p.shape(outline.box(-26 * k, -56 * k, 52 * k, 98 * k), g.tone((44, 48, 58)), width=5)
        p.fill(outline.box(-19 * k, -48 * k, 38 * k, 76 * k), (126, 178, 214))
        p.fill(outline.straight([(-19 * k, -10 * k), (19 * k, -48 * k), (19 * k, -20 * k)]),
               (190, 222, 240))  # fmt: skip


def _cup(p: pen.Pen, g: Grip) -> None:
    x, y = g.at[0] - g.side * 8, g.at[1] - 34 * g.size
    k, china = g.size, g.tone((232, 232, 226))
    cup = [(x - 30 * k, y - 30 * k, 1), (x + 30 * k, y - 30 * k, 1), (x + 22 * k, y + 30 * k, 1),
           (x - 22 * k, y + 30 * k, 1)]  # fmt: skip
    p.shape(
        outline.straight([knot[:2] for knot in cup]),
        china,
        shade=colour.dark(china, 0.2),
        width=5,
    )
    p.line(outline.straight([(x - 26 * k, y), (x + 26 * k, y)]), 7, paint=(64, 96, 150))
    p.shape(outline.ellipse(x, y - 30 * k, 30 * k, 8 * k), (120, 78, 50), width=4)
    for n in (-10, 10):
        steam = [(x + n, y - 48 * k), (x + n + 8, y - 64 * k), (x + n, y - 82 * k)]
        p.line(outline.curve(steam, closed=False), 4, paint=(255, 255, 255), alpha=0.6)


def _lantern(p: pen.Pen, g: Grip) -> None:
    k = g.size
    end = (g.at[0] + g.side * 74 * k, g.at[1] - 34 * k)
    _rod(p, (g.at[0] - g.side * 40 * k, g.at[1] + 18 * k), end, 8 * k, _WOOD)
    x, y = end[0], min(end[1] + 96 * k, g.ground - 104 * k)
    p.line(outline.straight([end, (x, y - 50 * k)]), 4, taper=(0, 0))
    p.glow(x, y, 170 * k, (255, 206, 120), alpha=0.55)
    body = outline.ellipse(x, y, 46 * k, 54 * k)
    paper = g.tone((240, 150, 76))
    p.shape(body, paper, shade=colour.mix(paper, _RED, 0.45), shift=(5, -8), width=5)
    p.fill(outline.ellipse(x + 4, y + 4, 24 * k, 34 * k), colour.mix((255, 222, 150), paper, 0.3))
    for n in (-0.5, 0.5):
        rib = outline.curve([(x, y - 54 * k), (x + n * 66 * k, y), (x, y + 54 * k)], closed=False)
        p.line(rib, 3, paint=(160, 60, 44))
    for cap in (-54, 46):
        p.shape(outline.box(x - 22 * k, y + cap * k, 44 * k, 10 * k), _GOLD, width=4)
    p.line(outline.straight([(x, y + 58 * k), (x, y + 96 * k)]), 8, paint=_RED, taper=(0, 0))


def _bag(p: pen.Pen, g: Grip) -> None:
    k, hide = g.size, g.tone(g.accent)
    x, y = g.at[0], min(g.at[1] + 20 * k, g.ground - 140 * k)
    loop = [(x - 30 * k, y + 36 * k), (x - 18 * k, y - 14 * k), (x + 18 * k, y - 14 * k),
            (x + 30 * k, y + 36 * k)]  # fmt: skip
    p.line(outline.curve(loop, closed=False), 15 * k, taper=(0, 0))
    p.line(outline.curve(loop, closed=False), 7 * k, paint=colour.dark(hide, 0.2), taper=(0, 0))
    bag = [(x - 58 * k, y + 30 * k, 1), (x + 58 * k, y + 30 * k, 1), (x + 66 * k, y + 126 * k),
           (x, y + 136 * k), (x - 66 * k, y + 126 * k)]  # fmt: skip
    p.shape(outline.curve(bag), hide, shade=colour.dark(hide, 0.3), width=5.5)
    p.line(outline.straight([(x - 60 * k, y + 58 * k), (x + 60 * k, y + 58 * k)]), 4,
           paint=colour.dark(hide, 0.5))  # fmt: skip
    p.shape(outline.box(x - 11 * k, y + 50 * k, 22 * k, 20 * k), _GOLD, width=3.6)


def _fan(p: pen.Pen, g: Grip) -> None:
    x, y = g.at[0], g.at[1] - 12 * g.size
    r, paper = 118 * g.size, g.tone(_PAPER)
    middle = math.radians(-90 + 26 * g.side)
    ends = [middle + math.radians(way) for way in range(-62, 63, 4)]
    arc = [(x + math.cos(a) * r, y + math.sin(a) * r) for a in ends]
    inner = [(x + math.cos(a) * r * 0.34, y + math.sin(a) * r * 0.34) for a in reversed(ends)]
    p.shape(
        outline.straight([*arc, *inner]),
        paper,
        shade=colour.dark(paper, 0.14),
        shift=(6, -5),
        width=5,
    )
    with p.clipped(outline.straight([*arc, *inner])):
        hill = [(x - r, y - r * 0.62), (x - r * 0.2, y - r * 0.86), (x + r * 0.3, y - r * 0.6),
                (x + r, y - r * 0.8)]  # fmt: skip
        p.line(outline.curve(hill, closed=False), 12 * g.size, paint=g.accent, alpha=0.8)
    for a in ends[::4]:
        rib = [(x, y), (x + math.cos(a) * r, y + math.sin(a) * r)]
        p.line(outline.straight(rib), 3.2, paint=_WOOD, taper=(0, 0))


def _flower(p: pen.Pen, g: Grip) -> None:
    x, y = g.at[0], g.at[1]
    k, petals = g.size, g.tone((224, 96, 112))
    bloom = (x - g.side * 14 * k, y - 104 * k)
    stem = outline.curve([(x, y + 50 * k), (x + 4 * k, y - 30 * k), bloom], closed=False)
    p.line(stem, 13, taper=(0, 0))
    p.line(stem, 6, paint=(88, 132, 78), taper=(0, 0))
    leaf = outline.ellipse(x + 20 * k, y - 50 * k, 20 * k, 9 * k, turn=-34)
    p.shape(leaf, (88, 132, 78), width=4)
    for n in range(6):
        a = math.tau * n / 6
        petal = (bloom[0] + math.cos(a) * 19 * k, bloom[1] + math.sin(a) * 19 * k)
        p.shape(outline.ellipse(*petal, 17 * k, 17 * k), petals, width=4)
    p.fill(outline.ellipse(*bloom, 20 * k, 20 * k), petals)
    p.shape(outline.ellipse(*bloom, 11 * k, 11 * k), _GOLD, width=3.6)


_THINGS: dict[str, Callable[[pen.Pen, Grip], None]] = {
    "fork": _fork, "sword": _sword, "umbrella": _umbrella, "book": _book, "phone": _phone,
    "cup": _cup, "letter": _letter, "lantern": _lantern, "bag": _bag, "fan": _fan,
    "staff": _staff, "flower": _flower,
}  # fmt: skip
