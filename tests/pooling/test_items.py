"""What may wait in a pool at all."""

from __future__ import annotations

import dataclasses
import math
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mangen.pooling import errors, items, work

GOOD = work.Item(key="k1", name="t", bucket="b", data={})
WRONG = {
    "key": ["", None, ["x"], 7, b"k"],
    "name": ["", None, 3],
    "bucket": ["", None, "x" * 1_001, "plain"],
    "model": [None, 1],
    "klass": [-1, 3, 1.0, "1", None, True, 10**400],
    "rank": [math.nan, math.inf, -math.inf, None, "1", 10**400, 10**5000],
    "peaks": [(-1,), (2**50 + 1,), (10**400,), (10**5000,), (math.nan,), (1.5,), ("1",), None,
              [1], (0,) * 1_025],
    "cap": [0, -3, 1_025, 2.0, None, True],
    "seconds": [-0.5, math.nan, math.inf, None, "1", 10**400],
    "solo": [None, 1, "yes"],
    "data": [[], "x", 0, ()],
}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value"),
    [(field, value) for field, values in WRONG.items() for value in values],
    ids=lambda value: items.shown(value)[:20],
)
def test_what_is_wrong_is_refused_by_its_name(field, value):
    with pytest.raises(errors.PoolError) as refused:
        items.check(dataclasses.replace(GOOD, **{field: value}))
    said = str(refused.value)
    assert f"has {field} " in said
    assert "must be" in said
    assert field == "key" or "'k1'" in said
    assert len(said) < 250


@pytest.mark.parametrize("what", [None, "an item", {"key": "k"}])
def test_what_is_no_item_is_refused(what):
    with pytest.raises(errors.PoolError, match="submit one"):
        items.check(what)


@given(
    klass=st.integers(0, 2),
    rank=st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**60), 2**60),
    peaks=st.lists(st.integers(0, 2**50), max_size=5).map(tuple),
    cap=st.integers(1, 1024),
    seconds=st.floats(0, allow_nan=False, allow_infinity=False),
    bucket=st.text(min_size=1, max_size=1000).filter(lambda name: name != "plain"),
    data=st.none() | st.dictionaries(st.text(), st.integers()),
)
def test_all_that_is_within_the_bounds_is_taken(**fields):
    items.check(work.Item(key="k", name="t", **fields))


def test_a_plain_task_comes_first_of_all():
    plain = work.Item(key="k", name="t", bucket="plain", klass=0, rank=math.inf)
    items.check(plain)
    with pytest.raises(errors.PoolError, match="rank"):
        items.check(dataclasses.replace(plain, rank=math.nan))


@pytest.mark.parametrize("what", [lambda: 1, threading.Lock()])
def test_what_no_pipe_takes_is_refused(what):
    items.check_sendable(GOOD)
    with pytest.raises(errors.PoolError, match="'k1' can't be sent"):
        items.check_sendable(dataclasses.replace(GOOD, data={"f": what}))
