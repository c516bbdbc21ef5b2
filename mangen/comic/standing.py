"""What jobs a project has for the plan in force, and which of them no plan wants any more."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import sqlalchemy as sa

from mangen.ledger import jobs

_STANDING = sa.text(
    """
    select id, stage, subject, key, state = 'cancelled' or stop as ended, episode from jobs
    where project = :project and not superseded
      and (stage = 'anchor' or episode = any(cast(:episodes as integer[])))
    """
)


def of(
    conn: sa.Connection, project: int, episodes: Collection[int]
) -> Sequence[sa.Row[tuple[object, ...]]]:
    """Answer the jobs of these episodes and all anchors: id, stage, subject, key, ended, episode.

    `ended` are those that a person cancelled.
    """
    return conn.execute(_STANDING, {"project": project, "episodes": sorted(episodes)}).all()


def unwanted(
    conn: sa.Connection, project: int, episodes: Collection[int], wanted: Sequence[jobs.Wanted]
) -> list[int]:
    """Answer the jobs of these episodes for which nothing stands in what is wanted of them.

    Anchors stay: other episodes may show them.
    """
    known = {(one.stage, one.subject) for one in wanted}
    return [
        row.id
        for row in of(conn, project, episodes)
        if row.stage != "anchor" and (row.stage, row.subject) not in known
    ]
