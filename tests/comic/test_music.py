from __future__ import annotations

import itertools

import numpy as np
import pytest

from mangen.comic import loudness, music, tune

RATE = music.RATE
STYLES = list(itertools.product(tune.MOODS, (True, False)))


def span(start, stop, mood="calm", *, plucked=True, hit=False):
    return music.Span(start=start, stop=stop, mood=mood, plucked=plucked, hit=hit)


def played(spans, *, seed=5, level=-21.0):
    return music.Music(spans, seed=seed, level=level).window(0, round(spans[-1].stop * RATE))


@pytest.mark.parametrize(("mood", "plucked"), STYLES)
def test_every_mood_is_as_loud_as_asked_and_clean(mood, plucked):
    sound = played([span(0, 20, mood, plucked=plucked)], level=-21)
    assert loudness.lufs(sound, RATE) == pytest.approx(-21, abs=1.5)
    assert np.abs(sound).max() < 0.7
    assert np.abs(np.diff(sound)).max() < 0.3
    assert abs(float(sound.mean())) < 1e-3
    power = np.abs(np.fft.rfft(sound)) ** 2
    assert power[np.fft.rfftfreq(len(sound), 1 / RATE) > 8_000].sum() < 0.01 * power.sum()


def test_the_same_seed_plays_the_same_and_another_something_else():
    spans = [span(0, 9)]
    assert np.array_equal(played(spans), played(spans))
    assert not np.array_equal(played(spans), played(spans, seed=6))
    motifs = {tuple(n.pitch for n in itertools.islice(_melody(seed), 12)) for seed in range(42)}
    assert len(motifs) > 30


def _melody(seed):
    return (n for n in tune.notes("calm", plucked=True, project=seed, piece=0) if n.gain > 0.6)


@pytest.mark.parametrize(("mood", "plucked"), STYLES)
def test_every_note_can_be_heard_and_keeps_its_time(mood, plucked):
    for project in (0, 6, 13, 41, 2**31):
        notes = tune.notes(mood, plucked=plucked, project=project, piece=1)
        beats = 60 / tune.mood(mood).tempo
        for note in itertools.islice(notes, 400):
            assert 24 <= note.pitch <= 100
            assert 0 < note.gain <= 1
            assert -0.1 <= note.at % beats <= beats
            assert note.at >= 0


def test_moods_differ_in_tempo_and_mode():
    tempos = [tune.mood(name).tempo for name in ("sad", "calm", "bright", "tense")]
    assert tempos == sorted(tempos)
    assert tune.mood("sad").minor
    assert not tune.mood("bright").minor
    assert tune.mood("nobody's mood") == tune.mood("calm")


def test_windows_together_are_the_whole():
    piece = music.Music([span(0, 11), span(11, 24, "sad", hit=True)], seed=1, level=-20)
    whole = piece.window(0, 20 * RATE)
    cuts = [0, 7, 90_001, 240_000, 300_123, 20 * RATE]
    parts = [piece.window(a, b) for a, b in itertools.pairwise(cuts)]
    assert np.allclose(np.concatenate(parts), whole, atol=1e-6)
    assert not piece.window(30 * RATE, 31 * RATE).any()
    assert not piece.window(-RATE, 0).any()


def test_a_mood_of_a_moment_changes_no_music():
    spans = [span(0, 10), span(10, 13, "tense"), span(13, 30), span(30, 45, "sad")]
    assert [(s.start, s.stop, s.mood) for s in music.merged(spans)] == [
        (0, 30, "calm"),
        (30, 45, "sad"),
    ]
    short_first = music.merged([span(0, 2, "dark"), span(2, 20, "warm")])
    assert [(s.start, s.stop, s.mood) for s in short_first] == [(0, 20, "warm")]
    assert music.merged([]) == []


def test_one_piece_goes_while_the_next_comes():
    sound = played([span(0, 12), span(12, 24, "sad")])
    steps = sound[10 * RATE : 15 * RATE].reshape(-1, RATE // 4)
    levels = np.sqrt((steps**2).mean(axis=1))
    assert levels.min() > 0.1 * levels.max()
    assert np.abs(np.diff(sound)).max() < 0.3


def test_action_begins_with_a_blow():
    quiet = played([span(0, 8), span(8, 16)])
    struck = played([span(0, 8), span(8, 16, hit=True)])
    assert np.array_equal(quiet[: 8 * RATE], struck[: 8 * RATE])
    assert not np.array_equal(quiet[8 * RATE :], struck[8 * RATE :])


def test_no_scene_has_no_music():
    assert not music.Music([], seed=1, level=-20).window(0, 100).any()
