import pytest

from mangen.comic import ages, model

FRIEND = model.Character(name="闰土", age="youth")


def grown(*told, who=FRIEND, whole=()):
    made, then = ages.grown([who], [ages.Told("闰土", *one) for one in told], whole)
    return made[0].age, dict(then)


@pytest.mark.parametrize(
    ("words", "age"),
    [
        ("十一二岁的少年", "child"),
        ("十七岁的少女", "youth"),
        ("白发苍苍的老人", "elder"),
        ("二十五岁", None),
        ("他站住了", None),
        ("She was seven years old", "child"),
    ],
)
def test_words_tell_an_age(words, age):
    assert ages.of(words) == age


def test_a_remembered_child_is_grown_now():
    assert grown(("十一二岁的少年", True), ("他站住了", False)) == ("adult", {"闰土": "child"})


def test_after_thirty_years_he_is_old():
    told = (("十一二岁的少年", True), ("他站住了", False))
    assert grown(*told, whole=["我们有三十年没见了"]) == ("elder", {"闰土": "child"})


def test_wrinkles_tell_more_than_years():
    told = (("十一二岁的少年", True), ("脸上有很深的皱纹", False))
    assert grown(*told) == ("elder", {"闰土": "child"})


def test_who_is_only_remembered_stays_as_they_were():
    assert grown(("十一二岁的少年", True)) == ("child", {})


def test_childhood_is_past_wherever_it_is_told():
    told = (("小时候他爱笑", False), ("他站住了", False))
    assert grown(*told) == ("adult", {"闰土": "child"})


def test_without_a_memory_nothing_changes():
    assert grown(("十七岁的少年", False)) == ("youth", {})
