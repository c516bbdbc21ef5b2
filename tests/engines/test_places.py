"""Places: every one draws at any hour, keeps its details over its shots, and has depth."""

from __future__ import annotations

import dataclasses
import functools
import itertools

import cv2
import numpy as np
import pytest

from mangen.engines import protocol
from mangen.engines.animatic import (
    decor,
    houses,
    interior,
    nature,
    panel,
    pen,
    places,
    setting,
    stage,
    town,
)

TIMES = ("dawn", "day", "dusk", "night")
WEATHERS = ("clear", "rain", "snow", "fog", "wind", "thunder")
ERAS = (
    *("ancient", "xianxia", "republic", "modern", "campus", "countryside"),
    *("victorian", "medieval", "future"),
)
MOODS = ("calm", "warm", "sad", "tense", "dark", "bright")


def shot(scene, width=64, height=114, seed=3):
    request = protocol.PanelRequest(kind="shot", width=width, height=height, seed=seed, scene=scene)
    return setting.sheets(stage.of(request), scene)


@functools.lru_cache(maxsize=64)
def picture(scene, width=64, height=114, seed=3):
    """The whole place; drawn once, as many tests compare with the same one."""
    sheets = shot(scene, width, height, seed)
    image = sheets[0].image[..., :3]
    for sheet in sheets[1:]:
        image = pen.over(image, sheet.image)
    return image.astype(int)


def shades(image):
    """How much of a picture each of 64 colours covers."""
    found = np.histogramdd(image.reshape(-1, 3), bins=(4, 4, 4), range=((0, 256),) * 3)[0]
    return found.ravel() / found.sum()


def edges(image):
    grey = cv2.GaussianBlur(image.astype(np.float32).mean(2), (0, 0), 1.5)
    found = np.hypot(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1))
    return found.ravel()


@pytest.mark.parametrize("place", list(places.PLACES))
def test_a_place_differs_at_every_hour_and_in_every_weather(place):
    hours = [(time, "clear") for time in TIMES] + [("day", weather) for weather in WEATHERS[1:]]
    scenes = [
        protocol.SceneLabels(place=place, time=time, weather=weather, era="republic")
        for time, weather in hours
    ]
    scenes += [protocol.SceneLabels(place=place, mood=mood) for mood in MOODS[1:]]
    assert len({picture(scene).tobytes() for scene in scenes}) == len(scenes)


@pytest.mark.parametrize("place", list(places.PLACES))
def test_a_place_is_another_place_in_another_era(place):
    seen = {
        picture(protocol.SceneLabels(place=place, era=era, framing="establish")).tobytes()
        for era in ERAS
    }
    assert len(seen) == len(ERAS)


@pytest.mark.parametrize("place", [*places.PLACES, "moonbase"])
@pytest.mark.parametrize("framing", ["establish", "medium", "close", "?"])
def test_sheets_lie_one_behind_the_other_and_the_last_hides_nothing_behind_it(place, framing):
    sheets = shot(protocol.SceneLabels(place=place, framing=framing, era="modern"))
    depths = [sheet.depth for sheet in sheets]
    assert depths == sorted(depths)
    assert 0 < depths[0] < 0.4
    assert depths[-1] <= 1.5
    assert len(set(depths)) >= 3
    assert (sheets[0].image[..., 3] == 255).all()
    for sheet in sheets:
        assert sheet.image.shape == (142, 80, 4)
        assert (sheet.image[..., :3] <= sheet.image[..., 3:4]).all()


@pytest.mark.parametrize(("width", "height"), [(64, 64), (64, 36), (300, 64), (66, 400)])
@pytest.mark.parametrize("place", list(places.PLACES))
def test_a_place_draws_at_any_size(place, width, height):
    labels = protocol.SceneLabels(place=place, crowd=True, objects=("moon", "book", "horse"))
    assert picture(labels, width, height).std() > 8


@pytest.mark.parametrize("place", list(places.PLACES))
def test_shots_of_a_place_show_the_same_details(place):
    scene = protocol.SceneLabels(place=place, framing="establish", era="ancient")
    assert (picture(scene, seed=1) == picture(scene, seed=2)).all()


@pytest.mark.parametrize("place", list(places.PLACES))
def test_shots_from_two_angles_are_nearer_than_two_places(place):
    scene = protocol.SceneLabels(place=place, era="modern")
    one, other = (picture(scene, 90, 160, seed) for seed in (1, 2))
    assert (one != other).any()
    apart = np.abs(shades(one) - shades(other)).sum()
    for strange in list(places.PLACES)[::4]:
        if strange != place:
            away = shades(picture(dataclasses.replace(scene, place=strange), 90, 160, 1))
            assert apart < np.abs(shades(one) - away).sum()


@pytest.mark.parametrize("place", ["room", "hall", "street", "courtyard", "office", "palace"])
def test_the_west_has_other_walls_than_any_town_of_china(place):
    def seen(era):
        return shades(picture(protocol.SceneLabels(place=place, era=era, framing="establish")))

    for era in ("victorian", "medieval"):
        for other in ("ancient", "modern"):
            assert np.abs(seen(era) - seen(other)).sum() > 0.1


@pytest.mark.parametrize("place", ["sea", "harbour", "deck"])
def test_a_lighthouse_stands_by_the_water_and_shines_at_night(place):
    bright = []
    for objects in ((), ("lighthouse",)):
        scene = protocol.SceneLabels(
            place=place, time="night", era="victorian", framing="establish", objects=objects
        )
        bright.append(picture(scene, 180, 320))
    assert (bright[0] != bright[1]).any()
    assert (bright[1].min(2) - bright[0].min(2)).max() > 60  # the lamp


def test_a_memory_loses_its_edges_and_keeps_its_middle():
    scene = protocol.SceneLabels(place="courtyard", era="republic")
    pictures = []
    for memory in (False, True):
        request = protocol.PanelRequest(
            kind="shot", width=90, height=160, seed=3, scene=scene, memory=memory
        )
        image = panel.draw(request).image.astype(int)
        pictures.append(image)
    away = np.abs(pictures[0] - pictures[1]).mean(2)
    assert away[80:120, 45:67].max() <= 2
    assert pictures[1][:6, :6].mean() > 200


@pytest.mark.parametrize("place", ["room", "shop", "office", "street", "courtyard", "palace"])
def test_night_changes_the_light_and_leaves_the_things_in_their_places(place):
    scene = protocol.SceneLabels(place=place, framing="establish", era="republic")
    day, night = (
        picture(dataclasses.replace(scene, time=time), 180, 320) for time in ("day", "night")
    )
    assert night.mean() < day.mean()
    same = np.corrcoef(edges(day), edges(night))[0, 1]
    strange = np.corrcoef(
        edges(day), edges(picture(dataclasses.replace(scene, place="sea"), 180, 320))
    )[0, 1]
    assert same > 0.35
    assert same > strange + 0.2


def test_the_moon_is_large_and_golden_and_lies_on_the_sea():
    scene = protocol.SceneLabels(place="sea", time="night", framing="establish")
    s = stage.of(protocol.PanelRequest(kind="shot", width=180, height=320, seed=1, scene=scene))
    image = picture(scene, 180, 320)
    x, y, r = (round(v * s.unit) for v in s.orb)
    red, green, blue = image[y - r // 3 : y + r // 3, x - r // 3 : x + r // 3].mean((0, 1))
    assert red > green > blue + 40
    assert r > image.shape[1] * 0.14
    water = image[round(s.horizon * s.unit) + 4 : round(s.h * 0.68 * s.unit)]
    warm = water[..., 0] - water[..., 2]
    assert warm[:, x - 12 : x + 12].max() > 40
    assert warm[:, :20].max() < 0


def test_a_winter_river_mirrors_its_white_houses():
    scene = protocol.SceneLabels(place="river", weather="snow", era="republic", framing="establish")
    s = stage.of(protocol.PanelRequest(kind="shot", width=180, height=320, seed=1, scene=scene))
    image = picture(scene, 180, 320).mean(2)
    line = round((s.horizon - 10) * s.unit)
    above, below = image[line - 16 : line - 3], image[line + 3 : line + 11]
    seen = np.corrcoef(above.mean(0), below.mean(0))[0, 1]
    assert seen > 0.3


@pytest.mark.parametrize("mood", MOODS[1:])
def test_a_mood_has_a_palette(mood):
    calm, other = (
        picture(protocol.SceneLabels(place="street", mood=one), 90, 160).mean((0, 1))
        for one in ("calm", mood)
    )
    change = other - calm
    if mood == "warm":
        assert change[0] - change[2] > 8
    elif mood == "sad":
        assert change[2] - change[0] > 4
    elif mood == "tense":
        assert change[0] - change[1] > 4
    elif mood == "dark":
        assert change.sum() < -60
    else:
        assert change.sum() > 0


def test_the_same_request_gives_the_same_bytes():
    scene = protocol.SceneLabels(place="market", crowd=True, objects=("food",), time="night")
    assert (picture(scene) == picture.__wrapped__(scene)).all()


def test_no_place_sets_type():
    for module in (decor, houses, interior, nature, town):
        assert not hasattr(module, "lettering")


def test_one_stands_below_the_horizon_and_above_the_edge():
    for place, (width, height) in itertools.product(
        [*places.PLACES, "moonbase"], [(90, 160), (160, 90)]
    ):
        scene = protocol.SceneLabels(place=place)
        request = protocol.PanelRequest(
            kind="shot", width=width, height=height, seed=1, scene=scene
        )
        s = stage.of(request)
        assert s.horizon <= setting.ground(s) < s.h * 0.85
