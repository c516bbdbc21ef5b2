"""A line's voice as an artifact: mono WAV at 48 kHz, its exact length in the artifact's meta."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from mangen import errors
from mangen.comic.stages import inputs, kit
from mangen.engines import length, protocol

log = logging.getLogger(__name__)

if TYPE_CHECKING:
    import pathlib

    import numpy as np


def write(audio: protocol.Audio, path: pathlib.Path) -> pathlib.Path:
    """Write speech; its rate must be 48 kHz."""
    from mangen.engines.voice import wav  # noqa: PLC0415 - numpy, and only children speak

    if audio.rate != length.RATE:
        raise errors.EngineError(f"a voice came at {audio.rate} Hz, not {length.RATE}")
    wav.write(path, audio)
    return path


def samples_of(made: inputs.Input | None) -> int | None:
    """Answer how many samples a line's voice has; None where it has no voice of its own."""
    found = made.find("voice") if made is not None else None
    return int(found.meta["samples"]) if found is not None else None


def read(made: inputs.Input | None, tools: kit.Kit) -> np.ndarray[Any, np.dtype[Any]] | None:
    """Read a line's voice as float32 in -1..1, shape (n,).

    None where it has none, or where its file is missing or damaged.
    """
    from mangen.engines.voice import wav  # noqa: PLC0415 - numpy, and only children mix

    found = made.find("voice") if made is not None else None
    if found is None:
        return None
    try:
        return wav.read(tools.file_of(found)).samples
    except (errors.StorageError, OSError) as error:
        log.warning("silence stands for %s: %s", found.path, error)
        return None
