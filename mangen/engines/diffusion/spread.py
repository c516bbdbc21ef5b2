"""A model's frames spread over a shot: as many as the shot has, each mixed of its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from mangen.engines import protocol

if TYPE_CHECKING:
    from mangen.engines.diffusion import family


def frames(
    made: family.Image, count: int, sized: Callable[[protocol.Image], protocol.Image]
) -> Iterator[protocol.Image]:
    """Yield `count` frames of those a model made, (n, height, width, 3); ends meet ends.

    `sized` brings one to the clip's size: each is done once, and two are held.
    """
    last = len(made) - 1
    held: dict[int, protocol.Image] = {}

    def at(number: int) -> protocol.Image:
        if number not in held:
            for old in [one for one in held if one < number - 1]:
                del held[old]
            held[number] = sized(made[number])
        return held[number]

    for number in range(count):
        place = number * last / (count - 1) if count > 1 else 0.0
        below = min(int(place), last)
        share = place - below
        first = at(below)
        if share < 1e-6:
            yield first
            continue
        mixed = first * np.float32(1 - share) + at(below + 1) * np.float32(share)
        yield mixed.round().astype(np.uint8)
