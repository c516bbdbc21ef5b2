"""How loud a track is, as ITU-R BS.1770 hears it, and how high its peaks really are.

A mono track is heard from two loudspeakers, which counts as 3 LU more. Everything streams in
blocks, so that an hour takes no more memory than a minute.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import cv2
import numpy as np

Samples: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

BLOCK_S = 10.0
_MARGIN_S = 0.2  #: the filters ring no longer
_HOP_S = 0.1
_PHASES = 4  #: places between two samples where a peak is looked for
_REACH = 12  #: samples a side that make one between


def blocks(track: Samples, rate: int) -> Iterator[Samples]:
    """A track in pieces, as `of_blocks` takes them."""
    size = round(BLOCK_S * rate)
    for start in range(0, len(track), size):
        yield track[start : start + size]


def lufs(track: Samples, rate: int) -> float:
    """Integrated loudness of a mono track; -inf where it is silent."""
    return of_blocks(blocks(track, rate), rate)


def of_blocks(pieces: Iterable[Samples], rate: int) -> float:
    """Integrated loudness of a track that comes in pieces, however long each is."""
    margin, hop = round(_MARGIN_S * rate), round(_HOP_S * rate)
    before = np.zeros(margin, np.float32)
    over = np.zeros(0)
    hops: list[Any] = []
    for piece in pieces:
        heard = np.concatenate([before, piece])
        weighed = _weighed(heard, rate)[margin:]
        before = heard[-margin:]
        powers = np.concatenate([over, weighed**2])
        count = len(powers) // hop
        hops.append(powers[: count * hop].reshape(count, hop).mean(axis=1))
        over = powers[count * hop :]
    means = np.concatenate([*hops, np.zeros(0)])
    if len(means) < 4:  # shorter than one window: what there is, and silence
        rest = float(over.sum()) / hop if len(over) else 0.0
        means = np.concatenate([means, [rest], np.zeros(4)])[:4]
    windows = np.convolve(means, np.full(4, 0.25), "valid")
    return _gated(windows)


def peaks(track: Samples) -> Samples:
    """Of each sample: how high the wave goes from it to the next."""
    high = np.abs(track)
    row = np.ascontiguousarray(track, np.float32).reshape(1, -1)
    if row.size == 0:
        return high
    for taps in _taps():
        between = cv2.filter2D(
            row, -1, taps, anchor=(_REACH - 1, 0), borderType=cv2.BORDER_CONSTANT
        )
        np.maximum(high, np.abs(between.reshape(-1)), out=high)
    return high


def _gated(windows: Any) -> float:
    """The mean of the windows that are no silence and not much quieter than the rest."""
    levels = -0.691 + 10 * np.log10(np.maximum(2 * windows, 1e-12))
    windows, levels = windows[levels > -70], levels[levels > -70]
    if not len(windows):
        return float("-inf")
    gate = -0.691 + 10 * np.log10(2 * windows.mean()) - 10
    return float(-0.691 + 10 * np.log10(2 * windows[levels > gate].mean()))


def _weighed(track: Samples, rate: int) -> Any:
    """The track as an ear weighs it. Its beginning is wrong for as long as the filters ring."""
    size = cv2.getOptimalDFTSize(len(track) + 1)
    return np.fft.irfft(np.fft.rfft(track, size) * _k_weight(size, rate), size)[: len(track)]


@functools.lru_cache(maxsize=4)
def _k_weight(size: int, rate: int) -> Any:
    """The response of BS.1770's two filters, whose coefficients are given for 48 kHz."""
    z = np.exp(-2j * np.pi * np.fft.rfftfreq(size, 1 / rate) / 48_000)
    shelf = (1.53512485958697 - 2.69169618940638 * z + 1.19839281085285 * z**2) / (
        1 - 1.69065929318241 * z + 0.73248077421585 * z**2
    )
    high = (1 - 2 * z + z**2) / (1 - 1.99004745483398 * z + 0.99007225036621 * z**2)
    return np.asarray(shelf * high, np.complex64)


@functools.cache
def _taps() -> tuple[Samples, ...]:
    """What makes the samples at a quarter, a half and three quarters of the way."""
    found = []
    for phase in range(1, _PHASES):
        k = np.arange(1 - _REACH, _REACH + 1) - phase / _PHASES
        taps = np.sinc(k) * np.cos(np.pi * k / (2 * _REACH + 1)) ** 2
        found.append((taps / taps.sum()).astype(np.float32).reshape(1, -1))
    return tuple(found)
