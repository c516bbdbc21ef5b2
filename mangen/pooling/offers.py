"""What is offered to whom: placement decided, limits set, words sent."""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence

from mangen.pooling import choose, config, held, learned, lives, slots, wire, work

_FORECAST = 3
_BATCH_GAIN = 0.01  #: of a device's time: what larger batches of some of its work save


class Offers:
    """Offers what waits to children that are idle, or that can be joined."""

    def __init__(
        self,
        settings: config.Config,
        devices: slots.Slots,
        table: held.Table,
        lore: learned.Learned,
    ) -> None:
        self._settings = settings
        self._slots = devices
        self._table = table
        self._lore = lore
        self._batches = 0
        self._used: dict[tuple[int, str], float] = {}  # when a device was last given a model's work

    def schedule(self, now: float) -> None:
        """Offer as much as there is to do and to do it with."""
        if not len(self._table.window):
            return
        policy = self._settings.policy
        free = {child.slot: child for child in self._slots.free}
        if free:
            others = [
                slot.child for slot in self._slots
                if slot.child is not None and slot.child.slot not in free
            ]  # fmt: skip
            choices = choose.choose(
                self._table.window,
                [self._as_device(child, now) for child in free.values()],
                now,
                policy,
                cap=self._cap(),
                load_s=self._lore.estimates.load_s,
                busy=[self._as_device(child, now) for child in others],
            )
            for choice in choices:
                self._table.window.mark_passed(choice.passed, now)
                self._offer(free[choice.slot], choice.keys, now)
        for child in self._slots.children:
            self._join(child, now, policy)

    def _as_device(self, child: lives.Child, now: float) -> choose.Device:
        hopeless = {
            one.item.bucket
            for one in self._table.window
            if self._lore.hopeless(one.item, child.kind)
        }
        return choose.Device(
            slot=child.slot,
            kind=child.kind,
            room=child.report.room or None,
            residents=frozenset(child.report.residents),
            barred=frozenset(name for name, until in child.barred.items() if until > now),
            hopeless=frozenset(hopeless),
        )

    def _cap(self) -> Callable[[work.Item, str], int]:
        """Measured caps, by how many wait now."""
        waiting = collections.Counter(one.item.bucket for one in self._table.window)
        return lambda item, kind: self._lore.cap(item, kind, waiting[item.bucket])

    def _join(self, child: lives.Child, now: float, policy: choose.Policy) -> None:
        batch = child.batch
        if batch is None or not batch.joinable or not batch.taken or batch.ask_at is None:
            return
        cap = self._cap()(batch.first, child.kind)
        if cap < 2 or batch.offered or not self._slots.joinable(child):
            return
        if child.barred.get(batch.bucket, 0.0) > now:
            return
        room, device = cap - len(batch.taken), self._as_device(child, now)
        keys = choose.join(self._table.window, batch.bucket, room, now, policy, device=device)
        if keys:
            passed = choose.overtaken(self._table.window, keys)
            self._table.window.mark_passed(passed, now)
            self._offer(child, keys, now)

    def _offer(self, child: lives.Child, keys: Sequence[work.Key], now: float) -> None:
        chosen = [self._table.offer(key, child) for key in keys]
        items = [one.item for one in chosen]
        first = items[0]
        limit = self._limit(child, chosen)
        join = child.batch is not None
        if child.batch is None:
            self._batches += 1
            child.state = lives.State.BUSY
            child.batch = lives.Batch(
                number=self._batches, bucket=first.bucket, model=first.model, first=first,
                cap=self._cap()(first, child.kind), began=now, limit=limit, offered=set(keys),
                ask_at=None if limit is None else now + limit,
            )  # fmt: skip
        else:
            child.batch.offered.update(keys)
            if child.batch.ask_at is not None and limit is not None:
                child.batch.ask_at = max(child.batch.ask_at, now + limit)
        peaks = self._lore.estimates.together(items, child.kind)
        waiting = [one.item for one in self._table.window]
        child.tell(
            wire.Offer(
                batch=child.batch.number, bucket=first.bucket,
                loads=tuple(
                    wire.Load(item=one.item, payload=one.request.payload) for one in chosen
                ),
                peaks=peaks.nbytes, cold=peaks.cold,
                weights=self._lore.estimates.weights(first.model, child.kind),
                hopeless=self._lore.hopeless(first, child.kind),
                largest=max(
                    (self._lore.estimates.peaks(item, child.kind).nbytes[0] for item in waiting),
                    default=0,
                ),
                join=join,
                waiting=collections.Counter(item.name for item in waiting),
                forecast=self._forecast(child, first.model, now),
            )
        )  # fmt: skip

    def _forecast(self, child: lives.Child, running: str, now: float) -> tuple[str, ...]:
        """The models wanted next: what waits, then what was used here not long ago.

        Those that are resident as well: the child spares them. Not long ago: since then, the few
        percent that a larger batch gains have not yet paid for loading the model again.
        """
        self._used[child.slot, running] = now
        waits = choose.forecast(self._table.window, (), running, _FORECAST)
        load_s = self._lore.estimates.load_s
        recent = (
            model
            for model in child.report.residents
            if model != running and model not in waits
            and now - self._used.get((child.slot, model), now)
            < load_s(model, child.kind) / _BATCH_GAIN
        )  # fmt: skip
        return (*waits, *recent)

    def _limit(self, child: lives.Child, chosen: Sequence[held.Held]) -> float | None:
        """Seconds a batch may take: an upper bound where batching gains nothing."""
        first = chosen[0].item
        if first.bucket == wire.PLAIN:
            return chosen[0].request.limit
        expected = sum(self._lore.estimates.seconds(one.item, child.kind) for one in chosen)
        if first.model not in child.report.residents:
            expected += self._lore.estimates.load_s(first.model, child.kind)
        return max(self._settings.hard_min_s, self._settings.hard_factor * expected)
