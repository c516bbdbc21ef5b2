"""What a viewer hears: the sound of a finished file."""

from __future__ import annotations

import av
import numpy as np
import pytest

from mangen.comic import assemble, loudness
from mangen.engines import protocol

FPS, RATE = 24, 48_000


def voice(seconds):
    """Bursts of harmonics with sharp beginnings, as speech has them."""
    t = np.arange(round(seconds * RATE)) / RATE
    tones = sum(np.sin(2 * np.pi * 170 * k * t + k * k) / k for k in range(1, 20))
    return (0.25 * tones * ((t % 0.27) < 0.2) * np.exp(-6 * (t % 0.27))).astype(np.float32)


def heard(folder, **wishes):
    """The decoded track of an episode: a card, two scenes with a voice, a card."""
    panel = np.full((80, 80, 3), 90, np.uint8)
    scenes = [
        protocol.SceneLabels(place="sea", time="night", era="republic"),
        protocol.SceneLabels(place="sea", time="night", era="republic"),
        protocol.SceneLabels(place="market", weather="rain", mood="tense", framing="action"),
        protocol.SceneLabels(place="room", mood="warm"),
    ]
    sounds = [None, voice(7), voice(5), None]
    parts = [
        assemble.Part(clip=None, panel=panel, frames=seconds * FPS, audio=sound, scene=scene)
        for seconds, sound, scene in zip((2, 8, 7, 2), sounds, scenes, strict=True)
    ]
    steps = assemble.assemble(parts, folder, width=64, height=64, cues=[], title="", **wishes)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            made = end.value
            break
    with av.open(str(made.video)) as box:
        frames = [frame.to_ndarray()[0] for frame in box.decode(audio=0)]
    return np.concatenate(frames).astype(np.float32)


def test_a_finished_file_is_as_loud_as_it_should_be_and_its_peaks_are_safe(tmp_path):
    sound = heard(tmp_path)
    assert loudness.lufs(sound, RATE) == pytest.approx(-16, abs=1)
    assert 20 * np.log10(loudness.peaks(sound).max()) <= -1


def test_cards_have_music_unless_it_is_turned_off(tmp_path):
    with_music, without = heard(tmp_path / "a", seed=4), heard(tmp_path / "b", music=0.0)
    card = slice(RATE, round(1.9 * RATE))
    assert np.abs(with_music[card]).max() > 0.02
    assert np.abs(without[card]).max() < 0.001
    assert len(with_music) == len(without)
