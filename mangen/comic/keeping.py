"""Which of a project's files must be there, whoever needs them; which may never be pruned."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

_ESSENTIAL = sa.text(
    """
    select a.job from episodes e join artifacts a on a.id = e.video
    where e.project = :project
    """
)

_PINNED = sa.text(
    """
    select a.job from artifacts a
    where a.job = any(cast(:ids as bigint[]))
      and (exists (select 1 from episodes e where e.project = (
               select j.project from jobs j where j.id = a.job) and e.video = a.id)
           or exists (select 1 from characters c where c.project = (
               select j.project from jobs j where j.id = a.job) and c.reference = a.id))
    """
)


def essential(conn: sa.Connection, project: int) -> set[int]:
    """The jobs that made the current videos: what a customer may ask for at any time."""
    return set(conn.scalars(_ESSENTIAL, {"project": project}))


def pinned(conn: sa.Connection, ids: Sequence[int]) -> set[int]:
    """Those of these jobs that made a current video or a character's reference."""
    return set(conn.scalars(_PINNED, {"ids": list(ids)}))
