"""Who goes to which idle device: pure, values in and decisions out.

Class is strict. Within a class, rank decides, but a resident model and a fuller bucket count as a
little rank, so that a device swaps models only when the rank gained outweighs the load. Whoever is
passed over that way waits at most `patience_s`, then goes first.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from mangen.pooling import window, wire, work


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """Seconds, and gains in units of rank (a resident model, a full bucket)."""

    patience_s: float = 20.0
    linger_s: float = 0.15
    resident_gain: float = 0.3
    full_gain: float = 0.1


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Device:
    """An idle device: what is resident, and which buckets its gate refused a moment ago."""

    slot: int
    residents: frozenset[str] = frozenset()
    barred: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """These keys go to that slot as one batch; `passed` were first in order and were not taken."""

    slot: int
    keys: tuple[work.Key, ...]
    passed: frozenset[work.Key] = frozenset()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Group:
    members: tuple[window.Waiting, ...]
    bucket: str
    full: float

    @property
    def head(self) -> window.Waiting:
        return self.members[0]


def choose(
    waiting: Iterable[window.Waiting], devices: Sequence[Device], now: float, policy: Policy
) -> list[Choice]:
    """Place as much as the idle devices take."""
    left = sorted(waiting, key=lambda one: one.order)
    idle = list(devices)
    choices: list[Choice] = []
    while idle and left:
        found = _best(_groups(left, now, policy), idle, now, policy)
        if found is None:
            break
        group, device = found
        keys = tuple(one.item.key for one in group.members)
        passed = frozenset(
            one.item.key
            for one in left
            if one.order < group.head.order and one.item.klass == group.head.item.klass
        )
        choices.append(Choice(slot=device.slot, keys=keys, passed=passed))
        idle.remove(device)
        left = [one for one in left if one.item.key not in keys]
    return choices


def join(
    waiting: Iterable[window.Waiting], bucket: str, room: int, now: float, policy: Policy
) -> tuple[work.Key, ...]:
    """Pick who may join a running session of `bucket` with `room` for so many.

    Nobody, while someone of a better class or someone passed over too long waits for a device:
    a session that is joined for ever would starve them.
    """
    left = sorted(waiting, key=lambda one: one.order)
    mates = [one for one in left if one.item.bucket == bucket and not one.item.solo]
    if not mates or room < 1 or bucket == wire.PLAIN:
        return ()
    first = mates[0].item.klass
    if any(one.item.klass < first or _overdue(one, now, policy) for one in left):
        return ()
    return tuple(one.item.key for one in mates[:room])


def _groups(left: Sequence[window.Waiting], now: float, policy: Policy) -> list[_Group]:
    """Split the waiting, in order, into what could be one batch each; who lingers stays out."""
    by_bucket: dict[tuple[str, str], list[window.Waiting]] = {}
    for one in left:
        alone = one.item.solo or one.item.bucket == wire.PLAIN
        by_bucket.setdefault((one.item.bucket, one.item.key if alone else ""), []).append(one)
    groups = []
    for (bucket, alone_key), members in by_bucket.items():
        cap = 1 if alone_key else max(1, members[0].item.cap)
        oldest = min(one.since for one in members)
        if len(members) < cap and now - oldest < policy.linger_s:
            continue
        chosen = tuple(members[:cap])
        groups.append(_Group(members=chosen, bucket=bucket, full=len(chosen) / cap))
    return groups


def _best(
    groups: Sequence[_Group], idle: Sequence[Device], now: float, policy: Policy
) -> tuple[_Group, Device] | None:
    pairs = [
        (group, device) for group in groups for device in idle if group.bucket not in device.barred
    ]
    if not pairs:
        return None
    return min(
        pairs,
        key=lambda pair: (
            pair[0].head.item.klass,
            not _overdue(pair[0].head, now, policy),
            -_score(pair[0], pair[1], policy)
            if not _overdue(pair[0].head, now, policy)
            else -pair[0].head.item.rank,
            pair[0].head.item.model not in pair[1].residents,
            pair[0].head.place,
            pair[1].slot,
        ),
    )


def _overdue(one: window.Waiting, now: float, policy: Policy) -> bool:
    return one.passed is not None and now - one.passed >= policy.patience_s


def _score(group: _Group, device: Device, policy: Policy) -> float:
    item = group.head.item
    resident = bool(item.model) and item.model in device.residents
    # what is full at one member gains nothing by it
    full = policy.full_gain * group.full if item.cap > 1 else 0.0
    return item.rank + policy.resident_gain * resident + full
