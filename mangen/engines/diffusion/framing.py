"""A picture cut to the shape of a clip: scaled as it is, and cut at its middle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from mangen import errors

if TYPE_CHECKING:
    from mangen.engines.diffusion import family


def crop(
    picture: family.Image,
    high: int,
    wide: int,
    enlarge: Image.Resampling = Image.Resampling.LANCZOS,
) -> family.Image:
    """The largest part of that shape around the middle of a picture, at that size.

    Any picture will do: one of a single pixel becomes its colour.
    """
    height, width = picture.shape[:2]
    scale = min(width / wide, height / high)
    across, down = wide * scale, high * scale
    left, top = max(0.0, (width - across) / 2), max(0.0, (height - down) / 2)
    box = (left, top, min(width, left + across), min(height, top + down))
    if box == (0, 0, wide, high) and (height, width) == (high, wide):
        return picture
    # the pipelines of these models shrink so, too
    how = Image.Resampling.BOX if scale > 1 else enlarge
    return np.asarray(Image.fromarray(picture).resize((wide, high), how, box=box))


def check(picture: family.Image) -> None:
    """Raise EngineError unless it is a picture of RGB bytes."""
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8 or not picture.size:
        raise errors.EngineError(
            f"the first frame is {picture.dtype} {picture.shape}: RGB bytes are needed"
        )
