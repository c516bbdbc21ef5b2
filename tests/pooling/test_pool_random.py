"""The real pool at random: whatever is thrown at it, every request ends once, and bytes add up."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import logging
import tempfile

import pytest
import sim_pool
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sim_pool import GIB, MIB, Lost, ends

from mangen.pooling import answers, events, slots

BUCKETS = ("a/s/3", "a/m/2", "a/s/6+join", "b/s/2", "b/m/3+join", "c/s/2", "a/l/2", "a/under/2",
           "a/over/1", "b/huge/1", "a/late/1")  # fmt: skip
TOTAL = 8 * GIB


@dataclasses.dataclass(frozen=True, slots=True)
class Submit:
    bucket: str
    count: int = 1
    klass: int = 1
    rank: float = 0.0
    cap: int = 8
    solo: bool = False
    do: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Kill:
    slot: int


@dataclasses.dataclass(frozen=True, slots=True)
class Replace:
    slot: int


@dataclasses.dataclass(frozen=True, slots=True)
class Abort:
    which: int


@dataclasses.dataclass(frozen=True, slots=True)
class Tenant:
    """Moves to so many MiB, as far as there is room."""

    slot: int
    mib: int


@dataclasses.dataclass(frozen=True, slots=True)
class Restart:
    pass


@dataclasses.dataclass(frozen=True, slots=True)
class Expect:
    models: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Listen:
    """Let this many more events come."""

    count: int


SUBMITS = st.builds(
    Submit,
    bucket=st.sampled_from(BUCKETS),
    count=st.integers(1, 8),
    klass=st.integers(0, 2),
    rank=st.floats(0, 1),
    cap=st.sampled_from([1, 2, 4, 8]),
    solo=st.sampled_from([False, False, False, True]),
    do=st.sampled_from([""] * 12 + ["fail", "kill", "raise", "leak:64"]),
)
TROUBLES = st.one_of(
    st.builds(Kill, st.integers(0, 1)),
    st.builds(Replace, st.integers(0, 1)),
    st.builds(Abort, st.integers(0, 99)),
    st.builds(Abort, st.integers(0, 99)),
    st.builds(Tenant, st.integers(0, 1), st.integers(0, 8000)),
    st.just(Restart()),
    st.builds(Expect, st.lists(st.sampled_from("abc"), max_size=3).map(tuple)),
    st.builds(Listen, st.integers(1, 40)),
    st.builds(Listen, st.integers(1, 40)),
)
PLANS = st.lists(st.one_of(SUBMITS, SUBMITS, TROUBLES), min_size=4, max_size=24)


class Run:
    """One pool, and a plan that is thrown at it."""

    def __init__(self, folder, cards, **more):
        sim_pool.registered(folder)
        names = ("sim:small", "sim:small/1")[:cards]
        self.sim = sim_pool.Sim(
            folder, devices=names, linger_s=0.005, grace_s=0.5, idle_trim_s=0.02, monitor_s=0.02,
            **more,
        )  # fmt: skip
        self.cards = cards
        self.futures, self.given, self.aborted = {}, {}, set()
        self.tenants = [self.sim.tenant(number) for number in range(cards)]
        self.held = [0] * cards
        self.squeezed = False

    def throw(self, plan):
        for act in plan:
            getattr(self, type(act).__name__.lower())(act)

    def submit(self, act):
        for _ in range(act.count):
            key = f"k{len(self.futures)}"
            self.given[key] = act
            self.squeezed |= act.do.startswith("leak")
            self.futures[key] = self.sim.submit(
                key, act.bucket, klass=act.klass, rank=act.rank, cap=act.cap, solo=act.solo,
                do=act.do,
            )  # fmt: skip

    def kill(self, act):
        child = self.sim.child(act.slot % self.cards)
        if child is not None:
            with contextlib.suppress(ProcessLookupError):
                sim_pool.kill(child["pid"])

    def replace(self, act):
        child = self.sim.child(act.slot % self.cards)
        if child is not None:
            self.aborted |= set(self.futures)  # whoever is in its hands
            self.sim.control.replace(child["owner"])

    def abort(self, act):
        if self.futures:
            key = f"k{act.which % len(self.futures)}"
            self.aborted.add(key)
            self.sim.control.abort(key)

    def tenant(self, act):
        number = act.slot % self.cards
        wanted, had = act.mib * MIB, self.held[number]
        try:
            self.tenants[number].grow(wanted - had)
        except MemoryError:
            return
        self.held[number] = wanted
        self.squeezed = True

    def restart(self, _act):
        self.sim.pool._engine.restart()

    def expect(self, act):
        self.sim.control.expect(act.models)

    def listen(self, act):
        self.sim.ear.wait(self.sim.ear.more(act.count), f"{act.count} more events")

    def end(self):
        """Let all end, with the tenants gone, and close; answers how each ended."""
        for tenant in self.tenants:
            tenant.__exit__()
        found = ends(self.futures)
        self.sim.pool.close()
        self.faults = self.sim.pool.report()["counters"].get("faults", 0)
        return found


def check_bytes(heard):
    """Assert that no more was promised than there is."""
    for one in heard:
        if isinstance(one, events.Admitted):
            assert 0 <= one.reserved <= max(0, one.usable) <= TOTAL
            assert one.members >= 1
        elif isinstance(one, events.Sampled):
            assert 0 <= one.reserved <= TOTAL
            assert one.difference >= 0
        elif isinstance(one, events.OutOfMemory):
            assert 0 <= one.reserved <= TOTAL
            assert one.then == one.members == 1 or one.then <= one.members // 2


def check(run, found):
    """Assert what holds of every run."""
    sim, heard = run.sim, run.sim.ear.heard
    assert run.faults == 0
    check_bytes(heard)
    finished = collections.Counter(one.key for one in heard if isinstance(one, events.Finished))
    lost = collections.Counter(key for one in heard if isinstance(one, Lost) for key in one.keys)
    claims = sim.claims()
    assert set(finished.values()) <= {1}
    for key, status in found.items():
        act = run.given[key]
        # a claim whose child died before it could say so is made again, once it was told as lost
        assert claims[key] <= 1 + lost[key], key
        silent = status == "lost" or (status == "aborted" and finished[key] == 0)
        assert finished[key] == (not silent), key
        if status == "lost":
            assert lost[key] or key in run.aborted, key
        elif status == "done":
            assert act.do in {"", "leak:64"}
            assert run.futures[key].result().value["key"] == key
            assert claims[key] >= 1
        elif status == "failed":
            never = act.bucket.split("/")[1] in {"huge", "late"}
            assert act.do == "fail" or never or run.squeezed, key
        elif silent:  # stopped on purpose, and its child died before it could say so
            assert lost[key], key
            assert key in run.aborted, key
        else:
            never = act.bucket.split("/")[1] in {"huge", "late"}
            assert status == "aborted"
            assert key in run.aborted or never or run.squeezed, key
    bad = {key for key, act in run.given.items() if act.do in {"kill", "raise"}}
    assert all(found[key] != "done" for key in bad)
    for number in range(run.cards):
        assert sim.free(number) == TOTAL


@pytest.fixture
def quick(monkeypatch):
    """Shorten the waits that protect a real card."""
    monkeypatch.setattr(slots, "QUARANTINE_DEATHS", 3)
    monkeypatch.setattr(slots, "QUARANTINE_S", 0.2)
    monkeypatch.setattr(answers, "_BARRED_S", 0.05)
    logging.getLogger("mangen.pooling").setLevel(logging.CRITICAL)
    yield
    logging.getLogger("mangen.pooling").setLevel(logging.NOTSET)


@pytest.mark.timeout(0)
@settings(
    max_examples=12 * sim_pool.TIMES,
    deadline=None,
    derandomize=sim_pool.TIMES == 1,
    # a plan is seldom the whole cause: a smaller one would fail otherwise, and slowly
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
    database=None,
)
@given(
    plan=PLANS,
    cards=st.integers(1, 2),
    restart_after=st.sampled_from([0, 0, 4]),
    measure_sizes=st.booleans(),
    patience_s=st.sampled_from([0.1, 20.0]),
)
def test_every_request_ends_once_and_no_byte_is_promised_twice(quick, plan, cards, **more):
    with tempfile.TemporaryDirectory() as folder:
        run = Run(folder, cards, **more)
        try:
            run.throw(plan)
            check(run, run.end())
        except BaseException:
            print(*run.sim.ear.heard, *run.sim.logged(), sep="\n")
            raise
        finally:
            run.sim.pool.close(cold=True)
