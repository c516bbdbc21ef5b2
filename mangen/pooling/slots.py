"""One device each: which child serves it, which stands by, when it may start, when it must go."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence

from mangen.pooling import config, events, lives, wire, work

QUARANTINE_DEATHS = 6
QUARANTINE_S = 60.0
_REFUSALS = 3
_DUMP_S = 1.0
_START_S = 180.0  #: no child takes so long to import its product


@dataclasses.dataclass(kw_only=True, slots=True)
class Slot:
    """One device with its child, the standby that will follow it, and its record of deaths."""

    number: int
    device: str
    child: lives.Child | None = None
    standby: lives.Child | None = None
    deaths: int = 0
    not_before: float = 0.0
    quarantined: bool = False

    def died(self, now: float, *, quick: bool) -> float:
        """Note an unplanned death; answers the seconds until the next try.

        A loop of quick deaths waits 0.5 s, doubling, and is quarantined after QUARANTINE_DEATHS.
        """
        self.deaths = self.deaths + 1 if quick else 1
        self.quarantined = self.deaths >= QUARANTINE_DEATHS
        wait = QUARANTINE_S if self.quarantined else min(30.0, 0.5 * 2 ** (self.deaths - 1))
        self.not_before = now + wait
        return wait

    def lived(self) -> None:
        """Note that a child did some work: no loop."""
        self.deaths = 0
        self.quarantined = False

    @property
    def children(self) -> Iterator[lives.Child]:
        for child in (self.child, self.standby):
            if child is not None:
                yield child


class Generations:
    """Owner names `worker/slot/generation`, strictly increasing over restarts of the worker."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._last = 0

    def next(self, worker: str, slot: int) -> str:
        self._last = max(self._last + 1, int(self._clock() * 1000))
        return f"{worker}/{slot}/{self._last}"


class Slots:
    """All devices of a pool. The engine thread owns it and starts every child."""

    def __init__(
        self,
        worker: str,
        settings: config.Config,
        *,
        hear: Callable[[lives.Heard], None],
        tell: Callable[[events.Event], None],
    ) -> None:
        self._worker = worker
        self._settings = settings
        self._hear = hear
        self._tell = tell
        self._generations = Generations()
        self._all = [Slot(number=n, device=name) for n, name in enumerate(settings.devices)]

    def __iter__(self) -> Iterator[Slot]:
        return iter(self._all)

    def of(self, child: lives.Child) -> Slot:
        return self._all[child.slot]

    @property
    def children(self) -> Sequence[lives.Child]:
        return [child for slot in self._all for child in slot.children]

    @property
    def free(self) -> Sequence[lives.Child]:
        """The children that may be offered work now."""
        return [
            slot.child
            for slot in self._all
            if slot.child is not None
            and slot.child.state is lives.State.IDLE
            and not self._handing_over(slot)
        ]

    def joinable(self, child: lives.Child) -> bool:
        """Whether more may be offered to a busy child: not when its successor waits."""
        return child.state is lives.State.BUSY and not self._handing_over(self.of(child))

    def tend(self, now: float) -> None:
        """Start what is due, let a standby take over, and enforce limits."""
        for slot in self._all:
            if slot.child is None and slot.standby is None and now >= slot.not_before:
                slot.child = self._start(slot)
            elif (
                slot.child is not None
                and slot.standby is None
                and self._worn(slot.child)
                and now >= slot.not_before
            ):
                slot.standby = self._start(slot)
            if (
                slot.child is not None
                and slot.child.state is lives.State.IDLE
                and self._handing_over(slot)
            ):
                slot.child.stop(self._settings.grace_s)

    def wear_out(self) -> None:
        """Replace every child softly, whatever it has done."""
        for slot in self._all:
            if slot.child is not None:
                slot.child.worn = True

    def enforce(self, now: float, ask: Callable[[lives.Child, work.Why], None]) -> None:
        """Ask, then dump, then kill what is beyond its limit."""
        for child in self.children:
            batch = child.batch
            if child.state is lives.State.STARTING and now - child.started > _START_S:
                child.error = f"it was not ready after {_START_S:.0f} s"
                child.kill()
            if batch is not None:
                if batch.ask_at is not None and now >= batch.ask_at:
                    batch.ask_at, batch.timed_out = None, True
                    batch.dump_at = now + self._settings.grace_s
                    ask(child, work.Why.DEADLINE)
                if batch.dump_at is not None and now >= batch.dump_at:
                    batch.dump_at, batch.kill_at = None, now + _DUMP_S
                    child.ask_stacks()
                if batch.kill_at is not None and now >= batch.kill_at:
                    batch.kill_at = None
                    child.kill()
            if child.leave_by is not None and now >= child.leave_by:
                child.leave_by = None
                child.kill()

    def bury(self, child: lives.Child, status: int, now: float) -> bool:
        """Take a dead child out of its slot; answers whether its death was planned.

        A standby moves in, else the slot starts a new child when it may.
        """
        slot = self.of(child)
        empty = child.batch is None and (status == 0 or child.ready_at is None)
        planned = child.state is lives.State.LEAVING and empty
        child.bury()
        if slot.standby is child:
            slot.standby = None
        elif slot.child is child:
            slot.child, slot.standby = slot.standby, None
            if slot.child is not None:
                self._tell(
                    events.Restarted(
                        slot=slot.number, old=child.owner, new=slot.child.owner, tasks=child.tasks
                    )
                )
        if planned or child.replaced:
            slot.not_before = 0.0
        else:
            wait = slot.died(now, quick=child.tasks == 0)
            if slot.quarantined:
                self._tell(
                    events.Quarantined(
                        slot=slot.number, device=slot.device, deaths=slot.deaths, retry_s=wait,
                        why=child.error or lives.describe(status),
                    )
                )  # fmt: skip
        return planned

    def _start(self, slot: Slot) -> lives.Child:
        hello = wire.Hello(
            owner=self._generations.next(self._worker, slot.number),
            slot=slot.number, device=slot.device, worker=self._worker,
            app=self._settings.app, work=self._settings.work, nbytes=self._settings.cpu_bytes,
            settings=self._settings.settings,
        )  # fmt: skip
        child = lives.Child(hello, self._settings.devices, self._hear)
        self._tell(
            events.ChildStarted(
                owner=child.owner, slot=slot.number, device=slot.device, pid=child.pid
            )
        )
        return child

    def _worn(self, child: lives.Child) -> bool:
        """Whether a child should be followed by a fresh one.

        It has done its number of tasks, or its gate refuses what a fresh child could take: its
        memory leaks or lies in fragments.
        """
        limit = self._settings.restart_after
        return child.worn or child.refusals >= _REFUSALS or 0 < limit <= child.tasks

    def _handing_over(self, slot: Slot) -> bool:
        return slot.standby is not None and slot.standby.state is lives.State.IDLE
