"""The judge of a chaos run: what must be true once the dust has settled, each breach named."""

from __future__ import annotations

import dataclasses
import pathlib
import time
from typing import Any

import _voices
import av
import sqlalchemy as sa

from mangen import api, control, storage
from mangen.ledger import invariants

_SILENCE_LEASES = 10  #: orphans are swept once a lease, while the leader has time for it
#: of a run that is under way: silence of owners is what the acts make
_WHILE_RUNNING = ("running_owned", "rows_stored", "files_accepted")

_FAILED = sa.text(
    """
    select j.id, j.project, j.episode, j.stage, j.subject, j.failures, j.error_kind, j.error,
        (select count(*) from attempts a where a.job = j.id
            and a.outcome in ('transient', 'lost')) as faults
    from jobs j where j.state = 'failed' and not j.superseded order by j.id
    """
)
_LEASED = sa.text(
    "select id, project, stage, subject, state from jobs"
    " where settled_at is null and not superseded order by id"
)
_OWNERS = sa.text("select name from owners where released_at is null order by name")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Violation:
    name: str
    detail: str
    project: int | None = None
    job: int | None = None

    def told(self) -> dict[str, Any]:
        return {key: value for key, value in dataclasses.asdict(self).items() if value is not None}


def glance(lease_s):
    """What is broken in the middle of a run."""
    with api.open_ledger() as (_, book), book.transaction() as conn:
        found = invariants.check(conn, None, lease_s)
    return [
        Violation(name=one.name, job=one.job, detail=one.detail)
        for one in found
        if one.name not in _WHILE_RUNNING
    ]


def projects(numbers):
    """Every project is done; degraded or failed only by faults that happened."""
    with api.open_ledger() as (_, book), book.transaction() as conn:
        failed = conn.execute(_FAILED).all()
        held = book.holds(conn, None)
        leased = conn.execute(_LEASED).all()
    for row in leased:
        yield Violation(
            name="left open", project=row.project, job=row.id,
            detail=f"{row.stage} {row.subject} is {row.state}",
        )  # fmt: skip
    for number, paths in held.items():
        yield Violation(name="still paused", project=number, detail=", ".join(paths))
    earned: set[int] = set()
    for row in failed:
        if _earned(row):
            earned.add(row.project)
    for row in failed:
        follows = row.stage == "assemble" and row.project in earned
        if not _earned(row) and not follows:
            yield Violation(
                name="unearned failure", project=row.project, job=row.id,
                detail=f"{row.stage} {row.subject}, {row.failures} failures, {row.faults} faults: "
                f"{row.error_kind}: {row.error}",
            )  # fmt: skip
    for status in api.all_status(numbers):
        if status["state"] == "done" or (
            status["state"] in {"degraded", "failed"} and status["id"] in earned
        ):
            continue
        yield Violation(
            name="not finished", project=status["id"],
            detail=f"{status['state']}: {status['stages']} {status['failures'][:2]} "
            f"{[piece for one in status['episodes'] for piece in one['replaced']][:2]}",
        )  # fmt: skip


def _earned(row):
    """Whether a job failed by three faults of its own, or by one that was meant for good."""
    if row.error_kind == "permanent":
        return _voices.MEANT in (row.error or "")
    return row.failures >= 3 and row.faults >= 3


def takes(asked):
    """Every promised retake is in the storyboard. `asked`: (project, shot) -> how often."""
    boards: dict[int, Any] = {}
    for (number, path), times in asked.items():
        if number not in boards:
            boards[number] = {
                f"e{episode['no']}/s{shot['no']}": shot["take"]
                for episode in control.export_storyboard(number)["episodes"]
                for shot in episode["shots"]
            }
        if boards[number].get(path, 0) < times:
            yield Violation(
                name="retake lost", project=number,
                detail=f"{path} is at take {boards[number].get(path)} after {times} retakes",
            )  # fmt: skip


def ledger(lease_s):
    """The invariants with the files; what housekeeping still has to do is waited for."""
    deadline = time.monotonic() + _SILENCE_LEASES * lease_s
    while True:
        with api.open_ledger() as (chosen, book), book.transaction() as conn:
            store = storage.Store(chosen.artifact_root)
            found = invariants.check(conn, store.paths(), lease_s)
        if not found or time.monotonic() > deadline:
            return [Violation(name=one.name, job=one.job, detail=one.detail) for one in found]
        time.sleep(0.5)


def owners():
    """Nobody is left registered once all workers ended in good order."""
    with api.open_ledger() as (_, book), book.transaction() as conn:
        names = conn.execute(_OWNERS).scalars().all()
    return [Violation(name="owner not released", detail=name) for name in names]


def videos(numbers):
    """Every finished video can be read to its end, sound and picture of one length."""
    for status in api.all_status(numbers):
        for episode in status["episodes"]:
            if episode["state"] not in {"done", "degraded"}:
                continue
            detail = _unreadable(pathlib.Path(episode["video"]), episode["seconds"])
            if detail:
                yield Violation(name="unreadable video", project=status["id"], detail=detail)


def _unreadable(path, seconds):
    try:
        with av.open(str(path)) as file:
            frames = sum(1 for _ in file.decode(video=0))
        with av.open(str(path)) as file:
            samples = sum(frame.samples for frame in file.decode(audio=0))
            rate = file.streams.audio[0].rate
    except (OSError, av.FFmpegError, IndexError) as error:
        return f"{path}: {error}"
    if abs(frames / 24 - seconds) > 0.1 or abs(samples / rate - seconds) > 0.2:
        return f"{path}: {frames} frames and {samples / rate:.2f} s of sound for {seconds} s"
    return ""
