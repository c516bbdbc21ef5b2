"""An episode's sound: parts laid end to end, to the sample, at an even loudness, never too loud.

Loudness is ITU-R BS.1770's, measured by blocks in the frequency domain (within 0.2 LU of its
filters). The track is mono and heard from two loudspeakers, which counts as 3 LU more.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import cv2
import numpy as np

Samples: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

TARGET_LUFS = -16.0
CEILING = 10 ** (-1.5 / 20)  #: AAC adds a little: this keeps it below -1 dBFS
MOST_GAIN = 10 ** (20 / 20)  #: what is almost silent stays quiet
_LOOK_AHEAD_S = 0.005


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
    """Brought to -16 LUFS where its peaks allow it, every peak at -1.5 dBFS or below."""
    loudness = lufs(track, rate)
    if loudness == -np.inf:
        return track
    gain = min(10 ** ((TARGET_LUFS - loudness) / 20), MOST_GAIN)
    for _ in range(2):  # limiting takes some loudness away: give it back once
        made = limited(track * np.float32(gain), rate)
        gain = min(gain * 10 ** (np.clip(TARGET_LUFS - lufs(made, rate), 0, 3) / 20), MOST_GAIN)
    return made


def limited(track: Samples, rate: int) -> Samples:
    """A look-ahead limiter: gain falls smoothly before a peak, so that nothing clips."""
    need = np.minimum(1.0, CEILING / np.maximum(np.abs(track), 1e-6)).astype(np.float32)
    size = 2 * round(_LOOK_AHEAD_S * rate) + 1
    held = cv2.erode(need.reshape(1, -1), np.ones((1, size), np.uint8))
    gain = cv2.blur(held, (size, 1), borderType=cv2.BORDER_REPLICATE).reshape(-1)
    return np.asarray(np.clip(track * gain, -CEILING, CEILING), np.float32)


def lufs(track: Samples, rate: int) -> float:
    """Integrated loudness of a mono track from two loudspeakers; -inf where it is silent."""
    size, hop = round(0.4 * rate), round(0.1 * rate)
    if len(track) < size:
        track = np.concatenate([track, np.zeros(size - len(track), np.float32)])
    weight = _k_weight(np.fft.rfftfreq(size, 1 / rate))
    weight[1:-1] *= 2  # both halves of the spectrum
    powers = np.array(
        [
            float(weight @ np.abs(np.fft.rfft(track[start : start + size])) ** 2) / size**2
            for start in range(0, len(track) - size + 1, hop)
        ]
    )
    levels = -0.691 + 10 * np.log10(np.maximum(2 * powers, 1e-12))
    powers, levels = powers[levels > -70], levels[levels > -70]
    if not len(powers):
        return float("-inf")
    gate = -0.691 + 10 * np.log10(2 * powers.mean()) - 10
    return float(-0.691 + 10 * np.log10(2 * powers[levels > gate].mean()))


def _k_weight(hertz: Any) -> Any:
    """|H|^2 of BS.1770's two filters, whose coefficients are given for 48 kHz."""
    z = np.exp(-2j * np.pi * hertz / 48_000)
    shelf = (1.53512485958697 - 2.69169618940638 * z + 1.19839281085285 * z**2) / (
        1 - 1.69065929318241 * z + 0.73248077421585 * z**2
    )
    high = (1 - 2 * z + z**2) / (1 - 1.99004745483398 * z + 0.99007225036621 * z**2)
    return np.abs(shelf * high) ** 2
