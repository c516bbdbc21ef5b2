"""Bodies: legs and torso. Local units: feet at y = 0, an adult's crown near -1000."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from mangen.engines.animatic import collar, colour, garment, outline, pen, sewing
from mangen.engines.animatic.build import Build, Spot
from mangen.engines.animatic.colour import Colour

_SILVER: Colour = (214, 222, 232)
_WOOD: Colour = (122, 84, 54)


def cloth(look: Mapping[str, Any], b: Build, drop: float = 0.0) -> garment.Cloth:
    """The look's garment, fitted; `drop` is how far the body is lowered to the ground."""
    main = colour.of(look["main"])
    hem, flare = garment.hem_of(look["garment"], b.hip)
    if hem > b.hip * 0.6:
        hem = min(hem, -16 - drop)
        flare *= 1 + 0.5 * drop / -b.hip
    return garment.Cloth(
        shoulder=b.shoulder,
        chest=b.chest,
        waist=b.waist,
        hip_wide=b.hip_wide,
        neck=b.neck,
        top=b.top,
        hip=b.hip,
        waist_y=b.top * 0.42 + b.hip * 0.58,
        hem=hem,
        flare=flare,
        main=main,
        dark=colour.dark(main, 0.3),
        trim=colour.of(look["trim"]),
        inner=colour.of(look["inner"]),
        legs=colour.of(look["legs"]),
        skin=colour.of(look["skin"]),
        child=look["age"] == "child",
        female=look["female"],
    )


def legs_of(b: Build, kind: str, drop: float, facing: int) -> list[tuple[Spot, Spot, Spot]]:
    """Hip, knee and ankle of both legs, the picture's left one first."""
    w, k, hip = b.hip_wide, -b.hip / 424, b.hip + drop
    ways: dict[str, list[tuple[Spot, Spot]]] = {
        "stand": [((-w * 0.5, b.hip * 0.48), (-w * 0.5, -18)),
                  ((w * 0.5, b.hip * 0.48), (w * 0.5, -18))],
        "apart": [((-w * 0.72, b.hip * 0.48), (-w * 0.95, -18)),
                  ((w * 0.72, b.hip * 0.48), (w * 0.95, -18))],
        "lunge": [((-w * 0.5 - 96 * k, hip * 0.56), (-w * 0.5 - 190 * k, -18)),
                  ((w * 0.5 + 128 * k, hip * 0.62), (w * 0.5 + 118 * k, -18))],
        "run": [((-w * 0.3 - 30 * k, hip * 0.46), (-w * 0.3 - 176 * k, hip * 0.36)),
                ((w * 0.5 + 104 * k, hip * 0.62), (w * 0.5 + 128 * k, -20))],
        "sit": [((-w * 0.95, hip + 34 * k), (-w * 0.82, -18)),
                ((w * 0.95, hip + 34 * k), (w * 0.82, -18))],
        "kneel": [((-w * 0.62, -34 * k), (-w * 0.5, -16)),
                  ((w * 0.62, -34 * k), (w * 0.5, -16))],
    }  # fmt: skip
    found = [
        ((side * w * 0.47, hip), *rest)
        for side, rest in zip((-1, 1), ways.get(kind, ways["stand"]), strict=True)
    ]
    if facing < 0:
        found = [(_turned(a), _turned(b), _turned(c)) for a, b, c in reversed(found)]
    return found


def _turned(spot: Spot) -> Spot:
    return -spot[0], spot[1]


def legs(
    p: pen.Pen, look: Mapping[str, Any], b: Build, *, kind: str, drop: float, facing: int
) -> None:
    """Legs and shoes; who sits gets a stool."""
    trousers, skin = colour.of(look["legs"]), colour.of(look["skin"])
    rolled = look["barefoot"] and not garment.skirted(look["garment"])
    bare = garment.skirted(look["garment"])
    shin = skin if bare or rolled else trousers
    thick = (58 if look["age"] == "child" else 78) * (b.thick if look["age"] != "child" else 1)
    ways = legs_of(b, kind, drop, facing)
    if kind == "sit":
        _stool(p, b, b.hip + drop + 20)
    order = ways if facing > 0 else ways[::-1]
    for hip, knee, ankle in order:
        out = facing if kind in ("lunge", "run") else 1 if ankle[0] > 0 else -1
        if kind != "kneel":
            _foot(p, look, ankle, out, b, raised=ankle[1] < -40)
        lower = outline.limb([knee, ankle], [thick * 0.8, thick * 0.52])
        p.shape(lower, shin, shade=colour.dark(shin, 0.26), width=5)
        upper = outline.limb([hip, knee], [thick, thick * 0.84])
        over = skin if bare and look["garment"] != "tracksuit" else trousers
        joint = outline.ellipse(*knee, thick * 0.42, thick * 0.42)
        if kind in ("sit", "kneel", "run", "lunge"):
            p.ink(joint, 10)
        p.shape(upper, over, shade=colour.dark(over, 0.3), width=5)
        p.fill(joint, over)
        if rolled and kind != "kneel":
            _rolled(p, knee, ankle, thick, trousers)


def _rolled(p: pen.Pen, knee: Spot, ankle: Spot, thick: float, tone: Colour) -> None:
    """Trousers rolled up below the knee."""
    end = (knee[0] + (ankle[0] - knee[0]) * 0.2, knee[1] + (ankle[1] - knee[1]) * 0.2)
    tip = (knee[0] + (ankle[0] - knee[0]) * 0.36, knee[1] + (ankle[1] - knee[1]) * 0.36)
    p.fill(outline.limb([knee, end], [thick * 0.84, thick * 0.84]), tone)
    band = outline.limb([end, tip], [thick * 0.9, thick * 0.94])
    p.shape(band, colour.pale(tone, 0.16), shade=colour.dark(tone, 0.2), width=4.5)


def _foot(
    p: pen.Pen, look: Mapping[str, Any], ankle: Spot, out: int, b: Build, *, raised: bool
) -> None:
    skin = colour.of(look["skin"])
    tone = skin if look["barefoot"] else colour.of(look["shoes"])
    k = 0.84 if look["age"] == "child" else 0.9 + 0.1 * b.thick
    with p.moved(ankle[0], ankle[1] + 18, scale=k, turn=58 * out if raised else 0):
        sole = [
            (-out * 26, -30), (out * 14, -36), (out * 46, -16), (out * 54, 0, 1), (-out * 28, 0, 1),
        ]  # fmt: skip
        p.shape(outline.curve(sole), tone, shade=colour.dark(tone, 0.25), shift=(5, -5), width=5)
        if look["barefoot"]:
            for x in (36, 45):
                p.line(outline.straight([(out * x, -12), (out * (x + 4), -3)]), 3)
        else:
            edge = outline.straight([(-out * 27, -3), (out * 53, -3)])
            p.line(edge, 5, paint=colour.pale(tone, 0.5), taper=(0, 0))


def _stool(p: pen.Pen, b: Build, y: float) -> None:
    w = b.hip_wide * 1.2
    for side in (-1, 1):
        leg = outline.limb([(side * w * 0.8, y), (side * w * 0.95, -6)], [24, 20])
        p.shape(leg, colour.dark(_WOOD, 0.25), width=5)
    p.shape(outline.box(-w, y - 10, 2 * w, 26), _WOOD, shade=colour.dark(_WOOD, 0.3), width=5)


def skirt(p: pen.Pen, look: Mapping[str, Any], b: Build, drop: float, *, wide: bool) -> None:
    """What of a long garment lies below the hip, where the torso above it is bent."""
    if look["garment"] not in garment.LONG:
        return
    c = cloth(look, b, drop)
    if wide:
        c = dataclasses.replace(c, flare=max(1.5, c.flare * 1.2))
    with p.clipped(outline.box(-900, b.hip - 44, 1800, 1400)):
        _garment(p, look, c)


def torso(p: pen.Pen, look: Mapping[str, Any], b: Build, drop: float, *, bent: bool) -> None:
    """Neck and garment, without the arms; of a long one only the upper part if `bent`."""
    c, kind = cloth(look, b, drop), look["garment"]
    shade = colour.mix(c.skin, (122, 63, 74), 0.42)
    n = (26 if c.female or c.child else 35) * (0.6 + 0.4 * look["stout"])
    top, low = b.neck - 46, b.top + 24
    neck = outline.curve(
        [(-n, top, 1), (n, top, 1), (n + 1, b.neck - 12), (n + 14, low, 1), (-n - 14, low, 1),
         (-n - 1, b.neck - 12)]
    )  # fmt: skip
    p.shape(neck, shade, width=5)
    if bent and kind in garment.LONG:
        with p.clipped(outline.box(-900, b.neck - 400, 1800, b.hip - b.neck + 412)):
            _garment(p, look, c)
    else:
        _garment(p, look, c)
    collar.draw(p, kind, c)
    if look["ring"] and (look["age"] in ("child", "youth") or c.female):
        _ring(p, b)
    if look["scarf"]:
        _scarf(p, b, colour.of(look["scarf"]))


def _garment(p: pen.Pen, look: Mapping[str, Any], c: garment.Cloth) -> None:
    edge = garment.cut(c)
    p.fill(edge, c.dark)
    with p.clipped(edge):
        p.fill(outline.moved(edge, 26, -8), c.main)
        sewing.sew(p, look["garment"], c)
        if look["patch"]:
            sewing.patch(p, c)
        p.fill(outline.ellipse(0, c.neck - 6, 78, 44), c.dark, alpha=0.35)
    p.ink(edge, 5.5)


def _ring(p: pen.Pen, b: Build) -> None:
    y = b.neck
    knots = [(-46, y + 4), (-40, y + 62), (0, y + 84), (40, y + 62), (46, y + 4)]
    ring = outline.curve(knots, closed=False)
    p.line(ring, 20, taper=(0.1, 0.1))
    p.line(ring, 11, paint=_SILVER, taper=(0.1, 0.1))
    shine = outline.curve([(-36, y + 40), (-30, y + 62), (-8, y + 78)], closed=False)
    p.line(shine, 4, paint=(255, 255, 255))
    lock = [(-10, y + 80), (10, y + 80), (20, y + 108, 1), (-20, y + 108, 1)]
    p.shape(outline.curve(lock), _SILVER, width=4)


def _scarf(p: pen.Pen, b: Build, tone: Colour) -> None:
    y, dark = b.neck, colour.dark(tone, 0.28)
    for x, end in ((2, 150), (20, 196)):
        tail = [(x, y + 20), (x + 34, y + 30), (x + 44, y + end, 1), (x - 8, y + end - 8, 1)]
        p.shape(outline.curve(tail), tone, shade=dark)
        for k in range(4):
            knot = x - 4 + 13 * k
            p.line(outline.straight([(knot, y + end - 4), (knot, y + end + 10)]), 4, paint=dark)
    loop = [(-58, y - 32), (0, y - 4), (58, y - 32), (70, y + 14), (0, y + 48), (-70, y + 14)]
    p.shape(outline.curve(loop), tone, shade=dark)
    fold = outline.curve([(-52, y - 2), (0, y + 22), (48, y - 4)], closed=False)
    p.line(fold, 4, paint=dark)
