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
        fold = [(side * 22 + x, 42), (side * 37 + x, 55), (side * 37 + x, 76)]
        p.line(outline.curve(fold, closed=False), 4.4, paint=tone)
        for k in (-1, 1):
            start = side * reach + x * 0.72
            foot = outline.straight([(start, eye + 2), (start + side * 11, eye + 2 + 6 * k)])
            p.line(foot, 3.6, paint=tone)
    for k in range(2):
        furrow = [(-30 + x, -44 + k * 11), (x, -49 + k * 11), (30 + x, -44 + k * 11)]
        p.line(outline.curve(furrow, closed=False), 3.4, paint=tone)


def spots(p: pen.Pen, look: Mapping[str, Any], x: float, mouth: float, tone: Colour) -> None:
    """Freckles, a mole, a scar."""
    if look["freckles"]:
        for k, dx in enumerate((-12, -4, 4, 12)):
            for side in (-1, 1):
                p.fill(outline.ellipse(x + side * 42 + dx, 38 + 5 * (k % 2), 2, 2), tone)
    if look["mole"]:
        p.fill(outline.ellipse(x + 24, mouth - 18, 3, 3), colour.mix(tone, colour.INK, 0.5))
    if look["scar"]:
        p.line(outline.straight([(x + 46, 18), (x + 30, 58)]), 4.5, paint=_WOUND)
        for way in (0.3, 0.65):
            cx, cy = x + 46 - 16 * way, 18 + 40 * way
            p.line(outline.straight([(cx - 7, cy - 3), (cx + 7, cy + 3)]), 3, paint=_WOUND)


def beard(p: pen.Pen, kind: str, x: float, mouth: float, hair: Colour) -> None:
    """Stubble, a moustache, or a long beard with one."""
    if kind == "stubble":
        dots = random.Random(3)
        for _ in range(52):
            at = (x + dots.uniform(-40, 40), mouth + dots.uniform(-8, 26))
            p.fill(outline.ellipse(*at, 1.7, 1.7), colour.INK, alpha=0.5)
    if kind in ("moustache", "long"):
        half = [(x, mouth - 15), (x + 12, mouth - 20), (x + 27, mouth - 6, 1), (x + 10, mouth - 10)]
        other = [(x, mouth - 9), (x - 10, mouth - 10), (x - 27, mouth - 6, 1), (x - 12, mouth - 20)]
        p.fill(outline.curve([*half, *other]), hair)
    if kind == "long":
        tuft = [
            (x - 26, mouth + 16, 1),
            (x - 24, mouth + 60),
            (x - 4, mouth + 112, 1),
            (x + 20, mouth + 60),
            (x + 26, mouth + 16, 1),
            (x, mouth + 22),
        ]
        p.shape(outline.curve(tuft), hair, shade=colour.dark(hair, 0.2), width=4.5)
        for k in (-10, 2, 13):
            strand = [(x + k, mouth + 28), (x + k * 0.7, mouth + 56), (x + k * 0.2, mouth + 88)]
            p.line(outline.curve(strand, closed=False), 3, paint=colour.dark(hair, 0.35))


def glasses(p: pen.Pen, apart: float, eye: float, size: float, x: float) -> None:
    """Round glasses before both eyes."""
    for side in (-1, 1):
        lens = outline.ellipse(side * apart + x, eye + 1, 27 * size**0.3, 24 * size**0.3)
        p.fill(lens, (255, 255, 255), alpha=0.16)
        p.ink(lens, 4.5)
    bridge = outline.curve([(-9 + x, eye), (x, eye - 4), (9 + x, eye)], closed=False)
    p.line(bridge, 4.5, taper=(0, 0))


def tears(p: pen.Pen, apart: float, eye: float, x: float) -> None:
    for side in (-1, 1):
        cx = side * (apart + 7) + x
        drop = [(cx, eye + 17, 1), (cx + 7, eye + 32), (cx, eye + 39), (cx - 7, eye + 32)]
        p.shape(outline.curve(drop), _WATER, width=2.5)


def sweat(p: pen.Pen, x: float) -> None:
    drop = [(x, -40, 1), (x + 9, -20), (x, -11), (x - 9, -20)]
    p.shape(outline.curve(drop), _WATER, width=3)
