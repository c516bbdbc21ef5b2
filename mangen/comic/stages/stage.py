"""The shape of a stage: members in, what they made out."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Protocol

import sqlalchemy as sa

from mangen.comic.stages import kit
from mangen.ledger import jobs
from mangen.pooling import work
from mangen.pooling.devices import device


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class File:
    """A finished file in the scratch folder, to be published as an artifact of `kind`."""

    kind: str
    path: pathlib.Path
    meta: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """What one job made. `write` puts its domain rows into the finishing transaction."""

    files: Sequence[File] = ()
    write: Callable[[sa.Connection, Sequence[jobs.Artifact]], None] | None = None
    value: Mapping[str, Any] = dataclasses.field(default_factory=dict)


class Members(Protocol):
    """The jobs of one running batch; each settles when it ends.

    `joinable`: others may be added between steps. Memory that runs out is raised, by `add` and by
    `step`, and leaves everybody where they were: the pool parks them and tries fewer.
    """

    @property
    def joinable(self) -> bool: ...

    def add(self, key: str, job: jobs.Job) -> None: ...
    def step(self) -> Mapping[str, Made | Exception]: ...
    def drop(self, key: str) -> None: ...
    def close(self) -> None: ...


class Stage(Protocol):
    """One kind of work."""

    name: str

    def open(self, bucket: str, rt: work.Runtime, tools: kit.Kit) -> Members: ...


#: yields (done, of) between steps
Steps = Generator[tuple[int, int], None, Made]


class Stepped:
    """Members whose work is a generator each: one `next` is one step."""

    joinable = False

    def __init__(self, start: Callable[[jobs.Job], Steps], rt: work.Runtime) -> None:
        self._start, self._rt = start, rt
        self._running: dict[str, Steps] = {}
        self._full: Exception | None = None

    def add(self, key: str, job: jobs.Job) -> None:
        self._running[key] = self._start(job)

    def step(self) -> Mapping[str, Made | Exception]:
        if self._full is not None:  # the pool tries again with fewer at once
            error, self._full = self._full, None
            raise error
        ended: dict[str, Made | Exception] = {}
        for key, steps in list(self._running.items()):
            try:
                done, of = next(steps)
            except StopIteration as end:
                ended[key] = end.value
            except Exception as error:
                if device.out_of_memory(error):
                    if not ended:
                        raise
                    self._full = error  # those that ended are told first
                    break
                ended[key] = error
            else:
                self._rt.progress(key, done, of)
            if key in ended:
                del self._running[key]
        return ended

    def drop(self, key: str) -> None:
        steps = self._running.pop(key, None)
        if steps is not None:
            steps.close()

    def close(self) -> None:
        for key in list(self._running):
            self.drop(key)


class Broken:
    """Members of a stage that could not be opened: each fails by its error, claimed first."""

    joinable = False

    def __init__(self, error: Exception) -> None:
        self._error = error

    def add(self, key: str, job: jobs.Job) -> None:
        del key, job
        raise self._error

    def step(self) -> Mapping[str, Made | Exception]:
        return {}

    def drop(self, key: str) -> None:
        pass

    def close(self) -> None:
        pass
