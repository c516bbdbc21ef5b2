from __future__ import annotations

import random

import hypothesis
import pytest
from hypothesis import strategies as st

from mangen.pooling import wear

MIB = 2**20
TOTAL = 8 * 2**30


def live(child, floors, *, tasks=1, total=TOTAL):
    """Work, then look, for each floor in MiB; answers after how many looks it was worn, or 0."""
    for n, floor in enumerate(floors, 1):
        child.done(tasks)
        child.look(floor=int(floor * MIB), total=total)
        if child.why():
            return n
    return 0


def test_a_fresh_child_is_not_worn():
    assert wear.Wear(100).why() == ""


def test_it_is_worn_after_its_number_of_tasks():
    child = wear.Wear(3)
    child.done(2)
    assert child.why() == ""
    child.done(1)
    assert child.why() == "it did 3 tasks of 3"


def test_without_a_number_it_works_for_ever():
    child = wear.Wear(0)
    child.done(10**6)
    assert child.why() == ""


def test_three_refusals_in_a_row_wear_it_out():
    child = wear.Wear()
    for _ in range(2):
        child.refused()
    child.took()
    for _ in range(2):
        child.refused()
    assert child.why() == ""
    child.refused()
    assert "refused 3 offers in a row" in child.why()


def test_refusals_that_others_on_the_device_explain_do_not_count():
    child = wear.Wear()
    for _ in range(9):
        child.refused(foreign=True)
    assert child.why() == ""


def test_a_floor_that_rises_wears_it_out_and_the_log_can_say_by_how_much():
    child = wear.Wear()
    assert live(child, [20 * n for n in range(200)]) == 30
    assert child.why() == "its idle floor rose by 480 MiB in 30 tasks, more than 256 MiB"


@pytest.mark.parametrize("leak", [3, 0.5])
def test_a_slow_leak_is_found_later(leak):
    found = live(wear.Wear(), [leak * n for n in range(2500)])
    assert found
    assert leak * found < 4 * 256


def test_what_rises_less_than_counts_is_let_be():
    assert live(wear.Wear(), [250 * n / 3000 for n in range(3000)]) == 0


def test_on_a_large_device_more_must_be_lost():
    floors = [20 * n for n in range(30)]
    assert live(wear.Wear(), floors, total=80 * 2**30) == 0
    assert live(wear.Wear(), floors, total=8 * 2**30) == 30


@pytest.mark.parametrize("at", range(0, 60, 3))
def test_a_step_that_stays_is_no_slope_wherever_it_falls(at):
    assert live(wear.Wear(), [0] * at + [3000] * (300 - at)) == 0


def test_two_equal_steps_are_no_slope():
    assert live(wear.Wear(), [0] * 10 + [1000] * 10 + [2000] * 100) == 0


def test_one_heavy_look_is_no_slope():
    floors = [100 + 5000 * (n % 10 == 7) for n in range(500)]
    assert live(wear.Wear(), floors) == 0


def test_looks_at_rest_neither_count_nor_hide_a_slope():
    child = wear.Wear()
    for n in range(30):
        child.done()
        for _ in range(50):
            child.look(floor=20 * n * MIB, total=TOTAL)
    assert "idle floor rose" in child.why()


def test_slopes_and_fragments_wear_out_nobody_before_it_did_some_work():
    child = wear.Wear(between=40)
    assert live(child, [50 * n for n in range(39)]) == 0
    for _ in range(5):
        child.look(floor=0, total=TOTAL, fragmentation=0.5, stranded=10**10)
    assert child.why() == ""
    child.done()
    assert child.why()


def test_fragments_at_three_looks_in_a_row_wear_it_out():
    child = wear.Wear(between=0)
    for fragmentation in (0.2, 0.2, None, 0.1, 0.2, 0.3):
        child.look(floor=0, total=TOTAL, fragmentation=fragmentation, stranded=600 * MIB)
        assert child.why() == ""
    child.look(floor=0, total=TOTAL, fragmentation=0.25, stranded=700 * MIB)
    assert child.why() == "25% of its memory lies in fragments, 700 MiB, at 3 idle looks in a row"


@pytest.mark.parametrize(("stranded", "total", "worn"), [
    (500 * MIB, TOTAL, False), (520 * MIB, TOTAL, True), (-1, 2**31, False), (-1, 2**33, True),
])  # fmt: skip
def test_a_large_share_of_little_memory_is_let_be(stranded, total, worn):
    child = wear.Wear(between=0)
    for _ in range(3):
        child.look(floor=0, total=total, fragmentation=0.2, stranded=stranded)
    assert bool(child.why()) is worn


@pytest.mark.parametrize("noise", [100, 200, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_a_noisy_floor_is_no_slope(seed, noise):
    chance = random.Random(seed)
    floors = [5000 + chance.gauss(0, noise) for _ in range(1000)]
    assert live(wear.Wear(), floors) == 0


def test_a_slope_is_seen_through_noise():
    chance = random.Random(0)
    assert 0 < live(wear.Wear(), [1000 + 20 * n + chance.gauss(0, 100) for n in range(500)]) < 60


@hypothesis.given(
    st.lists(st.integers(0, 10**4), min_size=1, max_size=40), st.integers(0, 39), st.integers(1, 30)
)
def test_wear_never_comes_before_the_least_number_of_tasks(floors, between, tasks):
    child = wear.Wear(between=between)
    found = live(child, floors, tasks=tasks)
    assert not found or found * tasks >= between
