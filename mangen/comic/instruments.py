"""Instruments of the music: one note each, with its room around it. Mono at 24 kHz, float32.

A note is a sum of decaying partials, so that it is in tune and holds nothing to licence; it comes
out of the same bytes every time.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

Samples: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

RATE = 24_000  #: Hz: the music has nothing above 9 kHz
LONGEST_S = 6.5  #: no note is heard for longer
_EDGE_S = 0.004
_ROOM_S = 1.3
_BLOCK = 512


@dataclasses.dataclass(frozen=True, kw_only=True)
class Instrument:
    """How the partials of a note stand to each other and die away."""

    partials: int
    slope: float  #: partial k has an amplitude of k ** -slope
    decay: float  #: per second, of the first partial at 220 Hz
    damping: float  #: how much faster each higher partial dies
    seconds: float
    attack: float = _EDGE_S
    pluck: float = 0.0  #: where the string is plucked, of its length; 0: anywhere
    stiffness: float = 0.0
    detune: float = 0.0  #: of a second string, in parts of the frequency
    room: float = 0.35


INSTRUMENTS: Mapping[str, Instrument] = {
    "zither": Instrument(
        partials=14, slope=1.25, decay=1.5, damping=0.45, seconds=3.4, pluck=0.17,
        stiffness=8e-5, room=0.45, attack=0.007,
    ),
    "bass": Instrument(
        partials=8, slope=1.4, decay=1.3, damping=0.4, seconds=3.2, pluck=0.3,
        attack=0.008, room=0.3,
    ),
    "piano": Instrument(
        partials=10, slope=1.7, decay=1.2, damping=0.5, seconds=3.4, attack=0.009,
        stiffness=2e-4, detune=6e-4, room=0.4,
    ),
    "bell": Instrument(
        partials=4, slope=1.5, decay=2.4, damping=0.9, seconds=2.4, stiffness=0.12, room=0.5,
    ),
    "pad": Instrument(
        partials=6, slope=1.9, decay=0.16, damping=0.12, seconds=5.0, attack=1.3,
        detune=2.5e-3, room=0.5,
    ),
    "pulse": Instrument(
        partials=7, slope=1.3, decay=7.0, damping=0.5, seconds=0.8, attack=0.006, room=0.25,
    ),
    "drum": Instrument(
        partials=3, slope=1.2, decay=5.0, damping=0.8, seconds=1.2, attack=0.003,
        stiffness=0.2, room=0.35,
    ),
}  # fmt: skip


@functools.lru_cache(maxsize=96)
def note(name: str, pitch: int) -> Samples:
    """A note by its number (69 is 440 Hz), its loudest half second at a root mean square of 0.1.

    The same array every time: whoever adds it must not change it.
    """
    made = _dry(INSTRUMENTS[name], 440 * 2 ** ((pitch - 69) / 12))
    room = INSTRUMENTS[name].room
    size = 1 << (len(made) + round(_ROOM_S * RATE)).bit_length()
    tail = np.fft.irfft(np.fft.rfft(made, size) * _room(size), size)
    whole = np.zeros(min(len(made) + round(_ROOM_S * RATE), round(LONGEST_S * RATE)), np.float32)
    whole[: len(made)] += made
    whole += room * tail[: len(whole)].astype(np.float32)
    fade = round(0.3 * RATE)
    whole[-fade:] *= np.linspace(1, 0, fade, dtype=np.float32) ** 2
    halves = whole[: len(whole) // (RATE // 2) * (RATE // 2)].reshape(-1, RATE // 2)
    loud = float(np.sqrt((halves**2).mean(axis=1).max()))
    whole *= np.float32(0.1 / max(loud, 1e-3))
    whole.flags.writeable = False
    return whole


def _dry(kind: Instrument, hertz: float) -> Samples:
    count = round(kind.seconds * RATE) // _BLOCK * _BLOCK
    k = np.arange(1, kind.partials + 1, dtype=np.float64)
    tones = hertz * k * np.sqrt(1 + kind.stiffness * k * k)
    loud = k**-kind.slope
    if kind.pluck:
        loud = loud * np.abs(np.sin(np.pi * k * kind.pluck))
    loud = loud * np.clip((9_000 - tones) / 3_000, 0, 1)  # nothing harsh, nothing folded back
    # low strings ring longer
    dying = kind.decay * (hertz / 220) ** 0.35 * (1 + kind.damping * (k - 1))
    strings = [(0.0, 1.0)] if not kind.detune else [(-kind.detune, 0.5), (kind.detune, 0.5)]
    made = np.zeros(count)
    for off, share in strings:
        # exp(s t) over a grid of blocks: a product of two short rows instead of a long one
        turn = (-dying + 2j * np.pi * tones * (1 + off)) / RATE
        coarse = np.exp(np.outer(np.arange(count // _BLOCK) * _BLOCK, turn))
        fine = (share * loud * -1j)[:, None] * np.exp(np.outer(turn, np.arange(_BLOCK)))
        made += np.einsum("ik,kj->ij", coarse, fine).real.reshape(-1)
    rise = round(kind.attack * RATE)
    made[:rise] *= 0.5 - 0.5 * np.cos(np.pi * np.arange(rise) / rise)
    fall = count // 3
    made[-fall:] *= 0.5 + 0.5 * np.cos(np.pi * np.arange(fall) / fall)
    return made.astype(np.float32)


@functools.lru_cache(maxsize=4)
def _room(size: int) -> np.ndarray[Any, np.dtype[np.complex64]]:
    """The spectrum of a small hall: soft noise that dies away within its time."""
    count = round(_ROOM_S * RATE)
    t = np.arange(count) / RATE
    noise = np.random.default_rng(5).standard_normal(count)
    noise[: round(0.012 * RATE)] = 0  # the first reflection comes later than the note
    spectrum = np.fft.rfft(noise * np.exp(-4.2 * t), size)
    hertz = np.fft.rfftfreq(size, 1 / RATE)
    spectrum *= (hertz / (hertz + 120)) / (1 + (hertz / 2_600) ** 2)
    energy = np.sqrt((np.abs(spectrum) ** 2).mean())
    return np.asarray(spectrum / energy, np.complex64)
