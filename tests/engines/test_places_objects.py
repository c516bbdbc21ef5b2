"""Objects and crowds: what words name is seen where it belongs, or large."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

from mangen.engines import protocol
from mangen.engines.animatic import objects, pen, places, setting, stage

#: the words that storyboards use
NAMED = (
    "moon", "boat", "melons", "fork", "sword", "umbrella", "book", "phone", "cup", "letter",
    "lantern", "bag", "fan", "staff", "flower", "car", "bicycle", "train", "horse", "dog", "cat",
    "bird", "animal", "tree", "fire", "food", "wine", "door", "window", "bed", "desk", "lamp",
    "clock", "photograph", "ring", "money", "flag", "drum", "bell", "mirror", "rain", "snow",
    "watch",
)  # fmt: skip


def stood(scene, width=180, height=320):
    return stage.of(
        protocol.PanelRequest(kind="shot", width=width, height=height, seed=3, scene=scene)
    )


def flat(sheets):
    image = sheets[0].image[..., :3]
    for sheet in sheets[1:]:
        image = pen.over(image, sheet.image)
    return image.astype(int)


@functools.lru_cache(maxsize=32)
def picture(scene, width=180, height=320):
    """The whole setting; drawn once, as many tests compare with the same bare one."""
    return flat(setting.sheets(stood(scene, width, height), scene))


@functools.lru_cache(maxsize=4)
def portrait(name):
    scene = protocol.SceneLabels(place="street", framing="insert", focus=name, era="republic")
    return objects.portrait(stood(scene), name)


def test_every_word_of_the_storyboard_is_known():
    assert set(NAMED) <= objects.KNOWN


@pytest.mark.parametrize("name", sorted(objects.KNOWN))
def test_a_thing_fills_the_middle_of_an_insert(name):
    sheets = portrait(name)
    assert (sheets[0].image[..., 3] == 255).all()
    assert [sheet.depth for sheet in sheets] == sorted(sheet.depth for sheet in sheets)
    other = "fan" if name != "fan" else "drum"
    image, strange = flat(sheets), flat(portrait(other))
    height, width = image.shape[:2]
    changed = np.abs(image - strange).max(2) > 40
    assert changed.mean() > 0.03
    assert changed[height // 3 : height * 2 // 3, width // 4 : width * 3 // 4].any()
    if len(sheets) > 1:
        columns = np.flatnonzero((sheets[1].image[..., 3] > 200).any(0))
        assert columns[0] > width * 0.06
        assert columns[-1] < width * 0.94


def test_all_portraits_differ():
    scene = protocol.SceneLabels(place="room", framing="insert")
    alike = {"book": "books", "flower": "flowers"}
    names = sorted(objects.KNOWN - set(alike.values()))
    seen = {flat(objects.portrait(stood(scene, 64, 114), name)).tobytes() for name in names}
    assert len(seen) == len(names)


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("sea", "melons"), ("field", "melons"), ("sea", "boat"), ("river", "boat"),
        ("field", "animal"), ("street", "car"), ("street", "bicycle"), ("field", "horse"),
        ("courtyard", "dog"), ("room", "cat"), ("sea", "bird"), ("ruin", "fire"), ("hall", "fire"),
        ("field", "fork"), ("room", "sword"), ("room", "letter"), ("office", "phone"),
        ("hall", "wine"), ("courtyard", "wine"), ("room", "bed"), ("classroom", "book"),
        ("palace", "flag"), ("street", "umbrella"), ("shop", "money"), ("field", "train"),
    ],
)  # fmt: skip
def test_a_thing_is_seen_where_it_belongs(place, name):
    scene = protocol.SceneLabels(place=place, framing="establish", era="republic")
    changed = (
        np.abs(picture(scene) - picture(dataclasses.replace(scene, objects=(name,)))).max(2) > 30
    )
    inside = changed[32:-32, 18:-18]
    assert inside.sum() > 120


@pytest.mark.parametrize(("place", "name"), [("room", "melons"), ("room", "boat"), ("sea", "ring")])
def test_a_thing_that_belongs_nowhere_here_is_left_out(place, name):
    scene = protocol.SceneLabels(place=place)
    assert objects.draw(stood(scene), name) == []


@pytest.mark.parametrize("name", ["", "unicorn", "独角兽", "MOON", "\x00"])
def test_a_thing_nobody_knows_gives_nothing(name):
    scene = protocol.SceneLabels(place="street", objects=(name,), focus=name)
    assert objects.draw(stood(scene), name) == []
    assert objects.portrait(stood(scene), name) == []
    bare = dataclasses.replace(scene, objects=())
    assert (picture(scene, 64, 114) == picture(bare, 64, 114)).all()


@pytest.mark.parametrize("place", list(places.PLACES))
def test_everything_at_once_still_draws(place):
    scene = protocol.SceneLabels(place=place, objects=tuple(sorted(objects.KNOWN)), crowd=True)
    assert picture(scene, 64, 114).std() > 8


def test_two_things_stand_on_two_sides():
    both = protocol.SceneLabels(place="room", objects=("letter", "wine"))
    columns = []
    for name in both.objects:
        seen = objects.draw(stood(both), name)[0].image[..., 3] > 128
        columns.append(np.flatnonzero(seen.any(0)).mean())
    assert min(columns) < 225 * 0.4
    assert max(columns) > 225 * 0.6


def test_the_near_melons_lie_before_the_people():
    scene = protocol.SceneLabels(place="sea", objects=("melons",), time="night")
    near = objects.draw(stood(scene), "melons")[-1]
    assert near.depth > 0.75
    rows = np.flatnonzero((near.image[..., 3] > 128).any(1))
    assert rows[0] > 400 * 0.78


def test_a_melon_field_is_green():
    scene = protocol.SceneLabels(place="sea", time="night", framing="establish")
    bare, full = (
        picture(dataclasses.replace(scene, objects=names))[300:360, 22:-22].mean((0, 1))
        for names in ((), ("melons",))
    )
    assert (full - bare)[1] - (full - bare)[2] > 8


@pytest.mark.parametrize("era", ["ancient", "xianxia", "republic", "modern", "campus", "?"])
@pytest.mark.parametrize("place", ["street", "hall", "sea"])
def test_a_crowd_stands_behind_and_leaves_the_middle_free(place, era):
    scene = protocol.SceneLabels(place=place, era=era, framing="establish")
    one, many = picture(scene), picture(dataclasses.replace(scene, crowd=True))
    changed = np.abs(one - many).max(2) > 24
    assert changed.mean() > 0.02
    assert not changed[: 400 * 40 // 100].any()
    s = stood(scene)
    ground = setting.ground(s)
    first, last = ((ground + (s.h - ground) * k) * s.unit for k in (0.2, 0.27))
    feet = changed[round(first) : round(last)]
    assert feet[:, 100:125].mean() < feet[:, 18:60].mean()


def test_crowds_dress_by_their_era():
    scene = protocol.SceneLabels(place="street", crowd=True)
    drawn = [
        picture(dataclasses.replace(scene, era=era)) for era in ("ancient", "republic", "campus")
    ]
    assert len({one.tobytes() for one in drawn}) == 3


def test_what_somebody_holds_does_not_also_stand_there():
    scene = protocol.SceneLabels(place="field", objects=("fork", "dog"), framing="establish")
    figure = protocol.Figure(sheet=protocol.CharacterSheet(name="闰土"), held="fork")
    request = protocol.PanelRequest(
        kind="shot", width=90, height=160, seed=3, scene=scene, figures=(figure,)
    )
    held = flat(setting.sheets(stage.of(request), scene))
    bare = dataclasses.replace(scene, objects=("dog",), era=figure.sheet.era)
    assert (held == picture(bare, 90, 160)).all()
