"""Projects: one source text each, with the settings that affect its products."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from mangen import errors
from mangen.ledger import door


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """A row of projects. `klass` 0 high, 1 mid, 2 low; `episodes_wanted` None: all of them."""

    id: int
    title: str
    state: str
    klass: int
    weight: float
    paused: bool
    settings: Mapping[str, Any]
    episodes_wanted: tuple[int, ...] | None
    budget: float | None = None  #: seconds a day on the gpu queues; None: no limit


class Projects(door.Door):
    """The ledger's door for projects."""

    def insert_project(
        self,
        conn: sa.Connection,
        *,
        title: str,
        klass: int = 1,
        weight: float = 1.0,
        settings: Mapping[str, Any] | None = None,
        episodes_wanted: Sequence[int] | None = None,
        budget: float | None = None,
    ) -> int:
        """Write a project and answer its id. `settings` is JSON."""
        found = door.run(
            conn,
            "insert_project",
            title=title,
            klass=klass,
            weight=weight,
            settings=json.dumps(dict(settings or {}), ensure_ascii=False),
            episodes_wanted=None if episodes_wanted is None else list(episodes_wanted),
            budget=budget,
        )
        return int(found.scalar_one())

    def project(self, project: int, conn: sa.Connection | None = None) -> Project:
        """One project; raises UnknownProject."""
        found = self.projects([project], conn)
        if not found:
            raise unknown(project)
        return found[0]

    def projects(
        self, ids: Sequence[int] | None = None, conn: sa.Connection | None = None
    ) -> Sequence[Project]:
        """The projects of these ids, or all, by id."""
        if conn is None:
            with self.statement() as own:
                return self.projects(ids, own)
        wanted = None if ids is None else list(ids)
        return [
            Project(
                id=row["id"],
                title=row["title"],
                state=row["state"],
                klass=row["class"],
                weight=row["weight"],
                paused=row["paused"],
                settings=row["settings"],
                episodes_wanted=None
                if row["episodes_wanted"] is None
                else tuple(row["episodes_wanted"]),
                budget=row["budget"],
            )
            for row in door.rows(conn, "projects", ids=wanted)
        ]

    def want_episodes(
        self, conn: sa.Connection, project: int, episodes: Sequence[int] | None
    ) -> None:
        """Say which episodes are wanted (None: all); raises UnknownProject."""
        wanted = None if episodes is None else list(episodes)
        if not door.run(conn, "want_episodes", project=project, episodes=wanted).all():
            raise unknown(project)

    def lock_project(self, conn: sa.Connection, project: int) -> None:
        """Keep others from changing which jobs of a project wait, until this transaction ends.

        Raises UnknownProject.
        """
        if not door.run(conn, "lock_project", project=project).all():
            raise unknown(project)


def unknown(project: int) -> errors.UnknownProject:
    """The error for an id that names no project."""
    return errors.UnknownProject(
        f"there is no project {project}: `manage.py status` lists the projects there are"
    )
