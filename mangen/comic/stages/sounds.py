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

#: how loud a frame is of a line's loud frames (the 90th in a hundred) that counts as silence
_SILENT = 0.12
#: below this (of full scale) a whole line is silence
_NOTHING = 0.002


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


def levels(data: np.ndarray[Any, np.dtype[Any]] | None, frames: int) -> tuple[float, ...]:
    """How loud each of a line's frames is, 0..1, as lips would show it; empty without sound.

    Smoothed over two frames or so: lips follow syllables, about ten openings a second at most.
    """
    import numpy as np  # noqa: PLC0415 - heavy, and only children draw

    if data is None or not len(data) or frames < 1:
        return ()
    size = length.SAMPLES_PER_FRAME
    track = np.zeros(frames * size, np.float64)
    track[: min(len(data), len(track))] = data[: len(track)]
    loud = np.sqrt((np.nan_to_num(track).reshape(frames, size) ** 2).mean(axis=1))
    if loud.max() < _NOTHING:
        return (0.0,) * frames
    around = np.pad(loud, 1, mode="edge")
    smooth = 0.2 * around[:-2] + 0.6 * around[1:-1] + 0.2 * around[2:]
    usual = max(_NOTHING, float(np.percentile(loud[loud > _NOTHING], 90)))
    opened = np.clip((smooth / usual - _SILENT) / (1 - _SILENT), 0.0, 1.0)
    return tuple(round(float(level), 3) for level in opened)
