"""The Celery task whose body was run already: it only tells Celery's tracer how it ended."""

from __future__ import annotations

from typing import Any

import celery
from celery import exceptions

from mangen.pooling import errors, work

_held: dict[str, work.Outcome] = {}


def hold(request_id: str, outcome: work.Outcome) -> None:
    """Keep the outcome that the task of this request is about to return or raise."""
    _held[request_id] = outcome


def release(request_id: str) -> None:
    """Forget an outcome that no task asked for."""
    _held.pop(request_id, None)


class WorkTask(celery.Task):  # type: ignore[misc] # celery publishes no types
    """Base of tasks whose work the pool does.

    Done returns the value (JSON data), stale returns {"stale": why}, failed raises WorkFailed.
    Aborted raises Ignore, so that the child stores nothing: the parent announces it as revoked.
    """

    abstract = True
    typing = False  # the arguments are for readers; the work is in the message's header
    acks_late = False
    throws = (errors.WorkFailed,)

    def run(self, *_args: Any, **_kwargs: Any) -> Any:
        outcome = _held.pop(self.request.id or "", None)
        if outcome is None:
            raise errors.WorkFailed(
                f"the task {self.name} came without the header `work`, or not to mangen's pool: "
                "publish it through dispatch"
            )
        if outcome.status is work.Status.FAILED:
            raise errors.WorkFailed(outcome.error)
        if outcome.status is work.Status.ABORTED:
            raise exceptions.Ignore(outcome.error)
        if outcome.status is work.Status.STALE:
            return {"stale": outcome.error}
        return outcome.value
