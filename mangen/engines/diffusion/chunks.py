"""Clips decoded a few frames at a time: a decoder's bytes are those of the frames it holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mangen.engines.diffusion import guard


def decode(some: Callable[[Any], guard.Floats], latents: Any, size: int) -> guard.Floats:
    """Frames (f, height, width, 3) in 0..1 of a clip's latents (1, channels, f, ...).

    `some` decodes up to `size` of them, (n, channels, ...): each by itself, so that the size of
    the chunks changes nothing but their bytes.
    """
    frames = latents[0].transpose(0, 1)
    return np.concatenate([some(chunk) for chunk in frames.split(size)])
