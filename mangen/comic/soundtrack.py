"""An episode's sound: parts laid end to end, to the sample, at an even loudness, never too loud."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import cv2
import numpy as np

from mangen.comic import loudness

Samples: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

TARGET_LUFS = -16.0
CEILING = 10 ** (-1.5 / 20)  #: AAC adds a little: this keeps it below -1 dBTP
MOST_GAIN = 10 ** (20 / 20)  #: what is almost silent stays quiet
_LOOK_AHEAD_S = 0.005
_NEAR_LU = 0.1  #: of the target: no further round is worth its time
_SAFE = 0.5  #: of the ceiling: below it, no wave between two samples reaches the ceiling

lufs = loudness.lufs


def laid(parts: Iterable[tuple[Samples | None, int]], rate: int) -> Samples:
    """Each part's sound (None: silence) in exactly its number of samples: padded, or cut softly."""
    fade = round(0.005 * rate)
    pieces: list[Samples] = []
    for sound, count in parts:
        piece = np.zeros(count, np.float32)
        if sound is not None:
            heard = np.nan_to_num(np.asarray(sound, np.float32).reshape(-1)[:count])
            piece[: len(heard)] = heard
            if len(sound) > count >= fade:
                piece[-fade:] *= np.linspace(1, 0, fade, dtype=np.float32)
        pieces.append(piece)
    return np.concatenate(pieces) if pieces else np.zeros(0, np.float32)


def mastered(track: Samples, rate: int) -> Samples:
    """Brought to -16 LUFS where its peaks allow it, no peak above -1.5 dBTP. Changes the track."""
    measured = lufs(track, rate)
    if measured == -np.inf:
        return track
    gain = min(10 ** ((TARGET_LUFS - measured) / 20), MOST_GAIN)
    for _ in range(2):  # limiting takes some loudness away: give it back
        missing = TARGET_LUFS - loudness.of_blocks(_limited(track, rate, gain), rate)
        if missing < _NEAR_LU or gain >= MOST_GAIN:
            break
        gain = min(gain * 10 ** (min(missing, 3.0) / 20), MOST_GAIN)
    at = 0
    held: Samples | None = None  # a block is written once its neighbour no longer needs it
    for block in _limited(track, rate, gain):
        if held is not None:
            track[at : at + len(held)] = held
            at += len(held)
        held = block
    if held is not None:
        track[at : at + len(held)] = held
    return track


def limited(track: Samples, rate: int) -> Samples:
    """A look-ahead limiter: gain falls smoothly before a peak, so that nothing clips."""
    return np.concatenate([*_limited(track, rate, 1.0), np.zeros(0, np.float32)])


def _limited(track: Samples, rate: int, gain: float) -> Iterator[Samples]:
    """`track * gain`, limited, block by block as if it were one; the peaks between samples too."""
    size = 2 * round(_LOOK_AHEAD_S * rate) + 1
    block, margin = round(loudness.BLOCK_S * rate), 2 * size + 32
    for start in range(0, len(track), block):
        first = max(0, start - margin)
        piece = track[first : start + block + margin] * np.float32(gain)
        inner = slice(start - first, start - first + block)
        if np.abs(piece).max(initial=0.0) > _SAFE * CEILING:
            high = np.maximum(loudness.peaks(piece), 1e-6)
            need = np.minimum(1.0, CEILING / high).astype(np.float32)
            least = cv2.erode(need.reshape(1, -1), np.ones((1, size), np.uint8))
            smooth = cv2.blur(least, (size, 1), borderType=cv2.BORDER_REPLICATE).reshape(-1)
            piece = np.clip(piece * smooth, -CEILING, CEILING)
        yield np.asarray(piece[inner], np.float32)
