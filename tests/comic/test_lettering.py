import pytest

from mangen.comic import lettering, model
from mangen.engines import protocol


def line(text, *, speaker=None, quoted=False, language="zh", **wishes):
    return model.Line(
        no=1,
        text=text,
        span=(0, len(text)),
        speaker=speaker,
        quoted=quoted,
        language=language,
        **wishes,
    )


def lettered(one, *, framing="medium", characters=("甲",)):
    return lettering.lettered([one], characters=characters, framing=framing) == (True,)


def test_short_speech_of_who_is_seen_is_a_balloon():
    said = line("阿！闰土哥，——你来了？……", speaker="甲", quoted=True)
    assert len(said.text) == 14
    assert lettered(said)
    assert not lettered(said, framing="insert")
    assert not lettered(said, characters=("乙",))
    assert not lettered(line("阿！闰土哥，——你来了吗？……", speaker="甲", quoted=True))
    assert not lettered(line("他站住了。"))
    assert not lettered(line("谁？", quoted=True))


def test_english_balloons_hold_twice_as_much():
    assert lettered(line("Then you saw the house?", speaker="甲", quoted=True, language="en"))
    long = "I walked all the way from the village."
    assert not lettered(line(long, speaker="甲", quoted=True, language="en"))


@pytest.mark.parametrize("text", ["三年后。", "第二天清晨。", "深冬，归途。", "二十年前……"])
def test_a_line_that_only_tells_when_is_a_caption(text):
    assert lettered(line(text), framing="insert")
    shot = model.Shot(no=1, identity="x", lines=(line(text, lettered=True),))
    assert lettering.of(shot) == (
        protocol.Lettering(line=1, text=text.rstrip("。…"), kind="caption"),
    )


@pytest.mark.parametrize(
    "text", ["那天他走了，再也没有回来。", "当年你为什么不告而别？", "他走了。"]
)
def test_a_line_that_tells_more_is_no_caption(text):
    assert not lettered(line(text))


def test_the_beginning_of_a_scene_says_when_in_its_own_words():
    first = line("第二天清晨，阳光照进房间，")
    shot = model.Shot(
        no=1, identity="x", lines=(first,), scene=protocol.SceneLabels(framing="establish")
    )
    assert lettering.of(shot) == (protocol.Lettering(line=1, text="第二天清晨", kind="caption"),)
    other = model.Shot(no=1, identity="x", lines=(first,))
    assert lettering.of(other) == ()


def test_a_balloon_points_to_who_speaks():
    said = line("I do,", speaker="Scrooge", quoted=True, language="en", lettered=True)
    shot = model.Shot(no=1, identity="x", lines=(said,), characters=("Scrooge",))
    assert lettering.of(shot) == (protocol.Lettering(line=1, text="I do", by="Scrooge"),)
