"""Who goes to which idle device: pure, values in and decisions out.

Class is strict. Within a class, rank decides, less the rank that loading a model costs and more
for a fuller bucket, so that a device swaps models only when the rank gained outweighs the load.

Every departure from that order is bounded. Who is passed over, for a swap's sake or because the
gate refused their bucket, waits at most `patience_s`: then nobody behind them is placed. While
their bucket is barred, devices are held for them, which then empty; but a tenant that never leaves
must not starve all, so that for every `patience_s` of holding others are served as long.
"""

from __future__ import annotations

import dataclasses
import itertools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from mangen.pooling import batches, patience, window, wire, work

Cap: TypeAlias = Callable[[work.Item, str], int]
"""The largest batch to form of such items on a device of that kind."""

LoadSeconds: TypeAlias = Callable[[str, str], float]
"""Seconds that loading a model takes on a device of that kind; 0 where nobody knows."""

_ORDER = operator.attrgetter("order")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """Seconds, and gains in units of rank (a full bucket; a resident model of unknown load)."""

    patience_s: float = 20.0
    linger_s: float = 0.15
    resident_gain: float = 0.3
    swap_rank_per_s: float = 0.01
    full_gain: float = 0.1


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Device:
    """A device: what is resident, and the buckets that its gate refused a moment ago.

    `room`: bytes that one session could get with everything evicted, None when nobody knows.
    `hopeless`: buckets that were probed on its kind, and never fit. What is hopeless here, or
    larger by theory than the room, is left to others as long as one of them might take it; so are
    `strange` buckets, which belong on another sort of device.
    """

    slot: int
    residents: frozenset[str] = frozenset()
    barred: frozenset[str] = frozenset()
    kind: str = "cpu"
    room: int | None = None
    hopeless: frozenset[str] = frozenset()
    strange: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """These keys go to that slot as one batch; `passed` were first in order and were not taken."""

    slot: int
    keys: tuple[work.Key, ...]
    passed: frozenset[work.Key] = frozenset()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Urgent:
    """Who is of a better class than `above`, that of all who run, and for how many there is `room`.

    A batch is as large as is cheapest per item, and they can't wait for somebody to leave it.
    """

    above: int
    room: int


def choose(
    waiting: Iterable[window.Waiting],
    devices: Sequence[Device],
    now: float,
    policy: Policy,
    cap: Cap | None = None,
    *,
    load_s: LoadSeconds | None = None,
    busy: Sequence[Device] = (),
) -> list[Choice]:
    """Place as much as the idle `devices` take.

    `busy` are the others: they may be the only ones that can ever take some bucket.
    """
    left = sorted(waiting, key=_ORDER)
    idle, every = list(devices), [*devices, *busy]
    choices: list[Choice] = []
    gone: set[work.Key] = set()
    while idle and left:
        field = _Field(left, every)
        pairs = [
            (batch, device)
            for device in idle
            for batch in _placeable(field.of(device), device, now, policy, cap or _own_cap)
        ]
        if not pairs:
            break
        models = {batch.head.item.model for batch, _ in pairs}
        best, device = min(pairs, key=lambda pair: _place(pair[0], pair[1], models, policy, load_s))
        idle.remove(device)
        keys = tuple(one.item.key for one in best.members)
        if not best.lingers:  # else the device is kept for it: what came instead would take longer
            passed = field.of(device).before(best.head)
            choices.append(Choice(slot=device.slot, keys=keys, passed=passed))
        gone.update(keys)
        if idle:
            left = [one for one in left if one.item.key not in gone]
    return [dataclasses.replace(choice, passed=choice.passed - gone) for choice in choices]


@dataclasses.dataclass(frozen=True, slots=True)
class _Able:
    """Those, in order, for whom a device is worth a try."""

    all: list[window.Waiting]
    buckets: list[list[window.Waiting]]

    def before(self, head: window.Waiting) -> frozenset[work.Key]:
        first = itertools.takewhile(lambda one: one.order < head.order, self.all)
        return frozenset(one.item.key for one in first)


class _Field:
    """All that wait, as each device may take them; devices mostly may take the same."""

    def __init__(self, left: Sequence[window.Waiting], every: Sequence[Device]) -> None:
        self._left = left
        self._every = every
        self._sorts = {one.alike: one.item for one in left}
        self._found: dict[frozenset[window.Alike], _Able] = {}

    def of(self, device: Device) -> _Able:
        refused = frozenset(
            alike for alike, item in self._sorts.items()
            if not _may_take(device, item, self._every)
        )  # fmt: skip
        if refused not in self._found:
            able = [one for one in self._left if one.alike not in refused]
            self._found[refused] = _Able(able, batches.by_bucket(able))
        return self._found[refused]


def join(
    waiting: Iterable[window.Waiting],
    bucket: str,
    room: int,
    now: float,
    policy: Policy,
    *,
    device: Device | None = None,
    urgent: Urgent | None = None,
) -> tuple[work.Key, ...]:
    """Pick who may join a running session of `bucket` with `room` for so many on `device`.

    The `urgent` have more room than others. Nobody who is behind someone of a better class, or
    behind someone who was passed over too long: they wait for this device, and a session that is
    joined for ever would starve them. Who was refused here, or never fits here, waits for something
    else.
    """
    here = device or Device(slot=-1)
    joining: list[work.Key] = []
    best_class: int | None = None
    if bucket == wire.PLAIN:
        return ()
    for one in sorted(waiting, key=_ORDER):
        refused = one.item.bucket in here.barred
        if one.item.bucket == bucket and not one.item.solo:
            behind = best_class is not None and one.item.klass > best_class
            mine = room if urgent is None or one.item.klass >= urgent.above else urgent.room
            if behind or len(joining) >= mine:
                break
            joining.append(one.item.key)
        elif _unfit(here, one.item):
            continue
        elif _must_go_first(one, now, policy, refused=refused):
            break
        elif not refused and best_class is None:
            best_class = one.item.klass
    return tuple(joining)


def overtaken(waiting: Iterable[window.Waiting], keys: Iterable[work.Key]) -> frozenset[work.Key]:
    """Who is passed over when these join a running session: all that wait before one of them."""
    going, everybody = set(keys), list(waiting)
    last = max((one.order for one in everybody if one.item.key in going), default=None)
    if last is None:
        return frozenset()
    return frozenset(one.item.key for one in everybody if one.order < last) - going


def forecast(
    waiting: Iterable[window.Waiting], residents: Iterable[str], running_model: str, limit: int
) -> tuple[str, ...]:
    """The models to load ahead: of what waits, in its order, those that are not there yet."""
    there = {"", running_model, *residents}
    ordered = sorted(waiting, key=_ORDER)
    models = dict.fromkeys(one.item.model for one in ordered if one.item.model not in there)
    return tuple(models)[: max(0, limit)]


def _own_cap(item: work.Item, _kind: str) -> int:
    return item.cap


def _placeable(
    able: _Able, device: Device, now: float, policy: Policy, cap: Cap
) -> list[batches.Batch]:
    """What the device could be given, without passing over anybody for too long."""
    firsts = (
        one
        for one in able.all
        if one.passed is not None  # few are: the others need no look
        and _must_go_first(one, now, policy, refused=one.item.bucket in device.barred)
    )
    last = next((one.order for one in firsts), None)
    return [
        batches.cut(members, cap(members[0].item, device.kind), now, policy.linger_s)
        for members in able.buckets
        if members[0].item.bucket not in device.barred
        and (last is None or members[0].order <= last)
    ]


def _must_go_first(one: window.Waiting, now: float, policy: Policy, *, refused: bool) -> bool:
    if refused:
        return patience.holds(one, now, policy.patience_s)
    return patience.overdue(one, now, policy.patience_s)


def _place(
    batch: batches.Batch,
    device: Device,
    models: set[str],
    policy: Policy,
    load_s: LoadSeconds | None,
) -> tuple[int, float, int, int, int]:
    """Sorts pairs, the one to place first first.

    Of devices that are as good, one whose residents nobody wants: they may have to go.
    """
    item = batch.head.item
    rank = -batch.head.order[1]
    score = rank + policy.full_gain * batch.full - _load_cost(item, device, policy, load_s)
    others = len((device.residents & models) - {item.model})
    return item.klass, -score, others, batch.head.place, device.slot


def _load_cost(
    item: work.Item, device: Device, policy: Policy, load_s: LoadSeconds | None
) -> float:
    """The rank that loading the item's model must gain."""
    if not item.model or item.model in device.residents:
        return 0.0
    seconds = load_s(item.model, device.kind) if load_s is not None else 0.0
    return policy.swap_rank_per_s * seconds if seconds > 0 else policy.resident_gain


def _may_take(device: Device, item: work.Item, every: Sequence[Device]) -> bool:
    """Whether the device is worth a try: if not, only where no other one is."""
    return not _unfit(device, item) or all(_unfit(other, item) for other in every)


def _unfit(device: Device, item: work.Item) -> bool:
    """Whether it was probed in vain, belongs elsewhere, or by theory not even one has room."""
    if item.bucket in device.hopeless or item.bucket in device.strange:
        return True
    return device.room is not None and bool(item.peaks) and item.peaks[0] > device.room
