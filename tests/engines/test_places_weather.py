"""Weather over frames: it moves, it stays within itself, and it is the same each time."""

from __future__ import annotations

import numpy as np
import pytest

from mangen.engines.animatic import specks, weather

KINDS = ("rain", "snow", "fog", "wind", "thunder")


def frames(kind, *, base=90, size=(180, 320), seed=3, picture=None, seconds=(0.0, 0.5, 1.0)):
    sky = weather.Weather(kind, *size, seed, picture=picture)
    found = []
    for second in seconds:
        frame = np.full((size[1], size[0], 3), base, np.uint8)
        sky.draw(frame, second)
        found.append(frame.astype(int))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_weather_is_seen_and_moves(kind):
    first, second, third = frames(kind)
    assert (first != 90).mean() > 0.002
    assert (np.abs(first - second).max(2) > 4).sum() > 40
    assert (np.abs(second - third).max(2) > 4).sum() > 40


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_clip_has_the_same_weather(kind):
    for one, other in zip(frames(kind), frames(kind), strict=True):
        assert (one == other).all()


@pytest.mark.parametrize("kind", KINDS)
def test_two_clips_have_two_weathers(kind):
    assert any(
        (one != other).any()
        for one, other in zip(frames(kind, seed=1), frames(kind, seed=2), strict=True)
    )


@pytest.mark.parametrize("kind", [*KINDS, "clear", "hail", ""])
@pytest.mark.parametrize("size", [(64, 64), (64, 36), (300, 64), (720, 1280)])
def test_weather_falls_at_any_size_and_late_in_a_clip(kind, size):
    for frame in frames(kind, size=size, seconds=(0.0, 7.7, 600.0)):
        assert frame.shape == (size[1], size[0], 3)


@pytest.mark.parametrize("kind", ["clear", "hail"])
def test_a_clear_sky_leaves_the_frame_alone(kind):
    for frame in frames(kind):
        assert (frame == 90).all()


def test_snow_and_rain_only_add_light():
    for kind in ("rain", "snow"):
        for frame in frames(kind):
            assert (frame >= 90).all()


def test_fog_takes_a_picture_nearer_to_its_own_tone():
    for frame in frames("fog", base=20):
        assert frame.mean() > 24
    for frame in frames("fog", base=255):
        assert frame.mean() < 254


def test_thunder_flashes_now_and_then():
    seconds = tuple(n / 24 for n in range(96))
    light = np.array([frame.mean() for frame in frames("thunder", seconds=seconds)])
    assert light.max() > np.median(light) + 30
    assert (light > np.median(light) + 10).mean() < 0.2


def test_flakes_glide_by_parts_of_a_pixel():
    near = []
    for x in (40.0, 40.25, 40.5):
        frame = np.zeros((80, 80, 3), np.uint8)
        specks.spot(frame, x, 40.0, r=9, tone=(255, 255, 255), force=1.0)
        light = frame.sum(2).astype(float)
        near.append((light.sum(0) * np.arange(80)).sum() / light.sum())
    assert np.allclose(np.diff(near), 0.25, atol=0.06)


@pytest.mark.parametrize(("x", "y"), [(-500.0, 4.0), (0.0, 0.0), (79.9, 79.9), (4.0, 1e6)])
def test_a_spot_at_or_beyond_the_edge_is_cut(x, y):
    frame = np.zeros((80, 80, 3), np.uint8)
    specks.spot(frame, x, y, r=9, tone=(255, 255, 255), force=1.0)
    specks.leaf(frame, (x, y), 9, 1.0, (200, 120, 40))


def test_fireflies_fly_by_night_and_dust_floats_in_warm_light():
    night = np.full((64, 36, 3), (20, 34, 70), np.uint8)
    lamp = np.full((64, 36, 3), (190, 160, 110), np.uint8)
    noon = np.full((64, 36, 3), (150, 190, 210), np.uint8)
    assert [weather.ambience(one) for one in (night, lamp, noon)] == ["fireflies", "dust", ""]
    for picture in (night, lamp):
        first, second, _ = frames("clear", picture=picture)
        assert (first != second).any()
    first, second, _ = frames("clear", picture=noon)
    assert (first == second).all()
