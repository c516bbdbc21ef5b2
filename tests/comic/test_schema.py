"""A person's storyboard is read strictly: errors name the place, the value and the mend."""

from __future__ import annotations

import json

import pytest

from mangen import errors
from mangen.comic import schema
from mangen.engines.animatic import camera
from tests.comic.studio import WORDS


@pytest.fixture(scope="module")
def board(boards):
    return boards.of(WORDS)[1]


@pytest.fixture
def data(board):
    return json.loads(json.dumps(board.to_json()))


def read(data, before=None):
    return schema.read(data, before=before, size=10_000, name="b.json")


def test_what_the_planner_writes_is_read_back_as_it_was(boards):
    for path in sorted(boards.path(1).parent.iterdir()):
        try:
            source, board = boards.case(int(path.name[:2]))
        except errors.TextError:
            continue
        found = schema.read(
            json.loads(json.dumps(board.to_json())), before=board, size=len(source.text)
        )
        assert found == board, path.name


@pytest.mark.parametrize(
    ("where", "value", "said"),
    [
        ("episodes.0.shots.2.scene.place", "moon", "shots[2].scene.place: 'moon' is none of room"),
        ("episodes.0.shots.2.scene.place", "rooom", "did you mean 'room'?"),
        ("episodes.0.shots.1.characters", ["王二"], "characters[0]: '王二' is no character"),
        ("episodes.0.shots.1.lines.0.speaker", "王二", "lines[0].speaker: '王二' is no character"),
        ("episodes.0.shots.1.motion", "spin", "motion: 'spin' is none of push"),
        ("episodes.0.shots.1.take", 0, "take: 0 must be a whole number from 1"),
        ("episodes.0.shots.1.take", True, "take: True must be a whole number"),
        ("episodes.0.shots.1.seed", "7", "seed: '7' must be a whole number"),
        ("episodes.0.shots.1.memory", 1, "memory: 1 must be true or false"),
        ("episodes.0.shots.1.prompt", "x" * 5000, "prompt: has 5000 characters; at most 4000"),
        ("episodes.0.shots.1.prompt", "a\0b", "holds a character that is none"),
        ("episodes.0.shots.1.promt", "x", "'promt' is no field of it; did you mean 'prompt'?"),
        ("episodes.0.shots.1.lines.0.span", [5, 2], "span: [5, 2] must be two offsets"),
        ("episodes.0.shots.1.lines.0.text", " ", "text: must not be empty"),
        ("episodes.0.shots.1.scene", [], "scene: must be an object"),
        ("episodes.0.shots", [], "episodes[0].shots: must hold at least 1"),
        ("episodes.0.shots", "x", "episodes[0].shots: 'x' must be a list"),
        ("episodes.0.no", 0, "episodes[0].no: 0 must be a whole number from 1"),
        ("title", "", "title: must not be empty"),
        ("language", "fr", "language: 'fr' is none of zh, en"),
        ("characters.0.age", "old", "characters[0].age: 'old' is none of child"),
    ],
)  # fmt: skip
def test_a_wrong_thing_is_named_with_its_place(data, where, value, said):
    *path, last = where.split(".")
    at = data
    for step in path:
        at = at[int(step) if step.isdecimal() else step]
    at[last] = value
    with pytest.raises(errors.UsageError) as raised:
        read(data)
    assert str(raised.value).startswith("b.json: ")
    assert said in str(raised.value)


def test_what_is_missing_or_there_twice_is_named(data):
    twice = {**data, "characters": [data["characters"][0]] * 2}
    with pytest.raises(errors.UsageError, match=r"characters\[1\]: .* is there twice"):
        read(twice)
    with pytest.raises(errors.UsageError, match="episodes: is missing"):
        read({"title": "a", "language": "zh"})
    data["episodes"][0]["shots"][1]["emotions"] = ["sad"] * 5
    with pytest.raises(errors.UsageError, match=r"emotions: holds 5; at most"):
        read(data)


def test_a_shot_keeps_its_number_wherever_it_stands(board, data):
    shots = data["episodes"][0]["shots"]
    shots.insert(1, {"prompt": "新"})
    shots.insert(1, dict(shots[2]))  # a copy, with the identity of another
    for no, shot in enumerate(shots, 1):
        shot["no"] = no
    found = read(data, board).episodes[0].shots
    last = len(board.episodes[0].shots)
    assert [shot.no for shot in found[:4]] == [1, 2, last + 1, last + 2]
    assert len({shot.no for shot in found}) == len({shot.identity for shot in found}) == len(found)
    assert read(data, board) == read(json.loads(json.dumps(read(data, board).to_json())), board)


def test_the_words_are_those_that_the_camera_knows():
    assert schema.MOTIONS == camera.MOTIONS


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"revision": {}}, "revision: must be a string"),
        ({"language": "x" * 10**6}, "language: 'xxx"),
        ({"language": list(range(10**6))}, r"language: \[0, 1, 2, 3, …"),
        ({"title": 10**5000}, "title: a number that long"),
        ({"title": [10**5000]}, "title: what stands there"),
        ({5: 1}, "5 is no name of a field"),
        ({"left_out": [{}] * 100_001}, "at most 100000"),
    ],
)
def test_a_wrong_thing_of_any_size_is_named_shortly(change, said):
    data = {"title": "t", "language": "zh", "episodes": [{"no": 1, "title": "", "shots": [{}]}]}
    with pytest.raises(errors.UsageError, match=said) as found:
        schema.plan(1, data | change, name="f", size=9)(None)
    assert len(str(found.value)) < 300
