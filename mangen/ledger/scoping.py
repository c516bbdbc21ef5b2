"""Which jobs a person means."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from mangen.ledger import door, states


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """One job as a person sees it."""

    id: int
    project: int
    episode: int | None
    stage: str
    subject: str
    state: str
    superseded: bool
    stop: bool  #: asked to stop, and runs still


class Scoping(door.Door):
    """The ledger's door for who asks which jobs are meant."""

    def standing(self, conn: sa.Connection, job: int) -> Standing | None:
        """One job, current or superseded; None where there is no such job."""
        found = door.rows(conn, "standing", job=job)
        return Standing(**found[0]) if found else None

    def scope_jobs(
        self,
        conn: sa.Connection,
        project: int,
        path: str,
        wanted: Iterable[states.State] = states.State,
    ) -> Sequence[Standing]:
        """The current jobs of a scope that are in one of these states, by id."""
        found = door.rows(
            conn,
            "scope_jobs",
            project=project,
            scope=path,
            states=sorted(str(state) for state in wanted),
        )
        return [Standing(**row) for row in found]

    def idle_needs(self, conn: sa.Connection, ids: Sequence[int]) -> Sequence[int]:
        """Open jobs that these need and that no other open job needs."""
        return list(door.run(conn, "idle_needs", ids=list(ids)).scalars())

    def retry_jobs(self, conn: sa.Connection, project: int, path: str) -> Sequence[Standing]:
        """What must move for a scope to be tried again.

        What failed, was skipped or cancelled in it; what it needs that ended so; and what waits
        for it and failed or was skipped for its sake, but not what a person cancelled.
        """
        found = door.rows(conn, "retry_jobs", project=project, scope=path)
        return [Standing(**row) for row in found]

    def move_scope(self, conn: sa.Connection, project: int, path: str, klass: int) -> int:
        """Give the jobs of a part of a project another class, as `set_class` does for all.

        Answers how many moved. Jobs that are inserted later have the project's class.
        """
        return len(door.run(conn, "move_scope", project=project, scope=path, klass=klass).all())

    def keep(self, conn: sa.Connection, ids: Sequence[int]) -> None:
        """Let what runs and was asked to stop go on; where it stopped already it begins again."""
        door.run(conn, "keep_jobs", ids=list(ids))
