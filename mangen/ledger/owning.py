"""Owners: child processes whose heartbeat is the lease of all their jobs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import sqlalchemy as sa

from mangen.ledger import door, jobs, reports, settling, states

Reason: TypeAlias = Literal["child_lost", "lease", "shutdown", "silent"]

_ERRORS = {
    "child_lost": "its process died while it ran",
    "lease": "its worker went silent while it ran",
    "shutdown": "its worker was shut down while it ran",
    "silent": "its worker's heartbeats reached no ledger, so it stopped its work",
}


class Owning(settling.Settling):
    """The ledger's door for the reporter and the pass."""

    def beat(self, owners: Sequence[jobs.Owner | str], report: Mapping[str, Any]) -> jobs.Beat:
        """Count the heartbeat of a worker's owners and keep its report (JSON).

        An owner that was not registered yet is passed over; a released one beats no more and is
        named in the answer.
        """
        names = sorted({str(owner) for owner in owners})
        with self.transaction() as conn:
            released = door.run(conn, "beat", owners=names, report=reports.write(report)).scalars()
            gone = sorted(released)
            stop = [
                jobs.Fence(job=row.id, attempt=row.attempt, owner=row.owner)
                for row in door.run(conn, "stopping_jobs", owners=names)
            ]
        return jobs.Beat(stop=stop, released=gone)

    def living_owners(self, conn: sa.Connection) -> Sequence[jobs.Living]:
        """Owners that were not released, by name."""
        return [
            jobs.Living(
                owner=jobs.Owner(
                    worker=row["worker"],
                    slot=row["slot"],
                    generation=row["generation"],
                    device=row["device"],
                    queues=tuple(row["queues"]),
                ),
                beat=row["beat"],
                report=reports.read(row["report"]),
                silent_s=row["silent_s"],
            )
            for row in door.rows(conn, "living_owners")
        ]

    def release(
        self,
        owner: jobs.Owner | str,
        alone: Collection[int] | None = None,
        reason: Reason = "child_lost",
        conn: sa.Connection | None = None,
        report: str = "",
    ) -> Mapping[int, states.State]:
        """Take an owner's jobs from it, for good; answers where each of them stands now.

        child_lost: those in `alone` failures + 1, the others uncharged and marked to run alone.
        lease: losses + 1, and failures + 1 from the third loss on. shutdown, silent: uncharged. A
        job that was asked to stop is cancelled. The owner can claim and beat no more. `report`, a
        file about the owner's end, is named in the attempts' errors. Idempotent.
        """
        if conn is None:
            with self.transaction() as own:
                return self.release(owner, alone, reason, own, report)
        return self.release_owner(conn, owner, alone, reason, report)

    def release_owner(
        self,
        conn: sa.Connection,
        owner: jobs.Owner | str,
        alone: Collection[int] | None = None,
        reason: Reason = "child_lost",
        report: str = "",
    ) -> Mapping[int, states.State]:
        """`release` within a transaction of the caller's."""
        name = str(owner)
        # two statements: the second sees every claim that came before the lock
        door.run(conn, "lock_owner", owner=name)
        door.run(conn, "close_owner", owner=name, reason=reason)
        return self._part(conn, name, alone, reason, report)

    def give_up(self, owner: jobs.Owner | str) -> Mapping[int, states.State]:
        """Take an owner's jobs from it, uncharged; it lives on and may claim again.

        For a worker that stopped its own work, as its heartbeats reached no ledger.
        """
        name = str(owner)
        with self.transaction() as conn:
            door.run(conn, "lock_owner", owner=name)
            return self._part(conn, name, None, "silent", "")

    def _part(
        self,
        conn: sa.Connection,
        name: str,
        alone: Collection[int] | None,
        reason: Reason,
        report: str,
    ) -> Mapping[int, states.State]:
        found = door.run(
            conn,
            "release_owner",
            owner=name,
            alone=sorted(alone or ()),
            reason=reason,
            error=_ERRORS[reason] + (f"; see {report}" if report else ""),
            backoff_s=self.backoff_s,
            zone=self.times.zone,
        )
        return {row.id: states.State(row.state) for row in found}

    def expected_models(self) -> Sequence[str]:
        """Models of what is published, the soonest first: what devices will want next."""
        with self.statement() as conn:
            return [row["model"] for row in door.rows(conn, "expected_models")]
