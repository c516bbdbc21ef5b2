"""Bodies: legs, arms and torso. Local units: feet at y = 0, an adult's crown near -1000."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from mangen.engines.animatic import colour, garment, outline, pen
from mangen.engines.animatic.colour import Colour

Spot = tuple[float, float]
Joints = tuple[Spot, Spot, Spot]  #: shoulder, elbow, hand

_SILVER: Colour = (214, 222, 232)


@dataclasses.dataclass(frozen=True, slots=True)
class Build:
    """The measures of a body: half widths and heights (negative y is up)."""

    shoulder: float
    waist: float
    hip_wide: float
    neck: float  #: y of the neck's root
    top: float  #: y of the shoulders
    hip: float  #: y
    arm: float  #: length of the upper and of the lower arm
    head: float  #: y of the head's centre
    head_size: float


def build(look: Mapping[str, Any]) -> Build:
    """The measures that sex, age and height give."""
    if look["age"] == "child":
        return Build(88, 70, 72, -412, -392, -190, 96, -500, 1.08)
    tall = float(look["tall"]) * {"elder": 0.95, "youth": 0.97}.get(look["age"], 1.0)
    female = look["female"]
    return Build(
        shoulder=96 if female else 116,
        waist=64 if female else 86,
        hip_wide=80 if female else 88,
        neck=-752 * tall,
        top=-722 * tall,
        hip=-424 * tall,
        arm=160 * tall,
        head=-858 * tall + (10 if look["age"] == "elder" else 0),
        head_size=1.06,
    )


def cloth(look: Mapping[str, Any], b: Build) -> garment.Cloth:
    """The look's garment, fitted."""
    main = colour.of(look["main"])
    hem, flare = garment.hem_of(look["garment"], b.hip)
    return garment.Cloth(
        shoulder=b.shoulder,
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
        skin=colour.of(look["skin"]),
        child=look["age"] == "child",
        female=look["female"],
    )


def reach(a: Spot, b: Spot, length: float, side: int, *, wide: bool = False) -> Joints:
    """An arm from shoulder `a` towards `b`; of two elbows the lower, or if `wide` the outer."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    far = math.hypot(dx, dy) or 1.0
    use = max(40.0, min(far, 2 * length * 0.995))
    angle, fold = math.atan2(dy, dx), math.acos(use / (2 * length))
    elbows = [
        (a[0] + math.cos(angle + k * fold) * length, a[1] + math.sin(angle + k * fold) * length)
        for k in (-1, 1)
    ]
    elbow = max(elbows, key=lambda e: side * e[0] if wide else 0.6 * side * e[0] + e[1])
    return a, elbow, (a[0] + dx * use / far, a[1] + dy * use / far)


def legs(p: pen.Pen, look: Mapping[str, Any], b: Build, *, stride: float) -> None:
    """Legs and shoes; `stride` of 0..1 opens them for an action."""
    trousers, skin = colour.of(look["legs"]), colour.of(look["skin"])
    bare = look["garment"] in ("dress", "qipao") or (look["barefoot"] and look["age"] == "child")
    shin = skin if bare else trousers
    shoe = skin if look["barefoot"] else (52.0, 44.0, 50.0)
    thick = 58 if look["age"] == "child" else 74 if not look["female"] else 66
    for side in (-1, 1):
        foot_x = side * (b.hip_wide * 0.5 + stride * (150 if side > 0 else 120))
        knee = (side * (b.hip_wide * 0.52 + stride * 100), b.hip * 0.46)
        sole = [
            (foot_x - 26, -22),
            (foot_x + side * 16, -28),
            (foot_x + side * 48, -8),
            (foot_x + side * 42, 2, 1),
            (foot_x - side * 28, 2, 1),
        ]
        p.shape(outline.curve(sole), shoe, width=5)
        lower = outline.limb([knee, (foot_x, -18)], [thick * 0.8, thick * 0.52])
        p.shape(lower, shin, shade=colour.dark(shin, 0.3), width=5)
        upper = outline.limb([(side * b.hip_wide * 0.48, b.hip), knee], [thick, thick * 0.82])
        p.shape(upper, trousers, shade=colour.dark(trousers, 0.3), width=5)
        p.fill(outline.ellipse(*knee, thick * 0.35, thick * 0.3), shin)


def arm(p: pen.Pen, look: Mapping[str, Any], joints: Joints) -> None:
    """One arm with its sleeve and hand."""
    shoulder, elbow, hand = joints
    skin, main = colour.of(look["skin"]), colour.of(look["main"])
    kind = look["garment"]
    small = 0.8 if look["age"] == "child" else 0.86 if look["female"] else 1.0
    angle = math.atan2(hand[1] - elbow[1], hand[0] - elbow[0])
    palm = (hand[0] + math.cos(angle) * 16, hand[1] + math.sin(angle) * 16)
    if kind in ("vest", "dress", "qipao", "shirt") and look["age"] != "elder":
        _tube(p, joints, (46 * small, 40 * small, 32 * small), skin)
        _hand(p, palm, math.degrees(angle), skin, small)
        if kind != "vest":
            end = 0.92 if kind == "shirt" else 0.5
            half = (
                shoulder[0] + (elbow[0] - shoulder[0]) * end,
                shoulder[1] + (elbow[1] - shoulder[1]) * end,
            )
            sleeve = outline.limb([shoulder, half], [62 * small, 58 * small])
            cap = outline.ellipse(*shoulder, 30 * small, 30 * small)
            for part in (sleeve, cap):
                p.ink(part, 10)
            p.shape(sleeve, main, shade=colour.dark(main, 0.3), width=0)
            p.fill(cap, main)
        return
    _hand(p, palm, math.degrees(angle), skin, small)
    if kind == "robe" and look["age"] != "child":
        _wide_sleeve(p, look, joints, small)
        return
    wide = (72 if kind == "gown" else 56) * small
    _tube(p, joints, (62 * small, 58 * small, wide), main)
    if kind in ("gown", "jacket", "armour", "uniform", "hoodie"):
        c, s, half_ = math.cos(angle), math.sin(angle), wide / 2 - 2
        cuff = [
            (hand[0] + s * half_ - c * 8, hand[1] - c * half_ - s * 8),
            (hand[0] - s * half_ - c * 8, hand[1] + c * half_ - s * 8),
        ]
        p.line(outline.straight(cuff), 13, paint=colour.of(look["trim"]), taper=(0, 0))
    fold = [(elbow[0] - 13, elbow[1] - 8), (elbow[0], elbow[1] + 3), (elbow[0] + 13, elbow[1] - 4)]
    p.line(outline.curve(fold, closed=False), 4, paint=colour.dark(main, 0.5))


def _tube(p: pen.Pen, joints: Joints, widths: tuple[float, float, float], tone: Colour) -> None:
    """Upper and lower arm with round joints, inked around, shaded below."""
    shoulder, elbow, hand = joints
    parts = [
        outline.ellipse(*shoulder, widths[0] / 2, widths[0] / 2),
        outline.limb([shoulder, elbow], widths[:2]),
        outline.limb([elbow, hand], widths[1:]),
        outline.ellipse(*elbow, widths[1] / 2, widths[1] / 2),
    ]
    for part in parts:
        p.ink(part, 10.5)
    dark = colour.dark(tone, 0.28)
    for part in parts:
        p.fill(part, dark)
    for part in parts:
        with p.clipped(part):
            p.fill(outline.moved(part, 8, -7), tone)
            p.fill(outline.ellipse(*elbow, widths[1] * 0.36, widths[1] * 0.36), tone)


def _wide_sleeve(p: pen.Pen, look: Mapping[str, Any], joints: Joints, small: float) -> None:
    """A robe's sleeve: its mouth hangs from the wrist."""
    _, elbow, hand = joints
    main = colour.of(look["main"])
    side = 1 if hand[0] >= elbow[0] else -1
    drop = 96 * small
    mouth = outline.curve(
        [
            (elbow[0] - side * 26 * small, elbow[1] - 10, 1),
            (elbow[0] - side * 10, elbow[1] + drop * 0.6),
            (hand[0] - side * 16, hand[1] + drop, 1),
            (hand[0] + side * 12, hand[1] + drop * 0.86, 1),
            (hand[0] + side * 8, hand[1] - 22 * small, 1),
        ]
    )
    dark = colour.dark(main, 0.3)
    p.ink(mouth, 11)
    p.fill(mouth, dark)
    with p.clipped(mouth):
        p.fill(outline.moved(mouth, 6, -12), main)
    _tube(p, joints, (66 * small, 62 * small, 48 * small), main)
    edge = [
        (hand[0] + side * 8, hand[1] - 22 * small),
        (hand[0] + side * 10, hand[1] + drop * 0.86),
    ]
    p.line(outline.straight(edge), 13, paint=colour.of(look["trim"]), taper=(0, 0))
    fold = [(elbow[0], elbow[1] + 8), (elbow[0] + side * 26, elbow[1] + 40)]
    p.line(outline.curve(fold, closed=False), 4.5, paint=colour.dark(main, 0.5))


def _hand(p: pen.Pen, at: Spot, angle: float, skin: Colour, small: float) -> None:
    with p.moved(*at, scale=small, turn=angle):
        knots = [(-22, -17), (6, -22), (27, -15), (32, 2), (24, 17), (-2, 20), (-22, 15)]
        p.shape(outline.curve(knots), skin, shade=colour.dark(skin, 0.16), shift=(4, -5), width=5)
        for y in (-6, 5):
            p.line(outline.straight([(14, y), (29, y - 1)]), 3, paint=colour.dark(skin, 0.45))
        p.line(outline.curve([(-4, -20), (10, -27), (18, -19)], closed=False), 4.5)


def torso(p: pen.Pen, look: Mapping[str, Any], b: Build) -> None:
    """Neck and garment, without the arms."""
    c, kind = cloth(look, b), look["garment"]
    shade = colour.mix(c.skin, (122, 63, 74), 0.42)
    n = 27 if c.female or c.child else 33
    top, low = b.neck - 46, b.top + 24
    neck = outline.straight([(-n, top), (n, top), (n + 8, low), (-n - 8, low)])
    p.shape(neck, shade, width=5)
    body = garment.cut(c)
    p.fill(body, c.dark)
    with p.clipped(body):
        p.fill(outline.moved(body, 26, -8), c.main)
        garment.sew(p, kind, c)
        if look["patch"]:
            garment.patch(p, c)
        p.fill(outline.ellipse(0, b.neck - 6, 78, 44), c.dark, alpha=0.35)
    p.ink(body, 5.5)
    garment.collar(p, kind, c)
    if look["ring"]:
        _ring(p, b)
    if look["scarf"]:
        _scarf(p, b, colour.of(look["scarf"]))


def _ring(p: pen.Pen, b: Build) -> None:
    y = b.neck
    knots = [(-46, y + 4), (-40, y + 62), (0, y + 84), (40, y + 62), (46, y + 4)]
    ring = outline.curve(knots, closed=False)
    p.line(ring, 19, taper=(0.1, 0.1))
    p.line(ring, 10, paint=_SILVER, taper=(0.1, 0.1))
    lock = [(-9, y + 80), (9, y + 80), (17, y + 104, 1), (-17, y + 104, 1)]
    p.shape(outline.curve(lock), _SILVER, width=4)


def _scarf(p: pen.Pen, b: Build, tone: Colour) -> None:
    y, dark = b.neck, colour.dark(tone, 0.28)
    tail = [(14, y + 30), (40, y + 30), (52, y + 180, 1), (4, y + 172, 1)]
    p.shape(outline.curve(tail), tone, shade=dark)
    loop = [(-62, y - 8), (0, y + 16), (62, y - 8), (64, y + 26), (0, y + 54), (-64, y + 26)]
    p.shape(outline.curve(loop), tone, shade=dark)
