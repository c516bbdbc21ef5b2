"""Publishing: who may be published next, the moves of it, and the accounts of fair shares.

Every method takes the pass's own connection. What may not run is neither published nor claimed:
the guards of find_publishable, find_gating and publish_jobs are those of claim_jobs.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

import sqlalchemy as sa

from mangen.ledger import door, jobs, passing

#: (class, project): a project's part of a queue
Lane: TypeAlias = tuple[int, int]

#: jobs of one project that one promotion looks at
_PAGE = 100


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """A ready job that may be published, with its project's account in that lane."""

    id: int
    project: int
    klass: int
    rank: float
    seconds: float
    cap: int
    served: float  #: virtual seconds: estimated seconds / weight
    weight: float
    remaining: float | None  #: of the project's budget today; None: no limit


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """What of a queue is published and not yet claimed."""

    jobs: int = 0
    seconds: float = 0.0  #: predicted
    gating: int = 0


class Publishing(door.Door):
    """The ledger's door for the pass, once it knows what is ready."""

    def find_publishable(
        self,
        conn: sa.Connection,
        queue: str,
        limit: int,
        *,
        quantum_s: float = 60.0,
        among: Collection[Lane] | None = None,
        most: int | None = None,
    ) -> Sequence[Waiting]:
        """The jobs among which the first `limit` of a queue are, by project, the fairest first.

        Of each of the first `limit` projects its `limit` best jobs, of the others, `most` in all,
        the best one. `among`: only these; None: all that have ready work in the queue.
        """
        found = door.rows(
            conn,
            "find_publishable",
            queue=queue,
            limit=limit,
            most=limit if most is None else max(most, limit),
            quantum_s=float(quantum_s),
            classes=None if among is None else [klass for klass, _ in among],
            projects=None if among is None else [project for _, project in among],
            **self.times.values,
        )
        return [_waiting(row) for row in found]

    def find_gating(self, conn: sa.Connection, limit: int) -> Sequence[Waiting]:
        """Ready jobs that were planned to gate others, a project's together."""
        found = door.rows(conn, "find_gating", limit=limit, **self.times.values)
        return [_waiting(row) for row in found]

    def publish_jobs(
        self, conn: sa.Connection, ids: Sequence[int], *, by: str = passing.BY
    ) -> Sequence[jobs.Job]:
        """Ready to published, in rank order, bell counted. Commit first, then send.

        Answers the jobs without their params: a message carries none.
        """
        found = door.rows(conn, "publish_jobs", ids=list(ids), by=by, **self.times.values)
        return [passing.job_of(row) for row in found]

    def charge_shares(
        self, conn: sa.Connection, lane: str, served: Mapping[int, float], clock: float
    ) -> None:
        """Write what projects were served in a lane, and how far the lane has come."""
        door.run(
            conn,
            "charge_shares",
            lane=lane,
            clock=float(clock),
            projects=list(served),
            served=[float(seconds) for seconds in served.values()],
        )

    def promote_jobs(
        self,
        conn: sa.Connection,
        queue: str,
        klass: int,
        *,
        before: dt.datetime,
        quantum_s: float = 60.0,
        projects: int = 1_000,
        by: str = passing.BY,
    ) -> Mapping[int, float]:
        """Move what waits in a lane since `before` to the next higher class and queue.

        Only of projects that the lane has not served since then, of so many of them those that
        wait longest, and a quantum of each: their next wait as long again. Answers the jobs that
        moved, with their predicted seconds.
        """
        found = door.run(
            conn,
            "promote_jobs",
            queue=queue,
            klass=klass,
            before=before,
            quantum_s=float(quantum_s),
            most=_PAGE,
            projects=projects,
            by=by,
        )
        return {row.id: jobs.likely_s(row.seconds) for row in found}

    def published_load(self, conn: sa.Connection) -> Mapping[str, Load]:
        """Queue -> what nobody has claimed of it; queues without any are left out."""
        return {
            row.queue: Load(jobs=row.jobs, seconds=jobs.likely_s(row.seconds), gating=row.gating)
            for row in door.run(conn, "published_load")
        }

    def now(self, conn: sa.Connection) -> dt.datetime:
        """The time by the database's clock."""
        found: dt.datetime = door.run(conn, "now").scalar_one()
        return found


def _waiting(row: Mapping[str, Any]) -> Waiting:
    """Numbers that can be reckoned with, whatever the row says: one project's must not end all."""
    weight, served, rank = row["weight"], row["served"], row["rank"]
    numbers = {
        "seconds": jobs.likely_s(row["seconds"]),
        "weight": weight if math.isfinite(weight) else 1.0,
        "served": served if math.isfinite(served) else 0.0,
        "rank": rank if math.isfinite(rank) else 0.0,
    }
    return Waiting(**{**row, **numbers})
