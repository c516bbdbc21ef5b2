from __future__ import annotations

import math
import pickle
import threading

import pytest

from mangen.pooling import celery_errors, celery_request, items, work

HEADER = {
    "job": 7, "attempt": 2, "stage": "illustrate", "bucket": "i/512", "rank": -3.5, "class": 0,
    "model": "sdxl", "peaks": [100, 180], "seconds": 4.0, "cap": 8, "solo": True,
}  # fmt: skip


def test_the_header_becomes_an_item_that_carries_it():
    item = celery_request.item_of("mangen.illustrate", "7-2-1", {"work": HEADER})
    assert item == work.Item(
        key="7-2-1", name="mangen.illustrate", bucket="i/512", klass=0, rank=-3.5, model="sdxl",
        peaks=(100, 180), seconds=4.0, cap=8, solo=True, data=HEADER,
    )  # fmt: skip
    assert pickle.loads(pickle.dumps(item)) == item  # noqa: S301 - our own


WRONG = [
    {field: value}
    for field, values in {
        "bucket": ["", None, 3, "plain", "x" * 2_000],
        "class": [None, "high", 3, math.inf, 10**400],
        "rank": [None, math.nan, math.inf, -math.inf, 10**400],
        "peaks": [5, [math.inf], [math.nan], [-1], [10**400], [10**5000], [0] * 2_000],
        "seconds": [math.nan, math.inf, -1, 10**400, "soon"],
        "cap": [-1, math.inf, math.nan, 10**400, "many"],
    }.items()
    for value in values
]


@pytest.mark.parametrize(
    "given",
    [{}, {"work": None}, {"work": {"job": 1}}, {"work": "x"}, {"work": 7}, {"work": [1]},
     *({"work": {**HEADER, **wrong}} for wrong in WRONG)],
    ids=lambda given: items.shown(given.get("work"))[-30:],
)  # fmt: skip
def test_without_a_readable_header_it_is_a_plain_task(given):
    item = celery_request.item_of("t", "k", given)
    assert item == celery_request.plain("t", "k")
    items.check(item)


def test_a_wrong_header_is_said_with_its_request(caplog):
    celery_request.item_of("task", "id-7", {"work": {**HEADER, "rank": math.nan}})
    assert "task[id-7]" in caplog.text
    assert "rank nan" in caplog.text


class Hub:
    """Calls later, in any order, as kombu's does."""

    def __init__(self):
        self.ready = set()

    def call_soon(self, function):
        self.ready.add(function)


def test_callbacks_run_in_order_though_the_hub_keeps_none():
    hub, seen = Hub(), []
    callbacks = celery_request.Callbacks(hub)
    for n in range(50):
        callbacks.post(seen.append, n)
    assert seen == []
    for function in hub.ready:
        function()
    assert seen == list(range(50))


def test_without_a_hub_callbacks_run_at_once_on_the_calling_thread():
    seen = []
    callbacks = celery_request.Callbacks(None)
    callbacks.post(lambda: seen.append(threading.get_ident()))
    assert seen == [threading.get_ident()]


def test_a_callback_that_fails_stops_no_other():
    seen = []
    callbacks = celery_request.Callbacks(None)
    callbacks.post(lambda: 1 / 0)
    callbacks.post(seen.append, 1)
    assert seen == [1]


@pytest.mark.parametrize("error", [MemoryError("m"), SystemExit(3), KeyboardInterrupt()])
def test_what_celery_would_raise_again_is_tamed(error):
    info = celery_errors.info(error)
    inner = getattr(info.exception, "exc", info.exception)
    assert isinstance(inner, RuntimeError)
    assert type(error).__name__ in str(inner)
    assert pickle.loads(pickle.dumps(info)).traceback  # noqa: S301 - our own
