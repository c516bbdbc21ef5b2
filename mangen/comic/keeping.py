"""Which of a project's files must be there, whoever needs them."""

from __future__ import annotations

import sqlalchemy as sa

_ESSENTIAL = sa.text(
    """
    select a.job from episodes e join artifacts a on a.id = e.video
    where e.project = :project
    """
)


def essential(conn: sa.Connection, project: int) -> set[int]:
    """The jobs that made the current videos: what a customer may ask for at any time."""
    return set(conn.scalars(_ESSENTIAL, {"project": project}))
