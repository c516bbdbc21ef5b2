from __future__ import annotations

import collections
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mangen.pooling import window, work


def item(key, **more):
    return work.Item(key=key, name="t", bucket="b", **more)


def test_items_are_ordered_by_class_then_rank_then_arrival():
    waiting = window.Window()
    for number, (key, klass, rank) in enumerate(
        [("late", 1, 1.0), ("low", 2, 9.0), ("early", 1, 2.0), ("high", 0, 0.0), ("tie", 1, 1.0)]
    ):
        waiting.add(item(key, klass=klass, rank=rank), float(number))
    assert [one.item.key for one in sorted(waiting, key=lambda one: one.order)] == [
        "high", "early", "late", "tie", "low",
    ]  # fmt: skip


def test_what_is_put_back_keeps_its_age_and_place():
    waiting = window.Window()
    waiting.add(item("a"), 1.0)
    waiting.add(item("b"), 2.0)
    taken = waiting.take("a")
    assert "a" not in waiting
    waiting.put_back(taken)
    (first, _) = sorted(waiting, key=lambda one: one.order)
    assert (first.item.key, first.since) == ("a", 1.0)


def test_the_first_time_of_being_passed_over_counts():
    waiting = window.Window()
    waiting.add(item("a"), 1.0)
    waiting.mark_passed(["a", "unknown"], 2.0)
    waiting.mark_passed(["a"], 3.0)
    assert next(iter(waiting)).passed == 2.0


def test_a_key_waits_only_once():
    waiting = window.Window()
    waiting.add(item("a"), 1.0)
    with pytest.raises(ValueError, match="waits here already"):
        waiting.add(item("a"), 2.0)


def test_clearing_answers_what_waited():
    waiting = window.Window()
    waiting.add(item("a"), 1.0)
    assert [one.item.key for one in waiting.clear()] == ["a"]
    assert len(waiting) == 0


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "take", "put_back"]), st.integers(0, 7), st.integers(0, 2),
        st.sampled_from([0.0, 1.0, -1.0, math.inf, math.nan]), st.sampled_from("ab"),
    )
)  # fmt: skip


@given(STEPS)
def test_it_is_in_order_and_counts_who_is_alike_whatever_came_and_went(steps):
    waiting, there, away = window.Window(), {}, {}
    for what, key, klass, rank, bucket in steps:
        if what == "add" and key not in there and key not in away:
            waiting.add(work.Item(key=str(key), name="t", bucket=bucket, klass=klass, rank=rank), 0)
            there[key] = bucket
        elif what == "take" and key in there:
            away[key] = waiting.take(str(key)), there.pop(key)
        elif what == "put_back" and key in away:
            one, there[key] = away.pop(key)
            waiting.put_back(one)
    orders = [one.order for one in waiting]
    assert orders == sorted(orders)
    assert {one.item.key for one in waiting} == {str(key) for key in there}
    assert len(waiting) == len(there)
    counted = collections.Counter(there.values())
    assert {one.bucket: count for one, count in waiting.alike.items()} == counted
    some = [str(key) for key in list(there)[::2]]
    left = collections.Counter(one.alike for one in waiting if one.item.key not in some)
    assert waiting.without(some) == left


def test_nothing_is_counted_of_what_was_cleared():
    waiting = window.Window()
    waiting.add(item("a", peaks=(5, 9)), 1.0)
    assert dict(waiting.alike) == {("t", "", "b", 5): 1}
    assert [one.item.key for one in waiting.clear()] == ["a"]
    assert (len(waiting), list(waiting), dict(waiting.alike)) == (0, [], {})
