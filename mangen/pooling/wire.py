"""What parent and child say to each other, and the pipe they say it through.

Only a parent and the child it started hold the two ends, so that pickle is safe here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

from mangen.pooling import cache, events, work
from mangen.pooling.devices import device as devices

PLAIN = "plain"
"""The bucket of plain tasks: run unclaimed and alone."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Hello:
    """First word to a child: who it is, and what it needs to make its Work.

    A `standby` imports its product, fetches `models`, and leaves the device alone until MoveIn.
    """

    owner: str
    slot: int
    device: str
    worker: str
    app: str
    work: str
    settings: Mapping[str, Any]
    options: devices.Options = devices.Options()
    cache: cache.Options = cache.Options()
    margin: float = 0.0
    monitor_s: float = 10.0
    idle_trim_s: float = 1.0
    reports: str = ""
    standby: bool = False
    models: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class MoveIn:
    """The device is free: open it, load and warm `models`, be ready."""

    models: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """An item with what its settling needs (with Celery: the tracer's arguments)."""

    item: work.Item
    payload: Any = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """Work of one bucket. `peaks[i]` are bytes with i + 1 members, in all when `join`.

    `cold[i]`: that peak is theory, and wants its model's cold factor. `weights` are the model's
    bytes where they are known. `hopeless`: such work was probed on this kind of device, and did
    not fit. `largest` is the largest single peak of what waits for this device, `waiting` counts
    what waits by name, `forecast` names the models wanted next.
    """

    batch: int
    bucket: str
    loads: tuple[Load, ...]
    peaks: tuple[int, ...]
    cold: tuple[bool, ...] = ()
    weights: int = 0
    hopeless: bool = False
    largest: int = 0
    join: bool = False
    waiting: Mapping[str, int] = dataclasses.field(default_factory=dict)
    forecast: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Abort:
    key: work.Key
    why: work.Why


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class GiveBack:
    """Return to the product what was never offered; `quiet` when Celery was told already."""

    load: Load
    why: work.Why
    quiet: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Stop:
    """Finish the session in hand, then exit."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """A child's own numbers: resident models with their bytes, cache, the device, the gate.

    `used` is what the device's allocator holds live, `known` what the ledger of bytes explains of
    it, `room` what a single session could get with everything evicted. `difference` is live memory
    that nobody reserved, loaded or cached; `foreign` is other processes'. `admissible` members of
    the last bucket would fit now, in all. `fragmentation` only where the child was idle and had
    trimmed. `loading_s` are the seconds that went into loading, ever.
    """

    residents: Mapping[str, int] = dataclasses.field(default_factory=dict)
    cache: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    memory: devices.Memory | None = None
    used: int = 0
    known: int = 0
    usable: int = 0
    reserved: int = 0
    room: int = 0
    difference: int = 0
    foreign: int = 0
    watermark: int = 0
    admissible: int = 0
    fragmentation: float | None = None
    loading_s: float = 0.0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Ready:
    """The child serves its device. `kind` is what that is, `id` which of its kind."""

    report: Report
    kind: str = "cpu"
    id: str = "cpu"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Fetched:
    """A standby has all it can have without the device."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Looked:
    """A look at the device, every `monitor_s` and after a trim."""

    report: Report


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Taken:
    """Claimed (or found stale): Celery may ack. `at` is CLOCK_MONOTONIC, one for all processes."""

    batch: int
    keys: tuple[work.Key, ...]
    at: float
    joinable: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Left:
    """Not taken: these go back to the window. `need` is 0 when fewer fit, or it was too late."""

    batch: int
    keys: tuple[work.Key, ...]
    need: int
    usable: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    key: work.Key
    done: int
    of: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Settled:
    """The end of one member; `reply` is for whoever made the load's payload.

    `loading` of its `seconds` went into models. `peak` is that of `members` at once, at most.
    """

    key: work.Key
    outcome: work.Outcome
    reply: Any
    seconds: float = 0.0
    peak: int = 0
    members: int = 1
    loading: float = 0.0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Idle:
    """The batch is over, and the child waits."""

    batch: int
    report: Report


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """An event that happened in the child."""

    event: events.Event


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Broken:
    """Last word of a child whose session left an exception behind: it exits."""

    error: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Expect:
    """These models will be wanted: load what fits while there is nothing else to do."""

    models: tuple[str, ...]


ToChild: TypeAlias = Hello | MoveIn | Expect | Offer | Abort | GiveBack | Stop
ToParent: TypeAlias = (
    Ready | Fetched | Looked | Taken | Left | Progress | Settled | Idle | Note | Broken
)


class Conn(Protocol):
    """The part of multiprocessing.connection.Connection that is used."""

    def send(self, obj: Any, /) -> None: ...
    def recv(self) -> Any: ...
    def poll(self, timeout: float | None = 0.0, /) -> bool: ...
    def close(self) -> None: ...
