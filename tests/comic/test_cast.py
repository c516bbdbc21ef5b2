"""Who is in a text: names whole, sexes by pronouns."""

import itertools

import pytest

from mangen.comic import plan, text

LEADS = (
    *("郭守义", "王德福", "顾长风", "韩飞虎", "宋连城", "李存孝", "赵无极", "周明远"),
    *("欧阳明月", "林若雪", "叶辰", "沈舟"),
)


@pytest.mark.parametrize("name", LEADS)
def test_a_name_is_whole_whatever_stands_around_it(boards, name):
    _, board = boards.of(
        f"{name}站在门口，没有再说一句话。\n{name}冷笑道：“你来晚了。”\n“原来是你。”{name}说道。\n"
        f"他看着{name}，{name}放下茶杯。"
    )
    assert [c.name for c in board.characters if c.name[0] == name[0]] == [name]
    assert {speaker for speaker, _ in boards.said(board)} == {name}


def test_names_that_stand_once_or_twice_are_whole_too(boards):
    _, board = boards.of(
        "郭守义点了点头，走进客栈。\n“你来晚了。”王德福说道。\n顾长风放下茶杯，看着远方。韩飞虎转身离去。\n"
        "“这里说话不方便。”宋连城冷笑道。\n郭守义对韩飞虎说道：“原来是你。”"
    )
    names = {c.name for c in board.characters}
    assert names == {"郭守义", "王德福", "顾长风", "韩飞虎", "宋连城"}
    assert boards.said(board)[-1] == ("郭守义", "原来是你。")


def test_a_short_name_takes_nothing_of_the_verb_after_it(boards):
    _, board = boards.of(
        "陈默把信放在桌上。陈默把门关上。陈默把灯吹灭。“睡吧。”陈默说。\n"
        "林晚手里拿着伞。林晚手里还有一本书。“走。”林晚说。"
    )
    assert {c.name for c in board.characters} == {"陈默", "林晚"}


def test_a_pronoun_that_is_no_subject_tells_no_sex(boards):
    _, board = boards.of(
        "林晚站在门口。\n她转过身，看见顾言深靠在车旁。他穿着西装。\n"
        "顾言深没有接，只是盯着她的眼睛：“为什么？”\n她愣住了。\n“因为你。”她说。"
    )
    assert {c.name: c.sex for c in board.characters} == {"林晚": "female", "顾言深": "male"}


def test_the_leads_of_a_long_generated_novel_are_whole():
    chapters = [
        f"第{n}章\n清晨，下着雨。{a}走进客栈。\n{a}对{b}说道：“你来晚了，明天一早就动身。”\n"
        f"{b}站在门口，点了点头，没有再说一句话。\n“信在谁手里。”{b}叹道。\n{b}握着那封信，{a}停下脚步。"
        for n, (a, b) in enumerate(itertools.pairwise(LEADS), 1)
    ]
    board = plan.plan(text.decode("\n".join(chapters * 3).encode(), "x"), title="x")
    speakers = {
        line.speaker
        for episode in board.episodes
        for shot in episode.shots
        for line in shot.lines
        if line.quoted
    }
    assert speakers == set(LEADS)


XIANXIA = (
    "青云宗，外门演武场。\n“萧凡，你这个废物！”赵无极一脚踩在少年的胸口，冷笑道。\n"
    "忽然，天边一道惊雷劈下，一名白衣女子踏剑而来，长发飞舞。\n“住手。”她的声音清冷如霜。\n"
    "“洛……洛仙子！”赵无极连忙收剑行礼。\n洛清寒走到萧凡面前，伸出手：“跟我走。”\n"
)


def test_a_stranger_is_who_is_named_next(boards):
    _, board = boards.of(XIANXIA)
    coming = next(s for s in boards.shots(board) if "踏剑" in s.lines[0].text)
    assert coming.characters == ("洛清寒",)
    assert ("洛清寒", "住手。") in boards.said(board)
    her = next(c for c in board.characters if c.name == "洛清寒")
    assert her.sex == "female"
    assert {"白衣", "长发", "清冷"} <= set(her.words)


def test_a_stranger_whom_nobody_names_is_nobody(boards):
    _, board = boards.of("林晚站在门口。“谁？”林晚说。\n一名白衣女子走来。\n林晚没有说话。")
    coming = next(s for s in boards.shots(board) if "白衣" in s.lines[0].text)
    assert "林晚" not in coming.characters


def test_who_is_called_is_seen_beside_and_who_is_talked_of_is_not(boards):
    _, board = boards.of(
        "陈默推开门。林晚站起身。\n“林晚，我们走。”陈默说。\n雨停了。\n天亮了，路上一个人也没有。\n"
        "“林晚的信呢？”陈默问。"
    )
    shots = {s.lines[0].text: s for s in boards.shots(board)}
    assert shots["林晚，我们走。"].characters == ("陈默", "林晚")
    assert shots["林晚的信呢？"].characters == ("陈默",)


def test_everybody_is_drawn_and_heard_as_of_one_sex(boards):
    _, board = boards.of("沈舟推开门。“谁？”沈舟问。\n“是我。”医生说。\n医生走进房间，沈舟站起身。")
    assert {c.name for c in board.characters} == {"沈舟", "医生"}
    assert {c.sex for c in board.characters} <= {"female", "male"}
