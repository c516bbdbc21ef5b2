"""Memories begin where the words go back, and end where they return."""

import pytest

ROMANCE = """雨下得很大，林若雪撑着一把黑伞，站在街边等人。
顾言从公司楼下走出来，看着她：“你怎么来了？”
三年前的春天，大学的校园里，顾言手里拿着一朵红花，红着脸站在她面前。
“若雪，做我女朋友，好不好？”
林若雪笑了，接过那朵红花。
{back}
林若雪转过身，走进雨里，顾言没有追。
"""


@pytest.mark.parametrize(
    ("back", "place"),
    [
        ("如今，林若雪把那朵花递给他。", "street"),
        ("现在，那朵花早已干枯。", "street"),
        ("林若雪站在街边，眼里有泪。", "street"),
        ("三天后，林若雪在病房里醒来。", "hospital"),
    ],
)
def test_a_memory_ends_where_the_story_plays(boards, back, place):
    _, board = boards.of(ROMANCE.format(back=back))
    shots = boards.shots(board)
    first = next(n for n, shot in enumerate(shots) if "大学的校园" in shot.lines[0].text)
    last = next(n for n, shot in enumerate(shots) if back[:4] in shot.lines[0].text)
    assert {(s.scene.place, s.memory) for s in shots[first:last]} == {("classroom", True)}
    assert {(s.scene.place, s.memory) for s in shots[last:]} == {(place, False)}
    if place == "street":
        assert {shot.scene.weather for shot in shots[last:]} == {"rain"}


def test_who_has_a_thing_in_hands_is_seen_with_it(boards):
    _, board = boards.of(ROMANCE.format(back="如今，林若雪看着他。"))
    shot = next(s for s in boards.shots(board) if any("一朵红花" in li.text for li in s.lines))
    assert shot.scene.framing != "insert"
    assert dict(zip(shot.characters, shot.held, strict=True))["顾言"] == "red flower"


def test_the_one_who_remembers_is_not_in_the_picture(boards):
    _, board = boards.of(
        "Old Mr. Pell sat in his shop. Mr. Pell sighed.\n\n"
        "Forty years ago, he remembered, two boys stood on a frozen river under the moon. "
        "One held out a silver watch and smiled.\n\n"
        "“It was long ago,” said Mr. Pell."
    )
    shots = boards.shots(board)
    river = [shot for shot in shots if shot.scene.place == "river"]
    assert river[0].characters == ("first boy", "second boy")
    assert not any("Mr. Pell" in shot.characters for shot in river)
    assert shots[-1].scene.place == "shop"
    assert next(c for c in board.characters if c.name == "Mr. Pell").age == "elder"
