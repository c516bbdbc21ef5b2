"""Colours: triples of 0..255 numbers, read from `#rrggbb`, and what a painter does with them."""

from __future__ import annotations

import colorsys
from typing import TypeAlias

Colour: TypeAlias = tuple[float, float, float]

INK: Colour = (36, 31, 38)
PAPER: Colour = (243, 235, 220)


def of(code: str) -> Colour:
    """`#rrggbb` -> triple; raises ValueError for anything else."""
    if len(code) != 7 or not code.startswith("#"):
        raise ValueError(f"{code!r} is no colour of the form #rrggbb")
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


def code(colour: Colour) -> str:
    """Triple -> `#rrggbb`."""
    return "#" + "".join(f"{min(255, max(0, round(v))):02x}" for v in colour)


def mix(a: Colour, b: Colour, t: float) -> Colour:
    """`a` at t = 0, `b` at t = 1."""
    return (
        a[0] + (b[0] - a[0]) * t,
        a[1] + (b[1] - a[1]) * t,
        a[2] + (b[2] - a[2]) * t,
    )


def dark(colour: Colour, t: float = 0.25) -> Colour:
    """Nearer to a warm black."""
    return mix(colour, (20, 15, 28), t)


def pale(colour: Colour, t: float = 0.25) -> Colour:
    """Nearer to warm paper."""
    return mix(colour, (255, 246, 230), t)


def grey(colour: Colour, t: float = 0.5) -> Colour:
    """Less saturated, equally bright."""
    y = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]
    return mix(colour, (y, y, y), t)


def times(a: Colour, b: Colour) -> Colour:
    """What `a` looks like under light of colour `b`."""
    return a[0] * b[0] / 255, a[1] * b[1] / 255, a[2] * b[2] / 255


def hsv(hue: float, saturation: float, value: float) -> Colour:
    """Hue, saturation and value of 0..1 each; hue wraps."""
    r, g, b = colorsys.hsv_to_rgb(hue % 1.0, saturation, value)
    return r * 255, g * 255, b * 255


def shifted(colour: Colour, hue: float, saturation: float, value: float) -> Colour:
    """The colour with its hue turned by a share of the circle, the others multiplied."""
    h, s, v = colorsys.rgb_to_hsv(*(part / 255 for part in colour))
    return hsv(h + hue, min(1.0, s * saturation), min(1.0, v * value))
