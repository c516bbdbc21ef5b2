"""Marks: what life, fashion or the moment put on a face: lines, beards, glasses, tears."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from mangen.engines.animatic import colour, outline, pen
from mangen.engines.animatic.colour import Colour

_WATER: Colour = (191, 227, 239)
_WOUND: Colour = (150, 66, 62)


def lines(p: pen.Pen, x: float, eye: float, reach: float, tone: Colour) -> None:
    """Age: folds beside the mouth, crow's feet `reach` from the middle, a furrowed brow."""
    for side in (-1, 1):
        fold = [(side * 20 + x, 44), (side * 36 + x, 57), (side * 38 + x, 80)]
        p.line(outline.curve(fold, closed=False), 5, paint=tone)
        for k in (-1, 1):
            start = side * reach + x * 0.72
            foot = outline.straight([(start, eye + 2), (start + side * 13, eye + 2 + 8 * k)])
            p.line(foot, 4.4, paint=tone)
    for k in range(3):
        reach_ = 36 - 6 * k
        furrow = [(-reach_ + x, -54 + k * 10), (x, -60 + k * 10), (reach_ + x, -54 + k * 10)]
        p.line(outline.curve(furrow, closed=False), 4, paint=tone)


def spots(p: pen.Pen, look: Mapping[str, Any], x: float, mouth: float, tone: Colour) -> None:
    """Freckles, a mole, a scar."""
    moles = {
        "lip": (24, mouth - 18),
        "eye": (50, 27),
        "cheek": (-46, 48),
        "chin": (-18, mouth + 15),
    }
    if look["freckles"] and look["age"] != "elder":
        for k, dx in enumerate((-12, -4, 4, 12)):
            for side in (-1, 1):
                p.fill(outline.ellipse(x + side * 42 + dx, 38 + 5 * (k % 2), 2, 2), tone)
    if look["mole"]:
        dx, y = moles[look["mole_at"]]
        p.fill(outline.ellipse(x + dx, y, 3.2, 3.2), colour.mix(tone, colour.INK, 0.6))
    if look["scar"]:
        p.line(outline.straight([(x + 46, 18), (x + 30, 58)]), 4.5, paint=_WOUND)
        for way in (0.3, 0.65):
            cx, cy = x + 46 - 16 * way, 18 + 40 * way
            p.line(outline.straight([(cx - 7, cy - 3), (cx + 7, cy + 3)]), 3, paint=_WOUND)


def stubble(p: pen.Pen, x: float, mouth: float) -> None:
    dots = random.Random(3)
    for _ in range(44):
        at = (x + dots.uniform(-42, 42), mouth + dots.uniform(-14, 26))
        p.fill(outline.ellipse(*at, 1.4, 1.4), colour.INK, alpha=0.38)


def beard(p: pen.Pen, kind: str, x: float, mouth: float, hair: Colour) -> None:
    """A long beard, or a short one around the chin; under the mouth."""
    dark = colour.dark(hair, 0.35)
    if kind == "long":
        fall = [
            (x - 50, mouth - 14, 1), (x - 44, mouth + 44), (x - 26, mouth + 96),
            (x - 3, mouth + 150, 1), (x + 24, mouth + 96), (x + 44, mouth + 44),
            (x + 50, mouth - 14, 1), (x + 24, mouth + 10), (x, mouth + 14), (x - 24, mouth + 10),
        ]  # fmt: skip
        p.shape(outline.curve(fall), hair, shade=colour.dark(hair, 0.2), width=4.5)
        for k in (-26, -9, 9, 24):
            strand = [(x + k, mouth + 26), (x + k * 0.8, mouth + 62), (x + k * 0.3, mouth + 104)]
            p.line(outline.curve(strand, closed=False), 3.2, paint=dark)
    if kind == "goatee":
        tuft = [
            (x - 17, mouth + 16, 1), (x - 13, mouth + 36), (x, mouth + 52, 1), (x + 13, mouth + 36),
            (x + 17, mouth + 16, 1), (x, mouth + 20),
        ]  # fmt: skip
        p.shape(outline.curve(tuft), hair, shade=dark, width=4)


def moustache(p: pen.Pen, kind: str, x: float, mouth: float, hair: Colour) -> None:
    """What grows over the lip: it lies before the mouth."""
    if kind not in ("moustache", "long", "goatee"):
        return
    reach, drop = (36, 14) if kind == "long" else (27, -9)
    for side in (-1, 1):
        half = [
            (x + side * 2, mouth - 19, 1), (x + side * 15, mouth - 21),
            (x + side * reach, mouth + drop, 1), (x + side * 13, mouth - 12),
            (x + side * 2, mouth - 11, 1),
        ]  # fmt: skip
        p.fill(outline.curve(half), colour.dark(hair, 0.15))
        edge = outline.curve([(px, py) for px, py, *_ in half[1:4]], closed=False)
        p.line(edge, 3, paint=colour.dark(hair, 0.5))


def glasses(p: pen.Pen, apart: float, eye: float, size: float, *, x: float, turn: float) -> None:
    """Round glasses before both eyes."""
    for side in (-1, 1):
        far = 1 - 0.2 * max(0.0, side * turn)
        lens = outline.ellipse(side * apart + x, eye + 1, 28 * size**0.3 * far, 25 * size**0.3)
        p.fill(lens, (255, 255, 255), alpha=0.16)
        p.ink(lens, 4.8)
        shine = [(side * apart + x + 8, eye - 14), (side * apart + x + 15, eye - 4)]
        p.line(outline.straight(shine), 3.4, paint=(255, 255, 255), alpha=0.8)
    bridge = outline.curve([(-8 + x, eye), (x, eye - 5), (8 + x, eye)], closed=False)
    p.line(bridge, 4.5, taper=(0, 0))


def tears(p: pen.Pen, apart: float, eye: float, x: float) -> None:
    for side in (-1, 1):
        cx = side * (apart + 7) + x
        drop = [(cx, eye + 17, 1), (cx + 7, eye + 32), (cx, eye + 39), (cx - 7, eye + 32)]
        p.shape(outline.curve(drop), _WATER, width=2.5)


def sweat(p: pen.Pen, x: float) -> None:
    drop = [(x, -40, 1), (x + 9, -20), (x, -11), (x - 9, -20)]
    p.shape(outline.curve(drop), _WATER, width=3)


def vein(p: pen.Pen, x: float) -> None:
    """The cross of anger at a temple."""
    for k in range(4):
        with p.moved(x, -56, turn=45 + 90 * k):
            hook = outline.curve([(-9, -4), (-4, -5), (-4, -11)], closed=False)
            p.line(hook, 4.2, paint=_WOUND, taper=(0.1, 0.1))
