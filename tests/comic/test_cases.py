"""The cases that must work: each stands for a class of faults."""

import pytest

from mangen.comic import graph, plan

READABLE = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 14, 15]


@pytest.mark.parametrize("number", READABLE)
def test_every_character_is_accounted_for(boards, number):
    source, board = boards.case(number)
    assert not boards.uncovered(source, board)
    for line in boards.lines(board):
        assert line.text.strip()


@pytest.mark.parametrize("number", READABLE)
def test_shots_are_of_sane_length(boards, number):
    _, board = boards.case(number)
    for shot in boards.shots(board):
        assert 1.0 <= graph.shot_seconds(shot) <= 9.5


def test_01_headings_are_left_out_and_said_so(boards):
    _, board = boards.case(1)
    assert [piece.text for piece in board.left_out] == [
        "第1章 渡口", "第２章　茶棚", "【第三章】伞", "番外 老陈"
    ]  # fmt: skip
    assert {piece.why for piece in board.left_out} == {plan.HEADING}
    assert {"阿宁", "沈舟", "老陈"} <= {c.name for c in board.characters}
    assert boards.said(board) == [
        ("阿宁", "你真要走？"),
        ("沈舟", "天亮之前，我得过江。"),
        ("商人", "听说北边又打起来了。"),
        ("沈舟", "打不打，与我何干。"),
        ("阿宁", "拿着。江那边也下雨。"),
    ]


def test_02_body_lines_are_spoken(boards):
    _, board = boards.case(2)
    texts = [line.text for line in boards.lines(board)]
    for body in ("第九部队的人最先到，站得笔直。", "1. 清点人数", "2. 检查枪械"):
        assert body in texts
    assert [piece.text for piece in board.left_out] == ["第一章 集结", "第二章 出发"]


def test_03_speech_by_any_marks(boards):
    _, board = boards.case(3)
    assert boards.said(board) == [
        ("她", "你听見了嗎？"),
        ("他", "听见了，像是有人在喊‘救命’。"),
        ("她", "別出聲。"),
        ("她", "先看看再说。"),
        ("他", "你怕了？"),
        ("她", "不怕。"),
        ("她", "只是不想死在这里。"),
    ]
    narration = [line.text for line in boards.lines(board) if not line.quoted]
    assert "她按住他的手，" in narration
    assert "夜里再没有人说话。" in narration


def test_04_symbols_are_shown_or_left_out_and_never_spoken(boards):
    _, board = boards.case(4)
    spoken = [line.text for line in boards.lines(board) if line.spoken]
    assert spoken == ["他推开门。", "屋里空无一人。", "只有一盏灯还亮着。"]
    shown = [line.text for line in boards.lines(board) if not line.spoken]
    assert shown == ["……", "......", "！！！"]
    assert [piece.text for piece in board.left_out] == ["---", "***", "😱😱😱", "_ _ _"]


def test_05_numbers_are_whole(boards):
    _, board = boards.case(5)
    texts = [line.text for line in boards.lines(board)]
    assert "黄金涨到了1476.94美元，他却只剩3.5%的本金。" in texts
    assert "2026年11月29日，早上8:05，列车以350km/h的速度离站。" in texts
    assert ("房东", "房租2,300元，押一付三，一共9200。") in boards.said(board)


def test_06_a_long_sentence_becomes_many_shots(boards):
    _, board = boards.case(6)
    assert all(len(line.text) <= 40 for line in boards.lines(board))
    assert len(boards.shots(board)) > 20
    assert sum(len(line.text) <= 28 for line in boards.lines(board)) >= 0.95 * len(
        boards.lines(board)
    )


def test_07_both_languages_are_kept(boards):
    _, board = boards.case(7)
    by_text = {line.text: line for line in boards.lines(board)}
    assert by_text["She hung up."].language == "en"
    assert by_text["OK，deal！"].speaker == "Leo"
    assert by_text["Don’t sign it, 苏禾. 再想想。"].speaker == "电话那头的人"
    assert "窗外的霓虹写着 SALE 50% OFF。" in by_text
    assert by_text["OK，deal！"].quoted


def test_08_no_bom_and_no_indent(boards):
    _, board = boards.case(8)
    texts = [line.text for line in boards.lines(board)]
    assert texts == [
        "很久以前，海是红色的。",
        "那是血吗？",
        "孩子问。",
        "不，是珊瑚。",
        "老人答道。",
    ]
    assert board.episodes[0].title == "楔子"
    assert [speaker for speaker, _ in boards.said(board)] == ["孩子", "老人"]


def test_09_names_are_people_and_the_courtyard_is_sunny(boards):
    _, board = boards.case(9)
    assert {c.name for c in board.characters} == {"林若雪", "夜华", "雨桐", "风清扬"}
    for shot in boards.shots(board):
        scene = shot.scene
        assert (scene.place, scene.time, scene.weather) == ("courtyard", "day", "clear")
        assert scene.framing != "action"
    assert [speaker for speaker, _ in boards.said(board)] == ["林若雪", "夜华"]


def test_11_utf16_is_planned(boards):
    _, board = boards.case(11)
    assert boards.said(board)[0] == ("周屿", "有人吗？")
    assert board.episodes[0].title == "第一章 电梯"


def test_13_turns_alternate_and_pronouns_are_resolved(boards):
    _, board = boards.case(13)
    assert boards.said(board) == [
        ("赵岩", "冷吗？"),
        ("林夏", "不冷。"),
        ("赵岩", "那你为什么发抖？"),
        ("赵岩", "我明天就走了。"),
        ("林夏", "我知道。"),
    ]
    shot = next(s for s in boards.shots(board) if "她没有回答" in s.lines[0].text)
    assert shot.characters == ("林夏",)
    assert {c.name: c.sex for c in board.characters} == {"赵岩": "male", "林夏": "female"}


def test_14_a_wild_name_is_read(boards):
    source, board = boards.case(14)
    assert source.name == "14_it's 100% a∕name — 《故乡》😀.txt"
    assert boards.said(board) == [("剪辑师", "文件名不该影响成片。")]


def test_15_a_promo_is_a_hook_and_six_shots(boards):
    _, board = boards.case(15)
    assert len(board.episodes) == 1
    shots = boards.shots(board)
    assert len(shots) >= 6
    assert [line.text for line in shots[0].lines] == [
        "重生回到婚礼前一天，我当着全家的面撕了请帖。"
    ]
    assert boards.said(board) == [("妹妹", "姐姐，你疯了吗？"), ("我", "疯的是你们。")]
    assert {"我", "妹妹"} <= {c.name for c in board.characters}
    assert next(c for c in board.characters if c.name == "我").sex == "female"
