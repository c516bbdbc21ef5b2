"""Sounds as files: mono 16 bit WAV at 48 kHz, with their exact length in the artifact's meta."""

from __future__ import annotations

import pathlib
import wave
from typing import TYPE_CHECKING, Any

from mangen import errors
from mangen.engines import length, protocol

if TYPE_CHECKING:
    import numpy as np

    from mangen.comic.stages import inputs, kit


def write(audio: protocol.Audio, path: pathlib.Path) -> pathlib.Path:
    """Write speech as 16 bit WAV; its rate must be 48 kHz."""
    import numpy as np  # noqa: PLC0415 - heavy, and only children speak

    if audio.rate != length.RATE:
        raise errors.EngineError(f"a voice came at {audio.rate} Hz, not {length.RATE}")
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(audio.rate)
        data = np.round(np.clip(audio.samples, -1, 1) * 32767).astype("<i2")
        file.writeframes(data.tobytes())
    return path


def samples_of(made: inputs.Input | None) -> int | None:
    """Answer how many samples a line's voice has; None where it has no voice of its own."""
    found = made.find("voice") if made is not None else None
    return int(found.meta["samples"]) if found is not None else None


def read(made: inputs.Input | None, tools: kit.Kit) -> np.ndarray[Any, np.dtype[np.float32]] | None:
    """Read a line's voice as float32 in -1..1, shape (n,); None where it has none."""
    import numpy as np  # noqa: PLC0415 - heavy, and only children speak

    found = made.find("voice") if made is not None else None
    if found is None:
        return None
    with wave.open(str(tools.file_of(found)), "rb") as file:
        data = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    return data.astype(np.float32) / 32767
