from __future__ import annotations

import dataclasses
import itertools

import pytest

from mangen.comic import graph, look, model, voicing
from mangen.engines.voice import kokoro
from tests.comic import drawers

NARRATORS = {"zh": "zm_yunyang", "en": "bm_george"}


def person(name, sex="female", age="adult", words=()):
    return model.Character(name=name, sex=sex, age=age, words=words)


def board_of(*people, language="zh"):
    return model.Storyboard(title="", language=language, characters=people, episodes=())


def cast_of(*people, language="zh", **wishes):
    return voicing.cast(board_of(*people, language=language), **NARRATORS, **wishes)


def said(speaker, emotion="calm", *, age="", mood="calm", quoted=True):
    line = model.Line(no=1, text="好", span=(0, 1), speaker=speaker, quoted=quoted)
    scene = dataclasses.replace(model.Shot(no=1, identity="").scene, mood=mood)
    return model.Shot(
        no=1, identity="", lines=(line,), characters=(speaker or "",), emotions=(emotion,),
        ages=(age,), scene=scene,
    ), line  # fmt: skip


def test_every_voice_that_is_cast_is_there():
    known = set(kokoro.voices())
    for slots in voicing._SLOTS.values():
        assert {name for name, _, _ in slots} <= known
    assert set(NARRATORS.values()) <= known


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("sex", ["female", "male"])
def test_no_two_leads_of_one_sex_sound_alike_at_any_age(language, sex):
    names = ["林若雪", "叶辰", "苏禾", "顾长风"]
    cast = cast_of(*(person(name, sex) for name in names), language=language)
    for one, other in itertools.combinations(names, 2):
        for ages in itertools.product(("child", "youth", "adult", "elder"), repeat=2):
            first, second = (
                cast.of(cast.characters[name], age)
                for name, age in zip((one, other), ages, strict=True)
            )
            assert first.name != second.name or abs(first.pitch - second.pitch) > 0.015


@pytest.mark.parametrize("sex", ["female", "male"])
def test_two_leads_of_one_sex_have_different_voices_whatever_their_names(sex):
    for names in itertools.permutations("甲乙丙丁戊己", 2):
        cast = cast_of(*(person(name, sex) for name in names))
        first, second = (cast.of(cast.characters[name]) for name in names)
        assert first.name != second.name


def test_the_narrator_s_voice_is_nobody_else_s():
    people = [
        person(str(n), sex, age)
        for n, (sex, age) in enumerate(
            itertools.product(("female", "male", "unknown"), ("child", "youth", "adult", "elder"))
        )
    ]
    for language, narrator in NARRATORS.items():
        cast = cast_of(*people, language=language)
        for one in people:
            voice = cast.of(one)
            assert voice.name != narrator or abs(voice.pitch - 1) > 0.05
            assert voice.name[0] in ("z" if language == "zh" else "ab")
            if one.sex != "unknown" and one.age != "child":
                assert voice.name[1] == one.sex[0]


def test_smaller_roles_change_no_larger_one_s_voice():
    leads = [
        person("苏禾"),
        person("叶辰", "male"),
        person("林若雪"),
        person("老周", "male", "elder"),
    ]
    before = cast_of(*leads)
    after = cast_of(*leads, *(person(str(n), s) for n in range(9) for s in ("male", "female")))
    assert [before.of(one) for one in leads] == [after.of(one) for one in leads]
    # and an elder sounds like one
    assert before.of(leads[3]).pitch < 0.96
    assert before.of(leads[3]).speed < before.of(leads[1]).speed


def test_a_character_met_as_a_child_has_a_child_s_voice_there():
    cast = cast_of(person("闰土", "male"))
    child, man = (cast.voice(*said("闰土", age=age)) for age in ("child", ""))
    assert child.name == "zm_yunxia" or child.pitch > 1.2
    assert man.name != "zm_yunxia"
    assert man.pitch < 1.1


def test_moods_bend_a_voice_and_keep_it():
    cast = cast_of(person("苏禾"))
    calm = cast.voice(*said("苏禾"))
    sad, angry = (cast.voice(*said("苏禾", emotion)) for emotion in ("sad", "angry"))
    assert sad.name == angry.name == calm.name
    assert sad.speed < calm.speed < angry.speed
    assert sad.pitch < calm.pitch
    assert cast.voice(*said("苏禾", "no such feeling")) == calm


def test_a_cry_and_a_line_that_dies_away_are_heard():
    cast = cast_of(person("苏禾"))
    shot, line = said("苏禾")
    plain, cry, faint = (
        cast.voice(shot, dataclasses.replace(line, text=text)).speed
        for text in ("放开", "“放开！”", "放开……”")
    )
    assert faint < plain < cry


def test_the_only_man_of_an_english_text_is_not_the_narrator_s_voice():
    for age in ("youth", "adult", "elder"):
        cast = cast_of(person("Harlow", "male", age), language="en")
        assert cast.of(cast.characters["Harlow"]).name == "am_michael"


def test_temper_is_heard():
    plain, soft, rough = (
        cast_of(person("苏禾", words=words)).voice(*said("苏禾"))
        for words in ((), ("温柔",), ("暴躁",))
    )
    assert soft.speed < plain.speed < rough.speed


def test_what_nobody_says_the_narrator_says():
    cast = cast_of(person("苏禾"), speed=0.9)
    for shot, line in (said(None), said("谁"), said("苏禾", quoted=False)):
        assert cast.voice(shot, line).name == "zm_yunyang"
        assert cast.voice(shot, line).speed == 0.9
    tense, sad = (cast.voice(*said(None, mood=mood)).speed for mood in ("tense", "sad"))
    assert sad < 0.9 < tense


def test_voices_stay_within_what_a_person_can_do():
    words = ("魁梧", "暴躁", "冷", "活泼", "清脆")
    for age, emotion in itertools.product(("child", "elder", "odd"), voicing._EMOTIONS):
        for speed in (0.2, 1.0, 3.0):
            cast = cast_of(person("苏禾", "male", age, words), speed=speed)
            voice = cast.voice(*said("苏禾", emotion))
            assert voicing.SPEEDS[0] <= voice.speed <= voicing.SPEEDS[1]
            assert voicing.PITCHES[0] <= voice.pitch <= voicing.PITCHES[1]


def test_a_text_s_lines_are_spoken_by_its_people(boards):
    _, board = boards.of("“你来了。”林若雪说。\n叶辰点了点头。\n“我来了。”叶辰说。")
    drawn = look.Look(sketch=drawers.Sketch())
    found = [
        job.params for job in graph.wanted(board, episodes=[1], look=drawn) if job.stage == "voice"
    ]
    voices = {params["text"].strip("“”"): params["voice"] for params in found}
    assert voices["你来了。"].startswith("zf_")
    assert len({voices["你来了。"], voices["我来了。"], drawn.voice}) == 3
