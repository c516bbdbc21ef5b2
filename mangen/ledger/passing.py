"""The pass's moves: what is ready, and what rang in vain. Publishing has a room of its own.

Every method takes the pass's own connection, which holds the leader's lock. Work on one project
in one transaction: look_project, clear_dirty, skip_jobs, find_ready, ready_jobs, in this order.
Where clear_dirty names the jobs that became done, skip_jobs may be left out and find_ready look
near them alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from mangen.ledger import door, jobs, projects

BY = "pass"
_FIELDS = [field.name for field in dataclasses.fields(jobs.Job)]


class Passing(door.Door):
    """The ledger's door for the pass."""

    def dirty_projects(self, conn: sa.Connection) -> Sequence[int]:
        """Projects of which something settled or was inserted, the longest unlooked at first."""
        return list(door.run(conn, "dirty_projects").scalars())

    def look_project(self, conn: sa.Connection, project: int) -> None:
        """`lock_project`, in a transaction whose end does not wait for the disk.

        For moves that the next look would find again. Raises UnknownProject.
        """
        if not door.run(conn, "look_project", project=project).all():
            raise projects.unknown(project)

    def clear_dirty(self, conn: sa.Connection, project: int) -> Sequence[int] | None:
        """Forget what is visible now; call it before looking, in the same transaction.

        Answers the jobs that became done since, where nothing else happened: then nothing can
        have to be skipped, and `find_ready` need only look near them. Otherwise None.
        """
        found = list(door.run(conn, "clear_dirty", project=project).scalars())
        return None if not found or None in found else found

    def open_projects(self, conn: sa.Connection) -> Sequence[int]:
        """Open projects in which some job is blocked."""
        return list(door.run(conn, "open_projects").scalars())

    def movable_projects(self, conn: sa.Connection, projects: Sequence[int]) -> Sequence[int]:
        """Those of these projects in which a blocked job could be skipped or become ready."""
        return list(door.run(conn, "movable_projects", projects=list(projects)).scalars())

    def skip_jobs(self, conn: sa.Connection, project: int, *, by: str = BY) -> Sequence[int]:
        """Skip what hard-needs a failed, skipped or cancelled job, until nothing changes.

        Answers the ids that were skipped.
        """
        skipped: list[int] = []
        while found := list(door.run(conn, "skip_jobs", project=project, by=by).scalars()):
            skipped += found
        return skipped

    def find_ready(
        self, conn: sa.Connection, project: int, *, near: Sequence[int] | None = None
    ) -> Sequence[jobs.Candidate]:
        """Blocked jobs whose hard needs are done and soft needs settled.

        `near`: only those that need one of these jobs, in time that does not grow with the
        project. None: all of the project.
        """
        if near is None:
            found = door.rows(conn, "find_ready", project=project)
        else:
            found = door.rows(conn, "find_ready_near", project=project, near=list(near))
        return [jobs.Candidate(**row) for row in found]

    def now_hours(self, conn: sa.Connection) -> float:
        """Hours since the epoch by the database's clock: a rank's age is counted from it."""
        return float(door.run(conn, "now_hours").scalar_one())

    def ready_jobs(
        self,
        conn: sa.Connection,
        ranks: Mapping[int, float],
        *,
        seconds: Mapping[int, float] | None = None,
        by: str = BY,
    ) -> Sequence[int]:
        """Blocked to ready, each with its rank; answers the ids that still could.

        `seconds`: what they will take, by what was learned of such work since they were planned.
        """
        foretold = seconds or {}
        found = door.run(
            conn,
            "ready_jobs",
            ids=list(ranks),
            ranks=[float(r) for r in ranks.values()],
            seconds=[foretold.get(job) for job in ranks],
            by=by,
        )
        return list(found.scalars())

    def unpublish_jobs(
        self,
        conn: sa.Connection,
        older_than_s: float,
        held: Sequence[int],
        queues: Sequence[str],
        *,
        ids: Sequence[int] | None = None,
        by: str = BY,
    ) -> int:
        """Lost bells back to ready: published for so long in these queues, held by no window.

        `ids`: these alone.
        """
        found = door.run(
            conn,
            "unpublish_jobs",
            older_than_s=float(older_than_s),
            held=list(held),
            queues=list(queues),
            ids=None if ids is None else list(ids),
            by=by,
        )
        return int(found.scalar_one())


def job_of(row: Mapping[str, Any]) -> jobs.Job:
    """A row of jobs, joined with its params where they are asked for, as a value."""
    names = {**row, "klass": row["class"], "params": row.get("params") or {}}
    names["peaks"] = tuple(row["peaks"])
    return jobs.Job(**{name: names[name] for name in _FIELDS})
