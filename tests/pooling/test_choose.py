from __future__ import annotations

import hypothesis
import pytest
from hypothesis import strategies as st

from mangen.pooling import choose, window, wire, work

POLICY = choose.Policy(patience_s=20.0, linger_s=0.5, resident_gain=0.3, full_gain=0.1)


def wait(key, bucket="b", *, since=0.0, place=0, passed=None, **more):
    item = work.Item(key=key, name="t", bucket=bucket, **more)
    return window.Waiting(item=item, since=since, place=place, passed=passed)


def keys(choices):
    return [(choice.slot, choice.keys) for choice in choices]


def device(slot=0, *residents, barred=()):
    return choose.Device(slot=slot, residents=frozenset(residents), barred=frozenset(barred))


def test_the_best_rank_goes_first():
    waiting = [wait("a", "x", rank=1.0), wait("b", "y", rank=2.0)]
    assert keys(choose.choose(waiting, [device()], 10.0, POLICY)) == [(0, ("b",))]


def test_class_is_strict_whatever_is_resident():
    waiting = [wait("low", "x", klass=2, rank=9.0, model="m"), wait("high", "y", klass=0)]
    assert keys(choose.choose(waiting, [device(0, "m")], 10.0, POLICY)) == [(0, ("high",))]


@pytest.mark.parametrize(("gain", "first"), [(0.2, "resident"), (0.4, "better")])
def test_a_swap_must_gain_more_rank_than_a_resident_model_is_worth(gain, first):
    waiting = [
        wait("better", "x", rank=gain, model="other"),
        wait("resident", "y", rank=0.0, model="m"),
    ]
    (choice,) = choose.choose(waiting, [device(0, "m")], 10.0, POLICY)
    assert choice.keys == (first,)
    assert choice.passed == (frozenset({"better"}) if first == "resident" else frozenset())


def test_who_was_passed_over_too_long_goes_first():
    waiting = [
        wait("patient", "x", rank=0.2, model="other", passed=0.0),
        wait("resident", "y", rank=0.0, model="m"),
    ]
    early, late = (choose.choose(waiting, [device(0, "m")], at, POLICY) for at in (19.9, 20.0))
    assert early[0].keys == ("resident",)
    assert late[0].keys == ("patient",)


def test_a_batch_takes_its_bucket_in_order_up_to_the_cap():
    waiting = [wait(str(n), cap=3, rank=float(n), place=n) for n in range(5)]
    (choice,) = choose.choose(waiting, [device()], 10.0, POLICY)
    assert choice.keys == ("4", "3", "2")


def test_a_lone_request_lingers_and_no_longer():
    waiting = [wait("a", cap=4, since=10.0)]
    assert choose.choose(waiting, [device()], 10.4, POLICY) == []
    assert keys(choose.choose(waiting, [device()], 10.5, POLICY)) == [(0, ("a",))]


def test_a_full_batch_does_not_linger():
    waiting = [wait(str(n), cap=2, since=10.0, place=n) for n in range(2)]
    assert keys(choose.choose(waiting, [device()], 10.0, POLICY)) == [(0, ("0", "1"))]


def test_solo_and_plain_work_goes_alone():
    waiting = [
        wait("solo", cap=4, solo=True),
        wait("p1", wire.PLAIN, klass=0, rank=float("inf"), place=1),
        wait("p2", wire.PLAIN, klass=0, rank=float("inf"), place=2),
    ]
    chosen = choose.choose(waiting, [device(0), device(1), device(2)], 10.0, POLICY)
    assert keys(chosen) == [(0, ("p1",)), (1, ("p2",)), (2, ("solo",))]


def test_a_device_that_refused_a_bucket_gets_another():
    waiting = [wait("large", "x", rank=5.0), wait("small", "y", rank=1.0, place=1)]
    (choice,) = choose.choose(waiting, [device(0, barred=["x"])], 10.0, POLICY)
    assert choice.keys == ("small",)
    assert choice.passed == {"large"}


def test_each_device_gets_what_it_holds():
    waiting = [wait("a", "x", model="m1"), wait("b", "y", model="m2", place=1)]
    chosen = choose.choose(waiting, [device(0, "m2"), device(1, "m1")], 10.0, POLICY)
    assert sorted(keys(chosen)) == [(0, ("b",)), (1, ("a",))]


def test_joining_is_for_the_bucket_up_to_the_room():
    waiting = [wait(str(n), cap=8, place=n) for n in range(4)] + [wait("other", "x", place=9)]
    assert choose.join(waiting, "b", 3, 1.0, POLICY) == ("0", "1", "2")
    assert choose.join(waiting, "none", 3, 1.0, POLICY) == ()
    assert choose.join(waiting, "b", 0, 1.0, POLICY) == ()


@pytest.mark.parametrize("starving", [wait("high", "x", klass=0), wait("passed", "x", passed=0.0)])
def test_nobody_joins_while_someone_else_must_have_the_device(starving):
    assert choose.join([wait("a", cap=8), starving], "b", 3, 30.0, POLICY) == ()


@hypothesis.given(
    st.lists(
        st.tuples(
            st.sampled_from("wxyz"), st.integers(0, 2), st.floats(-5, 5), st.integers(1, 4),
            st.booleans(), st.sampled_from(["", "m", "n"]), st.none() | st.floats(0, 30),
        ),
        max_size=25,
    ),
    st.integers(1, 4),
)  # fmt: skip
def test_choices_are_always_sound(given, devices):
    caps = {}
    waiting = []
    for n, (bucket, klass, rank, cap, solo, model, passed) in enumerate(given):
        cap = caps.setdefault(bucket, cap)
        waiting.append(
            wait(str(n), bucket, place=n, klass=klass, rank=rank, cap=cap, solo=solo, model=model,
                 passed=passed)
        )  # fmt: skip
    by_key = {one.item.key: one.item for one in waiting}
    chosen = choose.choose(waiting, [device(n, "m") for n in range(devices)], 31.0, POLICY)
    taken = [key for choice in chosen for key in choice.keys]
    assert len(taken) == len(set(taken))
    assert len({choice.slot for choice in chosen}) == len(chosen)
    for choice in chosen:
        items = [by_key[key] for key in choice.keys]
        assert len({one.bucket for one in items}) == 1
        assert len(items) <= (1 if items[0].solo else items[0].cap)
        assert not choice.passed & set(choice.keys)
    if waiting:  # a device is never left idle, and its first choice is of the best class
        assert chosen
        best = min(one.item.klass for one in waiting)
        assert by_key[chosen[0].keys[0]].klass == best
    if len(chosen) < devices:
        assert len(taken) == len(waiting)
