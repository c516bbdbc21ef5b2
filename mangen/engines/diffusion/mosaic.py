"""Large tensors by tiles: each passes alone, and where they overlap one becomes the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch


def made(
    make: Callable[[Any], Any],
    whole: Any,
    tile: tuple[int, int],
    *,
    overlap: int,
    units: tuple[int, int],
) -> Any:
    """What `make` makes of a tensor (n, channels, height, width), of its tiles, in host memory.

    `tile` is height and width, `overlap` what neighbours share at least; `units` are the pixels of
    one of those in what comes in and in what goes out.
    """
    into, out = units
    high, wide = (side // into for side in whole.shape[-2:])
    tall, broad = min(tile[0], high), min(tile[1], wide)
    total: Any = None
    shares = torch.zeros(high * out, wide * out)
    share = torch.outer(_ramp(tall * out, overlap * out), _ramp(broad * out, overlap * out))
    for top in starts(high, tall, overlap):
        for left in starts(wide, broad, overlap):
            part = whole[
                ..., top * into : (top + tall) * into, left * into : (left + broad) * into
            ]  # fmt: skip
            one = make(part).float().cpu()
            if total is None:
                total = one.new_zeros((*one.shape[:2], high * out, wide * out))
            place = (
                ..., slice(top * out, (top + tall) * out), slice(left * out, (left + broad) * out),
            )  # fmt: skip
            total[place] += one * share
            shares[place] += share
    return total / shares


def starts(whole: int, part: int, overlap: int) -> list[int]:
    """Where tiles begin along one side: spread evenly, each sharing so much with the next."""
    if whole <= part:
        return [0]
    count = max(2, math.ceil((whole - overlap) / (part - overlap)))
    return [round(number * (whole - part) / (count - 1)) for number in range(count)]


def _ramp(side: int, reach: int) -> Any:
    """Weights along one side of a tile: from its edges up, as far as tiles overlap."""
    inside = torch.minimum(torch.arange(side), torch.arange(side).flip(0)) + 1
    return (inside / (min(reach, side // 2) + 1)).clamp(max=1.0)
