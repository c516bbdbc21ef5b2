from __future__ import annotations

from mangen.pooling import slots


def test_a_crash_loop_waits_twice_as_long_each_time_and_is_then_quarantined():
    slot = slots.Slot(number=0, device="cpu")
    waits = [slot.died(100.0, quick=True) for _ in range(slots.QUARANTINE_DEATHS)]
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, slots.QUARANTINE_S]
    assert slot.quarantined
    assert slot.not_before == 100.0 + slots.QUARANTINE_S


def test_work_done_ends_the_loop():
    slot = slots.Slot(number=0, device="cpu")
    for _ in range(slots.QUARANTINE_DEATHS):
        slot.died(0.0, quick=True)
    slot.lived()
    assert not slot.quarantined
    assert slot.died(0.0, quick=True) == 0.5


def test_a_death_after_work_is_no_loop():
    slot = slots.Slot(number=0, device="cpu")
    assert [slot.died(0.0, quick=False) for _ in range(9)] == [0.5] * 9


def test_generations_increase_even_when_the_clock_does_not():
    clock = iter([1000.0, 1000.0, 999.0, 1001.0])
    made = slots.Generations(lambda: next(clock))
    owners = [made.next("w", 1) for _ in range(4)]
    assert owners == ["w/1/1000000", "w/1/1000001", "w/1/1000002", "w/1/1001000"]
