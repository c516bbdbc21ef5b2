"""Chinese texts of two genres: who is seen, where, when, with what."""

import pathlib

import pytest

TEXTS = pathlib.Path(__file__).parent / "chinese"


@pytest.fixture(scope="module")
def staged(boards):
    return {
        path.stem: boards.of(path.read_text("utf-8"))[1] for path in sorted(TEXTS.glob("*.txt"))
    }


@pytest.mark.parametrize(
    ("text", "name", "sheet"),
    [
        ("immortals", "沈霜", ("female", "adult", {"白衣", "长发"})),
        ("immortals", "楚玄", ("male", "adult", {"黑袍"})),
        ("immortals", "老者", ("male", "elder", {"白须"})),
        ("campus", "我", ("female", "youth", {"校服"})),
        ("campus", "苏曼", ("female", "youth", set())),
        ("campus", "江屿", ("male", "youth", {"白衬衫"})),
    ],
)
def test_a_sheet_is_what_the_text_says(staged, text, name, sheet):
    sex, age, words = sheet
    found = next(c for c in staged[text].characters if c.name == name)
    assert (found.sex, found.age) == (sex, age)
    assert words <= set(found.words)


def test_nobody_else_is_drawn(staged):
    assert {c.name for c in staged["immortals"].characters} == {"沈霜", "楚玄", "老者"}
    assert {c.name for c in staged["campus"].characters} == {"我", "苏曼", "江屿", "班主任"}


@pytest.mark.parametrize(
    ("at", "people", "held", "scene"),
    [
        ("immortals: 跪在师父", ("沈霜",), ("sword",), ("mountain", "night", "fog")),
        ("immortals: 黑袍青年", ("楚玄",), ("",), ("mountain", "night", "fog")),
        ("immortals: 一剑刺去", ("沈霜",), ("sword",), ("mountain", "night", "fog")),
        ("immortals: 骑着仙鹤", ("老者",), ("staff",), ("mountain", "night", "thunder")),
        ("immortals: 走下了", ("沈霜", "老者"), ("sword", "staff"), ("mountain", "dawn", "snow")),
        ("campus: 成了全校", ("我",), ("",), ("classroom", "day", "clear")),
        ("campus: 你又考了", ("班主任", "我"), ("", ""), ("classroom", "day", "clear")),
        ("campus: 从人群里", ("江屿",), ("",), ("field", "day", "clear")),
        ("campus: 等我", ("江屿", "我"), ("blue umbrella", ""), ("street", "day", "rain")),
    ],
)
def test_a_shot_shows_who_and_where(boards, staged, at, people, held, scene):  # noqa: PLR0917 - a row of the table
    text, words = at.split(": ")
    shot = next(
        shot for shot in boards.shots(staged[text]) if any(words in li.text for li in shot.lines)
    )
    assert (shot.characters, shot.held) == (people, held)
    assert (shot.scene.place, shot.scene.time, shot.scene.weather) == scene


def test_who_speaks_is_seen_and_no_action_is_empty(boards, staged):
    for board in staged.values():
        drawn = {c.name for c in board.characters}
        for shot in boards.shots(board):
            assert shot.characters or shot.scene.framing != "action"
            for line in shot.lines:
                assert not line.quoted or line.speaker not in drawn - set(shot.characters)


def test_a_laughing_stock_does_not_laugh(boards, staged):
    shot = boards.shots(staged["campus"])[0]
    assert shot.emotions == ("calm",)
