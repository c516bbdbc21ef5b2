"""The canvas of an outpainted panel: it in the middle, its edges drawn out and blurred around."""

from __future__ import annotations

import dataclasses

import numpy as np
from PIL import Image, ImageFilter

from mangen.engines import protocol

#: how wide the seam is, as a share of the panel's smaller side, and at most in pixels
_FEATHER, _WIDEST = 0.04, 32


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Canvas:
    """`base` is what a model begins with, `mask` where it paints: 255 around, greys in the seam."""

    base: protocol.Image
    mask: protocol.Mask
    left: int
    top: int


def of(old: protocol.Image, margin: float) -> Canvas:
    """Put a picture amid `margin` of each side all around."""
    high, wide = old.shape[:2]
    across, down = max(1, round(wide * margin)), max(1, round(high * margin))
    wider = np.pad(old, ((down, down), (across, across), (0, 0)), mode="edge")
    blurred = Image.fromarray(wider).filter(ImageFilter.GaussianBlur(max(2, min(high, wide) // 32)))
    mask = np.full(wider.shape[:2], 255, np.uint8)
    mask[down : down + high, across : across + wide] = seam(high, wide)
    base = np.asarray(blurred).copy()
    base[down : down + high, across : across + wide] = old
    return Canvas(base=base, mask=mask, left=across, top=down)


def seam(high: int, wide: int) -> protocol.Mask:
    """What of the old picture the new one may mix into: from its edges inwards, ever less."""
    width = max(1, min(_WIDEST, round(min(high, wide) * _FEATHER)))
    rows, columns = (np.minimum(np.arange(side), np.arange(side)[::-1]) for side in (high, wide))
    inside = np.minimum(rows[:, None], columns[None])
    share = np.clip(1 - (inside + 1) / (width + 1), 0, 1)
    return (share * 255).round().astype(np.uint8)
