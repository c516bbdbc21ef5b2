"""What the reconciler asks and does: requests that expired, work nobody carries, files lost."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from mangen.ledger import control, door, jobs, passing, projects, queries

BY = "rescue"
_AT_ONCE = 5_000  #: requests that expire in one statement
_ROWS = 2_000  #: of stored files, fetched at once


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """A published file, and whose it is."""

    id: int
    job: int
    kind: str
    path: str
    sha256: str
    lost: bool  #: it was found missing before
    stage: str
    subject: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Redone:
    """Rows that took others' place, old id -> new, and what must stop for it."""

    pairs: Mapping[int, int]
    stopping: Sequence[jobs.Fence]


class Mending(projects.Projects, control.Control):
    """The ledger's door for the reconciler."""

    def expire_jobs(self, conn: sa.Connection, *, by: str = passing.BY) -> Sequence[int]:
        """Cancel what nobody began in its time; answers the ids, some thousands at most."""
        return list(door.run(conn, "expire_jobs", limit=_AT_ONCE, by=by).scalars())

    def ownerless(self, conn: sa.Connection) -> Mapping[str, Sequence[int]]:
        """Owner -> jobs that run by it though it has no row, or was released already."""
        return {row.owner: row.jobs for row in door.run(conn, "ownerless")}

    def dead_bells(self, conn: sa.Connection, held: Sequence[int]) -> Sequence[int]:
        """Published jobs that a lost worker had in its window and no living one holds."""
        return list(door.run(conn, "dead_bells", held=list(held)).scalars())

    def unlooked(self, conn: sa.Connection) -> Mapping[int, int]:
        """Project -> blocked jobs that may move, where nothing tells the pass to look."""
        return {row.project: row.jobs for row in door.run(conn, "unlooked")}

    def busy_projects(self, conn: sa.Connection) -> Sequence[int]:
        """Projects in which some job is open."""
        return list(door.run(conn, "busy_projects").scalars())

    def look_again(self, conn: sa.Connection, project: int) -> None:
        """Tell the pass to look at all of a project."""
        door.run(conn, "insert_dirty", project=project)

    def stored_files(self, conn: sa.Connection, project: int) -> Iterator[Stored]:
        """Every file that a project's jobs published, streamed."""
        asked = conn.execution_options(yield_per=_ROWS)
        for row in asked.execute(queries.QUERIES["stored_files"], {"project": project}).mappings():
            yield Stored(**row)

    def mark_lost(self, conn: sa.Connection, ids: Sequence[int], *, lost: bool = True) -> None:
        """Say of artifacts that the store lost them, or that they were found again."""
        door.run(conn, "mark_lost", ids=list(ids), lost=lost)

    def redo_jobs(
        self,
        conn: sa.Connection,
        project: int,
        lost: Sequence[int],
        essential: Sequence[int] = (),
        *,
        by: str = BY,
    ) -> Redone:
        """Let done jobs be done anew whose files are lost and still wanted.

        Wanted is what an open job needs, what is `essential`, and what a job needs that is redone
        for it. A done row stays done: it is superseded and gives its key to a fresh row, so that
        no key downstream changes. What began upon the lost files begins anew too.
        """
        self.lock_project(conn, project)
        standing = set(door.run(conn, "current_done", ids=sorted(lost)).scalars())
        needed = [
            (row.needs, row.job, row.state)
            for row in door.run(conn, "dependents", ids=sorted(standing))
        ]
        chosen = _chosen(standing, needed, set(essential))
        begun = {
            job
            for needs, job, state in needed
            if needs in chosen and state in ("ready", "published", "running", "failed")
        }
        replaced = sorted(chosen | begun)
        if not replaced:
            return Redone(pairs={}, stopping=())
        ended = self.supersede_jobs(conn, replaced, by=by)
        door.run(conn, "rename_keys", ids=replaced).all()
        pairs = {row.old: row.new for row in door.run(conn, "redo_jobs", ids=replaced, by=by)}
        door.run(conn, "retie", old=list(pairs), new=list(pairs.values()))
        # what was done lay beyond the pauses that came after it
        door.run(conn, "hold_new", project=project, ids=list(pairs.values()))
        door.run(conn, "insert_dirty", project=project)
        return Redone(pairs=pairs, stopping=ended.stopping)

    def note_rescue(
        self,
        conn: sa.Connection,
        project: int | None,
        detail: Mapping[str, Any],
        *,
        scope: str = "",
        by: str = BY,
    ) -> None:
        """Keep what was mended, in the transaction that mended it."""
        values = json.dumps(dict(detail), ensure_ascii=False)
        door.run(conn, "note_rescue", project=project, scope=scope, detail=values, by=by)


def _chosen(
    lost: set[int], needed: Sequence[tuple[int, int, str]], essential: set[int]
) -> set[int]:
    """Which lost jobs are wanted: by an open job, by themselves, or by one of these."""
    open_ = {"blocked", "ready", "published", "running"}
    chosen = (lost & essential) | {needs for needs, _, state in needed if state in open_}
    while more := {needs for needs, job, _ in needed if job in chosen} - chosen:
        chosen |= more
    return chosen
