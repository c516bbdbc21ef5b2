from __future__ import annotations

import math
import random

import hypothesis
import pytest
from hypothesis import strategies as st

from mangen.pooling import estimate, events, work

CPU = "cpu"


def item(**more):
    return work.Item(**{"key": "k", "name": "t", "bucket": "b", "model": "m", **more})


def see(learned, one, *peaks, members=1, seconds=1.0, device=CPU):
    for peak in peaks:
        learned.observe(one, device, seconds=seconds, peak=peak, members=members)


def seen(**more):
    given = {
        "name": "t", "model": "m", "bucket": "b", "device": CPU,
        "members": 1, "seconds": 1.0, "peak": 0, "theory": 0,
    }  # fmt: skip
    return events.Seen(**{**given, **more})


def test_theory_stands_and_is_cold_until_there_are_samples_enough():
    learned = estimate.Estimates(samples=5)
    one = item(peaks=(1000, 1500), seconds=10.0, cap=2)
    see(learned, one, 2000, 2000, 2000, 2000, seconds=99.0)
    assert learned.peaks(one, CPU) == estimate.Peaks(nbytes=(1000, 1500), cold=(True, True))
    assert learned.seconds(one, CPU) == 10.0


def test_then_the_windows_maximum_corrects_it_with_a_margin():
    learned = estimate.Estimates(samples=5)
    one = item(peaks=(1000,), seconds=10.0)
    see(learned, one, 500, 1200, 600, 500, 500, seconds=20.0)
    assert learned.peaks(one, CPU) == estimate.Peaks(nbytes=(1260,), cold=(False,))
    assert learned.seconds(one, CPU) == 20.0


def test_a_count_without_samples_of_its_own_borrows_its_kinds_largest_ratio():
    learned = estimate.Estimates(samples=5)
    one = item(peaks=(1000, 2000, 4000), cap=3)
    see(learned, one, 1200, 1200, 1200, 1200)
    see(learned, one, 3000, members=2)
    assert learned.peaks(one, CPU).nbytes == pytest.approx((1575, 3150, 6300), abs=1)
    assert not any(learned.peaks(one, CPU).cold)
    see(learned, one, 1200)
    assert learned.peaks(one, CPU).nbytes == pytest.approx((1260, 3150, 6300), abs=1)


def test_old_samples_leave_the_window():
    learned = estimate.Estimates(samples=2, window=3)
    one = item(peaks=(1000,))
    see(learned, one, 5000, 1000, 1000, 1000)
    assert learned.peaks(one, CPU).nbytes == (1050,)


@hypothesis.given(st.lists(st.floats(0, 9), max_size=40), st.integers(1, 8))
def test_the_highest_is_the_maximum_of_the_window(values, window):
    highest = estimate.Highest(window)
    for n, value in enumerate(values, 1):
        highest.push(value)
        assert highest.value == max(values[max(0, n - window) : n])
        assert len(highest) == min(n, window)


def test_no_record_talks_a_peak_below_a_quarter_or_above_eight_times_the_theory():
    learned = estimate.Estimates(samples=1)
    low, high = item(bucket="low", peaks=(1000,)), item(bucket="high", peaks=(1000,))
    see(learned, low, 0)
    see(learned, high, 10**9)
    assert learned.peaks(low, CPU).nbytes == (250,)
    assert learned.peaks(high, CPU).nbytes == (8000,)


def test_learned_durations_only_lengthen():
    learned = estimate.Estimates(samples=1)
    one = item(seconds=10.0)
    see(learned, one, 0, seconds=1.0)
    assert learned.seconds(one, CPU) == 10.0


def test_one_slow_run_in_twenty_is_not_what_is_expected():
    learned = estimate.Estimates()
    one = item(seconds=1.0)
    for seconds in [2.0] * 19 + [500.0]:
        see(learned, one, 0, seconds=seconds)
    assert learned.seconds(one, CPU) == 2.0


def test_a_batch_needs_what_the_largest_of_its_members_needs():
    learned = estimate.Estimates()
    small, large = item(peaks=(10, 90, 100), cap=3), item(peaks=(50, 60), cap=2)
    assert learned.together([small, large], CPU).nbytes == (50, 90, 100)


def test_a_batch_is_cold_where_one_of_its_members_is():
    learned = estimate.Estimates(samples=1)
    warm, cold = item(peaks=(1000,)), item(bucket="other", peaks=(900,))
    see(learned, warm, 1000)
    assert learned.together([warm], CPU).cold == (False,)
    assert learned.together([warm, cold], CPU) == estimate.Peaks(nbytes=(1050,), cold=(True,))


def test_theory_goes_on_as_steeply_as_it_was_given_up_to_the_cap():
    learned = estimate.Estimates()
    assert learned.peaks(item(peaks=(1000,), cap=3), CPU).nbytes == (1000, 2000, 3000)
    assert learned.peaks(item(peaks=(1000, 1500), cap=4), CPU).nbytes == (1000, 1500, 2000, 2500)
    assert learned.peaks(item(peaks=(1500, 1000), cap=3), CPU).nbytes == (1500, 1000, 1000)
    assert learned.peaks(item(peaks=()), CPU).nbytes == (0,)


@pytest.mark.parametrize(
    "more", [{"bucket": "other"}, {"model": "other"}, {"device": "NVIDIA A10"}]
)
def test_kinds_do_not_mix(more):
    learned = estimate.Estimates(samples=1)
    one = item(peaks=(1000,))
    see(learned, one, 4000)
    assert learned.peaks(one, CPU).nbytes == (4200,)
    device = more.pop("device", CPU)
    assert learned.peaks(item(peaks=(1000,), **more), device).nbytes == (1000,)


def test_work_of_two_names_that_shares_batches_is_of_one_kind():
    learned = estimate.Estimates(samples=1)
    see(learned, item(peaks=(1000,)), 4000)
    assert learned.peaks(item(peaks=(1000,), name="other"), CPU).nbytes == (4200,)


def test_a_peak_without_theory_says_nothing():
    learned = estimate.Estimates(samples=1)
    one = item(peaks=(1000,))
    learned.observe(one, CPU, seconds=1.0, peak=4000, members=1, theory=0)
    assert learned.peaks(one, CPU).cold == (True,)
    learned.observe(one, CPU, seconds=1.0, peak=4000, members=1, theory=2000)
    assert learned.peaks(one, CPU).nbytes == (2100,)


def test_running_out_of_memory_raises_that_count_and_larger_ones():
    learned = estimate.Estimates(samples=1)
    one = item(peaks=(1000, 2000, 3000), cap=3)
    see(learned, one, 1000)
    learned.oom(one, CPU, 2)
    assert learned.peaks(one, CPU).nbytes == (1050, 2625, 3938)
    learned.oom(one, CPU, 2)
    assert learned.peaks(one, CPU).nbytes == (1050, 3282, 4922)


def test_what_ran_out_of_memory_cold_stays_cold_and_is_raised():
    learned = estimate.Estimates()
    one = item(peaks=(1000,))
    learned.oom(one, CPU, 1)
    assert learned.peaks(one, CPU) == estimate.Peaks(nbytes=(1250,), cold=(True,))


def test_bytes_that_were_not_enough_are_the_measure_where_they_are_known():
    learned = estimate.Estimates()
    one = item(peaks=(1000, 2000), cap=2)
    learned.oom(one, CPU, 2, reserved=3000)
    assert learned.peaks(one, CPU) == estimate.Peaks(nbytes=(1000, 3750), cold=(True, False))


def test_running_out_of_memory_is_forgotten_with_the_window():
    learned = estimate.Estimates(samples=1, window=3)
    one = item(peaks=(1000,))
    learned.oom(one, CPU, 1, reserved=4000)
    see(learned, one, 1000, 1000)
    assert learned.peaks(one, CPU).nbytes == (5000,)
    see(learned, one, 1000)
    assert learned.peaks(one, CPU).nbytes == (1050,)


def test_no_number_of_ooms_goes_beyond_the_bound():
    learned = estimate.Estimates()
    one = item(peaks=(1000,))
    for _ in range(100):
        learned.oom(one, CPU, 1, reserved=7000)
    assert learned.peaks(one, CPU).nbytes == (8000,)


def test_loads_are_medians_and_unknown_ones_are_zero():
    learned = estimate.Estimates()
    assert (learned.load_s("m", CPU), learned.weights("m", CPU)) == (0.0, 0)
    for nbytes, seconds in [(100, 40.0), (100, 45.0), (900, 300.0)]:
        learned.observe_load("m", CPU, nbytes, seconds)
    assert (learned.load_s("m", CPU), learned.weights("m", CPU)) == (45.0, 100)
    assert learned.load_s("m", "NVIDIA A10") == 0.0


def test_a_new_worker_learns_what_an_old_one_saw():
    learned = estimate.Estimates(samples=2)
    one = item(peaks=(1000,), seconds=1.0)
    work_row = seen(seconds=7.0, peak=3000, theory=2000)
    load_row = seen(name="", bucket="", seconds=44.0, peak=500)
    learned.learn([work_row, load_row, work_row])
    assert learned.peaks(one, CPU).nbytes == (pytest.approx(1575, abs=1),)
    assert learned.seconds(one, CPU) == 7.0
    assert (learned.load_s("m", CPU), learned.weights("m", CPU)) == (44.0, 500)


def test_only_the_kinds_last_used_are_kept():
    learned = estimate.Estimates(samples=1, kinds=2)
    a, b, c = (item(bucket=bucket, peaks=(1000,)) for bucket in "abc")
    see(learned, a, 2000)
    see(learned, b, 2000)
    learned.peaks(a, CPU)
    see(learned, c, 2000)
    assert [learned.peaks(one, CPU).cold[0] for one in (a, b, c)] == [False, True, False]


@hypothesis.given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(250, 7600)), min_size=5, max_size=60)
)
def test_no_estimate_is_below_what_the_window_holds(given):
    learned = estimate.Estimates(window=20)
    one = item(peaks=(1000, 1000, 1000), cap=3)
    for members, peak in given:
        see(learned, one, peak, members=members)
    peaks = learned.peaks(one, CPU)
    assert not any(peaks.cold)
    for members in (1, 2, 3):
        own = [peak for count, peak in given if count == members][-20:]
        if len(own) >= 5:
            assert peaks.nbytes[members - 1] == math.ceil(max(own) / 1000 * 1.05 * 1000)
        assert all(peaks.nbytes[members - 1] >= peak for peak in own)


def world(seed, sessions=4000):
    """Sessions of a synthetic product: theory times a hidden factor, noise, drift, rare spikes."""
    chance = random.Random(seed)
    sides = [(768, 512), (512, 512), (1024, 1024), (1216, 832)]
    factors = {(h, w, n): chance.uniform(1.1, 1.9) for h, w in sides for n in (1, 2, 4)}
    for number in range(sessions):
        (h, w, members), factor = chance.choice(list(factors.items()))
        theory = tuple(768 * 4 * h * w * n for n in range(1, 5))
        one = item(bucket=f"{w}x{h}", peaks=theory, cap=4)
        drift = 1.1 if number > sessions // 2 else 1.0
        spike = 1.35 if chance.random() < 0.01 else 1.0
        noise = math.exp(chance.gauss(0, 0.03))
        yield one, members, int(theory[members - 1] * factor * drift * noise * spike)


@pytest.mark.parametrize("seed", range(5))
def test_few_peaks_are_under_estimated_and_not_much_is_reserved_in_vain(seed):
    cold_factor = 2.86
    learned = estimate.Estimates()
    under, over, total = 0, [], 0
    for one, members, observed in world(seed):
        peaks = learned.peaks(one, CPU)
        estimated = peaks.nbytes[members - 1] * (cold_factor if peaks.cold[members - 1] else 1)
        if observed > estimated:
            learned.oom(one, CPU, members, reserved=int(estimated))
        if not peaks.cold[members - 1]:
            total += 1
            under += observed > estimated
            over.append(estimated / observed - 1)
        see(learned, one, observed, members=members)
    assert total > 3900
    assert under / total <= 0.01
    assert sum(over) / len(over) <= 0.5
