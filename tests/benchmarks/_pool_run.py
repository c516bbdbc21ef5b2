"""Drives one pool on a simulated card through waves of work, and takes down what happens."""

from __future__ import annotations

import collections
import dataclasses
import json
import pathlib
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent import futures
from typing import Any, Self

from mangen.pooling import alone, events, work
from mangen.pooling.devices import device, simulated

CARD = "sim:card_24g"
WINDOW = 32
"""Un-acked requests at most, as a worker would be sent; more come when half of them are gone."""
_SAMPLE_S = 0.005
_IDLE_TRIM_S = 0.5
_MONITOR_S = 0.5


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """One session: its bytes, and at its start how many of its bucket waited and what the cap was.

    `warm`: by then the jobs of the warm-up had ended.
    """

    bucket: str
    members: int
    reserved: int
    peak: int
    waited: int
    cap: int
    warm: bool


@dataclasses.dataclass(kw_only=True, slots=True)
class Run:
    """What one run left: `busy`, `load` and `restarts` in device seconds, `wall` as they are.

    `wall` is the time in which a job waited or ran. `peak` in bytes over all processes.
    """

    jobs: int
    speed: float
    busy: float = 0.0
    load: float = 0.0
    loads: int = 0
    wall: float = 0.0
    peak: int = 0
    total: int = 0
    failed: int = 0
    repeated: int = 0
    ooms: int = 0
    fragmentation: list[float] = dataclasses.field(default_factory=list)
    sessions: list[Session] = dataclasses.field(default_factory=list)
    restarts: list[float] = dataclasses.field(default_factory=list)
    counters: dict[str, int] = dataclasses.field(default_factory=dict)


class Notes:
    """A listener that keeps what the figures need; the engine's thread writes, others look."""

    def __init__(self, warmup: int) -> None:
        self.moved = threading.Event()
        self.sessions: list[Session] = []
        self.restarted: list[events.Restarted] = []
        self.ooms = self.finished = self.loads = 0
        self.pool: alone.Pool | None = None
        self._warmup = warmup
        self._admitted: dict[str, tuple[events.Admitted, int, int, bool]] = {}

    def on(self, event: events.Event) -> None:
        match event:
            case events.Admitted():
                warm = self.finished >= self._warmup
                self._admitted[event.owner] = event, *self._at_start(event), warm
            case events.Batched():
                admitted, waited, cap, warm = self._admitted.pop(event.owner)
                self.sessions.append(
                    Session(
                        bucket=event.bucket, members=event.members, peak=event.peak,
                        reserved=max(admitted.reserved, event.reserved),
                        waited=waited, cap=cap, warm=warm,
                    )
                )  # fmt: skip
            case events.OutOfMemory():
                self.ooms += self.finished >= self._warmup
            case events.Loaded():
                self.loads += 1
            case events.Restarted():
                self.restarted.append(event)
            case events.Finished():
                self.finished += 1
            case _:
                return
        self.moved.set()

    def child_lost(self, owner: str, keys: Sequence[work.Key], alone: bool) -> None:  # noqa: FBT001 - contracts.md spells it so
        pass

    def _at_start(self, event: events.Admitted) -> tuple[int, int]:
        """How many of the bucket had not been taken, and the cap: it is told before they are."""
        assert self.pool is not None
        engine = self.pool._engine
        waited = sum(item.bucket == event.bucket for item in engine._desk.table.unacked)
        caps = [
            child.batch.cap
            for child in engine._slots.children
            if child.owner == event.owner and child.batch is not None
        ]
        return waited, caps[0]


def drive(
    waves: Sequence[Sequence[work.Item]],
    folder: pathlib.Path,
    *,
    speed: float,
    warmup: int = 20,
    restart_after: int = 0,
) -> Run:
    """Run the waves one after another, with a pause between them in which the device trims."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "log"
    log.touch()
    place = str(folder)
    run = Run(jobs=sum(len(wave) for wave in waves), speed=speed)
    notes = Notes(warmup)
    with alone.Pool(
        "_pool_product:make_metered", devices=(CARD,), folder=place, speed=speed,
        capacity=WINDOW, listener=notes, monitor_s=_MONITOR_S, idle_trim_s=_IDLE_TRIM_S,
        restart_after=restart_after,
        settings={"log": str(log), "card": CARD, "folder": place, "speed": speed},
    ) as pool, _Sampler(place) as sampler:  # fmt: skip
        notes.pool = pool
        for wave in waves:
            began = time.monotonic()
            ended = _feed(pool, notes, wave)
            run.wall += time.monotonic() - began
            run.failed += sum(_failed(future) for future in ended)
            time.sleep(_IDLE_TRIM_S + 3 * _MONITOR_S)
            run.fragmentation += _fragmentation(pool)
        run.counters = dict(pool.report()["counters"])
    run.total, run.peak = sampler.total, sampler.peak
    run.sessions, run.ooms, run.loads = notes.sessions, notes.ooms, notes.loads
    run.restarts = [event.seconds * speed for event in notes.restarted]
    _read(log, run)
    return run


def _feed(
    pool: alone.Pool, notes: Notes, wave: Sequence[work.Item]
) -> list[futures.Future[work.Outcome]]:
    """Submit as a broker sends: never more than the window un-acked, never so few that none wait.

    Returns when all have ended.
    """
    left = collections.deque(wave)
    sent: list[futures.Future[work.Outcome]] = []
    waiting: list[futures.Future[work.Outcome]] = []
    while left:
        notes.moved.clear()
        waiting = [future for future in waiting if not future.running() and not future.done()]
        if len(waiting) <= WINDOW // 2:
            new = [
                pool.submit(left.popleft()) for _ in range(min(len(left), WINDOW - len(waiting)))
            ]
            waiting += new
            sent += new
        notes.moved.wait(0.05)
    futures.wait(sent)
    return sent


def _failed(future: futures.Future[work.Outcome]) -> bool:
    if future.cancelled() or future.exception() is not None:
        return True
    return future.result().status is not work.Status.DONE


def _fragmentation(pool: alone.Pool) -> Iterator[float]:
    for child in pool.report()["children"]:
        if child["fragmentation"] is not None:
            yield child["fragmentation"]


def _read(log: pathlib.Path, run: Run) -> None:
    """Add up what the children's meters said, and look that nothing was claimed twice."""
    spent: dict[int, dict[str, Any]] = {}
    claims: collections.Counter[str] = collections.Counter()
    for line in log.read_text("utf-8").splitlines():
        said = json.loads(line)
        if said["what"] == "spent":
            spent[said["pid"]] = said
            run.peak = max(run.peak, said["peak"])
        elif said["what"] == "claim":
            claims.update(said["keys"])
    run.busy = sum(said["busy"] for said in spent.values())
    run.load = sum(said["load"] for said in spent.values())
    run.repeated = sum(times - 1 for times in claims.values())


class _Sampler:
    """Reads the driver's ledger of the card, over all processes, every few milliseconds."""

    def __init__(self, folder: str) -> None:
        self._card = simulated.SimulatedCard(CARD, device.Options(folder=folder))
        self.total = self._card.total or 0
        self.peak = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="sampler", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._card.close()

    def _sample(self) -> None:
        while not self._ended.wait(_SAMPLE_S):
            free = self._card.free()
            if free is not None:
                self.peak = max(self.peak, self.total - free)
