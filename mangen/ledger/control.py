"""What a person, or an insert of wanted jobs, does to jobs: cancel, supersede, revive."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import sqlalchemy as sa

from mangen.ledger import door, jobs


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """What a cancellation did. NOTIFY `mangen_stop` for those that are still running."""

    ids: Sequence[int]  #: settled at once
    stopping: Sequence[jobs.Fence]  #: running; they settle when they have stopped


class Control(door.Door):
    """The ledger's door for control."""

    def cancel_jobs(self, conn: sa.Connection, ids: Sequence[int], *, by: str = "person") -> Ended:
        """Cancel what waits and ask what runs to stop; settled jobs stay as they are."""
        return _ended(conn, "cancel_jobs", ids, by)

    def cancel(self, ids: Sequence[int] | int, *, by: str = "person") -> Ended:
        """`cancel_jobs` in a transaction of its own; rings `mangen_stop` for what runs."""
        with self.transaction() as conn:
            ended = self.cancel_jobs(conn, [ids] if isinstance(ids, int) else ids, by=by)
        if ended.stopping:
            self.notify(None, self.STOP)
        return ended

    def supersede_jobs(
        self, conn: sa.Connection, ids: Sequence[int], *, by: str = "person"
    ) -> Ended:
        """Take jobs out of what is wanted: as cancel, and settled ones are only marked.

        `Ended.ids` names every marked job that is not running.
        """
        return _ended(conn, "supersede_jobs", ids, by)

    def revive_jobs(
        self, conn: sa.Connection, ids: Sequence[int], *, by: str = "person", wanted: bool = False
    ) -> Sequence[int]:
        """Failed, skipped and cancelled jobs back to blocked, failures forgotten.

        What was skipped only for their sake comes back with them. Superseded jobs come back only
        where they are wanted again. Answers the ids that moved.
        """
        _lock(conn, ids)
        found = door.run(conn, "revive_jobs", ids=list(ids), by=by, wanted=wanted)
        return list(found.scalars())


def _lock(conn: sa.Connection, ids: Sequence[int]) -> None:
    """Wait for those who move these jobs just now, in a statement of its own.

    A statement that waited would go on from the rows as they stood when it began, and PostgreSQL
    holds the new row to its CHECKs before it looks whether the old one is still the latest.
    """
    door.run(conn, "lock_jobs", ids=list(ids))


def _ended(conn: sa.Connection, query: str, ids: Sequence[int], by: str) -> Ended:
    _lock(conn, ids)
    settled: list[int] = []
    stopping: list[jobs.Fence] = []
    for row in door.run(conn, query, ids=list(ids), by=by):
        if row.owner is None:
            settled.append(row.id)
        else:
            stopping.append(jobs.Fence(job=row.id, attempt=row.attempt, owner=row.owner))
    return Ended(ids=settled, stopping=stopping)
