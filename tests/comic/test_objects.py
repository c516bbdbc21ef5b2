import pytest

from mangen.comic import lexicon, objects, scenery


def labels(text, names=(), language="zh"):
    return [thing.label for thing in objects.named(scenery.mask(text, names), language)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("天空中挂着一轮金黄的圆月", ["moon"]),
        ("都种着碧绿的西瓜，一匹猹跑了", ["melons", "animal"]),
        ("他撑着油纸伞上了船", ["umbrella", "boat"]),
        ("一枚戒指，和一封没有署名的信", ["ring", "letter"]),
        ("桌上放着一本书", ["desk", "book"]),
        ("我相信他，马上就来，书房在花园旁", []),
        ("她走进咖啡馆，喝了一杯咖啡", ["cup"]),
    ],
)
def test_words_name_things_and_parts_of_words_do_not(text, found):
    assert labels(text) == found


def test_a_name_is_no_thing():
    assert labels("林书灯站住了", names=("林书灯",)) == []
    assert labels("马三才站住了", names=("马三才",)) == []


def test_english_things_in_one_and_many():
    assert labels("Two lanterns and a letter lay on the table.", language="en") == [
        "lantern", "letter", "desk",
    ]  # fmt: skip
    assert labels("The lettering was flowery.", language="en") == []


def test_labels_are_words_that_the_drawing_engine_was_told():
    known = set(
        "moon boat melons fork sword umbrella book phone cup letter lantern bag fan staff flower "  # noqa: SIM905 - the list as it was agreed
        "car bicycle train horse dog cat bird animal tree fire food wine door window bed desk lamp "
        "clock watch photograph ring money flag drum bell mirror rain snow lighthouse".split()
    )
    for kind in ("object", "english-object"):
        assert set(lexicon.labels(kind).values()) <= known
    assert known >= objects.HELD
    assert known.issuperset(objects.TELLING)


def test_there_is_no_moon_by_day_and_never_too_much():
    assert objects.shown(["moon", "boat", "moon"], "day") == ("boat",)
    assert objects.shown(["moon", "boat", "moon"], "night") == ("moon", "boat")
    assert len(objects.shown(["boat", "tree", "car", "door", "bed", "lamp"], "day")) == 4


def test_crowds():
    assert objects.is_crowded("众人都看着他", "zh")
    assert objects.is_crowded("周围的弟子们哄堂大笑", "zh")
    assert not objects.is_crowded("我们走吧，他们来了", "zh")
    assert not objects.is_crowded("他独自站着", "zh")
    assert objects.is_crowded("The crowd was silent.", "en")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("她撑着一把黑伞", ["black umbrella"]),
        ("红色的油纸伞，一本蓝皮书", ["red umbrella", "blue book"]),
        ("黑夜里有一把伞", ["umbrella"]),
        ("他拿着一朵红花，提着红灯笼", ["red flower", "red lantern"]),
        ("翻开一本旧书", ["book"]),
    ],
)
def test_a_thing_has_the_colour_that_is_said_of_it(text, found):
    assert [thing.words for thing in objects.named(text, "zh")] == found


def test_an_english_thing_has_its_colour_too():
    text = "She held a black silk umbrella, and a crimson lantern; night was black. The book fell."
    named = [thing.words for thing in objects.named(text, "en")]
    assert named == ["black umbrella", "red lantern", "book"]
