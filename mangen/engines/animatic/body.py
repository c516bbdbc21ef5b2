"""Bodies: legs, torso, garments and arms. Local units: feet at y = 0, an adult's crown at -1000."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from mangen.engines.animatic import colour, outline, pen

Spot = tuple[float, float]

LONG = frozenset({"robe", "gown", "qipao", "dress", "coat"})  #: garments that cover the legs


@dataclasses.dataclass(frozen=True, slots=True)
class Build:
    """The measures of a body: half widths and heights (negative y is up)."""

    shoulder: float
    waist: float
    hip_wide: float
    neck: float  #: y of the neck's root
    top: float  #: y of the shoulders
    hip: float  #: y
    arm: float  #: length of upper and of lower arm
    head: float  #: y of the head's centre
    head_size: float


def build(look: Mapping[str, Any]) -> Build:
    if look["age"] == "child":
        return Build(88, 70, 72, -412, -392, -190, 96, -500, 1.08)
    tall = float(look["tall"]) * (0.95 if look["age"] == "elder" else 1.0)
    if look["age"] == "youth":
        tall *= 0.97
    wide = 100 if look["female"] else 126
    return Build(
        wide, 66 if look["female"] else 90, 82 if look["female"] else 92, -752 * tall, -722 * tall,
        -424 * tall, 156 * tall, -858 * tall + (10 if look["age"] == "elder" else 0), 1.0,
    )  # fmt: skip


def reach(a: Spot, b: Spot, length: float, bend: int) -> tuple[Spot, Spot]:
    """Elbow and hand of an arm from `a` towards `b`, both bones of one length."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    far = math.hypot(dx, dy) or 1.0
    use = min(far, 2 * length * 0.995)
    angle = math.atan2(dy, dx) + bend * math.acos(use / (2 * length))
    elbow = (a[0] + math.cos(angle) * length, a[1] + math.sin(angle) * length)
    return elbow, (a[0] + dx * use / far, a[1] + dy * use / far)


def legs(p: pen.Pen, look: Mapping[str, Any], b: Build, *, stride: float) -> None:
    """Legs and shoes; `stride` of 0..1 opens them for an action."""
    cloth, skin = colour.of(look["legs"]), colour.of(look["skin"])
    if look["garment"] in LONG:
        cloth = colour.dark(cloth, 0.1)
    shoe = (52, 44, 50)
    for side in (-1, 1):
        foot_x = side * (b.hip_wide * 0.5 + stride * (150 if side > 0 else 120))
        knee = (side * (b.hip_wide * 0.52 + stride * 100), b.hip * 0.46)
        thick = 74 if look["age"] != "child" else 58
        bare = look["garment"] in ("dress", "qipao") or (look["barefoot"] and look["age"] == "child")
        shin = skin if bare else cloth
        if look["barefoot"]:
            shoe = tuple(skin)  # type: ignore[assignment]
        sole = outline.curve([(foot_x - 26, -22), (foot_x + side * 16, -28), (foot_x + side * 46, -8),
                              (foot_x + side * 40, 2, 1), (foot_x - side * 28, 2, 1)])  # fmt: skip
        p.shape(sole, shoe, width=5)
        lower = outline.limb([knee, (foot_x, -18)], [thick * 0.8, thick * 0.52])
        p.shape(lower, shin, shade=colour.dark(shin, 0.3), width=5)
        upper = outline.limb([(side * b.hip_wide * 0.48, b.hip), knee], [thick, thick * 0.82])
        p.shape(upper, cloth, shade=colour.dark(cloth, 0.3), width=5)
        p.fill(outline.ellipse(*knee, thick * 0.36, thick * 0.3), shin if bare else cloth)


def arm(p: pen.Pen, look: Mapping[str, Any], joints: tuple[Spot, Spot, Spot]) -> None:
    """One arm of shoulder, elbow, hand, with its sleeve."""
    shoulder, elbow, hand = joints
    skin, cloth = colour.of(look["skin"]), colour.of(look["main"])
    kind = look["garment"]
    small = 0.8 if look["age"] == "child" else (0.86 if look["female"] else 1.0)
    angle = math.atan2(hand[1] - elbow[1], hand[0] - elbow[0])
    away = (hand[0] + math.cos(angle) * 16, hand[1] + math.sin(angle) * 16)
    bare = kind in ("vest", "dress", "qipao")
    if bare:
        p.shape(outline.limb([shoulder, elbow, hand], [50 * small, 40 * small, 32 * small], bend=0.4),
                skin, shade=colour.dark(skin, 0.18), width=5)  # fmt: skip
    _hand(p, away, math.degrees(angle), skin, small)
    if bare:
        if kind != "vest":
            half = ((shoulder[0] + elbow[0]) / 2, (shoulder[1] + elbow[1]) / 2)
            p.shape(outline.limb([shoulder, half], [60 * small, 56 * small]), cloth,
                    shade=colour.dark(cloth, 0.28), width=5)  # fmt: skip
        return
    if kind == "shirt" and look["age"] != "elder":
        cut = ((elbow[0] + hand[0]) / 2, (elbow[1] + hand[1]) / 2)
        p.shape(outline.limb([cut, hand], [36 * small, 32 * small]), skin, width=5)
        hand = cut
    wide = {"robe": 118, "gown": 74}.get(kind, 58) * small
    sleeve = outline.limb([shoulder, elbow, hand], [62 * small, 60 * small, wide], bend=0.45)
    if kind == "robe" and look["age"] != "child":
        # a wide sleeve hangs from the wrist
        sleeve = outline.curve(
            [(shoulder[0] - 28 * small, shoulder[1] - 8), (shoulder[0] + 28 * small, shoulder[1] - 8),
             (elbow[0] + 30 * small, elbow[1]), (hand[0] + 26, hand[1] - 18, 1),
             (hand[0] + 22, hand[1] + 78, 1), (hand[0] - 34, hand[1] + 86),
             (elbow[0] - 44 * small, elbow[1] + 36)]
        )  # fmt: skip
    p.shape(sleeve, cloth, shade=colour.dark(cloth, 0.3), shift=(9, -6), width=5.5)
    trim = colour.of(look["trim"])
    if kind in ("gown", "jacket", "robe", "armour", "uniform", "hoodie"):
        if kind == "robe" and look["age"] != "child":
            p.line(outline.straight([(hand[0] + 24, hand[1] - 16), (hand[0] + 20, hand[1] + 76)]), 11,
                   paint=trim, taper=(0, 0))  # fmt: skip
        else:
            c, s = math.cos(angle), math.sin(angle)
            half = wide / 2 - 3
            p.line(outline.straight([(hand[0] + s * half - c * 8, hand[1] - c * half - s * 8),
                                     (hand[0] - s * half - c * 8, hand[1] + c * half - s * 8)]), 11,
                   paint=trim, taper=(0, 0))  # fmt: skip
    fold = outline.curve([(elbow[0] - 14, elbow[1] - 10), (elbow[0], elbow[1] + 3),
                          (elbow[0] + 15, elbow[1] - 5)], closed=False)  # fmt: skip
    p.line(fold, 4, paint=colour.dark(cloth, 0.55))


def _hand(p: pen.Pen, at: Spot, angle: float, skin: colour.Colour, small: float) -> None:
    with p.moved(*at, scale=small, turn=angle):
        p.shape(outline.curve([(-22, -17), (6, -22), (27, -15), (32, 2), (24, 17), (-2, 20), (-22, 15)]),
                skin, shade=colour.dark(skin, 0.16), shift=(4, -5), width=5)  # fmt: skip
        for y in (-6, 5):
            p.line(outline.straight([(14, y), (29, y - 1)]), 3, paint=colour.dark(skin, 0.45))
        p.line(outline.curve([(-4, -20), (10, -27), (18, -19)], closed=False), 4.5)


def torso(p: pen.Pen, look: Mapping[str, Any], b: Build) -> None:
    """Neck and garment, without the arms."""
    skin = colour.of(look["skin"])
    shade = colour.mix(skin, (122, 63, 74), 0.42)
    n = 27 if look["female"] or look["age"] == "child" else 33
    p.shape(outline.straight([(-n, b.neck - 46), (n, b.neck - 46), (n + 8, b.top + 24),
                              (-n - 8, b.top + 24)]), shade, width=5)  # fmt: skip
    body, hem = _cut(look, b)
    main = colour.of(look["main"])
    dark = colour.dark(main, 0.3)
    p.fill(body, dark)
    with p.clipped(body):
        p.fill(outline.moved(body, 26, -8), main)
        _details(p, look, b, hem, main, dark, skin)
        p.fill(outline.ellipse(0, b.neck - 6, 78, 44), dark, alpha=0.35)
    p.ink(body, 5.5)
    _collar(p, look, b, main)
    if look["ring"]:
        ring = outline.curve([(-46, b.neck + 4), (-40, b.neck + 62), (0, b.neck + 84),
                              (40, b.neck + 62), (46, b.neck + 4)], closed=False)  # fmt: skip
        p.line(ring, 19, taper=(0.1, 0.1))
        p.line(ring, 10, paint=(214, 222, 232), taper=(0.1, 0.1))
        p.shape(outline.curve([(-9, b.neck + 80), (9, b.neck + 80), (17, b.neck + 104, 1),
                               (-17, b.neck + 104, 1)]), (214, 222, 232), width=4)  # fmt: skip
    if look["scarf"]:
        cloth = colour.of(look["scarf"])
        p.shape(outline.curve([(14, b.neck + 30), (40, b.neck + 30), (52, b.neck + 180, 1),
                               (4, b.neck + 172, 1)]), cloth, shade=colour.dark(cloth, 0.28))  # fmt: skip
        p.shape(outline.curve([(-62, b.neck - 8), (0, b.neck + 16), (62, b.neck - 8),
                               (64, b.neck + 26), (0, b.neck + 54), (-64, b.neck + 26)]), cloth,
                shade=colour.dark(cloth, 0.28))  # fmt: skip


def _cut(look: Mapping[str, Any], b: Build) -> tuple[outline.Points, float]:
    s, kind = b.shoulder, look["garment"]
    hem = {"robe": -26, "gown": -58, "coat": b.hip * 0.42, "dress": b.hip * 0.5,
           "qipao": b.hip * 0.3}.get(kind, b.hip + 24)  # fmt: skip
    flare = {"robe": 1.85, "gown": 1.42, "coat": 1.32, "dress": 1.9, "qipao": 1.05}.get(kind, 1.02)
    w = b.hip_wide * flare
    waist_y = b.top * 0.42 + b.hip * 0.58
    return outline.curve(
        [(-36, b.neck + 2), (-s + 20, b.top + 4), (-s, b.top + 40), (-s + 8, b.top + 110),
         (-b.waist - 2, waist_y), (-b.hip_wide * (1 + (flare - 1) * 0.35), b.hip + 6),
         (-w, hem, 1), (0, hem + 14), (w, hem, 1),
         (b.hip_wide * (1 + (flare - 1) * 0.35), b.hip + 6), (b.waist + 2, waist_y),
         (s - 8, b.top + 110), (s, b.top + 40), (s - 20, b.top + 4), (36, b.neck + 2), (0, b.neck + 14)]
    ), hem  # fmt: skip


def _details(
    p: pen.Pen,
    look: Mapping[str, Any],
    b: Build,
    hem: float,
    main: colour.Colour,
    dark: colour.Colour,
    skin: colour.Colour,
) -> None:
    kind, s = look["garment"], b.shoulder
    trim, inner = colour.of(look["trim"]), colour.of(look["inner"])
    waist_y = b.top * 0.42 + b.hip * 0.58
    if kind in LONG:
        for k in (-0.6, -0.15, 0.3, 0.7):
            p.line(outline.curve([(k * b.waist, waist_y + 50), (k * b.hip_wide * 1.15, (b.hip + hem) / 2),
                                  (k * b.hip_wide * 1.5, hem)], closed=False), 6, paint=dark)  # fmt: skip
    if kind == "robe":
        p.fill(outline.straight([(-48, b.neck - 10), (48, b.neck - 10), (-6, waist_y - 30)]), inner)
        for cloth, knots in (
            (trim, [(30, b.neck - 10), (58, b.neck - 10), (-s * 0.2, waist_y + 6), (-s * 0.48, waist_y)]),
            (trim, [(-58, b.neck - 10), (-30, b.neck - 10), (s * 0.48, waist_y), (s * 0.2, waist_y + 6)]),
        ):
            p.shape(outline.straight(knots), cloth, width=4.5)
        sash = colour.dark(trim, 0.3)
        p.shape(outline.box(-s - 40, waist_y - 4, 2 * s + 80, 44), sash, width=5)
        p.shape(outline.straight([(-12, waist_y + 38), (14, waist_y + 38), (22, waist_y + 190),
                                  (-16, waist_y + 186)]), sash, width=4.5)  # fmt: skip
        p.line(outline.curve([(-b.hip_wide * 2, hem - 10), (0, hem + 4), (b.hip_wide * 2, hem - 10)],
                             closed=False), 16, paint=trim, taper=(0, 0))  # fmt: skip
    elif kind in ("gown", "qipao"):
        flap = outline.curve([(4, b.neck + 10), (-12, b.top + 60), (-s + 16, b.top + 92)], closed=False)
        p.line(flap, 6, taper=(0, 0.1))
        if kind == "qipao":
            p.line(outline.moved(flap, 3, 9), 6, paint=trim, taper=(0, 0.1))
        for x, y in ((2, b.neck + 26), (-26, b.top + 68), (-s + 26, b.top + 92)):
            _button(p, x, y, main, trim)
    elif kind == "jacket":
        p.line(outline.straight([(0, b.neck), (0, hem + 20)]), 5, taper=(0, 0))
        count = 3 if look["age"] == "child" else 4
        for k in range(count):
            _button(p, 0, b.top + 48 + k * (hem - b.top - 70) / count, main, trim)
        for k in range(1, 6):
            y = b.top + k * (hem - b.top) / 6
            for side in (-1, 1):
                p.line(outline.curve([(side * s, y), (side * s * 0.5, y + 9), (side * 22, y)],
                                     closed=False), 3.6, paint=dark)  # fmt: skip
    elif kind == "vest":
        p.fill(outline.curve([(-30, b.neck - 10, 1), (30, b.neck - 10, 1), (0, b.top + 58, 1)]), skin)
        p.line(outline.straight([(0, b.top + 40), (0, hem + 20)]), 5, taper=(0, 0))
        for k in range(3):
            y = b.top + 74 + k * 42
            p.line(outline.straight([(-18, y), (18, y)]), 8, paint=trim, taper=(0, 0))
        p.line(outline.curve([(-s, hem - 12), (0, hem + 2), (s, hem - 12)], closed=False), 10,
               paint=trim, taper=(0, 0))  # fmt: skip
    elif kind in ("suit", "coat"):
        low = waist_y + 24
        p.fill(outline.straight([(-46, b.neck - 10), (46, b.neck - 10), (0, low)]), inner)
        if not look["female"] or kind == "suit":
            p.shape(outline.straight([(-9, b.neck + 22), (9, b.neck + 22), (14, low - 60), (0, low - 30),
                                      (-14, low - 60)]), trim, width=4)  # fmt: skip
        lapel = colour.pale(main, 0.1)
        for side in (-1, 1):
            p.shape(outline.straight([(side * 56, b.neck - 10), (side * 88, b.top + 62),
                                      (side * 62, b.top + 80), (0, low), (side * 30, b.neck - 10)]),
                    lapel, width=5)  # fmt: skip
        p.line(outline.straight([(0, low), (0, hem + 30)]), 5, taper=(0, 0))
        for k in range(2):
            p.shape(outline.ellipse(14, low + 26 + 52 * k, 6, 6), dark, width=3)
        if kind == "coat":
            p.line(outline.straight([(-s, waist_y + 50), (s, waist_y + 50)]), 15, paint=dark, taper=(0, 0))
    elif kind in ("shirt", "uniform", "hoodie"):
        p.line(outline.straight([(0, b.neck), (0, hem + 20)]), 4, paint=dark, taper=(0, 0))
        if kind == "uniform":
            p.fill(outline.straight([(-s - 20, b.top - 20), (s + 20, b.top - 20), (s + 20, b.top + 58),
                                     (-s - 20, b.top + 58)]), inner)  # fmt: skip
            p.line(outline.straight([(-s, b.top + 58), (s, b.top + 58)]), 9, paint=trim, taper=(0, 0))
        if kind == "hoodie":
            for side in (-1, 1):
                p.line(outline.straight([(side * 22, b.neck + 40), (side * 24, b.neck + 112)]), 6,
                       paint=inner, taper=(0, 0))  # fmt: skip
            p.line(outline.curve([(-62, waist_y + 60), (-44, waist_y), (44, waist_y), (62, waist_y + 60)],
                                 closed=False), 4.5, paint=colour.dark(main, 0.5))  # fmt: skip
        elif kind == "shirt":
            for k in range(4):
                p.fill(outline.ellipse(0, b.top + 40 + k * 54, 5, 5), colour.pale(main, 0.5))
    elif kind == "dress":
        p.line(outline.straight([(-s, waist_y + 20), (s, waist_y + 20)]), 20, paint=trim, taper=(0, 0))
        p.fill(outline.curve([(-34, b.neck - 12, 1), (34, b.neck - 12, 1), (0, b.top + 34)]), skin)
    elif kind == "armour":
        for k in range(6):
            y = b.top + 40 + k * 44
            for x in range(-3, 4):
                p.shape(outline.curve([(x * 42 - 21 + 21 * (k % 2), y, 1), (x * 42 + 21 + 21 * (k % 2), y, 1),
                                       (x * 42 + 21 * (k % 2), y + 40)]), colour.pale(main, 0.12),
                        shade=dark, width=3.5)  # fmt: skip
        p.shape(outline.box(-s - 20, waist_y + 10, 2 * s + 40, 34), trim, width=5)
    if look["patch"]:
        x, y = s * 0.3, waist_y - 6
        p.shape(outline.box(x, y, 52, 46), colour.mix(trim, (154, 74, 63), 0.6), width=4)
        for k in range(3):
            p.line(outline.straight([(x - 6, y + 9 + 14 * k), (x + 7, y + 9 + 14 * k)]), 3.4, paint=inner)


def _button(p: pen.Pen, x: float, y: float, main: colour.Colour, trim: colour.Colour) -> None:
    p.line(outline.straight([(x - 19, y), (x + 19, y)]), 8, paint=colour.dark(main, 0.6), taper=(0, 0))
    p.shape(outline.ellipse(x, y, 7, 7), trim, width=3)


def _collar(p: pen.Pen, look: Mapping[str, Any], b: Build, main: colour.Colour) -> None:
    kind = look["garment"]
    if kind in ("gown", "qipao", "jacket"):
        tone = colour.pale(main, 0.14) if kind != "qipao" else colour.of(look["trim"])
        p.shape(outline.curve([(-36, b.neck - 26, 1), (-40, b.neck + 16), (0, b.neck + 30),
                               (40, b.neck + 16), (36, b.neck - 26, 1), (0, b.neck - 4)]), tone)  # fmt: skip
    elif kind in ("shirt", "uniform", "suit", "coat"):
        tone = colour.pale(main, 0.3) if kind == "shirt" else colour.of(look["inner"])
        for side in (-1, 1):
            p.shape(outline.straight([(side * 36, b.neck - 18), (side * 52, b.neck + 18),
                                      (side * 20, b.neck + 44), (0, b.neck + 10)]), tone, width=4.5)  # fmt: skip
        if kind == "uniform":
            p.shape(outline.straight([(-20, b.neck + 26), (20, b.neck + 26), (26, b.neck + 62),
                                      (0, b.neck + 50), (-26, b.neck + 62)]), colour.of(look["trim"]),
                    width=4)  # fmt: skip
    elif kind == "hoodie":
        p.shape(outline.curve([(-44, b.neck - 20), (-76, b.neck + 14), (0, b.neck + 62),
                               (76, b.neck + 14), (44, b.neck - 20), (0, b.neck + 16)]),
                colour.dark(main, 0.16))  # fmt: skip
