"""Pauses: of all projects, of one, of an episode, a shot or a job.

Each pause is a row of `holds` and stands until that very pause is lifted: who resumes a project
does not let an episode go that was paused by itself. `projects.paused` and `jobs.held` follow from
the rows, and jobs that are inserted under a pause are held as well. What runs ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from mangen.ledger import door, projects, scope


class Holding(projects.Projects):
    """The ledger's door for pauses."""

    def hold(self, conn: sa.Connection, project: int, path: str) -> bool:
        """Pause a project (empty path) or a part of it; False where it was. UnknownProject."""
        self.lock_project(conn, project)
        if not door.run(conn, "insert_hold", project=project, scope=path).all():
            return False
        self._follow(conn, project, path)
        return True

    def let_go(self, conn: sa.Connection, project: int, path: str) -> bool:
        """Lift the pause of just this scope; False where there was none. UnknownProject."""
        self.lock_project(conn, project)
        if not door.run(conn, "delete_hold", project=project, scope=path).all():
            return False
        self._follow(conn, project, path)
        return True

    def _follow(self, conn: sa.Connection, project: int, path: str) -> None:
        if path == "":
            door.run(conn, "follow_pauses", projects=[project])
        else:
            door.run(conn, "hold_jobs", project=project, scope=path)
            door.run(conn, "free_jobs", project=project, scope=path)

    def hold_all(self, conn: sa.Connection) -> Sequence[int]:
        """Pause every open project that there is; answers those that this pause reached."""
        door.run(conn, "lock_open_projects")
        found = sorted(door.run(conn, "insert_holds", scope=scope.ALL).scalars())
        door.run(conn, "follow_pauses", projects=found)
        return found

    def let_all_go(self, conn: sa.Connection) -> Sequence[int]:
        """Lift the pause of all projects, and no other; answers whose it was."""
        door.run(conn, "lock_open_projects")
        found = sorted(door.run(conn, "delete_holds", scope=scope.ALL).scalars())
        door.run(conn, "follow_pauses", projects=found)
        return found

    def holds(self, conn: sa.Connection, ids: Sequence[int] | None) -> Mapping[int, Sequence[str]]:
        """Project -> what of it is paused, as paths; projects without a pause are left out."""
        found: dict[int, list[str]] = {}
        for row in door.run(conn, "holds", projects=None if ids is None else list(ids)):
            found.setdefault(row.project, []).append(row.scope)
        return found
