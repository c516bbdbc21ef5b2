"""The picture that a task changes, where it may, and whether it can be drawn at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from mangen import errors
from mangen.engines.diffusion import vae

if TYPE_CHECKING:
    from mangen.engines.diffusion import family


def check(task: family.Task, name: str) -> None:
    """Raise EngineError that names what of a task can't be drawn."""
    if not task.prompt.strip():
        raise errors.EngineError(f"a picture without a prompt can't be drawn by {name}")
    if not 0 < task.strength <= 1:
        raise errors.EngineError(f"strength is {task.strength}: write more than 0, at most 1")
    if task.mask is not None and not task.images:
        raise errors.EngineError("a mask without a picture under it can't be painted")
    shown = [one.picture for one in task.characters if one.picture is not None]
    for image in (*task.images, *shown):
        if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or not image.size:
            raise errors.EngineError(
                f"a picture to draw from is {image.dtype} {image.shape}: RGB bytes are needed"
            )
    if task.mask is not None and (task.mask.ndim != 2 or task.mask.dtype != np.uint8):
        raise errors.EngineError(
            f"the mask is {task.mask.dtype} {task.mask.shape}: one byte a pixel is needed"
        )


def mask(task: family.Task) -> Any:
    """1 where to paint, as tensor (1, 1, height, width) of the picture that is made."""
    assert task.mask is not None
    scaled = vae.resized(task.mask, task.height, task.width)
    return torch.from_numpy((scaled >= 128).astype(np.float32))[None, None]


def laid_over(images: family.Image, task: family.Task) -> family.Image:
    """What the mask leaves is the old picture's, to the byte; its greys mix."""
    assert task.mask is not None
    old = vae.resized(task.images[0], task.height, task.width).astype(np.float32)
    share = vae.resized(task.mask, task.height, task.width).astype(np.float32)[..., None] / 255
    mixed: family.Image = (images * share + old * (1 - share)).round().astype(np.uint8)
    return mixed
