"""Dead jobs: what failed, why, on which device, and how that device is now."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from mangen.ledger import queries


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Dead:
    """A failed job. `device_state`: living, silent, quarantined, released; empty: never begun."""

    job: int
    project: int
    title: str
    stage: str
    subject: str
    kind: str  #: permanent, transient, resource, lost
    error: str
    attempts: int
    failures: int
    losses: int
    excluded: Sequence[str]  #: device classes that are too small for it
    peak_bytes: int  #: over its model's weights
    queue: str
    at: dt.datetime
    owner: str
    device: str
    device_state: str
    skipped: int  #: jobs that were skipped for it


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Stuck:
    """A job that waits for room in the store or in memory."""

    job: int
    project: int
    stage: str
    subject: str
    error: str
    until: dt.datetime | None


def dead(
    conn: sa.Connection,
    projects: Collection[int] | None,
    jobs: Collection[int] = (),
    *,
    lease_s: float,
) -> Sequence[Dead]:
    """The failed jobs of these projects (None: all) and of these, in order of project and id."""
    slots = {
        (row.worker, row.slot): row
        for row in conn.execute(queries.REPORTS["living_slots"], {"lease_s": lease_s})
    }
    return [
        Dead(
            job=row.id,
            project=row.project,
            title=row.title,
            stage=row.stage,
            subject=row.subject,
            kind=row.error_kind or "",
            error=row.error or "",
            attempts=row.attempt,
            failures=row.failures,
            losses=row.losses,
            excluded=tuple(row.exclude),
            peak_bytes=row.peak_bytes,
            queue=row.queue,
            at=row.at,
            owner=row.owner or "",
            device=row.device or "",
            device_state=_state(row, slots.get((row.worker, row.slot))),
            skipped=row.skipped,
        )
        for row in conn.execute(queries.REPORTS["dead_jobs"], _asked(projects, jobs))
    ]


def stuck(
    conn: sa.Connection, projects: Collection[int] | None, jobs: Collection[int] = ()
) -> Sequence[Stuck]:
    """Jobs that wait for room, in order of project and id."""
    return [
        Stuck(
            job=row.id,
            project=row.project,
            stage=row.stage,
            subject=row.subject,
            error=row.error or "",
            until=row.not_before,
        )
        for row in conn.execute(queries.REPORTS["stuck_jobs"], _asked(projects, jobs))
    ]


def _asked(projects: Collection[int] | None, jobs: Collection[int]) -> Mapping[str, Any]:
    return {
        "projects": None if projects is None else sorted(projects),
        "jobs": sorted(jobs),
    }


def _state(row: Any, now: Any) -> str:
    """How the device is on which the job last ran: by whoever serves its slot now."""
    if row.owner is None:
        return ""
    if now is None:
        return "quarantined" if row.quarantined else "released"
    if now.quarantined:
        return "quarantined"
    return "silent" if now.silent else "living"
