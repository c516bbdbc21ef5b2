"""Compositions: who is seen, where, and that faces stay clear of the subtitles."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from mangen.engines import protocol
from mangen.engines.animatic import colour, composition, figure, panel, stage, wardrobe
from mangen.engines.animatic.engine import Animatic

CHILD = protocol.CharacterSheet(name="闰土", sex="male", age="child", era="countryside")
NARRATOR = protocol.CharacterSheet(name="我", sex="male", era="republic", seed=1)
LADY = protocol.CharacterSheet(name="林若雪", sex="female", age="youth", era="modern", seed=2)
FRAMINGS = (
    *("establish", "medium", "close", "over_shoulder"),
    *("split", "action", "insert", "reaction"),
)
SIZES = [(720, 1280), (360, 640), (1280, 720), (720, 720)]


@pytest.fixture(scope="module")
def engine(scratch):
    return Animatic(scratch, scratch)


def shot(*sheets, framing="medium", speaker=None, seed=3, width=180, height=320, **scene):
    return protocol.PanelRequest(
        kind="shot",
        width=width,
        height=height,
        seed=seed,
        scene=protocol.SceneLabels(framing=framing, **scene),
        figures=tuple(
            protocol.Figure(
                sheet=sheet, features=wardrobe.features(sheet), speaking=sheet.name == speaker
            )
            for sheet in sheets
        ),
    )


def laid_out(request):
    s = stage.of(request)
    return s, composition.of(s, request, panel.foot(s))


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("framing", [f for f in FRAMINGS if f != "insert"])
@pytest.mark.parametrize("sheets", [(CHILD,), (NARRATOR,), (NARRATOR, CHILD), (LADY,) * 4])
@pytest.mark.parametrize("seed", [3, 4])
def test_no_face_lies_under_the_subtitles(width, height, framing, sheets, seed):
    request = shot(*sheets, framing=framing, width=width, height=height, seed=seed)
    s, plan = laid_out(request)
    for one in plan.people:
        left, top, right, bottom = figure.face_box(one.look, one.act)
        eyes = (one.y + figure.seat(one.look, one.act).y * one.size) / s.h
        assert 0.05 < (eyes - 0.1) / 0.8 < 0.7
        assert 0.05 * s.w < one.x + (left + right) / 2 * one.size < 0.95 * s.w
        if not one.back:
            assert (one.y + bottom * one.size) / s.h < 0.7  # subtitles begin at 0.698 of the panel
            assert (one.y + top * one.size) / s.h > 0.06


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("speaker", ["我", "林若雪"])
def test_who_speaks_is_seen_from_the_front(framing, speaker):
    _, plan = laid_out(shot(NARRATOR, LADY, framing=framing, speaker=speaker))
    assert speaker in [one.name for one in plan.people if one.speaking and not one.back]


def test_who_listens_is_seen_from_behind_over_his_shoulder():
    _, plan = laid_out(shot(NARRATOR, LADY, framing="over_shoulder", speaker="林若雪"))
    assert [(one.name, one.back) for one in plan.people] == [("林若雪", False), ("我", True)]
    speaker, listener = plan.people
    assert listener.size > speaker.size


@pytest.mark.parametrize("gesture", ["run", "bow", "kneel", "strike"])
@pytest.mark.parametrize("seed", range(4))
def test_whoever_listens_hides_no_speaker_whatever_he_does(gesture, seed):
    request = shot(NARRATOR, LADY, framing="over_shoulder", speaker="林若雪", seed=seed)
    figures = tuple(
        one if one.speaking else dataclasses.replace(one, gesture=gesture)
        for one in request.figures
    )
    _, plan = laid_out(dataclasses.replace(request, figures=figures))
    speaker, listener = (
        [one.x + x * one.size for x in figure.face_box(one.look, one.act)[::2]]
        for one in plan.people
    )
    shared = min(speaker[1], listener[1]) - max(speaker[0], listener[0])
    assert shared < 0.4 * (speaker[1] - speaker[0])


@pytest.mark.parametrize("framing", ["split", "over_shoulder"])
def test_a_framing_for_two_shows_one_close_when_alone(framing):
    _, plan = laid_out(shot(NARRATOR, framing=framing))
    assert plan.framing == "close"


def test_the_framings_are_different_pictures(engine, make):
    drawn = {
        framing: make(engine, shot(NARRATOR, LADY, framing=framing, place="office")).image
        for framing in FRAMINGS
    }
    for one, other in itertools.combinations(drawn.values(), 2):
        assert np.abs(one.astype(int) - other).mean() > 8


@pytest.mark.parametrize("framing", ["medium", "close", "establish"])
def test_another_seed_is_another_angle(framing):
    plans = [laid_out(shot(NARRATOR, framing=framing, seed=seed))[1] for seed in range(6)]
    assert len({(plan.people[0].x, plan.people[0].size) for plan in plans}) == 6


def test_tense_moods_lean_and_calm_ones_stand():
    assert laid_out(shot(NARRATOR, mood="tense"))[1].tilt
    assert not laid_out(shot(NARRATOR, mood="calm"))[1].tilt


@pytest.mark.parametrize(("width", "height"), [(360, 640), (640, 360)])
def test_a_split_has_a_gutter_of_paper(engine, make, width, height):
    request = shot(NARRATOR, LADY, framing="split", width=width, height=height)
    image = make(engine, request).image.astype(int)
    paper = np.abs(image - np.array(colour.PAPER)).max(2) < 24
    upright = height > width
    across = paper if upright else paper.T
    across = across[:, 40:-40]  # what a camera sees
    runs = [int(column.sum()) for column in across.T]
    wanted = composition.GUTTER * stage.of(request).unit
    assert all(0.4 * wanted < run for run in runs)
    middle = [np.flatnonzero(column).mean() for column in across.T]
    assert abs(middle[0] - middle[-1]) > 0.05 * across.shape[1]  # it slants


def test_age_gesture_and_hands_reach_the_figure():
    request = shot(CHILD)
    figure_ = dataclasses.replace(request.figures[0], age="elder", gesture="wave", held="fork")
    _, plan = laid_out(dataclasses.replace(request, figures=(figure_,)))
    one = plan.people[0]
    assert one.look["age"] == "elder"
    assert (one.act.gesture, one.act.held) == ("wave", "fork")


def test_faces_are_where_the_panel_says(engine, make):
    request = shot(NARRATOR, LADY, framing="medium", width=360, height=640, speaker="我")
    product = make(engine, request)
    assert [face.name for face in product.faces] == ["林若雪", "我"]
    for face in product.faces:
        left, top, right, bottom = face.box
        assert left < face.mouth[0] < right
        assert (top + bottom) / 2 < face.mouth[1] < bottom
        inside = product.layers[face.layer].image[top:bottom, left:right, 3]
        assert (inside == 255).mean() > 0.7


@pytest.mark.parametrize("emotion", ["calm", "happy", "sad", "angry", "surprised", "afraid", "?"])
def test_a_reaction_has_a_ground_of_its_feeling(engine, make, emotion):
    request = shot(NARRATOR, framing="reaction")
    felt = dataclasses.replace(request.figures[0], emotion=emotion)
    product = make(engine, dataclasses.replace(request, figures=(felt,)))
    assert (product.layers[0].image[..., 3] == 255).all()
    assert product.layers[0].image[..., :3].std() > 3


@pytest.mark.parametrize("focus", ["", "letter", "unheard of"])
@pytest.mark.parametrize("sheets", [(), (LADY,)])
def test_an_insert_draws_whatever_it_is_of(engine, make, focus, sheets):
    request = shot(*sheets, framing="insert", focus=focus, place="room")
    assert make(engine, request).image.std() > 10


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize(("width", "height"), [(64, 64), (64, 512), (512, 64)])
def test_odd_sizes_draw(engine, make, framing, width, height):
    request = shot(NARRATOR, LADY, framing=framing, width=width, height=height, speaker="我")
    request = dataclasses.replace(
        request, lettering=(protocol.Lettering(line=0, text="你好，good 2024！", by="我"),)
    )
    product = make(engine, request)
    assert product.image.shape[0] >= height
    for letter in product.letters:
        assert letter.patch.image.shape[2] == 4
