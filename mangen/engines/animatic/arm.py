"""Arms: two bones with a sleeve and a hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mangen.engines.animatic import build, colour, garment, hand, outline, pen
from mangen.engines.animatic.build import Spot
from mangen.engines.animatic.colour import Colour

Joints = tuple[Spot, Spot, Spot]  #: shoulder, elbow, wrist


def reach(a: Spot, b: Spot, length: float, side: int, *, wide: bool = False) -> Joints:
    """An arm from shoulder `a` towards `b`; of two elbows the lower, or if `wide` the outer."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    far = math.hypot(dx, dy) or 1.0
    use = max(length * 0.5, min(far, 2 * length * 0.992))
    angle, fold = math.atan2(dy, dx), math.acos(use / (2 * length))
    elbows = [
        (a[0] + math.cos(angle + k * fold) * length, a[1] + math.sin(angle + k * fold) * length)
        for k in (-1, 1)
    ]
    elbow = max(
        elbows, key=lambda e: side * e[0] + 0.35 * e[1] if wide else 0.8 * side * e[0] + e[1]
    )
    return a, elbow, (a[0] + dx * use / far, a[1] + dy * use / far)


def draw(
    p: pen.Pen,
    look: Mapping[str, Any],
    b: build.Build,
    joints: Joints,
    *,
    form: str,
    side: int,
) -> None:
    """One arm with its sleeve and hand; `form` is the hand's, `side` -1 the picture's left."""
    shoulder, elbow, wrist = joints
    skin, main = colour.of(look["skin"]), colour.of(garment.sleeve_of(look))
    kind, k = look["garment"], b.thick
    angle = math.atan2(wrist[1] - elbow[1], wrist[0] - elbow[0])
    palm = (wrist[0] + math.cos(angle) * 10 * k, wrist[1] + math.sin(angle) * 10 * k)
    c, s = math.cos(angle), math.sin(angle)
    flip = side > 0 if s > 0.6 else side < 0 if s < -0.6 else c < 0
    size = k * (0.94 if look["age"] == "child" else 0.98)

    def fingers() -> None:
        hand.draw(p, palm, math.degrees(angle), skin, size=size, form=form, flip=flip)

    if kind in garment.BARE or (kind in garment.SHORT and look["age"] != "elder"):
        _tube(p, joints, (44 * k, 40 * k, 31 * k), skin)
        fingers()
        _wrist(p, wrist, (c, s), k, skin)
        if kind in garment.SHORT:
            _short_sleeve(p, shoulder, elbow, main, k)
        return
    fingers()
    if kind in garment.WIDE and wrist[1] < elbow[1] - 50 * k:
        _fallen_sleeve(p, look, joints, k, main)
        _wrist(p, wrist, (c, s), k, skin)
        return
    if kind in garment.WIDE and look["age"] != "child":
        _wide_sleeve(p, look, joints, k, main)
        return
    wide = (70 if kind == "gown" else 54) * k
    _tube(p, joints, (64 * k, 58 * k, wide), main)
    if kind in garment.CUFFED:
        half = wide / 2 - 2
        cuff = [
            (wrist[0] + s * half - c * 8, wrist[1] - c * half - s * 8),
            (wrist[0] - s * half - c * 8, wrist[1] + c * half - s * 8),
        ]
        p.line(outline.straight(cuff), 14, paint=colour.of(look["trim"]), taper=(0, 0))
    fold = [(elbow[0] - 13, elbow[1] - 8), (elbow[0], elbow[1] + 3), (elbow[0] + 13, elbow[1] - 4)]
    p.line(outline.curve(fold, closed=False), 4, paint=colour.dark(main, 0.5))


def seam(
    p: pen.Pen, look: Mapping[str, Any], b: build.Build, joints: Joints, *, side: int, front: bool
) -> None:  # fmt: skip
    """Cloth over the line between a sleeve and the torso: they are one piece."""
    if look["garment"] in garment.BARE:
        return
    (x, y), k, main = joints[0], b.thick, colour.of(garment.sleeve_of(look))
    if front:
        x, y = x - side * 15 * k, y - 3 * k
    size = (62 if look["garment"] in garment.SHORT else 64) * k / 2 - 4.5
    p.fill(outline.ellipse(x - side * 3 * k, y + 2 * k, size, size * 0.9), main)


def _tube(p: pen.Pen, joints: Joints, widths: tuple[float, float, float], tone: Colour) -> None:
    """Upper and lower arm with round joints, inked around, shaded below."""
    shoulder, elbow, wrist = joints
    parts = [
        outline.ellipse(*shoulder, widths[0] / 2, widths[0] / 2),
        outline.limb([shoulder, elbow], widths[:2]),
        outline.limb([elbow, wrist], widths[1:]),
        outline.ellipse(*elbow, widths[1] / 2, widths[1] / 2),
    ]
    for part in parts:
        p.ink(part, 10.5)
    dark = colour.dark(tone, 0.28)
    for part in parts:
        p.fill(part, dark)
    for part in parts:
        with p.clipped(part):
            for other in parts:
                p.fill(outline.moved(other, 8, -6), tone)


def _wrist(p: pen.Pen, at: Spot, way: Spot, k: float, skin: Colour) -> None:
    """Skin over the line between a bare forearm and its hand."""
    ends = [(at[0] - way[0] * 9 * k, at[1] - way[1] * 9 * k),
            (at[0] + way[0] * 13 * k, at[1] + way[1] * 13 * k)]  # fmt: skip
    p.fill(outline.limb(ends, [23 * k, 22 * k]), skin)


def _short_sleeve(p: pen.Pen, shoulder: Spot, elbow: Spot, main: Colour, k: float) -> None:
    share = 0.56
    end = (
        shoulder[0] + (elbow[0] - shoulder[0]) * share,
        shoulder[1] + (elbow[1] - shoulder[1]) * share,
    )
    sleeve = outline.limb([shoulder, end], [62 * k, 62 * k])
    cap = outline.ellipse(*shoulder, 31 * k, 31 * k)
    for part in (sleeve, cap):
        p.ink(part, 10)
    p.shape(sleeve, main, shade=colour.dark(main, 0.3), width=0)
    p.fill(cap, main)


def _wide_sleeve(
    p: pen.Pen, look: Mapping[str, Any], joints: Joints, k: float, main: Colour
) -> None:
    """A sleeve that hangs from the forearm like a bag."""
    shoulder, elbow, wrist = joints
    side = 1 if wrist[0] >= elbow[0] else -1
    drop = 132 * k
    dark, trim = colour.dark(main, 0.3), colour.of(look["trim"])
    low = max(elbow[1], wrist[1])
    bag = outline.curve([
        (elbow[0] - side * 28 * k, elbow[1] - 8, 1), (elbow[0] - side * 16, low + drop * 0.42),
        (wrist[0] - side * 30, low + drop * 0.98, 1), (wrist[0] + side * 13, low + drop * 0.82, 1),
        (wrist[0] + side * 8, wrist[1] - 23 * k, 1),
    ])  # fmt: skip
    p.ink(bag, 11)
    p.fill(bag, dark)
    with p.clipped(bag):
        p.fill(outline.moved(bag, 7, -13), main)
    _tube(p, (shoulder, elbow, wrist), (68 * k, 64 * k, 48 * k), main)
    edge = [(wrist[0] + side * 8, wrist[1] - 23 * k), (wrist[0] + side * 11, low + drop * 0.82)]
    p.line(outline.straight(edge), 19, taper=(0, 0))
    p.line(outline.straight(edge), 12, paint=trim, taper=(0, 0))
    for share in (0.35, 0.7):
        x = elbow[0] + (wrist[0] - elbow[0]) * share
        y = elbow[1] + (wrist[1] - elbow[1]) * share
        fold = [(x, y + 14), (x + side * 6, y + 46), (x + side * 4, low + drop * 0.6)]
        p.line(outline.curve(fold, closed=False), 4, paint=dark)


def _fallen_sleeve(
    p: pen.Pen, look: Mapping[str, Any], joints: Joints, k: float, main: Colour
) -> None:
    """A hanging sleeve of a raised arm: it has slid down and bares the forearm."""
    shoulder, elbow, wrist = joints
    side = 1 if wrist[0] >= shoulder[0] else -1
    share = 0.5
    edge = (
        elbow[0] + (wrist[0] - elbow[0]) * share,
        elbow[1] + (wrist[1] - elbow[1]) * share,
    )
    fore = outline.limb([elbow, wrist], [40 * k, 31 * k])
    skin = colour.of(look["skin"])
    p.shape(fore, skin, shade=colour.dark(skin, 0.2), width=5)
    dark, drop = colour.dark(main, 0.3), 96 * k
    bag = outline.curve([
        (shoulder[0] + (elbow[0] - shoulder[0]) * 0.4, elbow[1] - 16 * k, 1),
        (elbow[0] - side * 10 * k, elbow[1] + drop, 1), (elbow[0] + side * 34 * k, elbow[1] + drop),
        (edge[0] + side * 30 * k, edge[1] + 6, 1), (edge[0] - side * 24 * k, edge[1] - 8, 1),
    ])  # fmt: skip
    p.ink(bag, 11)
    p.fill(bag, dark)
    with p.clipped(bag):
        p.fill(outline.moved(bag, 7, -11), main)
    _tube(p, (shoulder, elbow, edge), (68 * k, 64 * k, 52 * k), main)
    rim = [(edge[0] - side * 27 * k, edge[1] - 6), (edge[0] + side * 30 * k, edge[1] + 6)]
    p.line(outline.straight(rim), 19, taper=(0, 0))
    p.line(outline.straight(rim), 12, paint=colour.of(look["trim"]), taper=(0, 0))
