"""Speech as samples: trimmed, resampled, levelled, joined. Mono float32, shape (n,)."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

Samples: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

_LEAD_S, _TAIL_S, _FADE_S = 0.04, 0.09, 0.008
_WINDOW_S = 0.01
_FLOOR = 0.02  #: of the loudest window: below it is silence
_LEVEL = 0.1  #: root mean square of what is heard, -20 dBFS
_PEAK = 0.8
_TAPS = 48  #: odd taps a side of the half-band filter
_REACH = 24  #: samples a side that make one of another pitch
_STEPS = 200  #: places between two samples where one of another pitch may lie


def trimmed(samples: Samples, rate: int) -> Samples:
    """Cut silence at both ends to small margins; empty where nothing is heard."""
    window = round(rate * _WINDOW_S)
    count = len(samples) // window
    if count == 0:
        return samples[:0]
    level = np.sqrt((samples[: count * window].reshape(count, window) ** 2).mean(axis=1))
    heard = np.flatnonzero(level > max(_FLOOR * float(level.max()), 1e-4))
    if len(heard) == 0:
        return samples[:0]
    start = max(0, int(heard[0]) * window - round(rate * _LEAD_S))
    end = min(len(samples), (int(heard[-1]) + 1) * window + round(rate * _TAIL_S))
    return samples[start:end]


def doubled(samples: Samples) -> Samples:
    """Twice the rate, exactly twice the length: a Kaiser-windowed half-band filter, no delay."""
    if len(samples) == 0:
        return samples
    k = np.arange(-_TAPS, _TAPS) + 0.5
    taps = np.sinc(k) * np.kaiser(2 * _TAPS, 8.0)
    taps /= taps.sum()
    between = np.convolve(samples.astype(np.float64), taps)[_TAPS : _TAPS + len(samples)]
    return np.stack([samples, between.astype(np.float32)], axis=1).reshape(-1)


def pitched(samples: Samples, pitch: float) -> Samples:
    """Twice the rate and `pitch` times as high, so `2 / pitch` times the length.

    A windowed sinc, in hundredths of pitch: each place between two samples has its own taps.
    """
    step = round(100 * pitch)  #: of 200 between two samples
    if step == _STEPS // 2:
        return doubled(samples)
    last = (len(samples) - 1) * _STEPS
    made = np.zeros(len(range(0, last + 1, step)), np.float32)
    if len(made) == 0:
        return made
    padded = np.pad(samples.astype(np.float64), _REACH)
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * _REACH)
    period = _STEPS // math.gcd(step, _STEPS)  #: outputs after which the same taps come again
    for first in range(min(period, len(made))):
        whole, part = divmod(first * step, _STEPS)
        k = np.arange(1 - _REACH, _REACH + 1) - part / _STEPS
        taps = np.sinc(k) * np.i0(8 * np.sqrt(1 - (k / _REACH) ** 2))
        count = len(range(first, len(made), period))
        stride = period * step // _STEPS
        # window i begins _REACH - 1 samples before sample i - 1 of the padded speech
        chosen = windows[whole + 1 : whole + 2 + (count - 1) * stride : stride]
        made[first::period] = np.einsum("ij,j->i", chosen, taps / taps.sum())
    return made


def levelled(samples: Samples, rate: int) -> Samples:
    """Even loudness from line to line, soft edges, on the grid of 16-bit samples.

    On that grid a sample survives a 16-bit file unchanged: cached and fresh speech are the same.
    """
    if len(samples) == 0:
        return samples
    loud = np.abs(samples) > 0.05 * float(np.abs(samples).max())
    rms = float(np.sqrt((samples[loud] ** 2).mean())) if loud.any() else 0.0
    gain = min(_LEVEL / max(rms, 1e-6), _PEAK / max(float(np.abs(samples).max()), 1e-6))
    shaped = (samples * gain).astype(np.float32)
    fade = min(round(rate * _FADE_S), len(shaped) // 2)
    if fade:
        ramp = np.linspace(0, 1, fade, dtype=np.float32)
        shaped[:fade] *= ramp
        shaped[-fade:] *= ramp[::-1]
    return from_pcm(to_pcm(shaped))


def joined(parts: list[Samples], pauses: list[float], rate: int) -> Samples:
    """One after another, with `pauses[i]` seconds after part i (none after the last)."""
    out: list[Samples] = []
    for i, part in enumerate(parts):
        out.append(part)
        if i + 1 < len(parts):
            out.append(np.zeros(round(pauses[i] * rate), np.float32))
    return np.concatenate(out) if out else np.zeros(0, np.float32)


def to_pcm(samples: Samples) -> np.ndarray[Any, np.dtype[np.int16]]:
    """16-bit samples."""
    return np.asarray(np.rint(np.clip(samples, -1.0, 1.0) * 32767.0), "<i2")


def from_pcm(pcm: np.ndarray[Any, np.dtype[np.int16]]) -> Samples:
    """The inverse of `to_pcm`."""
    return pcm.astype(np.float32) / np.float32(32767.0)
