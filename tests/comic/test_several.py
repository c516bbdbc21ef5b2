"""Some who are alike are seen, and the dead are nobody else."""

import pytest

from mangen.comic import phrases, scenery


@pytest.mark.parametrize(
    ("text", "words", "people"),
    [
        ("苏晚走出公司大门。两个警察站在街上，望着她。", "两个警察", ("警察甲", "警察乙")),
        ("Tom Reed ran down the street. Two constables stood on the corner. Tom stopped.",
         "Two constables", ("first constable", "second constable")),
    ],
)  # fmt: skip
def test_two_who_are_alike_are_seen(boards, text, words, people):
    _, board = boards.of(text)
    shot = next(s for s in boards.shots(board) if any(words in li.text for li in s.lines))
    assert set(people) <= set(shot.characters)
    assert set(people) <= {character.name for character in board.characters}


def test_all_of_three_are_seen(boards):
    _, board = boards.of(
        "Ann Lee opened the door. Ann smiled at Tom Reed. Tom laughed. Mary Pell came in and "
        "Mary sat down.\n\nThat evening the three of them sat in the garden behind the shop."
    )
    shot = boards.shots(board)[-1]
    assert len(shot.characters) == 3
    assert shot.scene.place == "garden"


@pytest.mark.parametrize(
    "dead",
    [
        "Behind the desk a man in a grey suit lay dead.",
        "There lay a man in a grey suit. There was a knife in his chest.",
    ],
)
def test_the_dead_are_nobody_who_comes_later(boards, dead):
    _, board = boards.of(
        f"Ann Lee walked into the study. {dead}\n\n“Who is it?” said Ann Lee.\n\n"
        "Mr. Ortega came in from the hall. “Stand back,” said Mr. Ortega."
    )
    shot = next(s for s in boards.shots(board) if any("grey suit" in li.text for li in s.lines))
    assert "Mr. Ortega" not in shot.characters
    ortega = next(c for c in board.characters if c.name == "Mr. Ortega")
    assert "grey suit" not in ortega.words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Two old men sat there.", ["man"]),
        ("The ladies rose.", ["lady"]),
        ("He thought of two boys.", []),
        ("The man's hat fell.", []),
        ("A couple of thieves ran.", ["thief"]),
    ],
)
def test_plurals_of_people(text, found):
    assert [noun for _, _, noun in phrases.several(text)] == found


def test_whose_voice_is_heard_speaks(boards):
    _, board = boards.of(
        "苏晚走进大厅，手机响了。陆川站在门外。苏晚看了看手机。\n“别回头。”电话里是陆川的声音。\n陆川笑了。"
    )
    assert next(li.speaker for li in boards.lines(board) if li.quoted) == "陆川"


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("They sat in the garden behind the shop.", "garden"),
        ("Tom stood outside the old castle.", None),
    ],
)
def test_what_is_behind_a_place_is_not_in_it(words, place):
    assert scenery.look(words, (), "en").place == place
