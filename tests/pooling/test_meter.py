from __future__ import annotations

import hypothesis
import pytest
from hypothesis import strategies as st

from mangen.pooling import meter


def test_time_counts_as_wanted_while_work_runs_or_waits():
    one = meter.Meter()
    one.note(10.0, running=False, wanted=False)
    one.note(12.0, running=False, wanted=True)
    one.note(13.0, running=True, wanted=False)
    one.note(17.0, running=False, wanted=False)
    assert one.read(20.0) == (4.0, 5.0)
    assert one.total.ratio == 0.8


def test_a_reading_covers_what_came_since_the_last_one():
    one = meter.Meter()
    one.note(0.0, running=True, wanted=True)
    assert one.read(3.0) == (3.0, 3.0)
    one.note(4.0, running=False, wanted=True)
    assert one.read(6.0) == (1.0, 3.0)
    assert one.read(6.0) == (0.0, 0.0)
    assert one.total == meter.Reading(busy_s=4.0, wanted_s=6.0)


def test_before_the_first_note_no_time_passes():
    one = meter.Meter()
    assert one.read(5.0) == (0.0, 0.0)
    one.note(9.0, running=True, wanted=True)
    assert one.read(10.0) == (1.0, 1.0)


def test_a_device_that_nobody_wants_has_missed_nothing():
    assert meter.Meter().total.ratio == 1.0


def test_a_clock_that_steps_back_takes_nothing_away():
    one = meter.Meter()
    one.note(10.0, running=True, wanted=True)
    one.note(8.0, running=True, wanted=True)
    assert one.read(11.0) == (1.0, 1.0)


def test_idling_beside_waiting_work_alarms_once_each_time():
    one = meter.Meter(5.0)
    one.note(0.0, running=False, wanted=True)
    assert not one.alarm(4.9)
    one.note(4.9, running=False, wanted=True)
    assert one.idle_since == 0.0
    assert one.alarm(5.0)
    assert not one.alarm(50.0)
    one.note(60.0, running=True, wanted=True)
    one.note(70.0, running=False, wanted=True)
    assert not one.alarm(74.0)
    assert one.alarm(75.0)


@pytest.mark.parametrize(
    "state",
    [
        {"running": True, "wanted": True},
        {"running": False, "wanted": False},
        {"running": False, "wanted": True, "ready": False},
    ],
)
def test_who_runs_or_is_not_wanted_or_not_ready_does_not_idle(state):
    one = meter.Meter(5.0)
    one.note(0.0, running=False, wanted=True)
    one.note(1.0, **state)
    assert one.idle_since is None
    assert not one.alarm(100.0)


def test_no_alarm_is_wanted_when_its_time_is_zero():
    one = meter.Meter(0.0)
    one.note(0.0, running=False, wanted=True)
    assert not one.alarm(1e6)


@hypothesis.given(
    st.lists(st.tuples(st.integers(0, 9), st.booleans(), st.booleans(), st.booleans()), max_size=40)
)
def test_readings_add_up_to_the_total_and_busy_is_never_more_than_wanted(notes):
    one = meter.Meter()
    now, busy, wanted, expected = 0, 0.0, 0.0, 0
    last = False
    for step, running, waits, read in notes:
        now += step
        expected += step * last
        one.note(float(now), running=running, wanted=waits)
        last = running
        if read:
            more = one.read(float(now))
            assert 0 <= more[0] <= more[1]
            busy, wanted = busy + more[0], wanted + more[1]
    more = one.read(float(now))
    assert one.total == meter.Reading(busy_s=busy + more[0], wanted_s=wanted + more[1])
    assert one.total.busy_s == expected
