from __future__ import annotations

import hypothesis
import pytest
from choosing import POLICY, device, keys, wait
from hypothesis import strategies as st

from mangen.pooling import choose, wire


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


def test_who_is_of_a_better_class_than_all_who_run_has_more_room():
    waiting = [wait("a", cap=8, klass=1), *(wait(f"high{n}", klass=0, place=n) for n in range(3))]
    many, few = choose.Urgent(above=1, room=2), choose.Urgent(above=0, room=2)
    assert choose.join(waiting, "b", 0, 1.0, POLICY, urgent=many) == ("high0", "high1")
    assert choose.join(waiting, "b", 0, 1.0, POLICY, urgent=few) == ()
    assert choose.join(waiting[:2], "b", 1, 1.0, POLICY, urgent=many) == ("high0",)
    assert choose.join(waiting[:2], "b", 2, 1.0, POLICY, urgent=many) == ("high0", "a")


def test_nobody_joins_while_someone_of_a_better_class_waits():
    waiting = [wait("a", cap=8), wait("high", "x", klass=0)]
    assert choose.join(waiting, "b", 3, 30.0, POLICY) == ()


def test_who_is_behind_one_that_was_passed_over_too_long_does_not_join():
    waiting = [
        wait("before", cap=8, rank=2.0),
        wait("passed", "x", rank=1.0, passed=0.0),
        wait("behind", cap=8, rank=0.0),
    ]
    assert choose.join(waiting, "b", 3, 19.0, POLICY) == ("before", "behind")
    assert choose.join(waiting, "b", 3, 20.0, POLICY) == ("before",)


def test_who_was_refused_or_never_fits_here_stops_no_joins_but_while_devices_are_held_for_it():
    waiting = [wait("large", "x", klass=0, passed=0.0), wait("a", cap=8)]
    for at, joins in ((19.0, True), (20.0, False), (40.0, True), (60.0, False)):
        here = device(barred=["x"])
        assert choose.join(waiting, "b", 3, at, POLICY, device=here) == (("a",) if joins else ())
        here = device(hopeless=["x"])
        assert choose.join(waiting, "b", 3, at, POLICY, device=here) == ("a",)


def test_plain_and_solo_work_joins_nobody():
    waiting = [wait("p", wire.PLAIN), wait("solo", solo=True), wait("a", cap=8, place=1)]
    assert choose.join(waiting, wire.PLAIN, 3, 1.0, POLICY) == ()
    assert choose.join(waiting, "b", 3, 1.0, POLICY) == ("a",)


def test_who_joins_passes_over_those_before_it():
    waiting = [
        wait("high", "x", klass=0),
        wait("better", "x", rank=1.0),
        wait("a"),
        wait("last", "x", rank=-1.0),
    ]
    assert choose.overtaken(waiting, ["a"]) == {"high", "better"}
    assert choose.overtaken(waiting, ["unknown"]) == frozenset()


def test_the_measured_cap_cuts_a_batch_for_each_kind_of_device():
    waiting = [wait(str(n), cap=8, place=n) for n in range(7)]
    devices = [device(0, kind="small"), device(1, kind="large")]
    caps = {"small": 2, "large": 4}
    chosen = choose.choose(waiting, devices, 10.0, POLICY, lambda _, kind: caps[kind])
    assert sorted((one.slot, len(one.keys)) for one in chosen) == [(0, 2), (1, 4)]


def test_nobody_is_in_a_larger_batch_than_its_own_cap():
    waiting = [wait("a", cap=4), wait("b", cap=4, place=1), wait("c", cap=2, place=2)]
    (choice,) = choose.choose(waiting, [device()], 10.0, POLICY)
    assert choice.keys == ("a", "b")


@pytest.mark.parametrize(("gain", "first"), [(0.44, "resident"), (0.46, "better")])
def test_a_swap_must_gain_the_rank_that_its_load_costs(gain, first):
    waiting = [
        wait("better", "x", rank=gain, model="other"),
        wait("resident", "y", rank=0.0, model="m"),
    ]
    loads = {("other", "card"): 45.0}
    (choice,) = choose.choose(
        waiting, [device(0, "m", kind="card")], 10.0, POLICY,
        load_s=lambda model, kind: loads[model, kind],
    )  # fmt: skip
    assert choice.keys == (first,)


def test_what_needs_no_model_pays_no_load():
    waiting = [wait("none", "x", rank=0.1), wait("resident", "y", rank=0.0, model="m")]
    (choice,) = choose.choose(waiting, [device(0, "m")], 10.0, POLICY)
    assert choice.keys == ("none",)


def test_a_load_evicts_what_nobody_wants():
    waiting = [
        wait("first", "x", rank=9.0, model="new"),
        wait("second", "y", rank=0.0, model="m", place=1),
    ]
    chosen = choose.choose(waiting, [device(0, "m"), device(1, "old")], 10.0, POLICY)
    assert keys(chosen) == [(1, ("first",)), (0, ("second",))]


def test_who_lingers_keeps_one_device_from_what_is_behind():
    waiting = [
        wait("lingers", "x", klass=0, cap=4, since=10.0),
        wait("behind", "y", klass=2, since=0.0),
    ]
    assert keys(choose.choose(waiting, [device(0)], 10.1, POLICY)) == []
    both = choose.choose(waiting, [device(0), device(1)], 10.1, POLICY)
    assert keys(both) == [(1, ("behind",))]
    assert both[0].passed == frozenset()


def test_who_was_refused_does_not_block_others_at_first_whatever_its_class():
    waiting = [wait("large", "x", klass=0, rank=5.0), wait("small", "y", klass=2)]
    (choice,) = choose.choose(waiting, [device(0, barred=["x"])], 10.0, POLICY)
    assert (choice.keys, choice.passed) == (("small",), {"large"})


@pytest.mark.parametrize(
    ("now", "served"), [(19.9, 1), (20.0, 0), (39.9, 0), (40.0, 1), (59.9, 1), (60.0, 0)]
)
def test_devices_are_held_for_who_was_refused_too_long_and_serve_others_in_turn(now, served):
    waiting = [
        wait("large", "x", rank=5.0, passed=0.0),
        wait("small", "y", rank=1.0),
        wait("low", "y", klass=2),
    ]
    devices = [device(0, barred=["x"]), device(1, barred=["x"])]
    assert len(choose.choose(waiting, devices, now, POLICY)) == 2 * served


def test_devices_are_not_held_against_who_is_before():
    waiting = [wait("large", "x", rank=5.0, passed=0.0), wait("small", "y", rank=6.0)]
    (choice,) = choose.choose(waiting, [device(0, barred=["x"])], 25.0, POLICY)
    assert choice.keys == ("small",)


def test_who_was_refused_on_one_device_goes_to_another():
    waiting = [wait("large", "x", rank=5.0, passed=0.0), wait("small", "y", rank=1.0)]
    chosen = choose.choose(waiting, [device(0, barred=["x"]), device(1)], 25.0, POLICY)
    assert keys(chosen) == [(1, ("large",)), (0, ("small",))]


def test_patience_of_zero_means_the_order_itself():
    policy = choose.Policy(patience_s=0.0)
    waiting = [
        wait("better", "x", rank=0.1, model="other", passed=10.0),
        wait("resident", "y", rank=0.0, model="m"),
    ]
    (choice,) = choose.choose(waiting, [device(0, "m")], 10.0, policy)
    assert choice.keys == ("better",)


def test_what_never_fits_a_device_is_left_to_another_kind_though_that_is_busy():
    waiting = [wait("large", "x", rank=5.0, passed=0.0), wait("small", "y", rank=1.0)]
    here, other = device(0, hopeless=["x"]), device(1)
    (choice,) = choose.choose(waiting, [here], 25.0, POLICY, busy=[other])
    assert (choice.keys, choice.passed) == (("small",), frozenset())


def test_what_fits_nowhere_is_tried_all_the_same():
    waiting = [wait("large", "x")]
    here = device(0, hopeless=["x"])
    assert keys(choose.choose(waiting, [here], 10.0, POLICY, busy=[here])) == [(0, ("large",))]


def test_what_theory_calls_too_large_for_a_device_is_left_to_a_larger_one():
    waiting = [wait("large", "x", rank=5.0, peaks=(2000,)), wait("small", "y", peaks=(10,))]
    small, large = device(0, room=1000), device(1, room=4000)
    assert keys(choose.choose(waiting, [small, large], 10.0, POLICY)) == [
        (1, ("large",)), (0, ("small",))
    ]  # fmt: skip
    assert keys(choose.choose(waiting, [small], 10.0, POLICY, busy=[large])) == [(0, ("small",))]
    assert keys(choose.choose(waiting, [small], 10.0, POLICY)) == [(0, ("large",))]


def test_the_forecast_names_the_models_wanted_next_that_are_not_there():
    waiting = [
        wait("a", rank=1.0, model="second"), wait("b", rank=2.0, model="first"), wait("c"),
        wait("d", rank=3.0, model="here"), wait("e", rank=4.0, model="runs"),
        wait("f", rank=0.5, model="first"), wait("g", klass=2, rank=9.0, model="third"),
    ]  # fmt: skip
    assert choose.forecast(waiting, ["here"], "runs", 9) == ("first", "second", "third")
    assert choose.forecast(waiting, ["here"], "runs", 1) == ("first",)
    assert choose.forecast(waiting, ["here"], "runs", 0) == ()


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


def test_a_rank_that_is_no_number_comes_last_and_stops_nobody():
    no_number = wait("nan", "x", klass=0, rank=float("nan"), passed=0.0)
    waiting = [no_number, wait("low", "y", klass=0, rank=-9.0, place=1)]
    first, second = choose.choose(waiting, [device(0), device(1)], 100.0, POLICY)
    assert (first.keys, second.keys) == (("low",), ("nan",))
    barred = [device(0, barred=["x"])]
    assert keys(choose.choose(waiting, barred, 100.0, POLICY)) == [(0, ("low",))]


def test_whom_a_device_is_worth_a_try_for_is_asked_once_of_all_alike(monkeypatch):
    asked, real = [], choose._may_take

    def may_take(device, item, every):
        asked.append(item)
        return real(device, item, every)

    monkeypatch.setattr(choose, "_may_take", may_take)
    waiting = [wait(str(n), f"b{n % 3}", place=n) for n in range(300)]
    choose.choose(waiting, [device(1)], 10.0, POLICY)
    assert len(asked) <= 6  # to place it, and to say who was passed over


def test_what_belongs_on_another_sort_of_device_is_left_to_it_while_there_is_one():
    waiting = [wait("a", "render/x"), wait("b", "draw/y", place=1)]
    cpu, card = device(0, strange=("render/x",)), device(1, strange=("draw/y",))
    assert keys(choose.choose(waiting, [cpu], 1.0, POLICY, busy=[card])) == [(0, ("b",))]
    assert keys(choose.choose(waiting, [card], 1.0, POLICY, busy=[cpu])) == [(1, ("a",))]
    assert keys(choose.choose(waiting, [cpu], 1.0, POLICY)) == [(0, ("a",))], "alone it takes all"
