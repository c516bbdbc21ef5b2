"""Scopes against a project's content: what a person names must be there."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import sqlalchemy as sa

from mangen import errors
from mangen.comic import tables
from mangen.ledger import ledger, projects, scope


def check(conn: sa.Connection, book: ledger.Ledger, asked: scope.Scope) -> scope.Scope:
    """The scope, with its project; raises UnknownProject or UsageError that says what there is."""
    if asked.path == scope.ALL:
        return asked
    if asked.job is not None:
        found = book.standing(conn, asked.job)
        if found is None:
            raise errors.UsageError(
                f"there is no job {asked.job}: `manage.py status ID` and `failures` name jobs"
            )
        if found.superseded:
            raise errors.UsageError(
                f"job {asked.job} ({found.stage} {found.subject} of project {found.project}) was "
                f"replaced by a newer one: name {found.project}/{_part(found.subject)}"
            )
        asked = dataclasses.replace(asked, project=found.project)
    assert asked.project is not None  # of all, and of a job, it was found above
    if book.project(asked.project, conn).state == "purging":
        raise errors.UsageError(f"project {asked.project} is being removed: nothing can be asked")
    if asked.episode is not None:
        _check_episode(conn, asked.project, asked.episode, asked.shot)
    return asked


def project_of(asked: scope.Scope) -> int:
    """The project of a checked scope that is not `all`."""
    if asked.project is None:
        raise projects.unknown(0)
    return asked.project


def _part(subject: str) -> str:
    return "/".join(subject.split("/")[:2])


def _check_episode(conn: sa.Connection, number: int, episode: int, shot: int | None) -> None:
    e, s = tables.episodes.c, tables.shots.c
    known = conn.scalars(sa.select(e.no).where(e.project == number).order_by(e.no)).all()
    if not known:
        raise errors.UsageError(
            f"project {number} has no episodes yet: `manage.py submit {number}` plans them"
        )
    if episode not in known:
        raise errors.UsageError(
            f"project {number} has no episode {episode}: it has {ranges(known)}"
        )
    if shot is None:
        return
    shots = conn.scalars(
        sa.select(s.no).where(s.project == number, s.episode == episode).order_by(s.no)
    ).all()
    if shot not in shots:
        raise errors.UsageError(
            f"episode {episode} of project {number} has no shot {shot}: it has {ranges(shots)}"
        )


def ranges(numbers: Sequence[int]) -> str:
    """Numbers in order, as people write them: `1-3, 7`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(f"{a}-{b}" if b > a else str(a) for a, b in parts)
