from __future__ import annotations

from mangen.pooling import gate


class Memory:
    """A device's memory: what is measured, and what may be given back of it."""

    def __init__(self, *, floor=100, cache=0, residents=0):
        self.base, self.cache, self.models, self.work = floor, cache, residents, 0
        self.asked = []

    def measure(self):
        return self.base + self.cache + self.models + self.work

    def known(self):
        return self.cache + self.models

    def compress_cache(self, wanted):
        freed = min(max(wanted, 0), self.cache)
        self.cache -= freed
        self.asked.append(("cache", freed))
        return freed

    def evict(self, wanted, keep):
        freed = self.models if wanted > 0 and keep != "all" else 0
        self.models -= freed
        self.asked.append(("evict", freed))
        return freed

    def trim(self):
        self.asked.append(("trim", 0))


def made(budget=1000, **more):
    memory = Memory(**more)
    return memory, gate.Gate(budget, memory.measure, memory)


def test_what_fits_is_admitted_and_reserved_until_settled():
    _, door = made()
    admitted = door.admit([300])
    assert (admitted.members, admitted.reserved) == (1, 300)
    assert door.reserved == 300
    assert door.usable() == 600
    assert door.settle(admitted, 150) == 0.5
    assert door.usable() == 900


def test_bytes_that_a_member_has_filled_are_not_counted_twice():
    memory, door = made()
    door.admit([300])
    memory.work = 200
    assert door.usable() == 600
    memory.work = 400  # more than it reserved
    assert door.usable() == 500


def test_what_the_allocator_keeps_is_seen_though_nobody_knows_of_it():
    memory, door = made()
    memory.work = 700
    assert door.usable() == 200
    assert door.admit([300]) == gate.Refused(need=300, usable=200, never=False)


def test_weights_count_even_before_they_are_touched():
    memory, door = made(residents=0)
    memory.models = 500  # mapped, and known
    memory.work = -500  # but not yet in the resident set
    assert door.usable() == 400


def test_the_cache_goes_before_the_models_and_the_models_before_a_smaller_batch():
    memory, door = made(cache=200, residents=300)
    assert door.admit([100, 500]).members == 2
    assert memory.asked[0] == ("cache", 100)
    assert memory.models == 300

    memory, door = made(cache=200, residents=300)
    assert door.admit([100, 900]).members == 2
    assert (memory.cache, memory.models) == (0, 0)


def test_fewer_members_are_taken_when_making_room_did_not_help():
    _, door = made()
    admitted = door.admit([400, 800, 1200])
    assert (admitted.members, admitted.reserved) == (2, 800)


def test_the_batchs_own_model_is_kept():
    memory, door = made(residents=300)
    admitted = door.admit([600, 700], keep="all")
    assert admitted.members == 1
    assert memory.models == 300


def test_never_means_more_than_an_empty_device_has():
    _, door = made()
    assert door.admit([901]) == gate.Refused(need=901, usable=900, never=True)
    memory, door = made(residents=300)
    memory.work = 500
    assert door.admit([900]).never is False


def test_a_reservation_shrinks_to_what_was_granted():
    _, door = made()
    admitted = door.admit([300, 600])
    smaller = door.shrink(admitted, [300, 600], 1)
    assert (smaller.members, smaller.reserved) == (1, 300)
    assert door.usable() == 600
    door.settle(smaller, 0)
    assert door.usable() == 900


def test_members_join_as_far_as_they_fit_and_evict_nothing():
    memory, door = made(residents=300)
    admitted = door.admit([200])
    larger = door.extend(admitted, [200, 400, 600, 900], 3)
    assert (larger.members, larger.reserved) == (3, 600)
    assert memory.models == 300
    refused = door.extend(larger, [200, 400, 600, 900], 1)
    assert (refused.need, refused.never) == (300, False)
    door.settle(larger, 0)
