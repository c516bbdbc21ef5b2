"""The values that cross the ledger's door: frozen, keyword-only, JSON inside."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal

#: no prediction, and no sum of them, is longer: thirty years
_LONGEST_S = 1e9


def likely_s(seconds: float) -> float:
    """A predicted duration as a number that can be summed, whatever was predicted."""
    return min(seconds, _LONGEST_S) if seconds >= 0 else 0.0  # NaN is not


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """One dependency of a wanted job, by (stage, subject) within the project."""

    stage: str
    subject: str
    kind: Literal["hard", "soft"] = "soft"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """A job that ought to exist. `klass` 0 high, 1 mid, 2 low."""

    stage: str
    subject: str
    key: str
    queue: str
    klass: int
    bucket: str
    model: str
    cap: int = 1
    episode: int | None = None
    params: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    needs: Sequence[Need] = ()
    seconds_est: float = 1.0
    peaks: Sequence[int] = (0,)
    brings: int = 0  #: jobs that it will insert when it is done, estimated: they count as freed
    #: cancelled when nobody began it in so many seconds; None: it waits for ever
    expires_s: float | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """One child process: worker/slot/generation."""

    worker: str
    slot: int
    generation: int
    device: str = "cpu"
    queues: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.worker}/{self.slot}/{self.generation}"

    @classmethod
    def parse(cls, text: str, *, device: str = "cpu", queues: tuple[str, ...] = ()) -> Owner:
        """The owner a `str(owner)` names; worker names may hold slashes."""
        worker, slot, generation = text.rsplit("/", 2)
        return cls(
            worker=worker, slot=int(slot), generation=int(generation), device=device, queues=queues
        )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Fence:
    """The right to settle one attempt."""

    job: int
    attempt: int
    owner: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """A row of jobs with its payload, as stages see it."""

    id: int
    project: int
    episode: int | None
    stage: str
    subject: str
    key: str
    queue: str
    klass: int
    rank: float
    model: str
    bucket: str
    cap: int
    state: str
    attempt: int
    failures: int
    bell: int
    solo: bool
    seconds_est: float
    seconds_theory: float  #: as planned, before anything was observed
    peaks: tuple[int, ...]
    params: Mapping[str, Any]
    home_queue: str | None = None  #: as planned, where it was moved from there


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Claims:
    """What a claim got: a fence for each granted job, a reason for each refused one."""

    granted: Mapping[int, Fence]
    refused: Mapping[int, str]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Artifact:
    """A file in the artifact store that a finishing attempt made."""

    kind: str
    path: str  #: relative to the store's root
    sha256: str
    meta: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A blocked job that may become ready: what its rank is made of."""

    id: int
    seconds_theory: float  #: as planned
    stage: str
    bucket: str
    model: str
    peak_bytes: int  #: alone, over the weights
    frees: int  #: blocked jobs that wait for it, and jobs that it will insert
    klass: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Beat:
    """What a heartbeat is answered with."""

    stop: Sequence[Fence]  #: running attempts that must stop
    released: Sequence[str]  #: owners that lost their jobs already: their work is void


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Living:
    """An owner that was not released. Lost is who shows the same `beat` twice, a lease apart."""

    owner: Owner
    beat: int
    report: Mapping[str, Any]
    silent_s: float  #: by the database's clock; for display, not for judging


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """One thing seen on a device, from which estimates are learned."""

    kind: str  #: session, load, restart, ...
    model: str = ""
    stage: str = ""
    bucket: str = ""
    device: str = ""
    members: int = 1
    seconds: float | None = None
    peak: int | None = None  #: bytes over the weights
    meta: Mapping[str, Any] = dataclasses.field(default_factory=dict)
