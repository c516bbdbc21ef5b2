"""The gate on a simulated card, at random: what it promised is there, and it promises no more."""

from __future__ import annotations

import tempfile

import pytest
import sim_pool
from hypothesis import settings, stateful
from hypothesis import strategies as st
from sim_pool import GIB, MIB

from mangen.pooling import gate
from mangen.pooling.devices import device, simulated

UNIT = 64 * MIB
UNITS = st.integers(1, 64)


class House:
    """Gives back models that nobody pinned, and a cache on the device."""

    def __init__(self, card):
        self.card, self.models, self.cache = card, {}, []

    def weights(self):
        return sum(one.nbytes for one in self.models.values())

    def known(self):
        return self.weights() + sum(one.nbytes for one in self.cache)

    def compress_cache(self, wanted):
        freed = 0
        while self.cache and freed < wanted:
            one = self.cache.pop()
            freed += one.nbytes
            one.release()
        return freed

    def evict(self, wanted, keep):
        freed = 0
        for name in [name for name in self.models if name != keep]:
            if freed < wanted:
                one = self.models.pop(name)
                freed += one.nbytes
                one.release()
        return freed

    def limit_cache(self, watermark):
        self.compress_cache(sum(one.nbytes for one in self.cache) - watermark)

    def trim(self):
        self.card.trim()


class OneCard(stateful.RuleBasedStateMachine):
    """One session at a time, as in a child; a tenant comes and goes."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        sim_pool.registered(self.folder.name)
        options = device.Options(folder=self.folder.name, speed=1e9)
        self.card = simulated.Simulated("sim:small", options)
        self.tenant = simulated.Tenant("sim:small", options)
        self.foreign = 0
        self.house = House(self.card)
        self.gate = gate.Gate(self.card, self.house, margin=0.01)
        self.total = self.card.memory().total
        self.admitted, self.peaks, self.filled = None, (), []
        self.safe = True  # what is reserved must be there: no probe, and no tenant has grown since

    def teardown(self):
        self.tenant.__exit__()
        self.card.close()
        self.folder.cleanup()

    @stateful.precondition(lambda self: self.admitted is None)
    @stateful.rule(units=UNITS, members=st.integers(1, 8), hopeless=st.booleans())
    def admit(self, units, members, hopeless):
        self.peaks = tuple(units * UNIT * (n + 1) for n in range(8))
        verdict = self.gate.admit(self.peaks[:members], "a", hopeless=hopeless)
        if isinstance(verdict, gate.Refused):
            assert verdict.need > verdict.usable
            assert hopeless or not verdict.never
            return
        assert verdict.members == 1 or not verdict.probe
        assert 0 <= verdict.reserved <= max(0, verdict.usable)
        self.admitted, self.safe = verdict, not verdict.probe

    @stateful.precondition(lambda self: self.admitted is not None)
    @stateful.rule(units=UNITS)
    def fill(self, units):
        room = self.admitted.reserved - sum(one.nbytes for one in self.filled)
        nbytes = min(units * UNIT, room // UNIT * UNIT)
        if nbytes <= 0:
            return
        try:
            self.filled.append(self.card.alloc(nbytes))
        except RuntimeError:
            assert not self.safe, "what was reserved was not there"

    @stateful.precondition(lambda self: self.filled)
    @stateful.rule()
    def give_back(self):
        self.filled.pop().release()

    @stateful.precondition(lambda self: self.admitted is not None and self.admitted.members)
    @stateful.rule(more=st.integers(1, 7))
    def join(self, more):
        verdict = self.gate.extend(self.admitted, self.peaks, more)
        if isinstance(verdict, gate.Admitted):
            assert self.admitted.members < verdict.members <= self.admitted.members + more
            assert verdict.reserved >= self.admitted.reserved
            self.admitted = verdict

    @stateful.precondition(lambda self: self.admitted is not None)
    @stateful.rule(members=st.integers(0, 8))
    def shrink(self, members):
        before = self.admitted
        self.admitted = self.gate.shrink(before, self.peaks, members)
        assert self.admitted.members == min(before.members, members)
        assert self.admitted.reserved <= before.reserved

    @stateful.precondition(lambda self: self.admitted is not None)
    @stateful.rule(members=st.integers(1, 8), weights=st.integers(0, 32))
    def run_out(self, members, weights):
        for one in self.filled:
            one.release()
        self.filled.clear()
        self.admitted = self.gate.resize(
            self.admitted, self.peaks, members, "a", weights=weights * UNIT
        )
        assert self.admitted.reserved <= self.peaks[members - 1]
        self.safe = True

    @stateful.precondition(lambda self: self.admitted is not None)
    @stateful.rule()
    def settle(self):
        for one in self.filled:
            one.release()
        observed = sum(one.nbytes for one in self.filled)
        self.filled.clear()
        assert self.gate.settle(self.admitted, observed) >= 0
        self.admitted = None
        assert self.gate.reserved == 0

    @stateful.rule(name=st.sampled_from("abc"), units=UNITS)
    def load(self, name, units):
        if name not in self.house.models and self.gate.make_room(units * UNIT, "a"):
            self.house.models[name] = self.card.alloc(units * UNIT)  # room was made: it must be

    @stateful.rule(units=st.integers(1, 8))
    def cache(self, units):
        if units * UNIT <= self.gate.usable():
            self.house.cache.append(self.card.alloc(units * UNIT))

    @stateful.rule(units=UNITS)
    def move_watermark(self, units):
        watermark = self.gate.move_watermark(units * UNIT)
        assert 0 <= sum(one.nbytes for one in self.house.cache) <= watermark <= self.total

    @stateful.rule(units=st.integers(-64, 64))
    def tenant_moves(self, units):
        if units < 0:
            given = min(self.foreign, -units * UNIT)
            self.tenant.shrink(given)
            self.foreign -= given
        elif units * UNIT <= self.card.memory().free:
            self.tenant.grow(units * UNIT)
            self.foreign += units * UNIT
            self.safe = False

    @stateful.invariant()
    def no_more_is_promised_than_there_is(self):
        now = self.gate.balance()
        reserved = 0 if self.admitted is None else self.admitted.reserved
        assert now.reserved == self.gate.reserved == reserved
        assert 0 <= reserved <= self.total - self.card.overhead
        assert now.usable <= self.total - self.card.overhead
        assert now.difference >= 0
        assert now.foreign == self.foreign
        if self.safe and self.admitted is not None:
            assert now.usable >= 0

    @stateful.invariant()
    def what_is_admissible_would_be_admitted_by_its_bytes(self):
        now = self.gate.balance()
        count = self.gate.admissible(UNIT)
        assert count * UNIT <= max(0, now.usable + now.reserved)


OneCard.TestCase.settings = settings(
    max_examples=60 * sim_pool.TIMES, stateful_step_count=40, deadline=None
)
test_what_the_gate_promised_is_there = pytest.mark.timeout(0)(OneCard.TestCase)


def test_a_session_that_shrinks_never_has_more_than_before(tmp_path):
    sim_pool.registered(tmp_path)
    card = simulated.Simulated("sim:small", device.Options(folder=str(tmp_path), speed=1e9))
    door = gate.Gate(card, House(card))
    peaks = [2 * GIB * (n + 1) for n in range(8)]
    resized = door.resize(door.admit(peaks[:3]), peaks, 8)
    assert resized.reserved == card.memory().reach < peaks[5]
    assert door.shrink(resized, peaks, 6).reserved == resized.reserved
    card.close()
