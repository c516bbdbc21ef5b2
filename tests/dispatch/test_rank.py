from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mangen import errors
from mangen.dispatch import rank

WEIGHTS = rank.Weights()
GIB = 1 << 30


def of(*, seconds=1.0, peak=0, frees=0, hours=0.0):
    return rank.rank(seconds=seconds, peak_bytes=peak, frees=frees, hours=hours, weights=WEIGHTS)


def test_the_rank_is_the_designs_formula():
    assert of(seconds=2, peak=2 * GIB, frees=3, hours=10) == pytest.approx(
        0.5 / 2 + 0.3 / 3 + 0.1 * 2 - 0.2 * 10
    )


def test_work_under_a_second_counts_as_a_second():
    assert of(seconds=0.01) == of(seconds=1)


@given(
    a=st.floats(0.1, 1e4),
    b=st.floats(0.1, 1e4),
    early=st.floats(0, 1e3),
    later=st.floats(0.01, 1e3),
)
def test_waiting_never_changes_the_order_of_two_jobs(a, b, early, later):
    """Ages are linear at one rate: the difference of two ranks does not depend on the hour."""
    before = of(seconds=a, hours=early) - of(seconds=b, hours=early)
    after = of(seconds=a, hours=early + later) - of(seconds=b, hours=early + later)
    assert before == pytest.approx(after, abs=1e-6)


def test_an_older_job_beats_an_equal_younger_one():
    assert of(hours=1) > of(hours=2)


def test_a_job_that_frees_many_is_pulled_forward():
    assert of(frees=20) > of(frees=1) > of(frees=0)


def test_weights_are_read_from_the_setting():
    assert rank.Weights.parse("1,2,3,4") == rank.Weights(short=1, small=2, age=3, frees=4)
    with pytest.raises(errors.SettingsError, match="RANK_WEIGHTS"):
        rank.Weights.parse("1,2")
