from __future__ import annotations

from mangen.pooling import owners, slots


class Card:
    """A card whose driver says what a test wants it to."""

    name = kind = id = "card"
    exclusive = False
    total = 1000

    def __init__(self, free=1000, pids=(), each=1):
        self.left, self.pids, self.each = free, pids, each

    def free(self):
        return self.left

    def processes(self):
        return dict.fromkeys(self.pids, self.each)

    def close(self):
        pass


def made(**more):
    return slots.Slot(number=0, device="cpu", card=Card(**more))


def test_a_crash_loop_waits_twice_as_long_each_time_and_is_then_quarantined():
    slot = made()
    waits = [slot.died(100.0, quick=True) for _ in range(slots.QUARANTINE_DEATHS)]
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, slots.QUARANTINE_S]
    assert slot.quarantined
    assert slot.not_before == 100.0 + slots.QUARANTINE_S


def test_work_done_ends_the_loop():
    slot = made()
    for _ in range(slots.QUARANTINE_DEATHS):
        slot.died(0.0, quick=True)
    slot.lived()
    assert not slot.quarantined
    assert slot.died(0.0, quick=True) == 0.5


def test_a_death_after_work_is_no_loop():
    slot = made()
    assert [slot.died(0.0, quick=False) for _ in range(9)] == [0.5] * 9


def test_generations_increase_even_when_the_clock_does_not():
    clock = iter([1000.0, 1000.0, 999.0, 1001.0])
    made = owners.Generations(lambda: next(clock), lambda: 5042)
    names = [made.next("w", 1) for _ in range(4)]
    assert names == [f"w/1/{n}042" for n in (1000000, 1000001, 1000002, 1001000)]


def test_generations_of_two_processes_differ_though_they_start_at_once():
    names = [owners.Generations(lambda: 1000.0, lambda pid=pid: pid).next("w", 1) for pid in (7, 8)]
    assert len(set(names)) == 2


def test_the_wait_for_the_next_standby_grows_and_is_none_of_the_slots_deaths():
    slot = made()
    waits = []
    for _ in range(8):
        slot.standby_died(100.0)
        waits.append(slot.standby_from - 100.0)
    assert waits == [30.0, 60.0, 120.0, 240.0, 480.0, 960.0, 1800.0, 1800.0]
    assert (slot.deaths, slot.not_before) == (0, 0.0)


def test_a_dead_child_lingers_while_its_card_still_counts_it():
    slot = made(pids=(7,))
    assert slot.lingers() == ""
    slot.dead = 7
    assert "process 7 is dead" in slot.lingers()
    slot.card.pids = (8,)
    assert slot.lingers() == ""


def test_a_process_that_was_told_of_and_is_no_more_has_given_all_back():
    for each in (700, None):  # of another process, if the driver tells
        slot = made(free=300, pids=(8,), each=each)
        slot.dead, slot.free_before, slot.told = 7, 1000, True
        assert slot.lingers() == ""


def test_bytes_that_no_process_explains_did_not_come_back_though_the_dead_was_told_of():
    slot = made(free=900, pids=(8,), each=100)
    slot.look()
    slot.dead, slot.told = 7, True
    slot.card.left, slot.card.each = 300, 200
    assert "500 bytes did not come back" in slot.lingers()
    slot.card.left = 800
    assert slot.lingers() == ""


def test_where_no_process_is_told_the_free_bytes_must_be_back():
    slot = made(free=300)
    slot.dead, slot.free_before = 7, 1000
    assert "700 bytes did not come back" in slot.lingers()
    slot.card.left = 960
    assert slot.lingers() == ""
    slot.card.left = None
    assert slot.lingers() == ""
