"""From a text to a project with its first job: checked, idempotent, one transaction each."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence

import sqlalchemy as sa

from mangen import errors, settings, storage
from mangen.comic import boards, content, graph, keys, look, model, standing, text
from mangen.ledger import acting, jobs, ledger, projects

STAGE, SUBJECT = boards.PLANNER, "project"
_JOBS_PER_CHARACTER = 1 / 6  #: that a storyboard asks for, measured on novels
_BYTES_PER_CHARACTER = 400  #: what planning holds for one character of text, measured


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Submitted:
    """What a submit did."""

    project: int
    new_jobs: int
    retried: int  #: failed jobs that get another chance
    already: bool  #: nothing was new: no job, no chance, no more episodes than before


def create(
    book: ledger.Ledger,
    source: text.Source,
    *,
    title: str,
    chosen: settings.Settings,
    wishes: look.Wishes | None = None,
) -> int:
    """Write a project and its text; answers its id."""
    kept = look.snapshot(chosen, wishes)
    with book.transaction() as conn:
        number: int = book.insert_project(
            conn,
            title=title,
            klass=1,
            weight=1.0,
            settings=kept,
            episodes_wanted=None,
            budget=chosen.gpu_budget_s or None,
        )
        content.add_source(conn, number, source)
    return number


def submit(
    book: ledger.Ledger,
    number: int,
    *,
    episodes: Sequence[int] | None,
    store: storage.Store,
    look_of: Callable[[projects.Project], look.Look],
) -> Submitted:
    """Ask for a project's episodes (None: all; none: plan them only).

    Asking again adds what is missing and gives what failed or was cancelled another chance, no
    more. Where a person edited the storyboard, that one counts and nothing is planned.
    """
    while True:
        found = _submit(book, number, episodes, store, look_of)
        if found is not None:
            book.settled(number)
            return found


def _submit(
    book: ledger.Ledger,
    number: int,
    episodes: Sequence[int] | None,
    store: storage.Store,
    look_of: Callable[[projects.Project], look.Look],
) -> Submitted | None:
    """Submit once; None where the plan changed meanwhile."""
    more: Sequence[jobs.Wanted] = ()
    asked: Sequence[int] = ()
    with book.transaction() as conn:
        project = book.project(number, conn)
    if project.state != "open":
        raise errors.UsageError(f"project {number} is {project.state}: nothing can be asked of it")
    drawn = look_of(project)
    planned = boards.current(book, store, number)
    drawn.check(planned.board if planned is not None else None)
    if planned is not None:
        board = planned.board
        _refuse_unknown(board, episodes)
        asked = [e.no for e in board.episodes if episodes is None or e.no in episodes]
        more = graph.wanted(board, episodes=asked, look=drawn)

    def write(conn: sa.Connection) -> Submitted | None:
        book.lift_limits(conn)  # a novel is many jobs
        book.lock_project(conn, number)
        project = book.project(number, conn)
        if boards.token(conn, number) != (planned.token if planned is not None else None):
            return None
        if project.state != "open":  # a purge began meanwhile: the next look says so
            return None
        first = not _asked_before(conn, number)
        wanted = _widen(project.episodes_wanted, episodes, first=first)
        before = project.episodes_wanted
        wider = not first and wanted != (None if before is None else list(before))
        book.want_episodes(conn, number, wanted)
        new: list[int] = []
        if not boards.edited(conn, number):
            new += book.insert_jobs(conn, number, [_storyboard_job(conn, project)], by="submit")
        if more:
            new += book.insert_jobs(conn, number, more, by="submit")
            gone = standing.unwanted(conn, number, asked, more)
            if gone:  # stages that the models of now do without
                book.supersede_jobs(conn, gone, by="submit")
                book.notify(conn, book.STOP)
        retried = book.revive_jobs(conn, _failed(conn, number), by="submit")
        if new or retried or wider:
            detail = {"episodes": episodes, "new_jobs": len(new), "retried": len(retried)}
            book.note_act(conn, "submit", project=number, by=acting.person(), detail=detail)
        return Submitted(
            project=number,
            new_jobs=len(new),
            retried=len(retried),
            already=not new and not retried and not wider,
        )

    return book.act(write)


def parse_episodes(words: str | None) -> list[int] | None:
    """Read `1-3,7`; None is all."""
    if words is None or words.strip().lower() == "all":
        return None
    chosen: set[int] = set()
    for word in words.split(","):
        match = re.fullmatch(r"\s*(\d{1,6})(?:\s*-\s*(\d{1,6}))?\s*", word)
        if match is None or not 0 < int(match[1]) <= int(match[2] or match[1]):
            raise errors.UsageError(
                f"--episodes {words!r}: write numbers from 1, as 1-3 or 1,4,7-9"
            )
        chosen.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return sorted(chosen)


def _widen(
    before: Sequence[int] | None, asked: Sequence[int] | None, *, first: bool
) -> list[int] | None:
    if asked is None or (before is None and not first):
        return None
    return sorted({*(before or ()), *asked})


def _refuse_unknown(board: model.Storyboard, episodes: Sequence[int] | None) -> None:
    known = {episode.no for episode in board.episodes}
    unknown = sorted(set(episodes or ()) - known)
    if unknown:
        raise errors.UsageError(
            f"the project has {len(known)} episodes; there is no episode {unknown[0]}"
        )


def _asked_before(conn: sa.Connection, number: int) -> bool:
    found = sa.text("select exists (select 1 from jobs where project = :project)")
    return bool(conn.scalar(found, {"project": number}))


def _failed(conn: sa.Connection, number: int) -> list[int]:
    """Answer failed jobs that a video still waits for; a finished, degraded one keeps its own."""
    return list(
        conn.scalars(
            sa.text(
                """
                with open as (
                  select episode from jobs where project = :project and not superseded
                    and stage = 'assemble' and state <> 'done'
                )
                select id from jobs where project = :project and not superseded
                  and state in ('failed', 'skipped')
                  and (stage = :stage or episode in (select episode from open)
                       or (episode is null and exists (select 1 from open)))
                order by id
                """
            ),
            {"project": number, "stage": STAGE},
        )
    )


def _storyboard_job(conn: sa.Connection, project: projects.Project) -> jobs.Wanted:
    source = content.source(conn, project.id)
    size = len(source.text)
    planned = {k: v for k, v in project.settings.items() if k not in look.DRAWN_BY}
    return jobs.Wanted(
        stage=STAGE,
        subject=SUBJECT,
        key=keys.key_of(STAGE, look.PLANNER_VERSION, source.sha256, planned),
        queue="cpu",
        klass=1,
        bucket=STAGE,
        model="",
        seconds_est=1.5 + size / 20_000,
        brings=int(size * _JOBS_PER_CHARACTER),
        peaks=(150 * 2**20 + size * _BYTES_PER_CHARACTER,),
    )
