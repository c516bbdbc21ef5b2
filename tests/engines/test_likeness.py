"""Likeness on pictures: everybody looks like themselves in every shot, and like nobody else."""

from __future__ import annotations

import dataclasses
import importlib.util
import itertools
import pathlib

import numpy as np
import pytest

from mangen.engines import protocol
from mangen.engines.animatic import colour, lookbook, panel, troupe, wardrobe

_spec = importlib.util.spec_from_file_location(
    "likenesses", pathlib.Path(__file__).with_name("likenesses.py")
)
likenesses = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(likenesses)


def sheet(name, sex="male", age="adult", *, era="modern", words=(), seed=0):
    return protocol.CharacterSheet(name=name, sex=sex, age=age, era=era, words=words, seed=seed)


CAST = (
    sheet("林若雪", "female", "youth", words=("白色连衣裙", "长发"), seed=5),
    sheet("顾言", words=("深蓝西装",), seed=7),
    sheet("苏曼", "female", words=("卷发", "黑色风衣"), seed=9),
    sheet("我", seed=1),
    sheet("王奶奶", "female", "elder", seed=1), sheet("小满", "female", "child", seed=8),
    sheet("周伯", "male", "elder", seed=8),
    sheet("赵敏", "female", seed=3),
)  # fmt: skip
#: framing, emotion, time, weather, place, mood
SHOTS = (
    ("medium", "calm", "day", "clear", "room", "calm"),
    ("close", "happy", "night", "clear", "room", "warm"),
    ("reaction", "angry", "day", "clear", "room", "tense"),
    ("over_shoulder", "sad", "dusk", "rain", "room", "sad"),
)


def shown(people, *, framing="medium", emotion="calm", seed=3, held=(), speaker=0, **scene):
    return protocol.PanelRequest(
        kind="shot", width=120, height=214, seed=seed,
        scene=protocol.SceneLabels(framing=framing, **scene),
        figures=tuple(
            protocol.Figure(
                sheet=one, features=wardrobe.features(one), emotion=emotion, speaking=k == speaker,
                held=dict(held).get(k, ""),
            )
            for k, one in enumerate(people)
        ),
    )  # fmt: skip


@pytest.fixture(scope="module")
def cast():
    return troupe.unlike(CAST)


def test_a_picture_is_nearest_to_another_of_the_same_person(cast):
    features, names = [], []
    for n, (framing, emotion, time, weather, place, mood) in enumerate(SHOTS):
        for k, one in enumerate(cast):
            people = [one, cast[k - 3]] if framing == "over_shoulder" else [one]
            drawn = panel.draw(
                shown(
                    people,
                    framing=framing,
                    emotion=emotion,
                    seed=31 * n + k,
                    time=time,
                    weather=weather,
                    place=place,
                    mood=mood,
                )
            )
            face = next(face for face in drawn.faces if face.name == one.name)
            features.append(likenesses.feature(likenesses.crop(drawn, face)))
            names.append(one.name)
    far = likenesses.distances(features)
    np.fill_diagonal(far, np.inf)
    who = np.array(names)
    assert (who[far.argmin(1)] == who).mean() >= 0.95
    np.fill_diagonal(far, np.nan)
    means = {
        (a.name, b.name): np.nanmean(far[np.ix_(who == a.name, who == b.name)])
        for a, b in itertools.product(cast, cast)
    }
    for one, other in itertools.permutations(cast, 2):
        assert means[one.name, one.name] < means[one.name, other.name]


def test_both_of_two_panels_look_like_themselves(cast):
    features, names = [], []
    for n, framing in enumerate(("medium", "close", "split", "split")):
        for k, one in enumerate(cast):
            pair = [[one], [one], [one, cast[k - 3]], [cast[k - 3], one]][n]
            drawn = panel.draw(shown(pair, framing=framing, seed=31 * n + k, place="room"))
            face = next(face for face in drawn.faces if face.name == one.name)
            features.append(likenesses.feature(likenesses.crop(drawn, face, likenesses.HEAD)))
            names.append(one.name)
    far, who = likenesses.distances(features), np.array(names)
    half = 2 * len(cast)
    nearest = who[:half][far[half:, :half].argmin(1)]
    assert (nearest == who[half:]).mean() >= 0.9


def test_nobody_of_a_troupe_is_like_another(cast):
    looks = [wardrobe.features(one) for one in cast]
    for one, other in itertools.combinations(looks, 2):
        assert wardrobe.apart(one, other) >= troupe.APART


def test_who_comes_last_changes_nobody(cast):
    late = sheet("客人", "female", seed=5)
    assert troupe.unlike([*CAST, late])[:-1] == cast
    assert troupe.unlike(CAST[:4]) == cast[:4]
    assert [dataclasses.replace(one, seed=0) for one in cast] == [
        dataclasses.replace(one, seed=0) for one in CAST
    ]


def test_words_that_leave_no_choice_end_the_search():
    twins = [sheet(f"丫鬟{k}", "female", words=("双丫髻", "绿裙")) for k in "甲乙"]
    assert len(troupe.unlike(twins)) == 2


@pytest.mark.parametrize("era", sorted(lookbook.PALETTES))
@pytest.mark.parametrize("sex", ["female", "male"])
def test_whoever_tells_the_story_has_a_look_that_was_designed(era, sex):
    looks = [wardrobe.features(sheet("我", sex, era=era, seed=seed)) for seed in range(4)]
    assert len({(look["garment"], look["main"], look["hair_style"]) for look in looks}) == 1
    told = wardrobe.features(sheet("我", sex, era=era, words=("绿色长袍", "光头")))
    assert told["hair_style"] == "bald"
    assert told["main"] == "#4f7d5a"


@pytest.mark.parametrize("seed", range(12))
def test_the_grown_wear_the_colour_of_their_childhood(seed):
    look = wardrobe.features(sheet("闰土", age="child", era="countryside", seed=seed))
    child, grown = wardrobe.aged(look, "child"), wardrobe.aged(look, "adult")
    red, green, blue = (
        np.subtract(colour.of(child["main"]), colour.of(grown["trim"])).round().astype(int)
    )
    near = abs(red) + abs(green) + abs(blue) < 110
    clash = np.abs(np.subtract(colour.of(child["main"]), colour.of(grown["main"]))).sum() < 150
    assert near or clash
    assert grown["hat"] == child["hat"]


@pytest.mark.parametrize("era", ["republic", "modern", "campus", "countryside"])
def test_a_boy_has_the_hair_and_marks_of_the_man(era):
    for seed in range(12):
        look = wardrobe.features(sheet("闰土", age="child", era=era, seed=seed))
        boy, man = wardrobe.aged(look, "child"), wardrobe.aged(look, "adult")
        lasting = (
            "hair_style",
            "hair",
            "skin",
            "brow_form",
            "brow",
            "mole",
            "mole_at",
            "nick",
            "hat",
        )
        assert [boy[part] for part in lasting] == [man[part] for part in lasting]
