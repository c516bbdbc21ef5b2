from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mangen.comic import loudness

RATE = 48_000


def noise(seconds, level=0.1):
    rng = np.random.default_rng(3)
    made = level * rng.standard_normal(round(seconds * RATE))
    return (made * (0.3 + 0.7 * np.abs(np.sin(np.arange(len(made)) / 90_000)))).astype(np.float32)


def test_a_peak_between_two_samples_is_found():
    # a quarter of the rate, at 45 degrees: every sample is 3 dB below the wave's top
    wave = np.sin(np.arange(9_600) * np.pi / 2 + np.pi / 4).astype(np.float32)
    wave *= np.minimum(1, np.minimum(np.arange(9_600), np.arange(9_600)[::-1]) / 2_000)
    assert np.abs(wave).max() == pytest.approx(0.707, abs=0.01)
    assert loudness.peaks(wave).max() == pytest.approx(1.0, abs=0.01)
    assert loudness.peaks(np.zeros(0, np.float32)).size == 0


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 150_000), min_size=1, max_size=6))
def test_a_track_in_pieces_is_as_loud_as_the_whole(cuts):
    track = noise(6)
    pieces = np.split(track, np.cumsum(cuts)[np.cumsum(cuts) < len(track)])
    whole = loudness.lufs(track, RATE)
    assert loudness.of_blocks(pieces, RATE) == pytest.approx(whole, abs=0.001)


def test_half_the_rate_is_measured_alike():
    tone = 0.1 * np.sin(np.arange(3 * RATE) * (2 * np.pi * 997 / RATE))
    half = 0.1 * np.sin(np.arange(3 * RATE // 2) * (2 * np.pi * 997 * 2 / RATE))
    measured = loudness.lufs(half.astype(np.float32), RATE // 2)
    assert measured == pytest.approx(loudness.lufs(tone.astype(np.float32), RATE), abs=0.05)


def test_another_meter_measures_the_same():
    other = pytest.importorskip("pyloudnorm")
    track = noise(25)
    both = np.stack([track, track], axis=1).astype(np.float64)
    theirs = other.Meter(RATE).integrated_loudness(both)
    assert loudness.lufs(track, RATE) == pytest.approx(theirs, abs=0.1)
