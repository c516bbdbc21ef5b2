"""What children say, and what follows from it for the requests in their hands."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mangen.pooling import (
    config,
    desk,
    events,
    held,
    learned,
    lives,
    reports,
    slots,
    wire,
    work,
)

_log = logging.getLogger(__name__)
_BARRED_S = 2.0
_OFFERS = 3


class Answers:
    """`tell` hears every event, `lost` of every owner that is gone before its requests do."""

    def __init__(
        self,
        settings: config.Config,
        devices: slots.Slots,
        counter: desk.Desk,
        lore: learned.Learned,
        *,
        tell: Callable[[events.Event], None],
        lost: Callable[[str, Sequence[work.Key], bool], None],
    ) -> None:
        self._settings = settings
        self._slots = devices
        self._desk = counter
        self._table = counter.table
        self._lore = lore
        self._tell = tell
        self._lost = lost
        self._ears: Mapping[type, Callable[[lives.Child, Any], None]] = {
            wire.Ready: self._on_ready,
            wire.Fetched: self._on_fetched,
            wire.Looked: self._on_looked,
            wire.Taken: self._on_taken,
            wire.Left: self._on_left,
            wire.Progress: self._on_progress,
            wire.Settled: self._on_settled,
            wire.Note: self._on_note,
            wire.Broken: self._on_broken,
            wire.Idle: self._on_idle,
        }

    def hear(self, heard: lives.Heard) -> None:
        """Take in what a child said, that it died, or that it can't be told something."""
        match heard:
            case lives.Died():
                self._on_death(heard.child, heard.status)
            case lives.Unsent():
                self._on_unsent(heard)
            case lives.Said():
                self._ears[type(heard.message)](heard.child, heard.message)

    def _on_fetched(self, child: lives.Child, _message: wire.Fetched) -> None:
        if child.state is lives.State.STARTING:
            child.state = lives.State.STANDBY

    def _on_ready(self, child: lives.Child, message: wire.Ready) -> None:
        child.report, child.ready_at, child.kind = message.report, time.monotonic(), message.kind
        if child.state is lives.State.STARTING:
            child.state = lives.State.IDLE
        seconds = child.ready_at - child.started
        self._tell(events.ChildReady(owner=child.owner, slot=child.slot, seconds=seconds))
        self._slots.ready(child, message.id, child.ready_at)

    def _on_looked(self, child: lives.Child, message: wire.Looked) -> None:
        report = child.report = message.report
        if report.fragmentation is not None and report.memory is not None:
            child.fragmentation = report.fragmentation
            child.wear.look(
                floor=max(0, report.used - report.known),
                total=report.memory.total,
                stranded=report.memory.reserved - report.memory.allocated,
                fragmentation=report.fragmentation,
            )
            return
        busy, wanted = self._slots.of(child).meter.read(time.monotonic())
        self._tell(
            events.Sampled(
                owner=child.owner, device=child.hello.device, used=report.used,
                known=report.known, reserved=report.reserved, difference=report.difference,
                fragmentation=child.fragmentation, busy=busy, wanted=wanted,
            )
        )  # fmt: skip

    def _on_left(self, child: lives.Child, message: wire.Left) -> None:
        batch = child.batch
        if batch is not None and batch.number == message.batch:
            batch.offered.difference_update(message.keys)
            if message.need > 0:
                child.barred[batch.bucket] = time.monotonic() + _BARRED_S
                if not batch.taken:
                    child.wear.refused(foreign=child.report.foreign > 0)
        for key in message.keys:
            self._desk.put_back(key)

    def _on_progress(self, _child: lives.Child, message: wire.Progress) -> None:
        one = self._table.held.get(message.key)
        if one is not None:
            self._tell(
                events.Progressed(
                    key=message.key, data=one.item.data, done=message.done, of=message.of
                )
            )

    def _on_note(self, child: lives.Child, message: wire.Note) -> None:
        event, batch = message.event, child.batch
        self._lore.hear(child, event)
        again = isinstance(event, events.OutOfMemory)  # its members begin anew
        if again and batch is not None and batch.ask_at is not None and batch.limit is not None:
            batch.ask_at += batch.limit
        self._tell(event)

    def _on_broken(self, child: lives.Child, message: wire.Broken) -> None:
        child.error = message.error
        child.state = lives.State.LEAVING  # it is offered nothing more
        child.leave_by = time.monotonic() + self._settings.grace_s
        _log.error("%s left an exception behind and is replaced:\n%s", child.owner, message.error)

    def _on_idle(self, child: lives.Child, message: wire.Idle) -> None:
        if child.batch is not None and child.batch.ran:
            child.barred.clear()  # its memory is not what it was
        child.report, child.batch = message.report, None
        if child.state is lives.State.BUSY:
            child.state = lives.State.IDLE
        elif child.state is lives.State.LEAVING and child.leave_by is None:
            child.leave_by = time.monotonic() + self._settings.grace_s

    def _on_taken(self, child: lives.Child, message: wire.Taken) -> None:
        assert child.batch is not None
        child.wear.took()
        child.batch.joinable = message.joinable
        for key in message.keys:
            child.batch.offered.discard(key)
            child.batch.taken.add(key)
            child.batch.ran = True
            one = self._table.held[key]
            if one.stopped is None and one.item.data is not None and one.request.withdrawn():
                self._desk.abort(key, work.Why.REVOKED)
            one.waiting, one.taken = None, True
            one.request.taken(child.pid, message.at)

    def _on_unsent(self, unsent: lives.Unsent) -> None:
        """Fail what can't be sent to any child, and let wait what only was beside it."""
        child, message = unsent.child, unsent.message
        error = f"it can't be sent to a child: {unsent.error!r}"
        _log.error("%s: %s", child.owner, error, exc_info=unsent.error)
        if isinstance(message, wire.GiveBack):
            keys = {message.load.item.key}
        elif isinstance(message, wire.Offer):
            keys = {load.item.key for load in message.loads}
            if child.batch is not None and child.batch.number == message.batch:
                child.batch.offered -= keys
                if not message.join:
                    self._on_idle(child, wire.Idle(batch=message.batch, report=child.report))
        else:  # it would wait for that for ever
            child.error = error
            child.kill()
            return
        for key in keys:
            one = self._table.held.get(key)
            if one is None or one.child is not child or one.taken:
                continue
            if unsent.guilty and key not in unsent.guilty:
                self._desk.put_back(key)
            else:
                self._lose(one, error)

    def _on_settled(self, child: lives.Child, message: wire.Settled) -> None:
        key, outcome = message.key, message.outcome
        beside: list[work.Item] = []
        if child.batch is not None:
            child.batch.taken.discard(key)
            beside = self._table.items(child.batch.taken)
        one = self._table.held.get(key)
        if one is None:
            return
        child.tasks += 1
        child.wear.done()
        self._slots.of(child).lived()
        theory = self._lore.settled(child, one.item, message, beside)
        self._tell(
            events.Finished(
                owner=child.owner, key=key, data=one.item.data, status=outcome.status,
                error=outcome.error, seconds=max(0.0, message.seconds - message.loading),
                peak=message.peak, members=message.members, kind=child.kind, theory=theory,
                loading=message.loading,
            )
        )  # fmt: skip
        try:
            one.request.settled(outcome, message.reply)
        finally:
            self._desk.end(key)

    # -- the dead

    def _on_death(self, child: lives.Child, status: int) -> None:
        """Bury it and see to its requests; no request's fault keeps the others from that."""
        batch, why = child.batch, child.error.strip().rpartition("\n")[2] or lives.describe(status)
        mine = [key for key, one in self._table.held.items() if one.child is child]
        keys = tuple(key for key in mine if batch is not None and key in batch.keys)
        if batch is not None and batch.timed_out and keys:
            seconds = time.monotonic() - batch.began
            report = reports.write(self._settings.reports, child, keys, seconds)
            why += f"; see {report}" if report else ""
            self._tell(
                events.TimedOut(
                    owner=child.owner, keys=keys, seconds=seconds, stacks=child.stacks(),
                    report=report,
                )
            )  # fmt: skip
        planned = self._slots.bury(child, status, time.monotonic())
        if planned:
            self._tell(events.ChildStopped(owner=child.owner, slot=child.slot))
        else:
            self._lost(child.owner, keys, len(keys) == 1)
            self._tell(events.ChildLost(owner=child.owner, slot=child.slot, keys=keys, why=why))
        for key in mine:
            try:
                self._bereave(key, batch, why, alone=len(keys) == 1)
            except Exception:  # noqa: BLE001 - whatever a request raises
                _log.exception("the end of %s can't be told", key)

    def _bereave(self, key: work.Key, batch: lives.Batch | None, why: str, *, alone: bool) -> None:
        """See to one request of a dead child: nothing that was taken is run again from here."""
        one: held.Held = self._table.held[key]
        one.child = None
        one.lost_offers += not one.taken
        if one.taken or one.lost_offers > _OFFERS:
            timed_out = batch.began if batch is not None and batch.timed_out and alone else None
            self._lose(one, f"the child that had it ended: {why}", began=timed_out)
        elif one.waiting is not None:
            self._desk.put_back(key)
        else:  # it was being given back: by another, then
            self._desk.give_back_later(one, one.stopped or work.Why.ABORT)

    def _lose(self, one: held.Held, why: str, *, began: float | None = None) -> None:
        """End a request that no child can end any more; `began`: when it was too long alone."""
        try:
            if not one.taken:  # let it be acked, or it comes back for ever
                one.request.taken(0, time.monotonic())
            if one.stopped is not None:
                one.request.terminated(one.stopped)
            elif began is not None:
                one.request.timed_out(time.monotonic() - began)
            else:
                one.request.lost(why)
        finally:
            self._desk.end(one.item.key)
