"""From a job back to all that it was made of: needs, attempts, owners, waits, files."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from mangen.ledger import door

#: states in which a job only waits, and the one in which it runs
_TIMED = ("blocked", "ready", "published", "running")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Traced:
    """One job with its whole life, as JSON data."""

    id: int
    project: int
    stage: str
    subject: str
    row: Mapping[str, Any]  #: the rest of its row
    needs: Sequence[int]
    earlier: Sequence[int]  #: jobs of the same subject that it took the place of
    attempts: Sequence[Mapping[str, Any]]
    artifacts: Sequence[Mapping[str, Any]]


class Traces(door.Door):
    """The ledger's door for who asks where something came from."""

    def trace_jobs(self, conn: sa.Connection, roots: Sequence[int]) -> Mapping[int, Traced]:
        """These jobs and all that they need, directly or not, by id."""
        return {row["id"]: _traced(row) for row in door.rows(conn, "trace_jobs", roots=list(roots))}

    def trace_file(
        self, conn: sa.Connection, *, path: str | None, sha256: str | None
    ) -> Sequence[Mapping[str, Any]]:
        """Artifacts of this stored path or of these bytes, the newest first."""
        return door.rows(conn, "trace_file", path=path, sha256=sha256)


def _traced(row: Mapping[str, Any]) -> Traced:
    rest = dict(row)
    waits = seconds_of(rest.pop("events"))
    return Traced(
        id=rest.pop("id"),
        project=rest.pop("project"),
        stage=rest.pop("stage"),
        subject=rest.pop("subject"),
        needs=rest.pop("needs"),
        earlier=rest.pop("earlier"),
        artifacts=rest.pop("artifacts"),
        attempts=[{**one, "waits": waits.get(one["attempt"])} for one in rest.pop("attempts")],
        row=rest,
    )


def seconds_of(events: Sequence[Mapping[str, Any]]) -> dict[int, dict[str, float]]:
    """Attempt -> state -> seconds: in each since the attempt before it ended, and its own running.

    `events` are those of one job, in order; without any, they were pruned, nobody can tell.
    """
    found: dict[int, dict[str, float]] = {}
    since: dict[str, float] = dict.fromkeys(_TIMED, 0.0)
    before: tuple[str, dt.datetime] | None = None
    for event in events:
        at = dt.datetime.fromisoformat(event["at"])
        if before is not None and before[0] in since:
            since[before[0]] += (at - before[1]).total_seconds()
        if before is not None and before[0] == "running":
            found[event["attempt"]] = {name: round(seconds, 3) for name, seconds in since.items()}
            since = dict.fromkeys(_TIMED, 0.0)
        before = event["to"], at
    return found
