"""A child's way in: register, claim what a message rang for, hand back what it can't run."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from mangen import errors
from mangen.ledger import door, jobs, passing, states, wanting

#: why a job is handed back unclaimed -> what the query makes of it
_WHY = {
    "never_fits": "never_fits",
    "paused": "keep",
    "shutdown": "keep",
    "revoked": "cancel",
    "abort": "cancel",
}


class Claiming(door.Door):
    """The ledger's door for work that has not begun."""

    def register(self, owner: jobs.Owner) -> None:
        """Make the owner's row; the child calls this itself, before its first claim. Idempotent.

        Raises LedgerError where the owner was released already: a child comes back only as a new
        generation.
        """
        with self.statement() as conn:
            released = door.run(
                conn,
                "register",
                owner=str(owner),
                worker=owner.worker,
                slot=owner.slot,
                generation=owner.generation,
                device=owner.device,
                queues=list(owner.queues),
            ).scalar_one()
        if released is not None:
            raise errors.LedgerError(
                f"the owner {owner} was released at {released}: register a new generation"
            )

    def claim(
        self, ids: Sequence[int], owner: jobs.Owner | str, *, session: str | None = None
    ) -> jobs.Claims:
        """Claim what can be claimed of many jobs, at once; says why the others were refused."""
        asked = list(dict.fromkeys(ids))
        with self.statement() as conn:
            granted = self.claim_jobs(conn, asked, owner, session=session)
            missed = [job for job in asked if job not in granted]
            refused = self.refusals(conn, missed, owner) if missed else {}
        return jobs.Claims(granted=granted, refused=refused)

    def claim_jobs(
        self,
        conn: sa.Connection,
        ids: Sequence[int],
        owner: jobs.Owner | str,
        *,
        session: str | None = None,
    ) -> dict[int, jobs.Fence]:
        """Published or ready to running, in one statement; answers the fences by job."""
        name = str(owner)
        found = door.run(
            conn,
            "claim_jobs",
            ids=list(ids),
            owner=name,
            session=session,
            format=wanting.FORMAT,
            **self.times.values,
        )
        return {row.id: jobs.Fence(job=row.id, attempt=row.attempt, owner=name) for row in found}

    def held(self, ids: Sequence[int], owner: jobs.Owner | str) -> dict[int, jobs.Fence]:
        """Which of these jobs the owner runs: after a claim whose answer never came."""
        with self.statement() as conn:
            found = door.run(conn, "held_jobs", ids=list(ids), owner=str(owner))
            return {
                row.id: jobs.Fence(job=row.id, attempt=row.attempt, owner=str(owner))
                for row in found
            }

    def refusals(
        self, conn: sa.Connection, ids: Sequence[int], owner: jobs.Owner | str
    ) -> dict[int, str]:
        """Why these jobs can't be claimed by this owner just now.

        What may run later (paused, held, quiet hours, budget spent) goes back to ready at once:
        its bell has rung, and in vain.
        """
        found = door.run(
            conn,
            "refusals",
            ids=list(ids),
            owner=str(owner),
            format=wanting.FORMAT,
            **self.times.values,
        ).all()
        for row in found:
            if row.rung is not None:
                self._hand_back(conn, row.id, row.rung, "keep", by=str(owner))
        return {row.id: row.why for row in found}

    def jobs(self, ids: Sequence[int], conn: sa.Connection | None = None) -> Sequence[jobs.Job]:
        """Jobs with their params, by id; unknown ids are left out."""
        if conn is None:
            with self.statement() as own:
                return self.jobs(ids, own)
        return [passing.job_of(row) for row in door.rows(conn, "jobs", ids=list(ids))]

    def hand_back(
        self, job: int, attempt: int, why: str, *, device: str = "cpu", by: str | None = None
    ) -> states.State | None:
        """Return an unclaimed job; answers its new state, None where the attempt moved on.

        `why`: paused, shutdown (ready again), never_fits (not on this device class again; failed
        where no registered class is left), revoked, abort (cancelled).
        """
        if why not in _WHY:
            raise ValueError(f"a job can't be handed back for {why!r}: {', '.join(_WHY)}")
        with self.statement() as conn:
            return self._hand_back(conn, job, attempt, _WHY[str(why)], device=device, by=by)

    def _hand_back(
        self,
        conn: sa.Connection,
        job: int,
        attempt: int,
        why: str,
        *,
        device: str = "cpu",
        by: str | None,
    ) -> states.State | None:
        state = door.run(
            conn, "hand_back", job=job, attempt=attempt, why=why, device=device, by=by
        ).scalar_one_or_none()
        return None if state is None else states.State(state)
