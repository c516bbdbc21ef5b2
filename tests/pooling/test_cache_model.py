"""The cache against a model that knows only which makers' values may be seen."""

from __future__ import annotations

import dataclasses
import itertools
import shutil
import tempfile

import numpy as np
from hypothesis import settings
from hypothesis import stateful as machines
from hypothesis import strategies as st

from mangen.pooling import cache, cache_disk, tensors

KINDS = {
    "text": cache.Policy(),
    "face": cache.Policy(worth=3.0),
    "panel": cache.Policy(worth=0.01, only_while=("repaint",)),
}
NAMES = list(itertools.product(KINDS, "ab"))
MEMBERS = ["k1", "k2"]
HOST = 1000
DISK = 4500


@dataclasses.dataclass(frozen=True)
class Slab:
    """Stands for a tensor of a simulated card."""

    nbytes: int
    fill: int


class SlabMover:
    def on_device(self, leaf) -> bool:
        return isinstance(leaf, Slab)

    def to_host(self, leaf):
        return np.full(leaf.nbytes, leaf.fill, np.uint8) if isinstance(leaf, Slab) else leaf


def maker_of(value) -> int:
    """Each product is filled with its maker's number: this reads it, and finds mixtures."""
    leaf = value["x"]
    if isinstance(leaf, Slab):
        return leaf.fill
    assert len(set(leaf.tolist())) == 1
    return int(leaf[0])


class CacheMachine(machines.RuleBasedStateMachine):
    """`proved` and `open` are makers' numbers whose values may be seen, by product's name."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp()
        self.numbers = itertools.count(1)
        self.proved: dict[tuple[str, str], set[int]] = {name: set() for name in NAMES}
        self.open: dict[tuple[str, str], tuple[str | None, int]] = {}
        self.failed = False
        self.waits = False
        self.limit = 2**40

    @machines.initialize(host_is_device=st.booleans())
    def begin(self, host_is_device) -> None:
        self.host_is_device = host_is_device
        self.restart()

    @machines.rule()
    def restart(self) -> None:
        """A new process: what was not proved is gone, what is on disk is not."""
        self.cache = cache.Cache(
            cache.Options(
                kinds=KINDS,
                host_bytes=HOST,
                host_is_device=self.host_is_device,
                folder=self.folder,
                disk_bytes=DISK,
            ),
            mover=SlabMover(),
        )
        self.open.clear()
        self.failed = self.waits = False
        self.limit = 2**40

    @machines.rule(
        name=st.sampled_from(NAMES),
        size=st.integers(1, 600),
        seconds=st.floats(0, 100),
        by=st.sampled_from([*MEMBERS, None]),
        on_device=st.booleans(),
    )
    def put(self, name, size, seconds, by, on_device) -> None:
        number = next(self.numbers) % 256
        held = self.holds(name)
        array = np.full(size, number, np.uint8)
        self.cache.put(
            *name, {"x": Slab(size, number) if on_device else array}, seconds=seconds, by=by
        )
        if held and name not in self.open:
            return  # what is proved stays
        if name[0] == "panel" and not self.waits:
            return
        if self.holds(name):
            self.open[name] = (by, number)
        else:
            self.open.pop(name, None)

    @machines.rule(name=st.sampled_from(NAMES))
    def get(self, name) -> None:
        held = self.holds(name)
        value = self.cache.get(*name)
        if held:
            assert value is not None
        if value is None:
            return
        if held and name in self.open:
            assert maker_of(value) == self.open[name][1]
        else:
            assert maker_of(value) in self.proved[name]

    @machines.rule(wanted=st.integers(-5, 1500))
    def compress(self, wanted) -> None:
        before = self.cache.device_bytes
        freed = self.cache.compress(wanted)
        assert freed == before - self.cache.device_bytes
        assert freed >= min(wanted, before)

    @machines.rule(nbytes=st.integers(0, 1500))
    def limit_device(self, nbytes) -> None:
        self.limit = nbytes
        before = self.cache.device_bytes
        assert self.cache.limit_device(nbytes) == before - self.cache.device_bytes

    @machines.rule(key=st.sampled_from(MEMBERS), done=st.booleans())
    def settle(self, key, done) -> None:
        self.failed = self.failed or not done
        self.end(key, done)
        self.cache.settle(key, done)

    @machines.rule()
    def close_session(self) -> None:
        for key in [*MEMBERS, None]:
            self.end(key, key is None and not self.failed)
        self.failed = False
        self.cache.close_session()

    @machines.rule(count=st.integers(0, 2))
    def waiting(self, count) -> None:
        self.waits = count > 0
        self.cache.waiting({"repaint": count, "draw": 7})
        if not self.waits:
            assert not any(self.holds(name) for name in NAMES if name[0] == "panel")

    @machines.invariant()
    def bytes_are_the_sum_and_under_their_limits(self) -> None:
        if not hasattr(self, "cache"):
            return
        counters = self.cache.counters()
        held = [entry for tier in self.tiers() for entry in tier]
        assert self.cache.nbytes == sum(tensors.nbytes(entry.value) for entry in held)
        assert counters["total"]["bytes"] == self.cache.nbytes
        for kind in KINDS:
            of_kind = sum(entry.nbytes for entry in held if entry.name[0] == kind)
            assert counters[kind]["bytes"] == of_kind
        assert self.cache.device_bytes <= self.limit
        assert self.cache._host.nbytes <= HOST
        assert cache_disk.Disk(self.folder, 2**40).nbytes <= DISK
        assert len({entry.name for entry in held}) == len(held)

    @machines.invariant()
    def nothing_unproved_lies_on_disk_nor_what_was_rolled_back_in_memory(self) -> None:
        if not hasattr(self, "cache"):
            return
        disk = cache_disk.Disk(self.folder, 2**40)
        for name in NAMES:
            stored = disk.get(*name)
            assert stored is None or maker_of(stored.value) in self.proved[name]
            for entry in filter(None, (tier.get(name) for tier in self.tiers())):
                seen = self.proved[name] | {self.open.get(name, (None, -1))[1]}
                assert maker_of(entry.value) in seen

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def tiers(self):
        return (self.cache._device, self.cache._host)

    def holds(self, name) -> bool:
        """Whether memory has it: asked without a lookup that counts."""
        return any(tier.get(name) is not None for tier in self.tiers())

    def end(self, key, done) -> None:
        for name, (by, number) in list(self.open.items()):
            if by == key:
                del self.open[name]
                if done and self.holds(name):
                    self.proved[name].add(number)


CacheMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
TestCacheAgainstItsModel = CacheMachine.TestCase
