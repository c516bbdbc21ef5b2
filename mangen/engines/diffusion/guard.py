"""What leaves a decoder is looked at: no NaN, no black frames, exactly the size that was asked.

Half precision overflows in some VAEs, which shows as NaN or as black frames; the same latents are
then decoded once more by the safe one, in single precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mangen import errors

if TYPE_CHECKING:
    from mangen.engines.diffusion import family

    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

_BLACK = 2.5 / 255  #: below it all over, a frame is black


def fault(frames: Floats) -> str:
    """Name what is wrong with decoded frames (n, height, width, 3) in 0..1; empty: nothing."""
    bad = int((~np.isfinite(frames).reshape(len(frames), -1).all(axis=1)).sum())
    if bad:
        return f"{bad} of {len(frames)} frames hold NaN"
    black = int((frames.reshape(len(frames), -1).max(axis=1) < _BLACK).sum())
    return f"{black} of {len(frames)} frames are black" if black else ""


def decoded(
    decode: Callable[[], Floats], safely: Callable[[], Floats] | None, name: str
) -> tuple[Floats, dict[str, Any]]:
    """Decode, and once more by the safe VAE where the frames are at fault; answers notes as well.

    `safely` is None where the first one was the safe one. Frames that stay black are what the
    model made: they are told, not refused. Raises EngineError for NaN.
    """
    frames = decode()
    found = fault(frames)
    notes: dict[str, Any] = {}
    if found and safely is not None:
        notes["safe_vae"] = found
        frames = safely()
        found = fault(frames)
    if "NaN" in found:
        raise errors.EngineError(
            f"the model {name} made no picture: {found}, in single precision too; add it to the "
            "models again with --dtype bfloat16 or float32"
        )
    if found:
        notes["black"] = found
    return frames, notes


def finite(latents: Any, name: str) -> None:
    """Raise EngineError where the denoiser itself made NaN: no VAE mends that."""
    if not bool(latents.isfinite().all()):
        raise errors.EngineError(
            f"the denoiser of {name} made NaN: its precision is too small for this model; add it "
            "to the models again with --dtype bfloat16 or float32"
        )


def exact(frames: Floats, width: int, height: int, count: int) -> family.Image:
    """Answer bytes of exactly this size: what the model made around it is cut off all around.

    Raises EngineError where there is too little: nothing is stretched or made up.
    """
    made, high, wide = frames.shape[:3]
    if made < count or high < height or wide < width:
        raise errors.EngineError(
            f"{wide}x{high} x {made} frames came out where {width}x{height} x {count} were asked"
        )
    top, left = (high - height) // 2, (wide - width) // 2
    cut = frames[:count, top : top + height, left : left + width]
    return (np.clip(cut, 0.0, 1.0) * 255).round().astype(np.uint8)
