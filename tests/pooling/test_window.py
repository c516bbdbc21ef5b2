from __future__ import annotations

import pytest

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
