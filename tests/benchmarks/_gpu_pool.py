"""Drives the pool on one device through the benchmark's parts, and takes down what happens.

This process loads no torch: the child has the card.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import time
from collections.abc import Iterator, Sequence
from concurrent import futures
from typing import Any

import _gpu_meter
import _gpu_work

from mangen.pooling import alone, estimate, events, work

_WAIT_S = 300.0
_IDLE_TRIM_S = 0.3
_MONITOR_S = 0.2
_ROUNDS = 4  #: of batches in a part; with tiny models, which tell nothing of speed, half
_PART_S = 30.0  #: that a part's batches take at most, unless one takes longer
_TRIMMED_S = 20.0  #: after which an idle child has surely trimmed
_URGENT = 3  #: times that somebody urgent comes


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """A step of a session: monotonic time, seconds, and the keys that were in it."""

    began: float
    seconds: float
    keys: frozenset[str]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    bucket: str
    members: int
    reserved: int
    peak: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Pace:
    """So many were drawn in so many seconds, in `busy` of which a step ran."""

    count: int
    seconds: float
    busy: float
    card: float | None  #: share of the time in which the card itself computed, by NVML

    @property
    def rate(self) -> float:
        return self.count / self.seconds


@dataclasses.dataclass(kw_only=True, slots=True)
class Found:
    """What the pool's parts left; what time left out is absent. `caps` by kind, and whether final.

    `urgent` are (steps that others did before it took part, seconds until it did).
    """

    caps: dict[str, tuple[int, bool]] = dataclasses.field(default_factory=dict)
    costs: dict[str, float] = dataclasses.field(default_factory=dict)  #: seconds of one, at its cap
    paces: dict[str, Pace] = dataclasses.field(default_factory=dict)
    joined: Pace | None = None
    alone: Pace | None = None
    urgent: list[tuple[int, float]] = dataclasses.field(default_factory=list)
    loads: list[events.Loaded] = dataclasses.field(default_factory=list)
    warmed: list[events.Warmed] = dataclasses.field(default_factory=list)
    sessions: list[Session] = dataclasses.field(default_factory=list)
    theory: list[float] = dataclasses.field(default_factory=list)  #: observed of it, each member
    fragmentation: float | None = None
    used: int = 0  #: most bytes of the device
    ooms: int = 0


class Notes:
    """A listener; the engine's thread writes, others look."""

    def __init__(self) -> None:
        self.heard: list[events.Event] = []

    def on(self, event: events.Event) -> None:
        self.heard.append(event)

    def child_lost(self, owner: str, keys: Sequence[work.Key], alone: bool) -> None:  # noqa: FBT001 - contracts.md spells it so
        pass  # its futures fail

    def of(self, kind: Any) -> list[Any]:
        return [one for one in list(self.heard) if isinstance(one, kind)]


class Drive:
    """One pool over one device. Each part may be left out; `until` is when no new one begins."""

    def __init__(self, bench: _gpu_work.Bench, device: str, until: float) -> None:
        self.found = Found()
        self.left_out: list[str] = []
        self._bench, self._device, self._until = bench, device, until
        self._notes = Notes()
        self._log = bench.folder / "steps.log"
        self._log.touch()
        self._numbers = itertools.count(1000)  # those below are drawn by the loops, too
        self._pool: alone.Pool
        self._meter: _gpu_meter.Meter

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Hold the pool; at the end take down what it told, and how much of its memory is lost."""
        with alone.Pool(
            "_gpu_product:make", devices=(self._device,), cpu_bytes=8 * 2**30,
            folder=str(self._bench.folder / "pool"), listener=self._notes,
            cache_kinds={"text": {}, "image": {}, "latent": {}}, capacity=128,
            idle_trim_s=_IDLE_TRIM_S, monitor_s=_MONITOR_S,
            settings={"folder": str(self._bench.folder), "full": self._bench.full,
                      "log": str(self._log)},
        ) as self._pool, _gpu_meter.Meter(on=self._device != "cpu") as self._meter:  # fmt: skip
            yield
            self.found.fragmentation = self._idle_fragmentation()
        self._conclude()

    def caps(self, names: Sequence[str], seconds: float) -> None:
        """Let the pool find how large a batch is worth forming, `seconds` a kind at most."""
        for name in names:
            if self._late(f"caps of {name}"):
                continue
            kind, began, turn = self._bench.kinds[name], time.monotonic(), 0
            size, settled, cost = 1, False, 0.0
            while not settled and (turn == 0 or time.monotonic() - began < seconds):
                self._draw(kind, f"cap{turn}", kind.most)
                size, settled, cost = self._measured(kind)
                turn += 1
            self.found.caps[name], self.found.costs[name] = (size, settled), cost
        # from here on a batch is as large as an item's own cap says
        self._pool._engine._lore._measure_sizes = False

    def cap(self, name: str) -> int:
        """What was measured; 1 where that was left out."""
        return self.found.caps.get(name, (1, False))[0]

    def _rounds(self, name: str, cap: int) -> int:
        """How many batches tell enough: up to four, fewer where they take long."""
        each, most = cap * self.found.costs.get(name, 0.0), _ROUNDS if self._bench.full else 2
        return max(1, min(most, int(_PART_S / each) if each else most))

    def pace(self, name: str) -> None:
        """Batches of one kind, one after another, from idle to idle."""
        if self._late(f"pace of {name}"):
            return
        kind, cap = self._bench.kinds[name], self.cap(name)
        rounds = self._rounds(name, cap)
        self._draw(kind, "keep", cap, cap=cap, keep=True)
        began = time.monotonic()
        self._draw(kind, "pace", cap * rounds, cap=cap)
        self.found.paces[name] = self._paced(cap * rounds, began)

    def alone(self, name: str) -> None:
        """One after another: what a step costs beside its kernels shows where they are short."""
        if self._late("alone"):
            return
        kind = self._bench.kinds[name]
        began = time.monotonic()
        self._draw(kind, "alone", _ROUNDS, cap=1)
        self.found.alone = self._paced(_ROUNDS, began)

    def joining(self, name: str) -> None:
        """As many, but of different steps: whoever ends is followed at once by another."""
        if self._late("joining"):
            return
        kind, cap = self._bench.kinds[name], max(2, self.cap(name))
        steps = [max(1, round(kind.steps * share)) for share in (0.6, 0.9, 1.1, 1.4)]
        count = cap * self._rounds(name, cap)
        began = time.monotonic()
        self._draw(kind, "join", count, cap=cap, steps=steps)
        done = sum(steps[n % len(steps)] for n in range(count)) / kind.steps
        pace = self._paced(count, began)
        self.found.joined = dataclasses.replace(pace, count=round(done))

    def urgency(self, name: str) -> None:
        """Somebody of the first class comes while others are in the middle of their steps."""
        kind = self._bench.kinds[name]
        for turn in range(_URGENT):
            if self._late("urgency"):
                return
            others = max(1, self.cap(name))
            cap, steps = others + 1, 3 * kind.steps if self._bench.full else 40 * kind.steps
            held = [
                self._submit(kind, f"long{turn}-{n}", cap=cap, steps=steps, klass=2)
                for n in range(others)
            ]
            self._until_running(f"long{turn}-0", others)
            came, key = time.monotonic(), f"urgent{turn}"
            brief = max(2, kind.steps // 5)
            first = self._submit(kind, key, cap=cap, steps=brief, klass=0, rank=9.0)
            _done([first])
            for n in range(others):
                self._pool.control.abort(f"long{turn}-{n}")
            futures.wait(held, _WAIT_S)
            met = [step for step in self.steps() if step.began + step.seconds > came]
            took = next(step for step in met if key in step.keys)
            waited = [step for step in met if step.began < took.began]
            self.found.urgent.append((len(waited), took.began - came))

    def steps(self) -> list[Step]:
        """What the child's meter wrote so far."""
        lines = self._log.read_text("utf-8").splitlines(keepends=True)
        said = [json.loads(line) for line in lines if line.endswith("\n")]
        return [
            Step(began=one["began"], seconds=one["seconds"], keys=frozenset(one["keys"]))
            for one in said
        ]

    def _draw(
        self, kind: _gpu_work.Kind, word: str, count: int, *, steps: Sequence[int] = (0,),
        **more: Any,
    ) -> None:  # fmt: skip
        """Draw so many, each of its own words; `steps` go round."""
        numbers = range(count) if more.get("keep") else itertools.islice(self._numbers, count)
        made = [
            self._bench.item(
                kind, f"{word}-{kind.name}-{n}", number, steps=steps[n % len(steps)], **more
            )
            for n, number in enumerate(numbers)
        ]  # before the first is sent: so that no child waits for the next ones to be made
        _done([self._pool.submit(one) for one in made])

    def _submit(self, kind: _gpu_work.Kind, key: str, **more: Any) -> futures.Future[work.Outcome]:
        return self._pool.submit(self._bench.item(kind, key, next(self._numbers), **more))

    def _measured(self, kind: _gpu_work.Kind) -> tuple[int, bool, float]:
        """The size that the pool measured best, whether all were tried, and one's seconds in it."""
        lore = self._pool._engine._lore
        device = next(child.kind for child in self._pool._engine._slots.children)
        item = self._bench.item(kind, "asked", 0)
        record = lore.sizes._records._rows.get(estimate.Kind.of(item, device))
        if record is None:
            return 1, False, 0.0
        costs = {size: record.cost(size) or 0.0 for size in list(record.seconds)}
        best = record.settled or min(costs, key=costs.__getitem__, default=1)
        return best, record.settled > 0, costs.get(best, 0.0)

    def _paced(self, count: int, began: float) -> Pace:
        ended = time.monotonic()
        busy = sum(step.seconds for step in self.steps() if step.began >= began)
        card = self._meter.mean(began, ended)
        return Pace(count=count, seconds=ended - began, busy=busy, card=card)

    def _until_running(self, key: str, members: int) -> None:
        """Wait until a step with all of them is over: they are in the middle of it then."""
        deadline = time.monotonic() + _WAIT_S
        while not any(key in s.keys and len(s.keys) >= members for s in self.steps()):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{key} did not begin within {_WAIT_S:.0f} s")
            time.sleep(0.005)

    def _late(self, part: str) -> bool:
        late = time.monotonic() > self._until
        if late:
            self.left_out.append(part)
        return late

    def _idle_fragmentation(self) -> float | None:
        """What lies idle in the allocator once the child, with nothing to do, has trimmed it."""
        deadline = time.monotonic() + _TRIMMED_S
        while time.monotonic() < deadline:
            time.sleep(_MONITOR_S)
            found: list[float | None] = [
                child["fragmentation"] for child in self._pool.report()["children"]
            ]
            if found and found[0] is not None:
                return found[0]
        return None

    def _conclude(self) -> None:
        """Pair what was let in with what it took: one child runs one session after another."""
        found, notes = self.found, self._notes
        found.loads, found.warmed = notes.of(events.Loaded), notes.of(events.Warmed)
        found.ooms = len(notes.of(events.OutOfMemory))
        found.used = max((one.used for one in notes.of(events.Sampled)), default=0)
        for let_in, ended in zip(notes.of(events.Admitted), notes.of(events.Batched), strict=False):
            if ended.whole:
                found.sessions.append(
                    Session(
                        bucket=ended.bucket, members=ended.members, peak=ended.peak,
                        reserved=max(let_in.reserved, ended.reserved),
                    )
                )  # fmt: skip
        found.theory = [
            one.peak / one.theory
            for one in notes.of(events.Finished)
            if one.theory and one.status is work.Status.DONE
        ]


def _done(sent: Sequence[futures.Future[work.Outcome]]) -> None:
    """Wait for all; raises RuntimeError that says why one was not drawn."""
    for future in sent:
        outcome = future.result(_WAIT_S)
        if outcome.status is not work.Status.DONE:
            raise RuntimeError(f"a task of the benchmark {outcome.status}: {outcome.error}")
