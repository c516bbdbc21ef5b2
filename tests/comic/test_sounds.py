import numpy as np

from mangen.comic.stages import sounds
from mangen.engines import length


def voice(*loud):
    """Noise of so many volumes, a frame each."""
    noise = np.random.default_rng(1).standard_normal(length.SAMPLES_PER_FRAME)
    return np.concatenate([noise * volume for volume in loud]).astype(np.float32)


def test_silence_is_nought_and_speech_opens():
    levels = sounds.levels(voice(0, 0, 0, 0.2, 0.2, 0.2, 0, 0, 0), 9)
    assert levels[:2] == levels[-2:] == (0.0, 0.0)
    assert levels[4] > 0.8
    assert all(0.0 <= level <= 1.0 for level in levels)


def test_a_quiet_voice_opens_as_far_as_a_loud_one():
    pattern = np.array([0, 1, 0.4, 1, 0, 0.7, 1, 0])
    assert np.allclose(
        sounds.levels(voice(*(pattern * 0.3)), 8), sounds.levels(voice(*(pattern * 0.03)), 8)
    )


def test_syllables_are_told_apart():
    levels = sounds.levels(voice(*[0.3, 0.3, 0.3, 0.01, 0.01, 0.01] * 4), 24)
    assert max(levels[4::6]) < 0.3
    assert min(levels[1::6]) > 0.9


def test_there_are_as_many_levels_as_frames_whatever_the_sound():
    assert len(sounds.levels(voice(0.1), 5)) == 5
    assert len(sounds.levels(voice(*[0.1] * 9), 5)) == 5
    assert sounds.levels(None, 5) == ()
    assert sounds.levels(np.zeros(0, np.float32), 5) == ()
    assert sounds.levels(np.zeros(9000, np.float32), 3) == (0.0, 0.0, 0.0)
    assert set(sounds.levels(np.full(6000, np.nan, np.float32), 3)) == {0.0}
