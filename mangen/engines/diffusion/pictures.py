"""Pictures that come to the engine: looked at, brought to RGB bytes, to a size, to proportions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from mangen import errors
from mangen.engines import protocol

if TYPE_CHECKING:
    import numpy.typing as npt

_LEAST = 8  #: pixels of a side: less shows nothing
_MOST = 16384


def rgb(name: str, image: npt.NDArray[Any]) -> protocol.Image:
    """A picture as RGB bytes: grey, 16-bit and RGBA (over white) are converted, exactly.

    Raises a permanent EngineError that names the picture and what is wrong with it.
    """
    found = np.asarray(image)
    if found.ndim == 2:
        found = found[..., None]
    if found.ndim != 3 or found.shape[2] not in (1, 2, 3, 4) or not found.size:
        raise errors.EngineError(
            f"{name} has the shape {np.shape(image)}: (height, width, 3) is needed"
        )
    high, wide = found.shape[:2]
    if min(high, wide) < _LEAST or max(high, wide) > _MOST:
        raise errors.EngineError(
            f"{name} is {wide}x{high}: {_LEAST} to {_MOST} pixels a side are needed"
        )
    if found.dtype == np.uint16:
        found = ((found.astype(np.uint32) * 255 + 32767) // 65535).astype(np.uint8)
    if found.dtype != np.uint8:
        raise errors.EngineError(f"{name} is {found.dtype}: bytes (uint8) are needed")
    if found.shape[2] in (2, 4):
        alpha = found[..., -1:].astype(np.uint32)
        colour = found[..., :-1].astype(np.uint32)
        found = ((colour * alpha + 255 * (255 - alpha) + 127) // 255).astype(np.uint8)
    if found.shape[2] == 1:
        found = np.repeat(found, 3, axis=2)
    return np.ascontiguousarray(found)


def mask(name: str, image: npt.NDArray[Any], like: protocol.Image) -> protocol.Mask:
    """A mask of a picture's size, one byte a pixel; raises EngineError where it is none."""
    found = np.asarray(image)
    if found.ndim == 3 and found.shape[2] == 1:
        found = found[..., 0]
    if found.dtype == np.bool_:
        found = found.astype(np.uint8) * 255
    if found.ndim != 2 or found.dtype != np.uint8:
        raise errors.EngineError(
            f"{name} is {found.dtype} of shape {found.shape}: one byte a pixel is needed"
        )
    if found.shape != like.shape[:2]:
        raise errors.EngineError(
            f"{name} is {found.shape[1]}x{found.shape[0]}, and the picture under it "
            f"{like.shape[1]}x{like.shape[0]}: one size is needed"
        )
    if not found.any():
        raise errors.EngineError(f"{name} is black all over: white is where to paint")
    return np.ascontiguousarray(found)


def resized(image: npt.NDArray[Any], width: int, height: int) -> npt.NDArray[np.uint8]:
    """A picture or a mask at this size, itself where it has it."""
    if image.shape[:2] == (height, width):
        return image
    sized = Image.fromarray(image).resize((width, height), Image.Resampling.LANCZOS)
    return np.asarray(sized)


def cut(image: npt.NDArray[Any], width: int, height: int) -> npt.NDArray[Any]:
    """The largest middle part of a picture that has the proportions of width x height."""
    high, wide = image.shape[:2]
    inner_wide = min(wide, max(1, round(high * width / height)))
    inner_high = min(high, max(1, round(wide * height / width)))
    left, top = (wide - inner_wide) // 2, (high - inner_high) // 2
    return image[top : top + inner_high, left : left + inner_wide]


def covering(image: npt.NDArray[Any], width: int, height: int) -> protocol.Image:
    """A picture cut to these proportions and brought to exactly this size."""
    part = np.ascontiguousarray(cut(image, width, height))
    return np.ascontiguousarray(resized(part, width, height))


def framed(image: npt.NDArray[Any], width: int, height: int) -> protocol.Image:
    """A picture cut to a frame's proportions, at least as large as it: never made smaller."""
    part = np.ascontiguousarray(cut(image, width, height))
    high, wide = part.shape[:2]
    scale = max(width / wide, height / high, 1.0)
    if scale == 1.0:
        return part
    return np.ascontiguousarray(
        resized(part, max(width, round(wide * scale)), max(height, round(high * scale)))
    )


def mixed(old: protocol.Image, new: protocol.Image, mask: protocol.Mask) -> protocol.Image:
    """The new picture where the mask is white, the old one, to the byte, where it is black."""
    share = mask[..., None].astype(np.uint32)
    whole = (old.astype(np.uint32) * (255 - share) + new.astype(np.uint32) * share + 127) // 255
    return whole.astype(np.uint8)
