"""The engine's desk: what waits, what is offered, and what children answer.

One thread owns it, the engine's; it touches no database and never waits for a child.
"""

from __future__ import annotations

import collections
import dataclasses
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mangen.pooling import choose, config, estimate, events, lives, requests, slots, wire, work
from mangen.pooling import window as windows

_log = logging.getLogger(__name__)
_BARRED_S = 2.0
_OFFERS = 3


@dataclasses.dataclass(kw_only=True, slots=True)
class Held:
    """A request in this pool: it waits (no child), is offered, or was taken."""

    request: requests.Request
    waiting: windows.Waiting | None = None  # kept while it is offered, to put it back
    child: lives.Child | None = None
    taken: bool = False
    stopped: work.Why | None = None
    lost_offers: int = 0


class Desk:
    """`tell` hears every event, `lost` of every owner that is gone before its requests do."""

    def __init__(
        self,
        settings: config.Config,
        devices: slots.Slots,
        *,
        tell: Callable[[events.Event], None],
        lost: Callable[[str, Sequence[work.Key], bool], None],
    ) -> None:
        #: None, then whether the stop is a cold one
        self.stopping: bool | None = None
        self.slots = devices
        self._settings = settings
        self._tell = tell
        self._lost = lost
        self._window = windows.Window()
        self._held: dict[work.Key, Held] = {}
        self._twins: dict[work.Key, collections.deque[requests.Request]] = {}
        self._returns: list[wire.GiveBack] = []
        self._estimates = estimate.Estimates()
        self._batches = 0
        self._ears: Mapping[type, Callable[[lives.Child, Any], None]] = {
            wire.Ready: self._on_ready,
            wire.Taken: self._on_taken,
            wire.Left: self._on_left,
            wire.Progress: self._on_progress,
            wire.Settled: self._on_settled,
            wire.Note: self._on_note,
            wire.Broken: self._on_broken,
            wire.Idle: self._on_idle,
        }

    @property
    def unacked(self) -> list[work.Item]:
        """What waits or is offered."""
        return [held.request.item for held in self._held.values() if not held.taken]

    @property
    def running(self) -> list[work.Item]:
        return [held.request.item for held in self._held.values() if held.taken]

    @property
    def waits(self) -> bool:
        return len(self._window) > 0

    def matching(self, match: Callable[[Mapping[str, Any]], bool]) -> list[work.Key]:
        """Keys of the work whose data `match` accepts."""
        datas = [(key, held.request.item.data) for key, held in self._held.items()]
        return [key for key, data in datas if data is not None and match(data)]

    # -- the window

    def add(self, request: requests.Request) -> None:
        key = request.item.key
        if self.stopping is not None:
            return  # it stays un-acked
        if key in self._held:  # a second message, or a retry that overtook its first end
            self._twins.setdefault(key, collections.deque()).append(request)
            return
        self._held[key] = Held(request=request)
        self._window.add(request.item, time.monotonic())

    def flush(self) -> None:
        gone = self._window.clear()
        self._twins.clear()
        for waiting in gone:
            del self._held[waiting.item.key]

    def _end(self, key: work.Key) -> None:
        del self._held[key]
        twins = self._twins.get(key)
        if twins:
            twin = twins.popleft()
            if not twins:
                del self._twins[key]
            self.add(twin)

    def withdraw(self) -> None:
        for waiting in list(self._window):
            if self._held[waiting.item.key].request.withdrawn():
                self.abort(waiting.item.key, work.Why.REVOKED)

    def _put_back(self, key: work.Key) -> None:
        """Let one wait again that was offered and not taken."""
        held = self._held[key]
        assert held.waiting is not None
        if self.stopping is not None:
            del self._held[key]
            return
        self._window.put_back(held.waiting)
        held.waiting = held.child = None
        if held.stopped is not None:
            self.abort(key, held.stopped)

    # -- offers

    def schedule(self, now: float) -> None:
        free = {child.slot: child for child in self.slots.free}
        if not len(self._window):
            return
        devices = [
            choose.Device(
                slot=slot,
                residents=frozenset(child.report.residents),
                barred=frozenset(name for name, until in child.barred.items() if until > now),
            )
            for slot, child in free.items()
        ]
        for choice in choose.choose(self._window, devices, now, self._settings.policy):
            self._window.mark_passed(choice.passed, now)
            self._offer(free[choice.slot], choice.keys, now)
        for child in self.slots.children:
            batch = child.batch
            if batch is None or not batch.joinable or not batch.taken or batch.cap < 2:
                continue
            if self.slots.joinable(child) and batch.ask_at is not None and not batch.offered:
                room = batch.cap - len(batch.taken)
                keys = choose.join(self._window, batch.bucket, room, now, self._settings.policy)
                if keys and child.barred.get(batch.bucket, 0.0) <= now:
                    self._offer(child, keys, now)

    def _offer(self, child: lives.Child, keys: Sequence[work.Key], now: float) -> None:
        items = []
        for key in keys:
            held = self._held[key]
            held.waiting = self._window.take(key)
            held.child = child
            items.append(held.request.item)
        limit = self._limit(items)
        join = child.batch is not None
        if child.batch is None:
            self._batches += 1
            child.state = lives.State.BUSY
            child.batch = lives.Batch(
                number=self._batches, bucket=items[0].bucket, model=items[0].model,
                cap=items[0].cap, began=now, limit=limit, offered=set(keys),
                ask_at=None if limit is None else now + limit,
            )  # fmt: skip
        else:
            child.batch.offered.update(keys)
            if child.batch.ask_at is not None and limit is not None:
                child.batch.ask_at = max(child.batch.ask_at, now + limit)
        loads = tuple(
            wire.Load(item=self._held[key].request.item, payload=self._held[key].request.payload)
            for key in keys
        )
        child.tell(
            wire.Offer(
                batch=child.batch.number, bucket=items[0].bucket, loads=loads,
                peaks=self._estimates.together(items), join=join,
            )
        )  # fmt: skip

    def _limit(self, items: Sequence[work.Item]) -> float | None:
        """Seconds a batch may take: an upper bound where batching gains nothing."""
        if items[0].bucket == wire.PLAIN:
            return self._held[items[0].key].request.limit
        expected = sum(self._estimates.seconds(item) for item in items)
        return max(self._settings.hard_min_s, self._settings.hard_factor * expected)

    # -- stopping work

    def abort(self, key: work.Key, why: work.Why) -> None:
        """Stop one piece of work, wherever it is; unknown keys are none of ours."""
        held = self._held.get(key)
        if held is None:
            return
        held.stopped = why
        if key not in self._window:
            if held.child is not None:
                self.ask(held.child, why, only=key)
            return
        self._window.take(key)
        quiet = why is work.Why.REVOKED or held.request.item.data is None
        if held.request.item.data is not None:
            load = wire.Load(item=held.request.item, payload=held.request.payload)
            self._returns.append(wire.GiveBack(load=load, why=why, quiet=quiet))
        if quiet:
            held.request.revoked()
            self._end(key)

    def ask(self, child: lives.Child, why: work.Why, only: work.Key | None = None) -> None:
        """Ask for an end between steps; a plain task has none: it is killed after a grace."""
        batch = child.batch
        if batch is None:
            return
        for key in [only] if only is not None else batch.keys:
            child.tell(wire.Abort(key=key, why=why))
        if batch.bucket == wire.PLAIN and batch.dump_at is None and batch.kill_at is None:
            batch.kill_at = time.monotonic() + self._settings.grace_s

    def give_back(self) -> None:
        """Send what must be returned to the product through a child, an idle one if there is."""
        able = [
            child for child in self.slots.children
            if child.state in (lives.State.IDLE, lives.State.BUSY)
        ]  # fmt: skip
        if not able:
            return
        able.sort(key=lambda child: child.state is lives.State.BUSY)
        for message in self._returns:
            held = self._held.get(message.load.item.key)
            if held is not None and not message.quiet:
                held.child = able[0]
            able[0].tell(message)
        self._returns.clear()

    def replace(self, owner: str) -> None:
        for child in self.slots.children:
            if child.owner == owner and child.state is not lives.State.LEAVING:
                child.replaced = True
                self.ask(child, work.Why.ABORT)
                child.stop(self._settings.grace_s)
                child.leave_by = time.monotonic() + self._settings.grace_s

    def stop(self, *, cold: bool) -> None:
        self.stopping = cold or bool(self.stopping)
        self.flush()
        for child in self.slots.children:
            if child.state is lives.State.STARTING:
                child.state = lives.State.LEAVING
                child.kill()
            elif child.state is not lives.State.LEAVING:
                child.stop(self._settings.grace_s)
            if cold:
                self.ask(child, work.Why.SHUTDOWN)
                child.leave_by = time.monotonic() + self._settings.grace_s

    # -- what children say

    def hear(self, heard: lives.Heard) -> None:
        """Take in what a child said, or that it died."""
        if isinstance(heard, lives.Died):
            self._on_death(heard.child, heard.status)
        else:
            self._ears[type(heard.message)](heard.child, heard.message)

    def _on_ready(self, child: lives.Child, message: wire.Ready) -> None:
        child.report, child.ready_at = message.report, time.monotonic()
        if child.state is lives.State.STARTING:
            child.state = lives.State.IDLE
        seconds = child.ready_at - child.started
        self._tell(events.ChildReady(owner=child.owner, slot=child.slot, seconds=seconds))

    def _on_left(self, child: lives.Child, message: wire.Left) -> None:
        batch = child.batch
        if batch is not None and batch.number == message.batch:
            batch.offered.difference_update(message.keys)
            if message.need > 0:
                child.barred[batch.bucket] = time.monotonic() + _BARRED_S
                child.refusals += not batch.taken
        for key in message.keys:
            self._put_back(key)

    def _on_progress(self, _child: lives.Child, message: wire.Progress) -> None:
        held = self._held.get(message.key)
        if held is not None:
            self._tell(
                events.Progressed(
                    key=message.key, data=held.request.item.data, done=message.done, of=message.of
                )
            )

    def _on_note(self, _child: lives.Child, message: wire.Note) -> None:
        self._tell(message.event)

    def _on_broken(self, child: lives.Child, message: wire.Broken) -> None:
        child.error = message.error
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
        child.refusals = 0
        child.batch.joinable = message.joinable
        for key in message.keys:
            child.batch.offered.discard(key)
            child.batch.taken.add(key)
            child.batch.ran = True
            held = self._held[key]
            held.waiting, held.taken = None, True
            held.request.taken(child.pid, message.at)

    def _on_settled(self, child: lives.Child, message: wire.Settled) -> None:
        key, outcome = message.key, message.outcome
        if child.batch is not None:
            child.batch.taken.discard(key)
        held = self._held.get(key)
        if held is None:
            return
        item = held.request.item
        child.tasks += 1
        self.slots.of(child).lived()
        if outcome.status is work.Status.DONE and item.data is not None:
            self._estimates.observe(
                item, seconds=message.seconds, peak=message.peak, members=message.members
            )
        self._tell(
            events.Finished(
                owner=child.owner, key=key, data=item.data, status=outcome.status,
                error=outcome.error, seconds=message.seconds, peak=message.peak,
                members=message.members,
            )
        )  # fmt: skip
        try:
            held.request.settled(outcome, message.reply)
        finally:
            self._end(key)

    def _on_death(self, child: lives.Child, status: int) -> None:
        batch, why = child.batch, child.error.strip().rpartition("\n")[2] or lives.describe(status)
        mine = [key for key, held in self._held.items() if held.child is child]
        keys = tuple(key for key in mine if batch is not None and key in batch.keys)
        if batch is not None and batch.timed_out and keys:
            seconds = time.monotonic() - batch.began
            stacks = child.stacks()
            self._tell(
                events.TimedOut(owner=child.owner, keys=keys, seconds=seconds, stacks=stacks)
            )
        planned = self.slots.bury(child, status, time.monotonic())
        if planned:
            self._tell(events.ChildStopped(owner=child.owner, slot=child.slot))
        else:
            self._lost(child.owner, keys, len(keys) == 1)
            self._tell(events.ChildLost(owner=child.owner, slot=child.slot, keys=keys, why=why))
        for key in mine:
            self._bereave(key, batch, why, alone=len(keys) == 1)

    def _bereave(self, key: work.Key, batch: lives.Batch | None, why: str, *, alone: bool) -> None:
        """See to one request of a dead child: nothing that was taken is run again from here."""
        held = self._held[key]
        held.child = None
        if held.waiting is not None and held.lost_offers < _OFFERS:
            held.lost_offers += 1
            self._put_back(key)
        elif held.waiting is None and not held.taken:  # it was being given back: by another, then
            load = wire.Load(item=held.request.item, payload=held.request.payload)
            self._returns.append(wire.GiveBack(load=load, why=held.stopped or work.Why.ABORT))
        else:
            if not held.taken:  # offered too often: let it be acked, or it kills for ever
                held.request.taken(0, time.monotonic())
            if held.stopped is not None:
                held.request.terminated(held.stopped)
            elif batch is not None and batch.timed_out and alone:
                held.request.timed_out(time.monotonic() - batch.began)
            else:
                held.request.lost(f"the child that had it ended: {why}")
            self._end(key)
