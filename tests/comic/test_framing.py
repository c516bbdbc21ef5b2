"""Shots of texts that nobody staged by hand."""

import itertools

import pytest

from mangen.comic import graph, text
from mangen.engines import protocol

ROMANCE = (
    "深秋的雨夜，江城的霓虹灯在积水里碎成一片。林晚撑着一把黑色的雨伞，站在咖啡馆门口，手里攥着一张旧照片。\n"
    "“你还是来了。”身后传来低沉的声音。\n"
    "她转过身，看见顾言深靠在那辆黑色的轿车旁。他穿着灰色的西装，比三年前瘦了许多。\n"
    "“我只是来还你东西。”林晚把照片递过去，声音很轻。\n"
    "顾言深没有接，只是盯着她的眼睛：“林晚，当年你为什么不告而别？”\n"
    "她愣住了，眼泪一下子涌了上来。\n"
    "她想起大学时的那个夏天，他们坐在操场边的大树下，顾言深还是个穿白衬衫的少年，抱着一本书，笑着说要娶她。\n"
    "“因为你母亲来找过我。”现在，她终于说出了口。\n"
    "顾言深的脸色骤然铁青，一拳砸在车门上。\n“她给了你多少钱？”\n"
    "“一分也没有。”林晚苦笑，“她只是跪下来求我。”\n"
    "雨越下越大。顾言深忽然上前一步，紧紧抱住了她。\n"
    "“对不起。”他哽咽着说，“这一次，换我来找你。”\n"
    "第二天清晨，阳光照进房间，林晚在桌上发现了一枚戒指，和一封没有署名的信。\n"
)
STATION = (
    "The last train had gone when Mr. Hale reached the station. Snow was falling on the empty "
    "platform, and a single lamp burned above the door. He carried an old leather suitcase and a "
    'letter with a black seal.\n\n"You are late," said a woman\'s voice.\n\n'
    "Eleanor stood beside the bench in a long grey coat. She held a lantern, and her face was "
    'pale.\n\n"The road was closed," said Mr. Hale. "I walked from the village."\n\n'
    '"Then you saw the house?" asked Eleanor.\n\n"I saw it burn."\n\n'
    "She gasped. The lantern trembled in her hand. For a moment neither of them moved, and the "
    "wind cried along the rails.\n\n"
    "He remembered the garden of that house, thirty years ago, on a summer morning. Eleanor was "
    "seven years old, and she was not afraid of anything in the world.\n\n"
    'Now she looked at the letter. "Is it from my father?" she whispered.\n\n'
    '"It is his last," said Mr. Hale.\n\n'
    "Eleanor opened the envelope with shaking fingers. Inside there was a photograph and a small "
    'silver key.\n\n"He knew," she cried. "He knew all the time!"\n\n'
    "A man in a dark hat ran across the platform toward the door, and the lamp went out.\n\n"
    '"Run!" shouted Mr. Hale. He seized her hand, and they fled into the snow.\n'
)


@pytest.fixture(scope="module")
def passage(boards):
    from mangen.cli import run  # noqa: PLC0415 - the one place that knows where it lies

    return boards.of(text.read(run.PASSAGE).text)[1]


@pytest.fixture(scope="module")
def romance(boards):
    return boards.of(ROMANCE)[1]


@pytest.fixture(scope="module")
def station(boards):
    return boards.of(STATION)[1]


@pytest.fixture(scope="module")
def promo(boards):
    return boards.case(15)[1]


@pytest.fixture(params=["passage", "romance", "station", "promo"])
def board(request):
    return request.getfixturevalue(request.param)


def shot_of(boards, board, words):
    return next(
        shot for shot in boards.shots(board) if any(words in line.text for line in shot.lines)
    )


def looks(shots):
    return [(s.scene.framing, s.motion, s.characters) for s in shots]


def test_forty_seconds_have_six_compositions(boards, board):
    shots = boards.shots(board)
    spent = list(itertools.accumulate(graph.shot_seconds(shot) for shot in shots))
    for start in range(len(shots)):
        before = spent[start - 1] if start else 0.0
        end = next((n for n, at in enumerate(spent) if at - before >= 40), None)
        if end is not None:
            assert len(set(looks(shots[start : end + 1]))) >= 6
    assert len({look[0] for look in looks(shots)}) >= 4


def test_the_camera_leaves_the_last_shot(boards, board):
    assert {episode.shots[-2].motion for episode in board.episodes} == {"pull"}


def test_no_two_neighbours_are_alike(boards, board):
    pairs = itertools.pairwise(looks(boards.shots(board)))
    assert all(one[:2] != other[:2] for one, other in pairs)


def test_who_speaks_is_seen(boards, board):
    drawn = {c.name for c in board.characters}
    for shot in boards.shots(board):
        for line in shot.lines:
            if line.quoted and line.speaker in drawn:
                assert line.speaker in shot.characters
                assert shot.scene.framing != "insert"


def test_what_tells_of_people_goes_along_with_them(boards, board):
    for shot in boards.shots(board):
        rows = (shot.emotions, shot.ages, shot.gestures, shot.held)
        assert {len(row) for row in rows} == {len(shot.characters)}
        assert len(set(shot.characters)) == len(shot.characters) <= 3
        assert (shot.scene.framing == "insert") == bool(shot.scene.focus)


def test_balloons_stand_for_short_speech_alone(boards, board):
    for shot in boards.shots(board):
        for line in shot.lines:
            if line.lettered and line.quoted:
                assert line.speaker in shot.characters
                assert len(line.text) <= (14 if line.language == "zh" else 28)


def test_the_memory_has_moon_melons_fork_and_beast_and_a_child(boards, passage):
    boy = shot_of(boards, passage, "钢叉")
    assert boy.characters == ("闰土",)
    assert (boy.ages, boy.held, boy.gestures) == (("child",), ("fork",), ("strike",))
    assert boy.scene.framing == "action"
    assert {"moon", "melons", "animal"} <= set(boy.scene.objects)
    assert boy.memory
    assert (boy.scene.place, boy.scene.time) == ("sea", "night")
    for words in ("圆月", "西瓜", "胯下", "便是闰土"):
        assert {"moon", "melons"} <= set(shot_of(boards, passage, words).scene.objects)


def test_the_meeting_is_in_a_pale_courtyard_between_grown_men(boards, passage):
    split = shot_of(boards, passage, "你来了")
    assert split.scene.framing == "split"
    assert split.characters == ("我", "闰土")
    assert split.ages == ("", "")
    assert (split.scene.place, split.scene.mood, split.scene.era) == (
        "courtyard",
        "sad",
        "republic",
    )
    assert not split.scene.objects
    answer = shot_of(boards, passage, "老爷")
    assert answer.gestures == ("bow",)
    assert [line.lettered for line in answer.lines] == [False, True]
    reaction = shot_of(boards, passage, "寒噤")
    assert (reaction.scene.framing, reaction.characters) == ("reaction", ("我",))
    assert {c.name: c.age for c in passage.characters} == {"闰土": "adult", "我": "adult"}


def test_what_leads_in_to_a_memory_is_who_remembers_today(boards, passage):
    lead = shot_of(boards, passage, "脑里")
    assert (lead.scene.framing, lead.characters) == ("close", ("我",))
    assert lead.scene.place == "courtyard"
    assert not lead.memory
    assert passage.episodes[0].shots[0].scene.place == "sea"


def test_a_modern_romance_is_staged(boards, romance):
    assert {c.name: c.sex for c in romance.characters} == {"林晚": "female", "顾言深": "male"}
    assert "灰色的西装" in next(c for c in romance.characters if c.name == "顾言深").words
    opening = shot_of(boards, romance, "霓虹灯").scene
    assert (opening.place, opening.time, opening.weather) == ("street", "night", "rain")
    waiting = shot_of(boards, romance, "旧照片")
    assert waiting.held == ("black umbrella",)
    assert shot_of(boards, romance, "愣住").scene.framing == "reaction"
    young = shot_of(boards, romance, "白衬衫")
    assert young.ages[0] == "youth"
    assert (young.scene.place, young.scene.weather) == ("field", "clear")
    hug = shot_of(boards, romance, "抱住")
    assert (hug.characters, hug.gestures) == (("顾言深", "林晚"), ("hug", ""))
    assert shot_of(boards, romance, "你母亲").characters[0] == "林晚"
    morning = shot_of(boards, romance, "清晨").scene
    assert (morning.place, morning.weather, morning.framing) == ("room", "clear", "establish")


def test_an_english_story_is_staged(boards, station):
    hale, eleanor = (
        next(c for c in station.characters if c.name == n) for n in ("Mr. Hale", "Eleanor")
    )
    assert (hale.sex, eleanor.sex) == ("male", "female")
    assert eleanor.words == ("long grey coat",)
    assert shot_of(boards, station, "She held a lantern").held == ("lantern",)
    assert shot_of(boards, station, "suitcase").held == ("bag",)
    child = shot_of(boards, station, "seven years old")
    assert (child.characters, child.ages, child.emotions) == (("Eleanor",), ("child",), ("calm",))
    insert = shot_of(boards, station, "photograph").scene
    assert (insert.framing, insert.focus) == ("insert", "photograph")
    assert {"split", "over_shoulder"} & {s.scene.framing for s in boards.shots(station)}


def test_a_voice_of_nobody_is_heard_in_a_face(boards, romance):
    voice = shot_of(boards, romance, "你还是来了")
    assert (voice.scene.framing, voice.characters) == ("close", ("林晚",))
    assert not any(line.lettered for line in voice.lines)


def test_who_is_looked_at_in_anger_is_not_angry(boards):
    _, board = boards.of(
        "林晚站在门口。“走开。”林晚说。\n“好。”陈默说。\n林晚狠狠地瞪了陈默一眼，没有说话。"
    )
    look = shot_of(boards, board, "瞪了")
    assert dict(zip(look.characters, look.emotions, strict=True)) == {
        "林晚": "angry",
        "陈默": "calm",
    }


def test_what_is_found_is_shown_large(boards, romance):
    scene = shot_of(boards, romance, "戒指").scene
    assert scene.framing == "insert"
    assert scene.focus in {"ring", "letter"}


def test_labels_are_those_that_engines_know(boards, board):
    framings = {
        *("establish", "medium", "close", "over_shoulder"),
        *("split", "action", "insert", "reaction"),
    }
    for shot in boards.shots(board):
        assert shot.scene.framing in framings
        assert set(shot.ages) <= {"", "child", "youth", "adult", "elder"}
        assert isinstance(shot.scene, protocol.SceneLabels)


def test_a_crowd_is_seen_in_a_market(boards):
    _, board = boards.of("他走进集市，四处看了看。\n他走进破庙，坐了下来。")
    assert [s.scene.crowd for s in boards.shots(board)] == [True, False]
