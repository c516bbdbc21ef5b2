"""Purges: a project goes for good, in batches, and a crash in the middle only delays it.

First, in one transaction, the project is closed and all its work is cancelled. When nothing of it
runs any more, its files go, then its rows, and last of all its own row. What people did to it
stays in `acts`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import sqlalchemy as sa

from mangen.ledger import door

_BATCH = 1_000


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Leftover:
    """What of a purged project is still there."""

    running: int  #: jobs that were asked to stop and have not yet
    jobs: int


class Purging(door.Door):
    """The ledger's door for whoever removes projects."""

    def close_for_purge(self, conn: sa.Connection, project: int) -> bool:
        """Let nothing of a project begin any more, for good; False where it was closed so."""
        return bool(door.run(conn, "close_for_purge", project=project).all())

    def purging(self) -> Sequence[int]:
        """Projects whose removal was begun and not finished."""
        with self.statement() as conn:
            return list(door.run(conn, "purging").scalars())

    def purge_leftover(self, project: int) -> Leftover:
        """What still stands in the way of a purge."""
        with self.statement() as conn:
            [row] = door.rows(conn, "purge_leftover", project=project)
        return Leftover(**row)

    def purge_ids(self, project: int) -> set[int]:
        """Jobs of a purged project that ever began: files named after them are its own."""
        with self.statement() as conn:
            return set(door.run(conn, "purge_ids", project=project).scalars())

    def purge_jobs(self, project: int) -> int:
        """Remove one batch of jobs with all that hangs on them; 0 when none is left."""
        with self.transaction() as conn:
            return len(door.run(conn, "purge_jobs", project=project, batch=_BATCH).all())

    def purge_project(self, project: int) -> bool:
        """Remove the row of a project without jobs, and what hangs on it."""
        with self.transaction() as conn:
            return bool(door.run(conn, "purge_project", project=project).all())
