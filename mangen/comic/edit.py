"""Edits of a storyboard: one transaction each, and only what they touch is made anew.

Whoever plans an edit reads the storyboard first and computes what is wanted by it, outside any
transaction; where another edit landed meanwhile it begins again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from mangen import errors, storage
from mangen.comic import boards, content, graph, look, model, standing
from mangen.ledger import jobs, ledger, projects
from mangen.ledger.states import OPEN

_PLANNERS = sa.text(
    """
    select id, state from jobs
    where project = :project and not superseded and stage = :planner
    """
)
_ASKED = sa.text(
    "select exists (select 1 from jobs where project = :project and episode is not null)"
)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """A storyboard as it shall be, and what to write down about it."""

    board: model.Storyboard
    detail: Mapping[str, Any] = dataclasses.field(default_factory=dict)


#: from the storyboard as it is (None: not planned yet) to what it shall be
Plan = Callable[[model.Storyboard | None], Change]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Edited:
    """What an edit did."""

    project: int
    changed: bool
    episodes: Sequence[int] = ()  #: that differ now
    new_jobs: int = 0
    revision: str = ""
    detail: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Editor:
    """Edits storyboards of one deployment."""

    book: ledger.Ledger
    store: storage.Store
    look_of: Callable[[projects.Project], look.Look]

    def edit(
        self,
        number: int,
        plan: Plan,
        *,
        verb: str,
        scope: str = "",
        by: str,
        first: Callable[[sa.Connection], Mapping[str, Any]] | None = None,
    ) -> Edited:
        """Change a project's storyboard by `plan`; nothing where it changes nothing.

        `first` is done in the same transaction, before jobs are brought in line, and adds to the
        act's detail. Raises UsageError while the project is being planned, and what `plan` raises.
        """
        asked = _Asked(plan=plan, verb=verb, scope=scope, by=by, first=first)
        while True:
            done = self._edit(number, asked)
            if done is not None:
                return done

    def _edit(self, number: int, asked: _Asked) -> Edited | None:
        with self.book.transaction() as conn:
            project = self.book.project(number, conn)
            _refuse(conn, project)
        now = boards.current(self.book, self.store, number)
        before = now.board if now is not None else None
        change = asked.plan(before)
        changed = boards.touched(before, change.board)
        if before == change.board:
            return Edited(project=number, changed=False, revision=boards.revision(change.board))
        drawn = self.look_of(project)
        drawn.check(_only(change.board, changed))
        episodes = [e.no for e in change.board.episodes if _wants(project, e.no)]
        wanted = graph.wanted(change.board, episodes=changed & {*episodes}, look=drawn)
        edit = _Edit(
            project=project,
            token=now.token if now is not None else None,
            before=before,
            change=change,
            changed=changed,
            wanted=wanted,
            anchors=graph.anchored(change.board, episodes, drawn),
        )

        def write(conn: sa.Connection) -> Edited | None:
            book = self.book
            if not self._same(conn, edit):
                return None
            detail = dict(change.detail)
            if asked.first is not None:
                detail |= asked.first(conn)
            made = self._write(conn, edit, f"{asked.verb} by {asked.by}")
            detail |= {"new_jobs": made}
            book.note_act(
                conn, asked.verb, project=number, scope=asked.scope, by=asked.by, detail=detail
            )
            book.notify(conn, book.STOP)
            book.notify(conn, book.WAKE, str(number))
            return Edited(
                project=number,
                changed=True,
                episodes=sorted(changed),
                new_jobs=made,
                revision=boards.revision(change.board),
                detail=detail,
            )

        return self.book.act(write)

    def _same(self, conn: sa.Connection, edit: _Edit) -> bool:
        """Lock the project; False where its storyboard, or what is asked, changed meanwhile."""
        book, number = self.book, edit.project.id
        book.lift_limits(conn)  # a character may touch a whole novel
        book.lock_project(conn, number)
        now = book.project(number, conn)
        _refuse(conn, now)
        return (boards.token(conn, number), now) == (edit.token, edit.project)

    def _write(self, conn: sa.Connection, edit: _Edit, by: str) -> int:
        """Write an edit; answers how many jobs are new."""
        number = edit.project.id
        made = self._insert(conn, edit, by)
        boards.save(conn, number, edit.change.board, edit.changed)
        # content after jobs, as a finishing stage does
        content.edit_board(conn, number, edit.before, edit.change.board, edit.changed)
        return made

    def _insert(self, conn: sa.Connection, edit: _Edit, by: str) -> int:
        """Bring the jobs in line: what a person cancelled stays so, under its new key too."""
        number, book = edit.project.id, self.book
        values = {"project": number, "planner": boards.PLANNER}
        if edit.token is None:  # a plan that failed, or was cancelled, is not asked for any more
            planners = [row.id for row in conn.execute(_PLANNERS, values)]
            if planners:
                book.supersede_jobs(conn, planners, by=by)
        held = standing.of(conn, number, edit.changed)
        if not edit.wanted and not held:
            return 0
        asked_for = bool(conn.scalar(_ASKED, values))
        ended = [row for row in held if row.ended]
        cancelled = {(row.stage, row.subject): row.key for row in ended}
        gave_up = {row.episode for row in ended if row.stage == "assemble"}
        wanted = edit.wanted if asked_for else ()
        new = book.insert_jobs(
            conn,
            number,
            [one for one in wanted if cancelled.get((one.stage, one.subject)) != one.key],
            by=by,
        )
        known = {(one.stage, one.subject) for one in edit.wanted}
        known |= {("anchor", subject) for subject in edit.anchors}
        gone = [row.id for row in held if (row.stage, row.subject) not in known]
        if gone:
            book.supersede_jobs(conn, gone, by=by)
        stopped = [one.id for one in book.jobs(new, conn) if one.episode in gave_up]
        if stopped:
            book.cancel_jobs(conn, stopped, by=by)
        return len(new)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    plan: Plan
    verb: str
    scope: str
    by: str
    first: Callable[[sa.Connection], Mapping[str, Any]] | None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Edit:
    project: projects.Project
    token: str | None
    before: model.Storyboard | None
    change: Change
    changed: set[int]
    wanted: Sequence[jobs.Wanted]
    anchors: set[str]  #: subjects


def _only(board: model.Storyboard, episodes: Collection[int]) -> model.Storyboard:
    kept = tuple(one for one in board.episodes if one.no in episodes)
    return dataclasses.replace(board, episodes=kept)


def _wants(project: projects.Project, episode: int) -> bool:
    return project.episodes_wanted is None or episode in project.episodes_wanted


def _refuse(conn: sa.Connection, project: projects.Project) -> None:
    """Raise UsageError where a storyboard can't be edited now."""
    if project.state == "purging":
        raise errors.UsageError(f"project {project.id} is being removed: nothing can be edited")
    values = {"project": project.id, "planner": boards.PLANNER}
    if any(row.state in OPEN for row in conn.execute(_PLANNERS, values)):
        raise errors.UsageError(
            f"project {project.id} is being planned: edit its storyboard when `manage.py status "
            f"{project.id}` says so, or cancel it first"
        )
