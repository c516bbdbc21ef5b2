"""What the pool tells, to whom it tells it, and what it may be asked meanwhile."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from mangen.pooling import work


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Something happened in the pool."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PoolStarted(Event):
    worker: str
    devices: tuple[str, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PoolStopped(Event):
    """No child lives any more; `cold` when running work was aborted."""

    worker: str
    cold: bool


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ChildStarted(Event):
    """A child process was started; it claims nothing before its ChildReady."""

    owner: str
    slot: int
    device: str
    pid: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ChildReady(Event):
    owner: str
    slot: int
    seconds: float


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ChildStopped(Event):
    """A child ended as it was asked to, holding nothing."""

    owner: str
    slot: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ChildLost(Event):
    """A child died or was killed; `keys` were in its hands."""

    owner: str
    slot: int
    keys: tuple[work.Key, ...]
    why: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Restarted(Event):
    """A standby child took the place of one that had done its number of tasks."""

    slot: int
    old: str
    new: str
    tasks: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Quarantined(Event):
    """A device's children die at once, again and again: it rests before the next try."""

    slot: int
    device: str
    deaths: int
    retry_s: float
    why: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Loaded(Event):
    """A model became resident."""

    owner: str
    model: str
    seconds: float
    nbytes: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Admitted(Event):
    """The gate let members in and reserved bytes for them."""

    owner: str
    bucket: str
    members: int
    reserved: int
    usable: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Refused(Event):
    """The gate let nothing in; `never` when it can't ever fit this device."""

    owner: str
    bucket: str
    need: int
    usable: int
    never: bool


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Batched(Event):
    """A session ended: how many members it had in all, its seconds, its peak over the weights."""

    owner: str
    bucket: str
    model: str
    members: int
    seconds: float
    reserved: int
    peak: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Progressed(Event):
    key: work.Key
    data: Mapping[str, Any] | None
    done: int
    of: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Finished(Event):
    """One piece of work ended in a child; `seconds` since it was taken, `peak` in bytes."""

    owner: str
    key: work.Key
    data: Mapping[str, Any] | None
    status: work.Status
    error: str
    seconds: float
    peak: int
    members: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class TimedOut(Event):
    """Work passed its hard limit and its child was killed; `stacks` is what it was doing."""

    owner: str
    keys: tuple[work.Key, ...]
    seconds: float
    stacks: str


class Listener(Protocol):
    """Hears everything, in the engine thread: it never blocks, it only takes notes."""

    def on(self, event: Event) -> None: ...

    def child_lost(self, owner: str, keys: Sequence[work.Key], alone: bool) -> None:  # noqa: FBT001 - contracts.md spells it so
        """An owner is gone; called before Celery hears of its requests.

        `keys` were in the child's hands, `alone` is True when that was a single one. Called with
        no keys too: whatever the owner may still hold is free.
        """
        ...


class Silent:
    """A Listener that hears nothing: what a pool has when none is configured."""

    def on(self, event: Event) -> None:
        pass

    def child_lost(self, owner: str, keys: Sequence[work.Key], alone: bool) -> None:  # noqa: FBT001 - see Listener
        pass


class Control(Protocol):
    """What a listener may ask of the pool, from any thread; nothing here waits."""

    worker: str

    def abort(self, key: work.Key, why: work.Why = work.Why.ABORT) -> None:
        """Stop one piece of work between its steps; unknown keys are none of ours."""
        ...

    def abort_job(
        self, match: Callable[[Mapping[str, Any]], bool], why: work.Why = work.Why.ABORT
    ) -> None:
        """Stop all work whose data `match` accepts."""
        ...

    def replace(self, owner: str) -> None:
        """End this owner, by force after a grace, and start its next generation."""
        ...

    def report(self) -> Mapping[str, Any]:
        """Answer the latest state, JSON data.

        `window`: data of what is un-acked; `running`: data of what is in children's hands and
        acked; `room` and `capacity` in requests; `children`: slot, owner, device, state, pid,
        residents, bytes, batch; `counters`.
        """
        ...
