from __future__ import annotations

from mangen.pooling import gate
from mangen.pooling.devices import device

GIB = 1 << 30


class Memory:
    """A device's memory: what is measured, and what may be given back of it."""

    overhead = 0

    def __init__(self, *, total=1000, floor=100, cache=0, residents=0, foreign=0):
        self.total, self.foreign, self.inactive = total, foreign, 0
        self.base, self.cache, self.models, self.work = floor, cache, residents, 0
        self.asked, self.limits = [], []

    def memory(self):
        used = self.base + self.cache + self.models + self.work
        return device.Memory(
            total=self.total,
            free=self.total - used - self.foreign - self.inactive,
            reserved=used + self.inactive,
            allocated=used,
            inactive=self.inactive,
        )

    def limit_cache(self, watermark):
        self.limits.append(watermark)
        self.cache = min(self.cache, watermark)

    def weights(self):
        return self.models

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


def made(margin=0.0, **more):
    memory = Memory(**more)
    return memory, gate.Gate(memory, memory, margin=margin)


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


def test_what_is_larger_than_the_device_is_probed_alone_and_then_never_fits():
    memory, door = made(residents=300)
    probe = door.admit([901, 1802])
    assert probe == gate.Admitted(
        members=1, reserved=900, usable=900, used=100, known=100, probe=True
    )
    assert memory.models == 0
    door.settle(probe, 0)
    assert door.admit([901], hopeless=True) == gate.Refused(need=901, usable=900, never=True)


def test_beside_others_nothing_is_probed_and_nothing_is_called_hopeless():
    _, door = made(total=10 * GIB, foreign=2 * GIB)
    need = 11 * GIB
    assert door.admit([need]) == gate.Refused(need=need, usable=8 * GIB - 100, never=False)
    _, door = made(total=10 * GIB, foreign=8 * GIB)
    assert door.admit([3 * GIB], hopeless=True).never is False  # it would fit, were they gone


def test_what_leaks_or_lies_in_fragments_is_refused_and_not_called_hopeless():
    memory, door = made()
    memory.work = 500
    assert door.admit([900], hopeless=True).never is False
    memory.work, memory.inactive = 0, 500
    assert door.admit([900], hopeless=True) == gate.Refused(need=900, usable=400, never=False)


def test_weights_that_are_still_to_be_loaded_must_fit_too():
    _, door = made()
    assert door.admit([300, 600], weights=500).members == 1
    assert door.admit([300], weights=500) == gate.Refused(need=800, usable=600, never=False)


def test_a_foreign_tenant_that_grows_closes_the_gate_and_opens_it_when_it_leaves():
    memory, door = made()
    memory.foreign = 700
    assert door.admit([300]) == gate.Refused(need=300, usable=200, never=False)
    assert door.balance().foreign == 700
    memory.foreign = 0
    assert door.admit([300]).members == 1


def test_the_margin_is_never_promised():
    _, door = made(margin=0.1)
    assert door.usable() == 800
    assert door.admit([801], hopeless=True).never is True


def test_loading_in_a_session_fills_none_of_its_reservation():
    memory, door = made()
    door.admit([300])
    memory.models = 200
    assert door.usable() == 400
    memory.work = 100
    assert door.usable() == 400


def test_the_watermark_moves_with_what_runs():
    memory, door = made(residents=300, cache=200)
    assert door.move_watermark(400) == 200
    assert door.move_watermark(600) == 0
    assert memory.cache == 0
    assert door.move_watermark(100) == 500
    admitted = door.admit([300])
    assert door.move_watermark(100) == 300
    door.settle(admitted, 0)


def test_admissible_counts_the_members_that_run():
    _, door = made()
    assert door.admissible(200) == 4
    door.admit([200, 400])
    assert door.admissible(200) == 4
    assert door.admissible(0) == 0


def test_after_running_out_of_memory_a_session_reserves_what_there_is():
    _, door = made()
    admitted = door.admit([400, 800])
    smaller = door.resize(admitted, [500, 1000], 1)
    assert (smaller.members, smaller.reserved) == (1, 500)
    larger = door.resize(smaller, [950, 1900], 1)
    assert larger.reserved == 900
    door.settle(larger, 0)


def test_the_difference_is_what_nobody_reserved_loaded_or_cached():
    memory, door = made(residents=300)
    assert door.balance().difference == 0
    memory.work = 50
    assert door.balance().difference == 50
    memory.work = 0
    door.admit([100])
    memory.work = 160
    assert door.balance().difference == 60


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
