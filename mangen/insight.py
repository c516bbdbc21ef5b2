"""Looking into what waits and what was made: the backlog, and where a file came from."""

from __future__ import annotations

import contextlib
import hashlib
import pathlib
from typing import Any

from mangen import api, errors, storage
from mangen.comic import trace as traces
from mangen.dispatch import drain, foresight
from mangen.ledger import scope

_OPEN = ("running", "published", "ready", "blocked")


def backlog() -> dict[str, Any]:
    """Say how many seconds of work wait in each queue, and how many devices there are for it.

    `seconds` can begin now (running, published, ready); `blocked_seconds` wait for other jobs. What
    people paused is no work to wait for. Cheap enough to be asked all the time: whoever leads the
    pass counts every few seconds; `age_s` says how long ago.
    """
    with api.open_ledger() as (chosen, book):
        found = foresight.waiting(book, lease_s=chosen.lease_s)
    queues: dict[str, Any] = {}
    for name in dict.fromkeys((*drain.QUEUES, *(one.queue for one in found.lanes))):
        lanes = [one for one in found.lanes if one.queue == name]
        serving = sum(name in one.queues for one in found.devices)
        seconds = sum(one.seconds for one in lanes if one.state != "blocked")
        queues[name] = {
            "devices": serving,
            "seconds": round(seconds, 1),
            "blocked_seconds": round(sum(o.seconds for o in lanes if o.state == "blocked"), 1),
            "jobs": {state: _jobs(lanes, state) for state in _OPEN},
            "classes": {
                word: round(sum(one.seconds for one in lanes if one.lane == n), 1)
                for n, word in enumerate(("high", "mid", "low"))
            },
            "seconds_per_device": round(seconds / serving, 1) if serving else None,
        }
    return {
        "seconds": round(sum(queue["seconds"] for queue in queues.values()), 1),
        "blocked_seconds": round(sum(queue["blocked_seconds"] for queue in queues.values()), 1),
        "devices": len(found.devices),
        "age_s": round(found.age_s, 1),
        "queues": queues,
    }


def _jobs(lanes: Any, state: str) -> int:
    return sum(one.jobs for one in lanes if one.state == state)


def trace(what: str | pathlib.Path) -> dict[str, Any]:
    """Say where something came from: all jobs and attempts behind it, as docs/tracing.md tells.

    `what` is a scope (`12/e3`, `12/e3/s7`, `job/4711`) or a file, stored or exported. Raises
    UsageError, UnknownProject.
    """
    file = pathlib.Path(what)
    asked = None
    with contextlib.suppress(errors.UsageError):
        asked = scope.parse(str(what))
    if asked is None and not file.is_file():
        raise errors.UsageError(
            f"{str(what)!r} is neither a file nor a scope: write an episode as 12/e3, a shot as "
            "12/e3/s7, a job as job/4711, or the path of a video"
        )
    with api.open_ledger() as (chosen, book):
        if asked is not None:
            with book.transaction() as conn:
                return dict(traces.of_scope(conn, book, asked))
        with file.open("rb") as read:
            sha256 = hashlib.file_digest(read, "sha256").hexdigest()
        store = storage.Store(chosen.artifact_root)
        with book.transaction() as conn:
            return dict(traces.of_file(conn, book, store, file, sha256))
