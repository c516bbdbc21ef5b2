import pytest

from mangen.comic import acts
from mangen.engines import protocol

ME = [(0, "甲")]
BOTH = [(0, "甲"), (5, "乙")]


@pytest.mark.parametrize(
    ("words", "thing"),
    [
        ("□手捏一柄钢叉，站着", "fork"),
        ("□撑着一把黑色的雨伞，手里攥着一张旧照片", "black umbrella"),
        ("□手里攥着一张旧照片", "letter"),
        ("□抱着一本书", "book"),
        ("□端着酒杯", "cup"),
        ("□拔出长剑", "sword"),
        ("□相信了，拿起外套", ""),
        ("□看着那把剑", ""),
        ("□走进书房", ""),
    ],
)
def test_what_is_in_the_hands_of_whom(words, thing):
    assert acts.held(words, ME, ("甲",), {}, "zh") == ({"甲": thing} if thing else {})


def test_a_thing_is_in_the_hands_of_the_subject():
    assert acts.held("□□看见□□握着长剑", [(0, "甲"), (4, "乙")], (), {}, "zh") == {"乙": "sword"}


def test_a_thing_stays_until_it_is_put_down():
    held = acts.held("□握着长剑", ME, (), {}, "zh")
    held = acts.held("冷冷地笑了", (), ("甲",), held, "zh")
    assert held == {"甲": "sword"}
    assert acts.held("□放下剑", ME, (), held, "zh") == {}


def test_in_the_rain_an_umbrella_stays_over_a_paragraph_and_a_letter_does_not():
    held = {"甲": "umbrella", "乙": "letter"}
    rain = protocol.SceneLabels(weather="rain")
    assert acts.kept(held, rain) == {"甲": "umbrella"}
    assert acts.kept(held, protocol.SceneLabels()) == {}


@pytest.mark.parametrize(
    ("words", "act"),
    [
        ("□忽然跪下", "kneel"),
        ("□向前一步，一拳砸在门上", "strike"),
        ("□紧紧抱住了", "hug"),
        ("□坐在窗前", "sit"),
        ("□让那些人一个个跪着求饶", ""),
        ("□没有跑", ""),
        ("□看着天", ""),
    ],
)
def test_gestures_are_of_who_makes_them(words, act):
    assert acts.gesture(words, ME, ("甲",), "zh") == ({"甲": act} if act else {})


def test_an_animals_flight_is_nobodys_gesture():
    words = "那猹却将身一扭，反从他的胯下逃走了"
    assert acts.gesture(words, [(words.index("他"), "甲")], ("甲",), "zh") == {}


def test_what_belongs_to_somebody_acts_for_them():
    assert acts.gesture("他的态度终于恭敬起来了", ME, (), "zh") == {"甲": "bow"}


def test_english_hands_and_bodies():
    words = "She held a lantern and ran."
    assert acts.held(words, ME, (), {}, "en") == {"甲": "lantern"}
    assert acts.gesture(words, ME, (), "en") == {"甲": "run"}
    assert acts.gesture("She did not run; he ran.", [(0, "甲")], (), "en") == {"甲": "run"}


def test_a_thing_keeps_the_colour_it_was_told_with():
    tones = {}
    held = acts.held("□撑着一把黑伞", [(0, "林")], [], {}, "zh", tones=tones)
    assert held == {"林": "black umbrella"}
    assert acts.held("□撑着伞", [(0, "顾")], [], {}, "zh", tones=tones) == {"顾": "black umbrella"}
    rain = protocol.SceneLabels(weather="rain")
    assert acts.kept(held, rain) == held
