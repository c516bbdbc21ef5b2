"""What a retake's words name is in its scene, and nothing else moves."""

import pytest

from mangen.comic import plan, retake, text
from mangen.ledger import scope

TEXT = "深夜，林月走在长街上，风很大。\n林月松了一口气。\n"


@pytest.fixture(scope="module")
def board():
    return plan.plan(text.decode(TEXT.encode(), "a"), title="夜行")


def retaken(board, prompt):
    made = retake.plan([scope.parse("1/e1/s2")], retake.Wishes(prompt=prompt))(board)
    return made.board.episodes[0].shots[1], made.detail["shots"]


@pytest.mark.parametrize(
    ("prompt", "labels"),
    [
        ("夜晚的海边，下雪", {"place": "sea", "time": "night", "weather": "snow"}),
        ("阳光下的教室", {"place": "classroom", "time": "day", "weather": "clear"}),
        ("大雨", {"place": "street", "time": "night", "weather": "rain"}),
        ("Snow falls on the harbour at night.", {"time": "night", "weather": "snow"}),
    ],
)
def test_the_words_stage_the_shot_anew(board, prompt, labels):
    shot, (told,) = retaken(board, prompt)
    assert {name: getattr(shot.scene, name) for name in labels} == labels
    assert shot.prompt == prompt
    assert told["scene"][0] != told["scene"][1]
    assert shot.scene.framing == board.episodes[0].shots[1].scene.framing


def test_things_come_and_words_that_name_nothing_leave_the_scene(board):
    before = board.episodes[0].shots[1]
    assert "cup" in retaken(board, "厨房里，桌上放着一杯茶")[0].scene.objects
    shot, (told,) = retaken(board, "更近一些")
    assert shot.scene == before.scene
    assert "scene" not in told
    assert retaken(board, before.prompt)[1] == []
