from __future__ import annotations

from mangen.pooling import estimate, work


def item(**more):
    return work.Item(**{"key": "k", "name": "t", "bucket": "b", "model": "m", **more})


def test_theory_stands_until_there_are_samples_enough():
    learned = estimate.Estimates(samples=5)
    one = item(peaks=(1000, 1500), seconds=10.0, cap=2)
    for _ in range(4):
        learned.observe(one, seconds=99.0, peak=2000, members=1)
    assert learned.peaks(one) == (1000, 1500)
    assert learned.seconds(one) == 10.0


def test_then_the_windows_maximum_corrects_it_with_a_margin():
    learned = estimate.Estimates(samples=5)
    one = item(peaks=(1000, 1500), seconds=10.0, cap=2)
    for peak in (500, 1200, 600, 500, 500):
        learned.observe(one, seconds=20.0, peak=peak, members=1)
    assert learned.peaks(one) == (1260, 1500)
    assert learned.seconds(one) == 20.0


def test_old_samples_leave_the_window():
    learned = estimate.Estimates(samples=2, window=3)
    one = item(peaks=(1000,))
    for peak in (5000, 1000, 1000, 1000):
        learned.observe(one, seconds=1.0, peak=peak, members=1)
    assert learned.peaks(one) == (1050,)


def test_no_record_talks_a_peak_below_a_quarter_or_above_eight_times_the_theory():
    learned = estimate.Estimates(samples=1)
    low, high = item(bucket="low", peaks=(1000,)), item(bucket="high", peaks=(1000,))
    learned.observe(low, seconds=1.0, peak=0, members=1)
    learned.observe(high, seconds=1.0, peak=10**9, members=1)
    assert learned.peaks(low) == (250,)
    assert learned.peaks(high) == (8000,)


def test_learned_durations_only_lengthen():
    learned = estimate.Estimates(samples=1)
    one = item(seconds=10.0)
    learned.observe(one, seconds=1.0, peak=0, members=1)
    assert learned.seconds(one) == 10.0


def test_a_batch_needs_what_the_largest_of_its_members_needs():
    learned = estimate.Estimates()
    small, large = item(peaks=(10, 90, 100), cap=3), item(peaks=(50, 60), cap=2)
    assert learned.together([small, large]) == (50, 90, 100)


def test_kinds_do_not_mix_and_peaks_reach_up_to_the_cap():
    learned = estimate.Estimates(samples=1)
    learned.observe(item(peaks=(1000,)), seconds=1.0, peak=4000, members=1)
    assert learned.peaks(item(bucket="other", peaks=(1000,), cap=3)) == (1000, 1000, 1000)
    assert learned.peaks(item(peaks=())) == (0,)
