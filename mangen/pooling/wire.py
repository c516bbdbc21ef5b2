"""What parent and child say to each other, and the pipe they say it through.

Only a parent and the child it started hold the two ends, so that pickle is safe here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

from mangen.pooling import events, work

PLAIN = "plain"
"""The bucket of plain tasks: run unclaimed and alone."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Hello:
    """First word to a child: who it is, and what it needs to make its Work."""

    owner: str
    slot: int
    device: str
    worker: str
    app: str
    work: str
    nbytes: int
    settings: Mapping[str, Any]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """An item with what its settling needs (with Celery: the tracer's arguments)."""

    item: work.Item
    payload: Any = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """Work of one bucket. `peaks[i]` are bytes with i + 1 members, in all when `join`."""

    batch: int
    bucket: str
    loads: tuple[Load, ...]
    peaks: tuple[int, ...]
    join: bool = False


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
    """A child's own numbers: resident models with their bytes, cache, measure, the gate."""

    residents: Mapping[str, int] = dataclasses.field(default_factory=dict)
    cache: Mapping[str, int] = dataclasses.field(default_factory=dict)
    used: int = 0
    usable: int = 0
    reserved: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Ready:
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
    """The end of one member; `reply` is for whoever made the load's payload."""

    key: work.Key
    outcome: work.Outcome
    reply: Any
    seconds: float = 0.0
    peak: int = 0
    members: int = 1


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


ToChild: TypeAlias = Hello | Offer | Abort | GiveBack | Stop
ToParent: TypeAlias = Ready | Taken | Left | Progress | Settled | Idle | Note | Broken


class Conn(Protocol):
    """The part of multiprocessing.connection.Connection that is used."""

    def send(self, obj: Any, /) -> None: ...
    def recv(self) -> Any: ...
    def poll(self, timeout: float | None = 0.0, /) -> bool: ...
    def close(self) -> None: ...
