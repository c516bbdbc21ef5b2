from __future__ import annotations

import numpy as np
import pytest

from mangen.comic import loudness, mix, soundtrack
from mangen.engines import protocol

RATE, FPS = 48_000, 24


def voice(seconds, level=0.1):
    """As loud and as uneven as speech."""
    t = np.arange(round(seconds * RATE)) / RATE
    syllables = 0.55 + 0.45 * np.sin(2 * np.pi * 4.3 * t)
    tones = sum(np.sin(2 * np.pi * 140 * k * t) / k for k in range(1, 9))
    made = (tones * syllables).astype(np.float32)
    return (made * level / np.sqrt((made**2).mean())).astype(np.float32)


def scene(start, seconds, **labels):
    return mix.Scene(start_frame=start * FPS, frames=seconds * FPS, **labels)


@pytest.fixture
def speech():
    """Two seconds of card, ten of speech, four of pause, six of speech, two of card."""
    track = np.zeros(24 * RATE, np.float32)
    track[2 * RATE : 12 * RATE] = voice(10)
    track[16 * RATE : 22 * RATE] = voice(6)
    return track


SCENES = [
    scene(0, 14, place="sea", time="night", era="republic"),
    scene(14, 10, place="street", weather="rain", mood="sad", era="republic"),
]


def mixed(track, scenes=SCENES, **wishes):
    return mix.of(track.copy(), scenes, **{"seed": 7, "rate": RATE, "fps": FPS, **wishes})


def level(sound, start, stop):
    piece = sound[round(start * RATE) : round(stop * RATE)]
    return 10 * np.log10(float((piece**2).mean()) + 1e-12)


def test_music_gives_way_to_speech_and_comes_back(speech):
    bed = mixed(speech) - speech
    clear, under = level(bed, 12.8, 15.7), level(bed, 4, 11)
    assert 7 < clear - under < 15
    assert level(speech, 4, 11) - under > 12, "words stay clear"
    assert level(speech, 4, 11) - clear > 3, "music is never as loud as speech"
    assert level(bed, 0.5, 1.7) > under, "the title card has music"


def test_it_is_down_before_a_word_begins_and_stays_down_between_words():
    track = np.zeros(10 * RATE, np.float32)
    for start in (2, 3.3, 7):
        track[round(start * RATE) : round((start + 1) * RATE)] = 0.1
    down = mix.ducking(track, RATE)
    assert len(down) == 1000
    assert down[200] > 0.99  # at the word
    assert down[180] == 0  # and not long before
    assert 0 < down[192] < 1
    assert down[300:330].min() > 0.75  # 0.3 s between two words
    assert down[430 + 25 + 40 + 5] == 0  # released
    assert 0 < down[430 + 25 + 20] < 1
    assert not mix.ducking(np.zeros(RATE, np.float32), RATE).any()


@pytest.mark.parametrize("seconds", [1, 24])
def test_the_whole_is_as_loud_as_it_should_be(speech, seconds):
    made = soundtrack.mastered(mixed(speech)[: seconds * RATE], RATE)
    if seconds > 1:
        assert loudness.lufs(made, RATE) == pytest.approx(-16, abs=0.5)
    assert 20 * np.log10(loudness.peaks(made).max()) <= -1.4


def test_nothing_clicks_at_the_edges(speech):
    bed = mixed(speech) - speech
    assert np.abs(bed[:20]).max() < 1e-3
    assert np.abs(bed[-200:]).max() < 1e-3
    assert np.abs(np.diff(bed)).max() < 0.12
    assert abs(float(bed.mean())) < 1e-4


def test_the_same_episode_sounds_the_same_and_another_project_does_not(speech):
    assert np.array_equal(mixed(speech), mixed(speech))
    assert not np.array_equal(mixed(speech), mixed(speech, seed=8))


def test_volume_turns_music_and_places_and_not_the_voices(speech):
    assert np.array_equal(mixed(speech, volume=0), speech)
    assert np.array_equal(mixed(speech, []), speech)
    full, half = (mixed(speech, volume=v) - speech for v in (1.0, 0.5))
    assert np.allclose(half, full / 2, atol=1e-4)
    assert np.array_equal(mixed(speech, volume=3.0), mixed(speech))


def test_an_episode_without_a_voice_has_music():
    made = mixed(np.zeros(6 * RATE, np.float32), [scene(0, 6)])
    assert -30 < loudness.lufs(made, RATE) < -20


@pytest.mark.parametrize("count", [0, 1, 2, 999, 48_001])
def test_any_length_is_mixed(count):
    made = mixed(np.full(count, 0.01, np.float32), [scene(0, 3), scene(3, 9, place="?", mood="?")])
    assert len(made) == count
    assert np.isfinite(made).all()


def test_old_times_are_plucked_and_new_ones_are_not():
    def plucked(*scenes):
        return [span.plucked for span in mix._tunes(scenes, FPS)]

    assert plucked(scene(0, 9, era="ancient"), scene(9, 3)) == [True, True]
    assert plucked(scene(0, 9, era="modern"), scene(9, 3)) == [False, False]
    assert plucked(scene(0, 9)) == [False]
    assert plucked(scene(0, 9, era="modern"), scene(9, 3, era="xianxia")) == [False, True]


def test_action_is_tense_and_struck_once():
    spans = mix._tunes(
        [scene(0, 2), scene(2, 2, framing="action"), scene(4, 2, framing="action")], 24
    )
    assert [(span.mood, span.hit) for span in spans] == [
        ("calm", False),
        ("tense", True),
        ("tense", False),
    ]


def test_a_shot_s_labels_become_its_scene():
    labels = protocol.SceneLabels(place="sea", mood="sad", era="republic", crowd=True)
    made = mix.scene(labels, 48, 24)
    assert (made.start_frame, made.frames, made.place, made.mood) == (48, 24, "sea", "sad")
    assert made.crowd
