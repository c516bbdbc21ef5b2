"""What a product implements and what the pool hands it: all of it lives in the child process."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

from mangen.pooling import models

Key: TypeAlias = str
"""A request's own name, unique in the pool (with Celery: the task id)."""


class Why(enum.StrEnum):
    """Why a piece of work is dropped or given back."""

    ABORT = "abort"  # a person or the product wants it stopped
    DEADLINE = "deadline"  # longer than its limit
    OOM = "oom"  # park it, keep the claim
    NEVER_FITS = "never_fits"  # larger than this device, everything evicted
    PAUSED = "paused"
    REVOKED = "revoked"  # Celery's own revoke
    SHUTDOWN = "shutdown"


class Status(enum.StrEnum):
    """How a piece of work ended."""

    DONE = "done"
    FAILED = "failed"
    STALE = "stale"  # nothing to do: someone else has it, or had it
    PARKED = "parked"  # not an end: memory ran out, and the member waits to be added again
    ABORTED = "aborted"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The end of one piece of work; `value` is JSON data, `error` a sentence."""

    status: Status
    value: Any = None
    error: str = ""

    @classmethod
    def done(cls, value: Any = None) -> Outcome:
        return cls(status=Status.DONE, value=value)

    @classmethod
    def failed(cls, error: str) -> Outcome:
        return cls(status=Status.FAILED, error=error)

    @classmethod
    def stale(cls, why: str) -> Outcome:
        return cls(status=Status.STALE, error=why)

    @classmethod
    def parked(cls) -> Outcome:
        return cls(status=Status.PARKED)

    @classmethod
    def aborted(cls, why: str) -> Outcome:
        return cls(status=Status.ABORTED, error=why)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One request as the pool sees it.

    `rank` larger is sooner within a `klass` (0 high, 1 mid, 2 low). `peaks[i]` are bytes over the
    weights with i + 1 members. `data` is the product's own (JSON), opaque to the pool; `None` marks
    a plain task, which is run unclaimed and alone.
    """

    key: Key
    name: str
    bucket: str
    klass: int = 1
    rank: float = 0.0
    model: str = ""
    peaks: tuple[int, ...] = (0,)
    seconds: float = 0.0
    cap: int = 1
    solo: bool = False
    data: Mapping[str, Any] | None = None


class FeatureCache(Protocol):
    """Products that repeat, by signature of all that influences them.

    `kind` is one of those the configuration names (a character's features, a text's embedding);
    another one is refused with CacheRefused, so that what never repeats never gets in.
    """

    def get(self, kind: str, signature: str) -> Any | None: ...
    def put(
        self, kind: str, signature: str, value: Any, *, seconds: float, by: Key | None = None
    ) -> None:
        """Keep what took `seconds` to make. `by` is the member it was made for, None: all of them.

        It counts as theirs until they are done: what a failed member put in is rolled back.
        """
        ...


class Runtime(Protocol):
    """What a session may ask of the child it runs in."""

    owner: str
    device: str
    #: what `device` is: its product name, one for all cards that are alike
    kind: str
    cache: FeatureCache

    def use(self, spec: models.ModelSpec) -> AbstractContextManager[Any]:
        """Pin the resident model and yield it; loads and warms it at the first use."""
        ...

    def progress(self, key: Key, done: int, of: int) -> None:
        """Report steps, and poll for aborts: call it between steps."""
        ...


class Session(Protocol):
    """A running batch: members settle when they end, join between steps where `joinable`."""

    joinable: bool

    def add(self, items: Sequence[Item]) -> Mapping[Key, Outcome]:
        """Claim; what was stale settles at once and is in the answer."""
        ...

    def step(self) -> Mapping[Key, Outcome]:
        """Do one step for every member; answers with those that ended in it."""
        ...

    def drop(self, key: Key, why: Why) -> Outcome:
        """Part with a member before its end.

        For OOM answer Outcome.parked() and keep the claim: the member is added again, in a smaller
        batch and with the same seed; or answer an end. NEVER_FITS: it ran out of memory alone.
        """
        ...

    def close(self) -> None:
        """Finalize: drop references, roll back what failed members put in the cache."""
        ...


class Work(Protocol):
    """A product's door: made once in each child by the factory the configuration names."""

    def open(self, bucket: str, rt: Runtime) -> Session: ...

    def spec(self, model: str) -> models.ModelSpec | None:
        """Answer what is behind a model's name, so that it may be fetched or loaded ahead.

        None: it is loaded when a session first uses it.
        """
        ...

    def give_back(self, item: Item, why: Why) -> Outcome:
        """Return unclaimed work to whoever decides (never fits, revoked, paused)."""
        ...
