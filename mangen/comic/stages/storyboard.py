"""storyboard: plans all episodes and inserts, in its own finish, the jobs of the wanted ones."""

from __future__ import annotations

import json
from collections.abc import Sequence

import sqlalchemy as sa

from mangen import errors
from mangen.comic import content, graph, look, model, plan
from mangen.comic.stages import kit, stage
from mangen.ledger import jobs
from mangen.pooling import work


class Storyboard:
    name = "storyboard"

    def open(self, bucket: str, rt: work.Runtime, tools: kit.Kit) -> stage.Members:
        del bucket
        return stage.Stepped(lambda job: _steps(job, tools), rt)


def _steps(job: jobs.Job, tools: kit.Kit) -> stage.Steps:
    with tools.ledger.transaction() as conn:
        source = content.source(conn, job.project)
        project = tools.ledger.project(job.project, conn)
    yield 0, 3
    board = plan.plan(source, title=project.title)
    yield 1, 3
    path = tools.scratch / f"{job.id}-{job.attempt}-storyboard.json"
    path.write_text(json.dumps(board.to_json(), ensure_ascii=False), "utf-8")
    chosen = look.of(project.settings, tools.makers, tools.voice_engine)
    yield 2, 3
    # planned before the transaction: no transaction is open while something is computed at length
    asked = set(choose(board, project.episodes_wanted))
    if not asked and project.episodes_wanted != ():  # () plans only
        raise errors.UsageError(
            f"asked for episode {', '.join(map(str, project.episodes_wanted or ()))}, but the text "
            f"makes {len(board.episodes)}: submit the project again with --episodes it has"
        )
    wanted = graph.wanted(board, episodes=asked, look=chosen)

    def write(conn: sa.Connection, stored: Sequence[jobs.Artifact]) -> None:
        del stored
        book = tools.ledger
        book.lift_limits(conn)  # a long novel is many thousands of rows, and all of them or none
        book.lock_project(conn, job.project)  # a submit meanwhile may have asked for more
        more = set(choose(board, book.project(job.project, conn).episodes_wanted)) - asked
        content.write_board(conn, job.project, board)
        late = graph.wanted(board, episodes=more, look=chosen) if more else ()
        book.insert_jobs(conn, job.project, [*wanted, *late], by=f"storyboard {job.id}")

    return stage.Made(
        files=[stage.File(kind="storyboard", path=path)],
        write=write,
        value={
            "episodes": len(board.episodes),
            "shots": sum(len(episode.shots) for episode in board.episodes),
        },
    )


def choose(board: model.Storyboard, wanted: Sequence[int] | None) -> list[int]:
    """Answer the episode numbers to make: all where none were named."""
    known = [episode.no for episode in board.episodes]
    return known if wanted is None else [no for no in known if no in set(wanted)]
