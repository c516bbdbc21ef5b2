"""Whether a picture passes its decoder whole or in tiles, by what fits the card. No torch here.

A picture as a whole is better, as a decoder's norms look at all of it; tiles are for cards that
have no room for that. Which it is follows from the model's registration and the picture's size
alone, never from what is free at the moment: the same seed is the same picture on a busy card, and
the bytes are known before anything runs.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TypeAlias

from mangen.engines.diffusion import family, registry
from mangen.pooling.devices import cuda

Tile: TypeAlias = tuple[int, int]  #: width, height in pixels, whole latents
OVERLAP = 128  #: pixels that neighbours share, in which one becomes the other
#: pixels a side at least: what sees less of a picture than that loses its light
LEAST = 256
#: bytes of a card that is sold with 24 GB: what a model runs on that tells nothing
CARD = 22 << 30
_MARGIN = 0.02  #: of a card that the gate never promises
_LATENT = 8


def room(model: registry.Model, weights: int, cold: float) -> int:
    """Bytes that a part of the work may take beside the weights, before anything was measured."""
    card = model.limits.card or CARD
    return int((card * (1 - _MARGIN) - cuda.CONTEXT_GUESS - weights) / cold)


@functools.lru_cache(maxsize=1024)
def tile(law: family.Law, dtype: str, width: int, height: int, room: int) -> Tile | None:
    """The largest tiles that fit, as few as there can be; None: the whole picture does.

    Where not even the least do, those are answered, and it is the gate that refuses them.
    """
    if law.bytes(dtype, 1, width * height) <= room:
        return None
    found = sorted(_tiles(width, height))
    fitting = [one for *_, one in found if law.bytes(dtype, 1, one[0] * one[1]) <= room]
    chosen = fitting[0] if fitting else min((one for *_, one in found), key=_area)
    return None if chosen == (width, height) else chosen


def nbytes(law: family.Law, dtype: str, width: int, height: int, tile: Tile | None) -> int:
    """Bytes over the weights that a picture takes on its way through."""
    return law.bytes(dtype, 1, _area(tile or (width, height)))


def _tiles(width: int, height: int) -> Iterator[tuple[int, int, Tile]]:
    """How many there are, how long the longer side is, and the tile."""
    for across in range(1, _most(width) + 1):
        for down in range(1, _most(height) + 1):
            one = _side(width, across), _side(height, down)
            yield across * down, max(one), one


def _most(whole: int) -> int:
    return max(1, (whole - OVERLAP) // (LEAST - OVERLAP))


def _side(whole: int, count: int) -> int:
    side = -(-(whole + (count - 1) * OVERLAP) // count)
    return -(-side // _LATENT) * _LATENT


def _area(tile: Tile) -> int:
    return tile[0] * tile[1]
