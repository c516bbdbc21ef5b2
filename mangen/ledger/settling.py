"""How a running attempt ends: finish with its rows, or fail. All of it under the fence."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from mangen import errors
from mangen.ledger import door, jobs, states

_ERROR_CHARACTERS = 4000


class Settling(door.Door):
    """The ledger's door for work that runs."""

    #: seconds: a transient failure waits 2^failures times this, a resource 2^waits
    backoff_s: float = 2.0

    @contextlib.contextmanager
    def finishing(self, fence: jobs.Fence) -> Iterator[sa.Connection]:
        """One transaction in which the attempt's rows are written and the job becomes done.

        Raises FenceLost at its start where the attempt is no longer the owner's, and Stopped (a
        FenceLost) where the job was asked to stop, which makes it cancelled. Any exception in the
        body rolls everything back and leaves the job running. Afterwards call `settled(project)`,
        once a step.
        """
        stopped = False
        with self.transaction() as conn:
            stopped = self._lock_attempt(conn, fence)
            if not stopped:
                yield conn
            self.finish_job(conn, fence)
        if stopped:
            raise _stopped(fence)

    def finish(self, fence: jobs.Fence) -> None:
        """Make a job done whose work wrote no rows, in one statement; as `finishing` else."""
        with self.statement() as conn:
            state = self.finish_job(conn, fence)
        if state is states.State.CANCELLED:
            raise _stopped(fence)

    def finish_job(self, conn: sa.Connection, fence: jobs.Fence) -> states.State:
        """Running to done, or to cancelled where it was asked to stop; raises FenceLost."""
        state = door.run(
            conn, "finish_job", **_of(fence), zone=self.times.zone
        ).scalar_one_or_none()
        if state is None:
            raise self._lost(conn, fence)
        return states.State(state)

    def fail(self, fence: jobs.Fence, kind: states.ErrorKind | str, error: str) -> states.State:
        """Running to ready, failed or cancelled; raises FenceLost.

        permanent: failed. transient: failures + 1, ready again after 2^failures x backoff_s
        (jittered), failed at the third. resource: uncharged, ready again after a growing wait of
        at most 300 s. The error stays on the row until the job is done.
        """
        with self.statement() as conn:
            return self.fail_job(conn, fence, states.ErrorKind(kind), error)

    def fail_job(
        self, conn: sa.Connection, fence: jobs.Fence, kind: states.ErrorKind, error: str
    ) -> states.State:
        """`fail` within a transaction of the caller's."""
        state = door.run(
            conn,
            "fail_job",
            **_of(fence),
            kind=str(kind),
            error=_storable(error),
            backoff_s=self.backoff_s,
            zone=self.times.zone,
        ).scalar_one_or_none()
        if state is None:
            raise self._lost(conn, fence)
        return states.State(state)

    def progress(self, fence: jobs.Fence, done: int, of: int) -> bool:
        """Write how far an attempt is; False where it must stop, or is no longer the owner's."""
        share = min(1.0, max(0.0, done / of)) if of > 0 else 0.0
        with self.statement() as conn:
            found = door.run(conn, "progress", **_of(fence), progress=share)
            return bool(found.scalar_one_or_none())

    def add_artifacts(
        self, conn: sa.Connection, fence: jobs.Fence, artifacts: Sequence[jobs.Artifact]
    ) -> Sequence[int]:
        """Publish files of the finishing attempt; answers the rows' ids in the same order."""
        values = [
            {
                "no": no,
                "kind": artifact.kind,
                "path": artifact.path,
                "sha256": artifact.sha256,
                "meta": dict(artifact.meta),
            }
            for no, artifact in enumerate(artifacts)
        ]
        found = door.run(
            conn,
            "add_artifacts",
            job=fence.job,
            attempt=fence.attempt,
            artifacts=json.dumps(values, ensure_ascii=False),
        )
        return list(found.scalars())

    def artifacts(
        self, ids: Sequence[int], conn: sa.Connection | None = None
    ) -> Mapping[int, Sequence[jobs.Artifact]]:
        """Job -> its artifacts, in the order of publication; jobs without any are left out."""
        if conn is None:
            with self.statement() as own:
                return self.artifacts(ids, own)
        found: dict[int, list[jobs.Artifact]] = {}
        for row in door.run(conn, "artifacts", jobs=list(ids)):
            found.setdefault(row.job, []).append(
                jobs.Artifact(kind=row.kind, path=row.path, sha256=row.sha256, meta=row.meta)
            )
        return found

    def orphans(self, paths: Sequence[str]) -> Sequence[str]:
        """Those stored paths that no row names and no running attempt may yet publish."""
        with self.statement() as conn:
            return list(door.run(conn, "orphans", paths=list(paths)).scalars())

    def note_attempt(
        self,
        conn: sa.Connection,
        fence: jobs.Fence,
        *,
        peak: int | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Write what traces an attempt: its peak bytes, and JSON such as seed, model version."""
        values = json.dumps(dict(meta or {}), ensure_ascii=False)
        door.run(conn, "note_attempt", job=fence.job, attempt=fence.attempt, peak=peak, meta=values)

    def _lock_attempt(self, conn: sa.Connection, fence: jobs.Fence) -> bool:
        stop = door.run(conn, "lock_attempt", **_of(fence)).scalar_one_or_none()
        if stop is None:
            raise self._lost(conn, fence)
        return bool(stop)

    def _lost(self, conn: sa.Connection, fence: jobs.Fence) -> errors.FenceLost:
        row = door.run(conn, "standing_of", job=fence.job).one_or_none()
        if row is None:
            now = "it does not exist"
        else:
            by = f" by {row.owner}" if row.owner else ""
            now = f"it is {row.state}{by}, attempt {row.attempt}"
        return errors.FenceLost(
            f"job {fence.job}: attempt {fence.attempt} of {fence.owner} was lost, {now}; "
            "its work is thrown away"
        )


def _stopped(fence: jobs.Fence) -> errors.Stopped:
    return errors.Stopped(
        f"job {fence.job}, attempt {fence.attempt}, was asked to stop: it is cancelled"
    )


def _storable(error: str) -> str:
    """The error as Postgres takes it: nothing an engine says may keep its job from failing."""
    known = (
        error.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
    )
    return known if len(known) <= _ERROR_CHARACTERS else known[:_ERROR_CHARACTERS] + "…"


def _of(fence: jobs.Fence) -> dict[str, Any]:
    return {"job": fence.job, "attempt": fence.attempt, "owner": fence.owner}
