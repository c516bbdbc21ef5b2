"""What a person does to work: pause, resume, cancel, retry. Each is one transaction, idempotent.

A cancelled shot does not stop its episode: that is assembled, degraded, with a neighbour's panel in
the shot's place. A cancelled episode is made when it is asked for again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from mangen import errors
from mangen.comic import content, edit, model, scopes
from mangen.ledger import ledger, priority, scope
from mangen.ledger.states import OPEN, State


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What an act did to one scope."""

    scope: str
    changed: bool
    detail: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def pause(book: ledger.Ledger, asked: scope.Scope, *, by: str) -> Answer:
    """Let nothing of a scope begin any more; what runs ends."""

    def do(conn: sa.Connection) -> Answer:
        if asked.path == scope.ALL:
            reached = list(book.hold_all(conn))
            for number in reached:
                book.note_act(conn, "pause", project=number, scope=scope.ALL, by=by)
            return Answer(scope=str(asked), changed=bool(reached), detail={"projects": reached})
        found = scopes.check(conn, book, asked)
        number = scopes.project_of(found)
        changed = book.hold(conn, number, found.path)
        if changed:
            book.note_act(conn, "pause", project=number, scope=found.path, by=by)
        return Answer(scope=str(found), changed=changed)

    return book.act(do)


def resume(book: ledger.Ledger, asked: scope.Scope, *, by: str) -> Answer:
    """Lift the pause of just this scope; `still` names the pauses around and below it."""

    def do(conn: sa.Connection) -> Answer:
        if asked.path == scope.ALL:
            reached = list(book.let_all_go(conn))
            for number in reached:
                book.note_act(conn, "resume", project=number, scope=scope.ALL, by=by)
            still = [
                str(scope.Scope(project=number, path=path))
                for number, paths in book.holds(conn, None).items()
                for path in paths
            ]
            detail = {"projects": reached, "still": still}
            book.notify(conn, book.WAKE)
            return Answer(scope=str(asked), changed=bool(reached), detail=detail)
        found = scopes.check(conn, book, asked)
        number = scopes.project_of(found)
        changed = book.let_go(conn, number, found.path)
        if changed:
            book.note_act(conn, "resume", project=number, scope=found.path, by=by)
            book.notify(conn, book.WAKE, str(number))
        left = book.holds(conn, [number]).get(number, ())
        still = [_named(number, path) for path in left if _related(path, found.path)]
        return Answer(scope=str(found), changed=changed, detail={"still": still})

    return book.act(do)


def _named(number: int, path: str) -> str:
    return str(scope.Scope(project=number, path=path))


def _related(path: str, other: str) -> bool:
    """Whether one scope lies in the other; a job lies in its project alone, for all we know."""
    return (
        path in {"", scope.ALL, other}
        or other == ""
        or path.startswith(f"{other}/")
        or other.startswith(f"{path}/")
    )


def cancel(book: ledger.Ledger, asked: scope.Scope, *, by: str) -> Answer:
    """End what is open in a scope; what runs stops at its next step and frees its memory.

    With an episode, and a shot, goes what nothing else needs, such as an anchor.
    """
    _refuse_all(asked, "cancel")

    def do(conn: sa.Connection) -> Answer:
        book.lift_limits(conn)  # a novel is many jobs, and all of them or none
        found = scopes.check(conn, book, asked)
        number = scopes.project_of(found)
        book.lock_project(conn, number)
        ids = [one.id for one in book.scope_jobs(conn, number, found.path, OPEN) if not one.stop]
        if ids and found.job is None:
            ids = sorted({*ids, *book.idle_needs(conn, ids)})
        if not ids:
            return Answer(scope=str(found), changed=False)
        ended = book.cancel_jobs(conn, ids, by=by)
        detail = {"cancelled": len(ended.ids), "stopping": len(ended.stopping)}
        book.note_act(conn, "cancel", project=number, scope=found.path, by=by, detail=detail)
        book.notify(conn, book.STOP)
        book.notify(conn, book.WAKE, str(number))
        return Answer(scope=str(found), changed=True, detail=detail)

    return book.act(do)


def retry(editor: edit.Editor, asked: scope.Scope, *, by: str) -> Answer:
    """Give what failed, was skipped or cancelled in a scope another chance.

    An episode that was finished without it is assembled again, then; its video stays until that
    is done.
    """
    _refuse_all(asked, "retry")
    book = editor.book
    with book.transaction() as conn:
        found = scopes.check(conn, book, asked)
        number = scopes.project_of(found)
        ended = book.retry_jobs(conn, number, found.path)
        stopping = _stopping(book, conn, number, found.path)
        finished = {
            one.episode
            for one in book.scope_jobs(conn, number, "", [State.DONE])
            if one.stage == "assemble"
        } & {one.episode for one in ended}
    if not ended and not stopping:
        return Answer(scope=str(found), changed=False)

    with book.transaction() as conn:  # of its own: its rows come as they are read
        gone = sorted({one.job for one in book.stored_files(conn, number) if one.lost})

    def revive(conn: sa.Connection) -> Mapping[str, Any]:
        book.lock_project(conn, number)
        again = book.retry_jobs(conn, number, found.path)
        ids = book.revive_jobs(conn, [one.id for one in again], by=by)
        if ids and gone:  # what they need lost its files meanwhile: they would only fail again
            book.redo_jobs(conn, number, gone, (), by=by)
        stopping = _stopping(book, conn, number, found.path)
        book.keep(conn, stopping)
        return {"jobs": len({*ids, *stopping})}

    if finished:
        done = editor.edit(
            number, _another_take(finished), verb="retry", scope=found.path, by=by, first=revive
        )
        return Answer(scope=str(found), changed=done.changed, detail=done.detail)

    def do(conn: sa.Connection) -> Answer:
        book.lift_limits(conn)
        detail = revive(conn)
        if detail["jobs"]:
            book.note_act(conn, "retry", project=number, scope=found.path, by=by, detail=detail)
            book.notify(conn, book.WAKE, str(number))
        return Answer(scope=str(found), changed=bool(detail["jobs"]), detail=detail)

    return book.act(do)


def _stopping(book: ledger.Ledger, conn: sa.Connection, number: int, path: str) -> list[int]:
    """Jobs that were cancelled and have not stopped yet."""
    running = book.scope_jobs(conn, number, path, [State.RUNNING])
    return [one.id for one in running if one.stop]


def _another_take(finished: set[int | None]) -> edit.Plan:
    def change(board: model.Storyboard | None) -> edit.Change:
        assert board is not None  # its episodes are finished
        episodes = tuple(
            dataclasses.replace(one, take=one.take + 1) if one.no in finished else one
            for one in board.episodes
        )
        return edit.Change(
            board=dataclasses.replace(board, episodes=episodes),
            detail={"episodes": sorted(no for no in finished if no is not None)},
        )

    return change


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Worth:
    """What a scope shall be worth; None leaves as it is.

    `budget`: seconds a day on the gpu queues; below 0: no limit.
    """

    klass: str | None = None
    weight: float | None = None
    budget: float | None = None

    def check(self) -> None:
        """Raise UsageError where nothing is asked, or what is no priority."""
        if self.klass is None and self.weight is None and self.budget is None:
            raise errors.UsageError("say what to change: high, mid or low, a weight or a budget")
        if self.klass is not None and self.klass not in priority.CLASSES:
            raise errors.UsageError(f"{self.klass!r} is no priority: choose high, mid or low")


def set_priority(book: ledger.Ledger, asked: scope.Scope, *, worth: Worth, by: str) -> Answer:
    """Change the class of a scope (its open jobs follow), a project's weight and daily budget."""
    _refuse_all(asked, "priority")
    worth.check()

    def do(conn: sa.Connection) -> Answer:
        book.lift_limits(conn)
        found = scopes.check(conn, book, asked)
        number = scopes.project_of(found)
        book.lock_project(conn, number)
        if found.path:
            detail = _move(book, conn, found, worth)
        else:
            detail = _prioritise(book, conn, number, worth)
        if detail:
            book.note_act(conn, "priority", project=number, scope=found.path, by=by, detail=detail)
            book.notify(conn, book.WAKE, str(number))
        return Answer(scope=str(found), changed=bool(detail), detail=detail)

    return book.act(do)


def _move(
    book: ledger.Ledger, conn: sa.Connection, found: scope.Scope, worth: Worth
) -> dict[str, Any]:
    if worth.klass is None or worth.weight is not None or worth.budget is not None:
        raise errors.UsageError(
            f"weight and budget are a whole project's: name {found.project}, not {found}"
        )
    number, klass = scopes.project_of(found), priority.CLASSES[worth.klass]
    moved = book.move_scope(conn, number, found.path, klass)
    return {"class": worth.klass, "jobs": moved} if moved else {}


def _prioritise(
    book: ledger.Ledger, conn: sa.Connection, number: int, worth: Worth
) -> dict[str, Any]:
    before, detail = book.project(number, conn), dict[str, Any]()
    if worth.klass is not None:
        klass = priority.CLASSES[worth.klass]
        moved = book.set_class(conn, number, klass)
        if moved or before.klass != klass:
            detail |= {"class": worth.klass, "jobs": moved}
    if worth.weight is not None and worth.weight != before.weight:
        book.set_weight(conn, number, worth.weight)
        detail["weight"] = worth.weight
    limit = None if worth.budget is not None and worth.budget < 0 else worth.budget
    if worth.budget is not None and limit != before.budget:
        book.set_budget(conn, number, limit)
        detail["budget"] = limit
    return detail


def purge(book: ledger.Ledger, asked: scope.Scope, *, by: str) -> Answer:
    """Close a project for good and end its work; `dispatch.purge` removes what is left of it.

    Its content goes at once, its files and jobs when nothing of it runs any more.
    """
    _refuse_all(asked, "purge")
    if asked.path or asked.project is None:
        raise errors.UsageError(f"purge removes whole projects: {asked} is a part of one")
    number = asked.project

    def do(conn: sa.Connection) -> Answer:
        book.lift_limits(conn)
        try:
            book.lock_project(conn, number)
        except errors.UnknownProject:
            if any(act.verb == "purge" for act in book.acts([number])):
                return Answer(scope=str(asked), changed=False)
            raise
        if not book.close_for_purge(conn, number):
            return Answer(scope=str(asked), changed=False)
        title = book.project(number, conn).title
        open_jobs = book.scope_jobs(conn, number, "", OPEN)
        ended = book.cancel_jobs(conn, [one.id for one in open_jobs], by=by)
        content.remove(conn, number)
        detail = {"title": title, "stopping": len(ended.stopping)}
        book.note_act(conn, "purge", project=number, by=by, detail=detail)
        book.notify(conn, book.STOP)
        return Answer(scope=str(asked), changed=True, detail=detail)

    return book.act(do)


def _refuse_all(asked: scope.Scope, verb: str) -> None:
    if asked.path == scope.ALL:
        raise errors.UsageError(f"{verb} takes no `all`: name the projects, as `{verb} 12 13`")
