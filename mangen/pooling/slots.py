"""One device each: which child serves it, which stands by, when it may start, when it must go."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import Callable, Iterator, Sequence

from mangen.pooling import config, events, lives, meter, owners, wear, wire, work
from mangen.pooling.devices import device as devices
from mangen.pooling.devices import lock, nvml

_log = logging.getLogger(__name__)
_GENERATIONS = owners.Generations()  #: one for all pools of this process
QUARANTINE_DEATHS = 6
QUARANTINE_S = 60.0
_DUMP_S = 1.0
_START_S = 600.0  #: no child takes so long to import its product and load its models
_RECHECK_S = 0.2
_STANDBY_S = 30.0  #: before the next standby, doubled by each that died
_STANDBY_MOST_S = 1800.0
_FOREIGN_SLACK = 0.05  #: share of a card that may have gone to others while a child died


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Vacancy:
    """A worn child is going: from when on, and what to say once its follower serves."""

    owner: str
    tasks: int
    why: str
    since: float


@dataclasses.dataclass(kw_only=True, slots=True)
class Slot:
    """One device with its child, the standby that will follow it, and its record of deaths."""

    number: int
    device: str
    card: devices.Card
    child: lives.Child | None = None
    standby: lives.Child | None = None
    deaths: int = 0
    not_before: float = 0.0
    standbys_died: int = 0
    standby_from: float = 0.0
    quarantined: bool = False
    vacancy: Vacancy | None = None
    #: the device's free bytes and its processes' before its child came, and the dead one whose
    #: bytes must come back
    free_before: int | None = None
    listed_before: int | None = 0
    dead: int | None = None
    #: whether the driver told of the child while it lived: in a container it may number otherwise
    told: bool = False
    reclaim_by: float = 0.0
    checked: float = 0.0
    meter: meter.Meter = dataclasses.field(default_factory=meter.Meter)

    def died(self, now: float, *, quick: bool) -> float:
        """Note an unplanned death; answers the seconds until the next try.

        A loop of quick deaths waits 0.5 s, doubling, and is quarantined after QUARANTINE_DEATHS.
        """
        self.deaths = self.deaths + 1 if quick else 1
        self.quarantined = self.deaths >= QUARANTINE_DEATHS
        wait = QUARANTINE_S if self.quarantined else min(30.0, 0.5 * 2 ** (self.deaths - 1))
        self.not_before = now + wait
        return wait

    def standby_died(self, now: float) -> None:
        """Note that a follower died that had not moved in: the child that serves is none the worse.

        It is told in full by its own loss; only the next one waits.
        """
        self.standbys_died += 1
        wait = min(_STANDBY_MOST_S, _STANDBY_S * 2 ** min(self.standbys_died - 1, 16))
        self.standby_from = now + wait

    def lived(self) -> None:
        """Note that a child did some work: no loop."""
        self.deaths = 0
        self.quarantined = False

    def lingers(self) -> str:
        """Say what a dead child still holds of the card; empty: its bytes came back."""
        if self.dead is None:
            return ""
        if self.dead in self.card.processes():
            return f"process {self.dead} is dead, and the card still counts its memory"
        free, total = self.card.free(), self.card.total
        if free is None or total is None or self.free_before is None:
            return ""  # nobody can tell
        listed = self._listed()
        if listed is None or self.listed_before is None:  # others are there, with unknown bytes
            if self.told:
                return ""
            listed = self.listed_before = 0
        lacking = self.free_before - free - (listed - self.listed_before)  # what nobody explains
        if lacking > _FOREIGN_SLACK * total:
            return f"{lacking} bytes did not come back after process {self.dead} died"
        return ""

    def look(self) -> None:
        """Note who has what of the device, before a child comes."""
        self.free_before, self.listed_before = self.card.free(), self._listed()

    def _listed(self) -> int | None:
        """Bytes of the processes that the driver tells of; None where it does not tell them."""
        found = self.card.processes().values()
        known = [nbytes for nbytes in found if nbytes is not None]
        return sum(known) if len(known) == len(found) else None

    @property
    def children(self) -> Iterator[lives.Child]:
        for child in (self.child, self.standby):
            if child is not None:
                yield child


class Slots:
    """All devices of a pool. The engine thread owns it and starts every child.

    Construction raises ConfigError for a card that isn't there, or that another worker has.
    """

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
        self._all = [
            Slot(
                number=n,
                device=name,
                card=devices.card(name, settings.options),
                meter=meter.Meter(settings.idle_alarm_s),
            )
            for n, name in enumerate(settings.devices)
        ]
        with contextlib.ExitStack() as locks:  # all cards or none
            for slot in self._all:
                held = lock.hold(slot.card, settings.place, worker)
                if held is not None:
                    locks.callback(held.close)
            self._locks = locks.pop_all()

    def __iter__(self) -> Iterator[Slot]:
        return iter(self._all)

    def close(self) -> None:
        """Let other workers have the cards. No child lives any more."""
        self._locks.close()
        for slot in self._all:
            slot.card.close()

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
        """Start what is due, let a standby take over, and see that the dead gave back.

        A slot where no child can be started rests as after a death, and the others go on.
        """
        for slot in self._all:
            try:
                self._tend(slot, now)
            except Exception as error:  # noqa: BLE001 - no process, no descriptor, a bad setting
                _log.exception("slot %s can't start a child on %s", slot.number, slot.device)
                if slot.child is not None:
                    slot.standby_died(now)
                else:
                    self._rest(slot, now, quick=True, why=f"no child can be started: {error}")

    def _tend(self, slot: Slot, now: float) -> None:
        if slot.child is None:
            if now >= slot.not_before and self._clear(slot, now):
                slot.look()
                slot.child = self._start(slot)
        elif slot.child.state is lives.State.STANDBY:
            if self._clear(slot, now):
                self._move_in(slot.child, slot, now)
        elif (
            slot.standby is None
            and now >= max(slot.not_before, slot.standby_from)
            and _worn(slot.child)
        ):
            slot.standby = self._start(slot, after=slot.child)
        if (
            slot.child is not None
            and slot.child.state is lives.State.IDLE
            and self._handing_over(slot)
        ):
            slot.vacancy = Vacancy(
                owner=slot.child.owner, tasks=slot.child.tasks, why=_worn(slot.child), since=now
            )
            slot.child.stop(self._settings.grace_s)

    def wear_out(self) -> None:
        """Replace every child softly, whatever it has done."""
        for slot in self._all:
            if slot.child is not None:
                slot.child.worn = "it was asked to go"

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
                    child.ask_snapshot()
                    child.processes = self.of(child).card.processes()
                if batch.kill_at is not None and now >= batch.kill_at:
                    batch.kill_at = None
                    child.kill()
            if child.leave_by is not None and now >= child.leave_by:
                child.leave_by = None
                child.kill()

    def ready(self, child: lives.Child, device_id: str, now: float) -> None:
        """Take note that a child serves its device; a restart is over with it."""
        slot = self.of(child)
        slot.standbys_died = 0
        slot.told = child.pid in slot.card.processes()
        if slot.device.startswith("cuda:") and not nvml.same(slot.card, device_id):
            _log.error(
                "%s serves the card %s, and its worker looks at %s: set "
                "CUDA_DEVICE_ORDER=PCI_BUS_ID, or UUIDs in CUDA_VISIBLE_DEVICES",
                child.owner, device_id, slot.card.id,
            )  # fmt: skip
        vacancy, slot.vacancy = slot.vacancy, None
        if vacancy is not None and slot.child is child:
            self._tell(
                events.Restarted(
                    slot=slot.number, device=slot.device, old=vacancy.owner, new=child.owner,
                    tasks=vacancy.tasks, why=vacancy.why, seconds=now - vacancy.since,
                )
            )  # fmt: skip

    def bury(self, child: lives.Child, status: int, now: float) -> bool:
        """Take a dead child out of its slot; answers whether its death was planned.

        A standby moves in once the device is free, else the slot starts a new child when it may.
        """
        slot = self.of(child)
        empty = child.batch is None and (status == 0 or child.ready_at is None)
        planned = child.state is lives.State.LEAVING and empty and not child.error
        child.bury()
        if slot.standby is child:
            slot.standby = None
            if not planned:
                slot.standby_died(now)
            return planned
        if slot.child is child:
            slot.child, slot.standby = slot.standby, None
            slot.dead, slot.reclaim_by = child.pid, now + self._settings.reclaim_s
            if not planned:
                slot.vacancy = None
        if planned or child.replaced:
            slot.not_before = 0.0
        else:
            why = child.error or lives.describe(status)
            self._rest(slot, now, quick=child.tasks == 0, why=why)
        return planned

    def _rest(self, slot: Slot, now: float, *, quick: bool, why: str) -> None:
        wait = slot.died(now, quick=quick)
        if slot.quarantined:
            self._quarantine(slot, wait, why)

    def _start(self, slot: Slot, after: lives.Child | None = None) -> lives.Child:
        hello = wire.Hello(
            owner=_GENERATIONS.next(self._worker, slot.number),
            slot=slot.number, device=slot.device, worker=self._worker,
            app=self._settings.app, work=self._settings.work, settings=self._settings.settings,
            options=self._settings.options, cache=self._settings.cache_of(slot.device),
            margin=0.0 if slot.device == "cpu" else self._settings.margin,
            monitor_s=self._settings.monitor_s,
            idle_trim_s=self._settings.idle_trim_s, reports=self._settings.reports,
            standby=after is not None,
            models=tuple(after.report.residents) if after is not None else (),
        )  # fmt: skip
        child = lives.Child(
            hello,
            self._settings.child,
            self._settings.devices,
            self._hear,
            wear.Wear(self._settings.restart_after),
        )
        self._tell(
            events.ChildStarted(
                owner=child.owner, slot=slot.number, device=slot.device, pid=child.pid
            )
        )
        return child

    def _move_in(self, child: lives.Child, slot: Slot, now: float) -> None:
        slot.look()
        child.state, child.started = lives.State.STARTING, now
        child.tell(wire.MoveIn(models=child.hello.models))

    def _clear(self, slot: Slot, now: float) -> bool:
        """Whether what a dead child held of the device came back; quarantines it when not."""
        if slot.dead is None:
            return True
        if now < slot.checked + _RECHECK_S:
            return False
        slot.checked = now
        lingering = slot.lingers()
        if not lingering:
            slot.dead = None
            return True
        if now >= slot.reclaim_by:
            if slot.quarantined and slot.dead not in slot.card.processes():
                slot.dead = None  # others may have taken it: the gate counts with them
                return True
            slot.reclaim_by = now + QUARANTINE_S
            slot.quarantined = True
            self._quarantine(slot, QUARANTINE_S, lingering)
        return False

    def _quarantine(self, slot: Slot, wait: float, why: str) -> None:
        self._tell(
            events.Quarantined(
                slot=slot.number, device=slot.device, deaths=slot.deaths, retry_s=wait, why=why
            )
        )

    @staticmethod
    def _handing_over(slot: Slot) -> bool:
        return slot.standby is not None and slot.standby.state is lives.State.STANDBY


def _worn(child: lives.Child) -> str:
    """Say why a child should be followed by a fresh one; empty: it should not.

    It has done its number of tasks, its memory leaks or lies in fragments, or its gate refuses
    what a fresh child could take.
    """
    return child.worn or child.wear.why()
