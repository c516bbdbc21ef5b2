"""What is offered to whom: placement decided, limits set, words sent."""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping, Sequence

from mangen.pooling import choose, config, held, learned, lives, slots, window, wire, work

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
        self._buckets: dict[str, str] = {}  # by model, the last seen that wanted it
        self._used: dict[tuple[int, str], float] = {}  # when a device was last given a model's work

    def schedule(self, now: float) -> None:
        """Offer as much as there is to do and to do it with."""
        if not len(self._table.window):
            return
        self._buckets |= {one.model: one.bucket for one in self._table.window.alike}
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
            one.bucket for one in self._table.window.alike if self._lore.hopeless(one, child.kind)
        }
        return choose.Device(
            slot=child.slot,
            kind=child.kind,
            room=child.report.room or None,
            residents=frozenset(child.report.residents),
            barred=frozenset(name for name, until in child.barred.items() if until > now),
            hopeless=frozenset(hopeless),
            strange=self._strange(child),
        )

    def _strange(self, child: lives.Child) -> frozenset[str]:
        """Buckets of what waits and belongs on another sort of device."""
        if not self._settings.places:
            return frozenset()
        device = self._slots.of(child).device
        buckets = {one.bucket for one in self._table.window.alike}
        return frozenset(one for one in buckets if self._settings.strange(device, one))

    def welcome(self, child: lives.Child, models: Sequence[str]) -> tuple[str, ...]:
        """Of these models those that a device may load ahead: not what is used elsewhere alone."""
        device = self._slots.of(child).device
        return tuple(
            one for one in models if not self._settings.strange(device, self._buckets.get(one, ""))
        )

    def _cap(self, joined: lives.Batch | None = None) -> Callable[[work.Item, str], int]:
        """Measured caps, by how many wait now; who runs in a batch that is joined counts too."""
        waiting: collections.Counter[str] = collections.Counter()
        if joined is not None:
            waiting[joined.bucket] += len(joined.taken)
        for one, count in self._table.window.alike.items():
            waiting[one.bucket] += count
        return lambda item, kind: self._lore.cap(item, kind, waiting[item.bucket])

    def _join(self, child: lives.Child, now: float, policy: choose.Policy) -> None:
        batch = child.batch
        if batch is None or not batch.joinable or not batch.taken or batch.ask_at is None:
            return
        if batch.first.solo or batch.offered or not self._slots.joinable(child):
            return
        if child.barred.get(batch.bucket, 0.0) > now:
            return
        many = len(batch.taken)
        room = self._cap(batch)(batch.first, child.kind) - many
        urgent = choose.Urgent(
            above=min(one.klass for one in self._table.items(batch.taken)),
            room=self._lore.ceiling(batch.first, child.kind) - many,
        )
        best = next(iter(self._table.window), None)
        if best is None or (room < 1 and best.item.klass >= urgent.above):
            return
        device = self._as_device(child, now)
        keys = choose.join(
            self._table.window, batch.bucket, room, now, policy, device=device, urgent=urgent
        )
        if keys:
            passed = choose.overtaken(self._table.window, keys)
            self._table.window.mark_passed(passed, now)
            self._offer(child, keys, now)

    def _offer(self, child: lives.Child, keys: Sequence[work.Key], now: float) -> None:
        """Say it, then note it: a fault in what is to be said leaves nothing half offered."""
        chosen = [self._table.held[key] for key in keys]
        first = chosen[0].item
        limit = self._limit(child, chosen)
        batch = child.batch or lives.Batch(
            number=self._batches + 1, bucket=first.bucket, model=first.model, first=first,
            cap=self._cap()(first, child.kind), began=now, limit=limit, offered=set(),
            ask_at=None if limit is None else now + limit,
        )  # fmt: skip
        offer = self._word(child, batch, chosen, now)
        if child.batch is None:
            self._batches += 1
            child.state = lives.State.BUSY
            child.batch = batch
        elif batch.ask_at is not None and limit is not None:
            batch.ask_at = max(batch.ask_at, now + limit)
        batch.offered.update(keys)
        for key in keys:
            self._table.offer(key, child)
        self._used[child.slot, first.model] = now
        child.tell(offer)

    def _word(
        self, child: lives.Child, batch: lives.Batch, chosen: Sequence[held.Held], now: float
    ) -> wire.Offer:
        """Make what the child is told, of these and of what waits on."""
        first, estimates = chosen[0].item, self._lore.estimates
        members = [*self._table.items(batch.taken), *(one.item for one in chosen)]
        peaks = estimates.together(members, child.kind)
        keys = frozenset(one.item.key for one in chosen)
        rest = self._table.window.without(keys)
        names: collections.Counter[str] = collections.Counter()
        for one, count in rest.items():
            names[one.name] += count
        return wire.Offer(
            batch=batch.number, bucket=first.bucket,
            loads=tuple(wire.Load(item=one.item, payload=one.request.payload) for one in chosen),
            peaks=peaks.nbytes, cold=peaks.cold,
            weights=estimates.weights(first.model, child.kind),
            hopeless=self._lore.hopeless(first, child.kind),
            largest=max((self._lore.need(one, child.kind) for one in rest), default=0),
            join=child.batch is not None,
            waiting=names,
            forecast=self._forecast(child, first.model, now, rest, keys),
        )  # fmt: skip

    def _forecast(
        self,
        child: lives.Child,
        running: str,
        now: float,
        rest: Mapping[window.Alike, int],
        without: frozenset[work.Key] = frozenset(),
    ) -> tuple[str, ...]:
        """The models wanted next: what waits, then what was used here not long ago.

        Those that are resident as well: the child spares them. Not long ago: since then, the few
        percent that a larger batch gains have not yet paid for loading the model again.
        """
        waits: tuple[str, ...] = ()
        if any(one.model not in ("", running) for one in rest):
            strange = self._strange(child)
            others = (
                one for one in self._table.window
                if one.item.key not in without and one.item.bucket not in strange
            )  # fmt: skip
            waits = choose.forecast(others, (), running, _FORECAST)
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
