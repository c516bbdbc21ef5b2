from __future__ import annotations

import numpy as np
import pytest

from mangen.comic import instruments

TUNED = [name for name in instruments.INSTRUMENTS if name not in {"drum", "bell"}]


@pytest.mark.parametrize("name", TUNED)
@pytest.mark.parametrize("pitch", [45, 57, 72])
def test_a_note_is_in_tune(name, pitch):
    sound = instruments.note(name, pitch)
    size = 1 << 19
    heard = np.abs(np.fft.rfft(sound * np.hanning(len(sound)), size))
    hertz = np.fft.rfftfreq(size, 1 / instruments.RATE)
    wanted = 440 * 2 ** ((pitch - 69) / 12)
    near = (hertz > wanted / 1.5) & (hertz < wanted * 1.5)
    cents = 1200 * np.log2(hertz[near][np.argmax(heard[near])] / wanted)
    assert abs(cents) < 8


@pytest.mark.parametrize("name", instruments.INSTRUMENTS)
def test_a_note_begins_and_ends_softly_and_cannot_be_changed(name):
    sound = instruments.note(name, 60)
    assert np.isfinite(sound).all()
    assert len(sound) <= instruments.LONGEST_S * instruments.RATE
    assert np.abs(sound[:2]).max() < 0.02
    assert np.abs(sound[-200:]).max() < 1e-3
    assert np.abs(np.diff(sound)).max() < 0.25
    assert abs(float(sound.mean())) < 1e-3
    with pytest.raises(ValueError, match="read-only"):
        sound += 1


@pytest.mark.parametrize("name", instruments.INSTRUMENTS)
def test_nothing_harsh_is_in_any_note(name):
    for pitch in (40, 64, 88, 100):
        power = np.abs(np.fft.rfft(instruments.note(name, pitch))) ** 2
        hertz = np.fft.rfftfreq(len(instruments.note(name, pitch)), 1 / instruments.RATE)
        assert power[hertz > 8_000].sum() < 0.01 * power.sum()
