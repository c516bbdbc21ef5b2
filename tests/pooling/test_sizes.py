from __future__ import annotations

import itertools
import statistics

import hypothesis
import pytest
from hypothesis import strategies as st

from mangen.pooling import estimate, sizes

KIND = estimate.Kind("sdxl", "512x768", "NVIDIA A10")
MANY = 1000


def play(measured, curve, rounds, *, bound=8, waiting=MANY, kind=KIND):
    """Form and run so many batches; answers their sizes."""
    formed = []
    for _ in range(rounds):
        members = min(measured.cap(kind, bound, waiting), waiting)
        measured.observe(kind, members, curve(members))
        formed.append(members)
    return formed


def rising(members):
    """A quarter of the first item's time for each further one."""
    return 0.75 + 0.25 * members


def flat(members):
    """Nothing gained by batching."""
    return float(members)


def test_sizes_double_while_time_per_item_falls():
    assert play(sizes.Sizes(), rising, 7) == [1, 1, 2, 4, 8, 8, 8]


def test_the_first_session_is_a_warm_up_and_counts_only_beside_a_second():
    measured = sizes.Sizes()
    times = iter([50.0, 1.0, 2.0, 2.0])
    assert play(measured, lambda _: next(times), 4) == [1, 1, 2, 2]
    assert measured.cap(KIND, 8, MANY) == 1


def test_what_gains_nothing_is_tried_twice_and_left():
    assert play(sizes.Sizes(), flat, 8) == [1, 1, 2, 2, 1, 1, 1, 1]


def test_it_settles_at_the_cheapest_and_tries_nothing_beyond_it():
    curve = {1: 1.0, 2: 1.5, 4: 3.4, 8: 1.0}.__getitem__
    assert play(sizes.Sizes(), curve, 8) == [1, 1, 2, 4, 4, 2, 2, 2]


def test_of_sizes_that_cost_the_same_the_smallest_is_settled():
    nearly = {1: 1.0, 2: 1.96, 4: 3.88}.__getitem__  # 2 % and 1 % a step: not worth their bytes
    assert play(sizes.Sizes(), nearly, 8) == [1, 1, 2, 2, 1, 1, 1, 1]


def test_one_unlucky_try_is_not_believed():
    measured = sizes.Sizes()
    times = iter([1.0, 1.0, 9.0, 1.5])
    play(measured, lambda _: next(times), 4)
    assert measured.cap(KIND, 8, MANY) == 4


def test_the_last_try_is_the_bound_itself():
    assert play(sizes.Sizes(), rising, 7, bound=6) == [1, 1, 2, 4, 6, 6, 6]


def test_sizes_between_are_formed_when_fewer_wait():
    measured = sizes.Sizes()
    play(measured, rising, 4)
    assert measured.cap(KIND, 8, 5) == 5
    assert measured.cap(KIND, 8, 1) == 4
    measured.observe(KIND, 5, 99.0)
    assert measured.cap(KIND, 8, MANY) == 8


def test_a_size_that_ran_out_of_memory_is_never_formed_again():
    measured = sizes.Sizes(again=10)
    play(measured, rising, 5)
    measured.oom(KIND, 8)
    assert max(play(measured, rising, 100)) == 4
    measured.oom(KIND, 16)
    assert measured.cap(KIND, 64, MANY) == 4
    measured.oom(KIND, 1)
    assert measured.cap(KIND, 64, MANY) == 1


def test_what_the_gate_cannot_take_is_not_asked_for_a_while():
    measured = sizes.Sizes(again=50)
    play(measured, rising, 4)
    measured.admitted(KIND, 5)
    assert play(measured, rising, 5) == [5] * 5
    assert measured.cap(KIND, 8, MANY) == 8


def test_it_changes_its_mind_when_another_size_has_become_better():
    measured = sizes.Sizes(again=50)
    assert play(measured, rising, 60)[-1] == 8
    assert statistics.mode(play(measured, flat, 120)[-30:]) == 1
    assert statistics.mode(play(measured, rising, 120)[-30:]) == 8


def test_retries_are_rare():
    formed = play(sizes.Sizes(again=200), rising, 2000)
    assert sum(members != 8 for members in formed) <= 2 * 10 + 4


def test_times_that_drift_are_reason_to_look_again_at_once():
    measured = sizes.Sizes(again=200)
    play(measured, rising, 30)
    formed = play(measured, lambda members: 2 * rising(members), 12)
    assert 4 in formed


def test_kinds_do_not_mix():
    measured = sizes.Sizes()
    play(measured, rising, 6)
    other = estimate.Kind("sdxl", "512x768", "NVIDIA L4")
    assert (measured.cap(KIND, 8, MANY), measured.cap(other, 8, MANY)) == (8, 1)


def test_a_probe_that_failed_is_remembered():
    measured = sizes.Sizes()
    assert not measured.hopeless(KIND)
    measured.proved_hopeless(KIND)
    assert measured.hopeless(KIND)


def test_only_the_kinds_last_used_are_kept():
    measured = sizes.Sizes(kinds=2)
    play(measured, rising, 6)
    for name in "ab":
        measured.cap(estimate.Kind(name, "", ""), 8, MANY)
    assert measured.cap(KIND, 8, MANY) == 1


@pytest.mark.parametrize(("members", "seconds"), [(0, 1.0), (1, 0.0)])
def test_what_measures_nothing_is_not_counted(members, seconds):
    measured = sizes.Sizes()
    for _ in range(5):
        measured.observe(KIND, members, seconds)
    assert measured.cap(KIND, 8, MANY) == 1


@hypothesis.given(
    st.lists(
        st.tuples(
            st.sampled_from(["observe", "oom", "admitted"]), st.integers(1, 20), st.floats(0.1, 50)
        ),
        max_size=60,
    ),
    st.integers(1, 17),
    st.integers(0, 40),
)
def test_a_cap_is_within_its_bound_and_below_what_ran_out_of_memory(told, bound, waiting):
    measured = sizes.Sizes(again=7)
    lowest = None
    for what, members, seconds in told:
        if what == "observe":
            measured.observe(KIND, members, seconds)
        elif what == "oom":
            measured.oom(KIND, members)
            lowest = min(lowest or members, members)
        else:
            measured.admitted(KIND, members)
        cap = measured.cap(KIND, bound, waiting)
        assert 1 <= cap <= bound
        assert lowest is None or cap == 1 or cap <= lowest // 2


@hypothesis.given(
    st.floats(0, 10), st.floats(0.01, 5), st.floats(0, 0.5), st.integers(1, 24)
)  # fmt: skip
def test_it_finds_the_best_of_what_it_tried_for_every_convex_curve(fixed, each, more, bound):
    def curve(members):
        return fixed + each * members + more * members**2

    def cost(members):
        return curve(members) / members

    measured = sizes.Sizes()
    tried = set(play(measured, curve, 20, bound=bound))
    settled = play(measured, curve, 100, bound=bound)
    assert len(set(settled)) == 1
    cheap = [size for size in tried if cost(size) * 0.97 <= min(cost(one) for one in tried)]
    assert settled[0] == min(cheap)
    ladder = sorted({*(2**n for n in range(5) if 2**n < bound), bound})
    steps = itertools.pairwise(ladder)
    worth = [upper for lower, upper in steps if cost(upper) < 0.97 * cost(lower)]
    # nothing beyond it would have gained what a step must gain
    assert cost(settled[0]) * 0.97 <= min((cost(size) for size in worth), default=cost(settled[0]))
