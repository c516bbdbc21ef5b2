from __future__ import annotations

from mangen.pooling import faults


def broken(kind):
    raise kind("broken")


def elsewhere(kind):
    raise kind("elsewhere")


def fault(kind, where=broken):
    try:
        where(kind)
    except kind as error:
        return error


def test_the_same_fault_is_told_once_a_minute_and_counted_between(caplog):
    now = [0.0]
    made = faults.Faults(lambda: now[0])
    for second in range(61):
        now[0] = float(second)
        made.note(fault(ValueError), "it goes on")
    assert caplog.text.count("Traceback") == 2
    assert "it goes on (59 times more since it was told last)" in caplog.text


def test_another_type_or_place_is_another_fault(caplog):
    made = faults.Faults(lambda: 0.0)
    made.note(fault(ValueError), "it goes on")
    made.note(fault(KeyError), "it goes on")
    made.note(fault(ValueError, elsewhere), "it goes on")
    made.note(ValueError("never raised"), "it goes on")
    assert len(caplog.records) == 4
