"""Lips and lids: which mouth a face has in each frame of a clip, and when it blinks."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence

import numpy as np

from mangen.engines import protocol

CHANGES = 12  #: most changes of a mouth in a second
_STEPS = (0.1, 0.34, 0.64)  #: levels, of the line's own loudest, at which a mouth opens further
_MARGIN = 0.05  #: a level must pass a step by so much
_QUIET = 0.2  #: the loudest level of a line counts as no less
_BLINK_S = 5 / 24


def mouths(name: str, lines: Sequence[protocol.Heard], frames: int, fps: int) -> list[int | None]:
    """The opening of a mouth in every frame, 0 closed to 3 wide; None while it says nothing."""
    found: list[int | None] = [None] * frames
    hold = math.ceil(fps / CHANGES)
    for line in lines:
        if not line.by or line.by != name or not line.levels:
            continue
        loudest = max(_QUIET, *line.levels)
        now, since = 0, hold
        for k, level in enumerate(line.levels[: line.frames]):
            wanted = _opening(level / loudest, now)
            if wanted != now and since >= hold:
                now, since = wanted, 0
            since += 1
            if 0 <= line.start + k < frames:
                found[line.start + k] = now
    return found


def _opening(level: float, now: int) -> int:
    """The step a level is on; it must pass a step clearly to leave the one it is on."""
    up = sum(level >= step + _MARGIN for step in _STEPS)
    down = sum(level >= step - _MARGIN for step in _STEPS)
    return min(max(now, up), down)


def blinks(name: str, frames: int, fps: int, seed: int) -> list[bool]:
    """The frames with closed eyes: a blink every 2 to 5 seconds."""
    random = np.random.default_rng([seed & 0xFFFFFFFF, zlib.crc32(name.encode())])
    found = [False] * frames
    long = max(2, round(_BLINK_S * fps))
    at = random.uniform(0.7, 2.6) * fps
    while at < frames:
        for k in range(round(at), min(frames, round(at) + long)):
            found[k] = True
        at += random.uniform(2.0, 5.0) * fps
    return found
