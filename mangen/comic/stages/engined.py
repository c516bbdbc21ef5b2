"""Members that run in an engine's batch: jobs in, products out, made into files."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from mangen import errors
from mangen.comic.stages import stage
from mangen.engines import protocol
from mangen.ledger import jobs


def quality(job: jobs.Job) -> dict[str, Any]:
    """What marks a product of models: an animatic's has no mark."""
    asked = job.params.get("quality")
    return {} if asked is None else {"quality": asked}


def marks(job: jobs.Job, notes: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of how a file was made."""
    return quality(job) | ({"notes": dict(notes)} if notes else {})


def _named(job: jobs.Job, error: errors.EngineError) -> errors.EngineError:
    """The same error with what it is about, which an engine doesn't know."""
    said = f"{job.subject} of project {job.project}: {error}"
    named = errors.EngineError(said) if error.permanent else errors.EngineUnavailable(said)
    named.__cause__ = error
    return named


@dataclasses.dataclass(frozen=True, slots=True)
class Way:
    """How a stage's job becomes a request, and its product what the stage makes."""

    request_of: Callable[[jobs.Job], protocol.Request]
    made_of: Callable[[jobs.Job, Any], stage.Made]


class Engined:
    """One engine run shared by all members of a batch; joined between steps where that can be."""

    def __init__(
        self,
        run: protocol.Run,
        request_of: Callable[[jobs.Job], protocol.Request],
        made_of: Callable[[jobs.Job, Any], stage.Made],
    ) -> None:
        self._run, self._request_of, self._made_of = run, request_of, made_of
        self._jobs: dict[str, jobs.Job] = {}

    @property
    def joinable(self) -> bool:
        return self._run.joinable

    def add(self, key: str, job: jobs.Job) -> None:
        try:
            self._run.add({key: self._request_of(job)})
        except errors.EngineError as error:
            raise _named(job, error) from error
        self._jobs[key] = job

    def step(self) -> Mapping[str, stage.Made | Exception]:
        ended: dict[str, stage.Made | Exception] = {}
        for key, product in self._run.step().items():
            job = self._jobs.pop(key)
            if isinstance(product, errors.EngineError):
                ended[key] = _named(job, product)
                continue
            if isinstance(product, Exception):
                ended[key] = product
                continue
            try:
                ended[key] = self._made_of(job, product)
            except Exception as error:  # noqa: BLE001 - a member's error is its own end
                ended[key] = error
        return ended

    def drop(self, key: str) -> None:
        self._run.drop(key)
        self._jobs.pop(key, None)

    def close(self) -> None:
        self._run.close()
