import dataclasses
import itertools
import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mangen import errors
from mangen.comic import graph, model, plan, text
from mangen.pooling.devices import cpu

HOMETOWN_2 = (
    "这时候，我的脑里忽然闪出一幅神异的图画来：深蓝的天空中挂着一轮金黄的圆月，下面是海边的沙地，"
    "都种着一望无际的碧绿的西瓜，其间有一个十一二岁的少年，项带银圈，手捏一柄钢叉，向一匹猹尽力的刺去，那猹却将身一扭，反从他的胯下逃走了。\n"
    "这少年便是闰土。\n"
)
HOMETOWN_3 = (
    "我这时很兴奋，但不知道怎么说才好，只是说：\n“阿！闰土哥，——你来了？……”\n"
    "我接着便有许多话，想要连珠一般涌出：角鸡，跳鱼儿，贝壳，猹，……"
    "但又总觉得被什么挡着似的，单在脑里面回旋，吐不出口外去。\n"
    "他站住了，脸上现出欢喜和凄凉的神情；动着嘴唇，却没有作声。"
    "他的态度终于恭敬起来了，分明的叫道：\n“老爷！……”\n"
    "我似乎打了一个寒噤；我就知道，我们之间已经隔了一层可悲的厚障壁了。我也说不出话。"
)
RED_CHAMBER = (
    "黛玉亦常听得母亲说过，二舅母生的有个表兄，乃衔玉而诞。宝玉看罢，因笑道：“这个妹妹我曾见过的。”贾母笑道：“可又是胡说，"
    "你又何曾见过他？”宝玉笑道："
    "“虽然未曾见过他，然我看着面善，心里就算是旧相识，今日只作远别重逢，亦未为不可。”贾母笑道："
    "“更好，更好，若如此，更相和睦了。”宝玉便走近黛玉身边坐下，又细细打量一番，因问：“妹妹可曾读书？”黛玉道：“不曾读，"
    "只上了一年学，些须认得几个字。”"
)
WEB_NOVEL = (
    "夜色如墨，暴雨砸在江城的霓虹灯上。叶辰站在天台边缘，浑身湿透。\n“三年了。”他低声说道，“我终于回来了。”\n"
    "身后，林若雪撑着黑伞，声音发颤：“叶辰，你……你不是已经死了吗？”\n“让你失望了。”叶辰缓缓转身，嘴角勾起一抹冷笑。\n"
    "“你到底想怎么样？”\n“我要叶家，血债血偿！”\n轰——一道惊雷劈下，照亮了他手中的长剑。"
)
CAROL = (
    "Marley was dead: to begin with. Once upon a time, of all the good days in the year, on "
    "Christmas Eve, old Scrooge sat busy in his counting-house. It was cold, bleak, biting "
    'weather: foggy withal. "A merry Christmas, uncle! God save you!" cried a cheerful voice. '
    'It was the voice of Scrooge\'s nephew. "Bah!" said Scrooge, "Humbug!" "Christmas a humbug, '
    'uncle!" said Scrooge\'s nephew. "You don\'t mean that, I am sure?" "I do," said Scrooge. '
    '"Merry Christmas! What right have you to be merry?"'
)


def test_speakers_of_an_old_novel(boards):
    _, board = boards.of(RED_CHAMBER)
    speakers = [speaker for speaker, _ in boards.said(board)]
    assert speakers == ["宝玉", "贾母", "宝玉", "宝玉", "贾母", "宝玉", "黛玉"]


def test_speakers_of_a_web_novel(boards):
    _, board = boards.of(WEB_NOVEL)
    assert boards.said(board) == [
        ("叶辰", "三年了。"),
        ("叶辰", "我终于回来了。"),
        ("林若雪", "叶辰，你……你不是已经死了吗？"),
        ("叶辰", "让你失望了。"),
        ("林若雪", "你到底想怎么样？"),
        ("叶辰", "我要叶家，血债血偿！"),
    ]
    assert {c.name: c.sex for c in board.characters} == {"叶辰": "male", "林若雪": "female"}


def test_scenes_of_a_web_novel(boards):
    _, board = boards.of(WEB_NOVEL)
    shots = boards.shots(board)
    assert {(s.scene.place, s.scene.time) for s in shots} == {("street", "night")}
    assert shots[0].scene.weather == "rain"
    assert shots[-1].scene.weather == "thunder"
    assert shots[-1].scene.framing == "action"


def test_a_memory_has_its_own_scene_and_a_role_gets_its_name(boards):
    _, board = boards.of(HOMETOWN_2 + HOMETOWN_3)
    shots = boards.shots(board)
    memory = [s for s in shots if (s.scene.place, s.scene.time) == ("sea", "night")]
    assert len(memory) == 5
    assert shots[1 : 1 + len(memory)] == memory
    assert (shots[0].scene.place, shots[0].characters) == ("courtyard", ("我",))
    assert any("少年" in s.lines[0].text and s.characters == ("闰土",) for s in memory)
    friend = next(c for c in board.characters if c.name == "闰土")
    assert friend.sex == "male"
    assert "银圈" in friend.words
    assert ("闰土", "老爷！……") in boards.said(board)
    assert ("我", "阿！闰土哥，——你来了？……") in boards.said(board)


def test_an_english_text_has_english_lines_and_attributions_are_no_shots(boards):
    _, board = boards.of(CAROL)
    assert board.language == "en"
    assert {line.language for line in boards.lines(board)} == {"en"}
    speakers = {words: speaker for speaker, words in boards.said(board)}
    assert speakers["Bah!"] == speakers["Humbug!"] == speakers["I do,"] == "Scrooge"
    assert speakers["Christmas a humbug, uncle!"] == "nephew"
    for shot in boards.shots(board):
        assert not all(line.text.startswith("said ") for line in shot.lines)


def test_shots_have_sane_lengths_and_sizes(boards):
    _, board = boards.of(f"{WEB_NOVEL}\n{HOMETOWN_3}\n{RED_CHAMBER}")
    for shot in boards.shots(board):
        assert 1 <= len(shot.lines) <= 3
        assert 1.5 <= graph.shot_seconds(shot) <= 9.5
        assert len(shot.characters) <= 3
        assert len(shot.characters) == len(shot.emotions)


def test_no_two_neighbours_are_framed_and_moved_alike(boards):
    _, board = boards.of("他走进院子，看了看天。\n她没有说话。\n" * 80 + WEB_NOVEL)
    for episode in board.episodes:
        looks = [(s.scene.framing, s.motion) for s in episode.shots]
        assert all(a != b for a, b in itertools.pairwise(looks))


def test_each_episode_begins_with_its_title_and_ends_with_an_end(boards):
    _, board = boards.of("第一章 夜\n" + WEB_NOVEL * 6 + "\n第二章 海\n" + HOMETOWN_2 * 6)
    assert len(board.episodes) > 2
    assert [e.no for e in board.episodes] == list(range(1, len(board.episodes) + 1))
    for episode in board.episodes:
        kinds = [s.kind for s in episode.shots]
        assert kinds == ["title", *["shot"] * (len(kinds) - 2), "end"]
        assert [s.no for s in episode.shots] == list(range(1, len(kinds) + 1))
        assert not episode.shots[0].lines
        assert not episode.shots[-1].lines
        assert episode.shots[0].prompt == f"题目\n{episode.title}"
    assert board.episodes[0].shots[-1].prompt.startswith("未完待续")
    assert board.episodes[-1].shots[-1].prompt.startswith("完")
    assert board.episodes[0].title == "第一章 夜（1）"


def test_episodes_last_as_long_as_wished(boards):
    _, board = boards.of(f"{WEB_NOVEL}\n{HOMETOWN_3}\n{RED_CHAMBER}\n" * 30)
    for episode in board.episodes:
        assert 60 <= sum(graph.shot_seconds(shot) for shot in episode.shots) <= 130
    _, short = boards.of(f"{WEB_NOVEL}\n{HOMETOWN_3}\n{RED_CHAMBER}\n" * 30, episode_seconds=45)
    assert len(short.episodes) > 1.5 * len(board.episodes)


def test_an_inserted_paragraph_moves_no_shot_but_its_neighbours(boards):
    paragraphs = f"{WEB_NOVEL}\n{HOMETOWN_3}\n{RED_CHAMBER}".split("\n")
    _, before = boards.of("\n".join(paragraphs))
    new = "门外的风停了，谁也没有再开口，只有挂钟还在走。"
    _, after = boards.of("\n".join([*paragraphs[:9], new, *paragraphs[9:]]))
    first = {s.identity: s for s in boards.shots(before)}
    second = {s.identity: s for s in boards.shots(after)}
    added = [s for key, s in second.items() if key not in first]
    assert set(first) <= set(second)
    assert [line.text for s in added for line in s.lines] == [new]
    order = [s.identity for s in boards.shots(after)]
    place = order.index(added[0].identity)
    beside = order[place - 2 : place + 3]  #: they may be framed otherwise, to be unlike it
    for key, shot in first.items():
        other = second[key]
        if key in beside:
            assert shot.scene.place == other.scene.place
            shot = dataclasses.replace(
                shot, scene=other.scene, motion=other.motion, lines=other.lines
            )
        assert (shot.seed, shot.scene, shot.motion, shot.characters, shot.emotions) == (
            other.seed, other.scene, other.motion, other.characters, other.emotions,
        )  # fmt: skip


def test_the_same_words_twice_are_two_shots(boards):
    _, board = boards.of("他站在门口，一句话也没有说，只是望着远处。\n" * 3)
    assert len({s.identity for s in boards.shots(board)}) == 3
    assert len({s.seed for s in boards.shots(board)}) == 3


def test_the_same_text_gives_the_same_storyboard_in_another_process(boards):
    _, board = boards.of(WEB_NOVEL + "\n" + RED_CHAMBER)
    script = (
        "import json, sys\nfrom mangen.comic import plan, text\n"
        "source = text.decode(sys.stdin.buffer.read(), 'x')\n"
        "print(json.dumps(plan.plan(source, title='题目').to_json()))"
    )
    out = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        input=(WEB_NOVEL + "\n" + RED_CHAMBER).encode(), capture_output=True, check=True,
    )  # fmt: skip
    assert out.stderr == b""
    assert json.loads(out.stdout) == json.loads(json.dumps(board.to_json()))


def test_a_storyboard_survives_json(boards):
    _, board = boards.case(1)
    assert model.Storyboard.from_json(json.loads(json.dumps(board.to_json()))) == board


def test_headings_alone_say_nothing():
    source = text.decode("第一章 夜\n\n第二章 海\n***\n".encode(), "x.txt")
    with pytest.raises(errors.TextError, match=r"x.txt has nothing to say"):
        plan.plan(source, title="x")


def test_a_novel_is_planned_in_bounded_memory(boards):
    words = "\n".join(f"第{n}章 夜\n{WEB_NOVEL}\n{HOMETOWN_3}" for n in range(1, 120))
    memory = cpu.Cpu(2**40)
    memory.watch()
    before = memory.memory().allocated
    source, board = boards.of(words)
    assert not boards.uncovered(source, board)
    assert len(board.characters) <= plan.ANCHORED
    assert memory.peak().allocated - before < 300 << 20


words = st.sampled_from(
    [
        *(
            "叶辰",
            "林若雪",
            "他",
            "她",
            "说",
            "道",
            "笑道",
            "走进",
            "院子",
            "---",
            "😱",
            "3.5%",
            "8:05",
        ),
        *("Leo", "said", "第一章", *'。，！？…“”「」" \n　'),
        *(
            "握着",
            "剑",
            "她想起那年",
            "海边",
            "三日后",
            "一名女子",
            "众人",
            "跪下",
            "小时候",
            "现在",
        ),
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(words, max_size=60).map("".join))
def test_every_character_is_in_a_line_or_left_out(boards, text_of):
    try:
        source, board = boards.of(text_of)
    except errors.TextError:
        return
    assert not boards.uncovered(source, board)
    for line in boards.lines(board):
        assert line.text.strip()
        assert line.spoken == any(ch.isalnum() for ch in line.text)
    for shot in boards.shots(board):
        rows = (shot.emotions, shot.ages, shot.gestures, shot.held)
        assert {len(row) for row in rows} == {len(shot.characters)}
