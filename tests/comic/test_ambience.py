from __future__ import annotations

import itertools
import pathlib
import re

import numpy as np
import pytest

from mangen.comic import ambience, loudness, noises
from mangen.engines import protocol

RATE = noises.RATE
PLACES = tuple(ambience._PLACES)
TIMES = ("dawn", "day", "dusk", "night")
WEATHERS = ("clear", "rain", "snow", "fog", "wind", "thunder")


def span(start, stop, **loops):
    return ambience.Span(start=start, stop=stop, loops=loops)


@pytest.mark.parametrize("name", noises.NAMES)
def test_a_loop_has_no_seam_no_click_and_nothing_harsh(name):
    loop = noises.loop(name)
    assert len(loop) == noises.SECONDS * RATE
    assert loudness.lufs(loop, RATE) == pytest.approx(noises.LUFS, abs=1.5)
    assert np.abs(loop).max() < 0.41
    assert abs(float(loop.mean())) < 1e-3
    steps = np.abs(np.diff(loop))
    assert abs(loop[0] - loop[-1]) <= steps.max()
    power = np.abs(np.fft.rfft(loop)) ** 2
    assert power[np.fft.rfftfreq(len(loop), 1 / RATE) > 8_000].sum() < 0.05 * power.sum()


def test_every_place_sounds_at_any_hour_in_any_weather():
    for place, time, weather in itertools.product((*PLACES, "moon"), TIMES, WEATHERS):
        for crowd in (False, True):
            found = ambience.loops(place, time, weather, crowd=crowd)
            assert found
            assert set(found) <= set(noises.NAMES)
            assert 0 < max(found.values()) <= 1.5


def test_every_place_that_the_seam_names_is_known():
    source = pathlib.Path(protocol.__file__).read_text("utf-8")
    listed = source.split('place: str = "room"')[1].split("time:")[0]
    assert set(re.findall(r"[a-z]+", listed)) == set(PLACES)


def test_rain_is_on_the_roof_indoors_and_silences_birds_outdoors():
    assert "roof" in ambience.loops("room", "day", "rain")
    outside = ambience.loops("forest", "day", "rain")
    assert "rain" in outside
    assert "birds" in ambience.loops("forest")
    assert "birds" not in outside
    assert "insects" in ambience.loops("field", "night")
    assert "crowd" in ambience.loops("street", crowd=True)
    assert "crowd" not in ambience.loops("market", crowd=True)


def test_windows_together_are_the_whole_and_a_shared_loop_goes_on():
    places = ambience.Ambience([span(0, 3, sea=1), span(3, 9, sea=1, wind=0.5)], level=-30)
    whole = places.window(0, 9 * RATE)
    parts = [places.window(a, b) for a, b in itertools.pairwise((0, 5, 70_001, 9 * RATE))]
    assert np.allclose(np.concatenate(parts), whole, atol=1e-7)
    alone = ambience.Ambience([span(0, 9, sea=1)], level=-30).window(0, 9 * RATE)
    assert np.allclose(alone[: 2 * RATE], whole[: 2 * RATE])
    around = slice(round(2.5 * RATE), round(3.5 * RATE))
    assert np.abs(np.diff(whole[around])).max() < 0.03


def test_a_place_is_as_loud_as_asked_and_fades_into_the_next():
    places = ambience.Ambience([span(0, 10, river=1), span(10, 20, train=1)], level=-35)
    sound = places.window(0, 20 * RATE)
    assert loudness.lufs(sound, RATE) == pytest.approx(-35, abs=2)
    levels = np.sqrt((sound.reshape(-1, RATE // 4) ** 2).mean(axis=1))
    assert levels[36:44].min() > 0.3 * levels[10:30].mean()
