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
    """A standby child took the place of a worn one; `seconds` the device served nobody."""

    slot: int
    device: str
    old: str
    new: str
    tasks: int
    why: str
    seconds: float


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Quarantined(Event):
    """A device rests before the next try.

    Its children die at once, again and again, or the memory of a dead one did not come back.
    """

    slot: int
    device: str
    deaths: int
    retry_s: float
    why: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Loaded(Event):
    """A model became resident; `ahead` when no session waited for it."""

    owner: str
    device: str
    model: str
    seconds: float
    nbytes: int
    ahead: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class LoadFailed(Event):
    """A model that nobody waits for yet could not be loaded."""

    owner: str
    model: str
    error: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Warmed(Event):
    """A model that was just loaded made its first pass."""

    owner: str
    model: str
    seconds: float


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Evicted(Event):
    """A model gave its room up."""

    owner: str
    model: str
    nbytes: int
    why: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Compressed(Event):
    """The feature cache gave so many bytes up; `watermark` is what it may hold now."""

    owner: str
    nbytes: int
    watermark: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Hit(Event):
    """The feature cache had a product, in memory or on disk, and saved its seconds."""

    owner: str
    kind: str
    disk: bool
    seconds: float


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Miss(Event):
    owner: str
    kind: str


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
    """The gate let nothing in; `never` when a probe showed that it can't ever fit this device."""

    owner: str
    bucket: str
    need: int
    usable: int
    never: bool


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class OutOfMemory(Event):
    """Memory ran out under so many members; they go on as `then` at a time, 0: not at all."""

    owner: str
    bucket: str
    model: str
    members: int
    then: int
    reserved: int
    error: str
    #: it was alone on the whole device: such work never fits here
    proved: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Batched(Event):
    """A session ended: how many members it had in all, its seconds, its peak over the weights.

    `loading` of its `seconds` went into models; `whole` when all members ran from the first step
    to the last, so that its time says something about its size.
    """

    owner: str
    bucket: str
    model: str
    members: int
    seconds: float
    loading: float
    reserved: int
    peak: int
    whole: bool


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Sampled(Event):
    """A look at a device every `monitor_s`.

    `busy` of the `wanted` seconds since the last look, in which it had work or work waited for it,
    a session ran. `difference` is what the device holds beyond the ledger of bytes.
    """

    owner: str
    device: str
    used: int
    known: int
    reserved: int
    difference: int
    fragmentation: float | None
    busy: float
    wanted: float


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Idling(Event):
    """An alarm: a device has nothing to do though work waits that it has room for."""

    slot: int
    device: str
    waiting: int
    seconds: float


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
    #: what the device is, and the peak that theory gave for so many members
    kind: str = ""
    theory: int = 0
    #: seconds in which it waited for models to load, beside `seconds`
    loading: float = 0.0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class TimedOut(Event):
    """Work passed its hard limit and its child was killed; `stacks` is what it was doing.

    `report` is the file with the stacks, the memory and the device's processes; empty without one.
    """

    owner: str
    keys: tuple[work.Key, ...]
    seconds: float
    stacks: str
    report: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """One observation: of work (`name`), or of a model's loading (an empty name, peak = weights).

    `device` is its kind. `theory` is what theory gave for the peak; 0: the peak says nothing.
    """

    name: str
    model: str
    bucket: str
    device: str
    members: int
    seconds: float
    peak: int
    theory: int


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

    def suspend(self) -> None:
        """Drop all claimed work uncharged, and start none until `resume`.

        For a product that can't be sure of its claims: the report says when it is done,
        `suspended` and no longer `at_work`. Children that don't hear are killed after a grace.
        """
        ...

    def resume(self) -> None:
        """Go on after `suspend`; what waited is offered again."""
        ...

    def learn(self, seen: Sequence[Seen]) -> None:
        """Take in what was observed before this worker lived, the oldest first."""
        ...

    def expect(self, models: Sequence[str]) -> None:
        """Say whose work is coming, the soonest first: an idle device loads what fits ahead."""
        ...

    def report(self) -> Mapping[str, Any]:
        """Answer the latest state, JSON data.

        `window`: data of what is un-acked; `running`: data of what is in children's hands and
        acked; `room` and `capacity` in requests; `children`: slot, owner, device, state, pid,
        residents, bytes, batch, busy and fragmentation; `suspended` and `at_work`; `counters`.
        """
        ...
