from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mangen.comic import loudness, soundtrack

RATE = 48_000


def sine(hertz, seconds, amplitude):
    wave = amplitude * np.sin(np.arange(round(seconds * RATE)) * (2 * np.pi * hertz / RATE))
    return wave.astype(np.float32)


def test_loudness_is_the_standard_s():
    # BS.1770: 997 Hz at full scale in one channel is -3.01 LUFS; the same in two, 0.0
    assert soundtrack.lufs(sine(997, 3, 1.0), RATE) == pytest.approx(0.0, abs=0.2)
    assert soundtrack.lufs(sine(997, 3, 0.1), RATE) == pytest.approx(-20.0, abs=0.2)
    # its high-pass and shelf
    assert soundtrack.lufs(sine(30, 3, 0.1), RATE) == pytest.approx(-20 - 8.4, abs=1.0)
    assert soundtrack.lufs(sine(8000, 3, 0.1), RATE) == pytest.approx(-20 + 3.3, abs=0.4)


def test_pauses_do_not_count():
    speech = sine(500, 2, 0.1)
    gaps = np.concatenate([speech, np.zeros(5 * RATE, np.float32), speech])
    assert soundtrack.lufs(gaps, RATE) == pytest.approx(soundtrack.lufs(speech, RATE), abs=0.5)


@pytest.mark.parametrize("amplitude", [0.02, 0.1, 0.5, 1.0])
def test_any_level_is_brought_to_the_target_below_the_ceiling(amplitude):
    made = soundtrack.mastered(sine(400, 4, amplitude), RATE)
    assert soundtrack.lufs(made, RATE) == pytest.approx(-16, abs=0.5)
    assert np.abs(made).max() <= soundtrack.CEILING


def test_sharp_peaks_are_held_without_clipping():
    track = sine(300, 2, 0.02)
    track[RATE] = 1.0
    made = soundtrack.limited(track * 8, RATE)
    assert np.abs(made).max() <= soundtrack.CEILING
    away = slice(0, RATE // 2)
    assert np.allclose(made[away], track[away] * 8, atol=1e-6)


def test_a_peak_between_samples_is_held_at_the_seam_of_two_blocks():
    seam = round(loudness.BLOCK_S * RATE)
    track = np.zeros(2 * seam, np.float32)
    track[seam - 1 : seam + 1] = 0.99 * soundtrack.CEILING
    assert loudness.peaks(track).max() > 1.1 * soundtrack.CEILING
    assert loudness.peaks(soundtrack.limited(track, RATE)).max() <= 1.02 * soundtrack.CEILING


def test_silence_and_almost_silence_stay_quiet():
    assert not soundtrack.mastered(np.zeros(RATE, np.float32), RATE).any()
    assert len(soundtrack.mastered(np.zeros(10, np.float32), RATE)) == 10
    hiss = soundtrack.mastered(sine(300, 2, 0.0005), RATE)
    assert np.abs(hiss).max() <= 0.0051


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.none() | st.integers(0, 5000), st.integers(1, 5000)), max_size=8))
def test_every_part_takes_exactly_its_samples(parts):
    sounds = [(None if n is None else np.full(n, 0.5, np.float32), count) for n, count in parts]
    made = soundtrack.laid(sounds, RATE)
    assert len(made) == sum(count for _, count in parts)
    at = 0
    for sound, count in sounds:
        piece = made[at : at + count]
        heard = 0 if sound is None else min(len(sound), count)
        assert not piece[heard:].any()
        assert (piece[: max(0, heard - 240)] == 0.5).all()
        at += count


def test_what_is_no_number_is_silence():
    made = soundtrack.laid([(np.array([np.nan, np.inf, 0.5], np.float32), 3)], RATE)
    assert np.isfinite(made).all()
