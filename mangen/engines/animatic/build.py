"""Builds: the measures that sex, age and figure give a body.

Local units: feet at y = 0, an adult's crown near -1000; negative y is up.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

Spot = tuple[float, float]


@dataclasses.dataclass(frozen=True, slots=True)
class Build:
    """Half widths and heights."""

    shoulder: float
    chest: float
    waist: float
    hip_wide: float
    neck: float  #: y of the neck's root
    top: float  #: y of the shoulders
    hip: float  #: y
    arm: float  #: length of the upper and of the lower arm
    thick: float  #: of limbs, 1 for a man's
    head: float  #: y of the head's centre
    head_size: float


def of(look: Mapping[str, Any]) -> Build:
    """The measures of one look."""
    stout, age, female = float(look["stout"]), look["age"], look["female"]
    if age == "child":
        return Build(
            shoulder=86 * (0.6 + 0.4 * stout), chest=80 * stout, waist=72 * stout,
            hip_wide=74 * stout, neck=-420, top=-398, hip=-200, arm=92, thick=0.78,
            head=-536, head_size=1.17,
        )  # fmt: skip
    tall = float(look["tall"]) * {"elder": 0.95, "youth": 0.965}.get(age, 1.0)
    narrow = {"elder": 0.93, "youth": 0.92}.get(age, 1.0) * (0.5 + 0.5 * stout)
    stoop = 16.0 if age == "elder" else 0.0
    return Build(
        shoulder=(102 if female else 134) * narrow,
        chest=(87 if female else 114) * narrow,
        waist=(64 if female else 90) * stout * (1.1 if age == "elder" else 1.0),
        hip_wide=(84 if female else 92) * (0.4 + 0.6 * stout),
        neck=-736 * tall + stoop * 0.5,
        top=-706 * tall + stoop * 0.5,
        hip=-398 * tall,
        arm=154 * tall,
        thick=(0.86 if female else 1.06) * (0.7 + 0.3 * stout) * (0.93 if age == "youth" else 1.0),
        head=-878 * tall + stoop,
        head_size=1.2 if age == "youth" else 1.17,
    )


def crown(look: Mapping[str, Any]) -> float:
    """From sole to crown, hair included."""
    b = of(look)
    return -b.head + 150 * b.head_size
