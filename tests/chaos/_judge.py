"""The judge of a chaos run: what must be true once the dust has settled, each breach named."""

from __future__ import annotations

import dataclasses
import pathlib
import time
from typing import Any

import _voices
import av
import sqlalchemy as sa

from mangen import api, control, errors, storage
from mangen.comic import boards, graph
from mangen.ledger import invariants

_SILENCE_LEASES = 10  #: orphans are swept once a lease, while the leader has time for it
#: of a run that is under way: silence of owners is what the acts make
_WHILE_RUNNING = ("running_owned", "rows_stored", "files_accepted")

_ENDED = sa.text(
    """
    select j.id, j.project, j.stage, j.subject, j.state, j.failures, j.error_kind, j.error,
        (select count(*) from attempts a where a.job = j.id
            and a.outcome in ('transient', 'lost')) as faults
    from jobs j where j.state in ('failed', 'skipped', 'cancelled') and not j.superseded
    order by j.id
    """
)
#: also what nobody wants any more must come to an end
_LEASED = sa.text(
    "select id, project, stage, subject, state from jobs where settled_at is null order by id"
)
_GONE = sa.text(
    "select distinct e.job from events e where not exists (select 1 from jobs j where j.id = e.job)"
)
_BARE = sa.text(
    """
    select j.id, j.project, j.stage, j.subject from jobs j where j.state = 'done'
        and not exists (select 1 from artifacts a where a.job = j.id and a.attempt = j.attempt)
    """
)
_STALE = sa.text(
    """
    select e.project, e.no, j.id, a.path from episodes e
    join jobs j on j.project = e.project and j.stage = 'assemble' and j.subject = 'e' || e.no
        and not j.superseded and j.state = 'done'
    left join artifacts a on a.id = e.video
    where a.job is distinct from j.id
    """
)
_STANDING = sa.text(
    "select id, stage, subject, key from jobs where project = :project and not superseded"
    " and stage <> :planner"
)
_FILES = sa.text("select job, path, sha256 from artifacts where lost_at is null order by id")
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


def statuses(numbers):
    """Where these projects stand; those that are gone are left out."""
    asked = set(numbers)
    return [one for one in api.all_status() if one["id"] in asked]


def verdict(numbers, retakes, lease_s):
    """Name all that is broken once everything has settled. `retakes`: see `takes`."""
    yield from ledger(lease_s)
    for part in (
        lambda: projects(numbers),
        lambda: takes(retakes),
        lambda: planned(numbers),
        products,
        lambda: videos(numbers),
    ):
        try:
            yield from part()
        except (errors.MangenError, sa.exc.SQLAlchemyError) as error:  # what is broken breaks looks
            yield Violation(name="can't be judged", detail=f"{type(error).__name__}: {error}")


def projects(numbers):
    """Every project is there and done; degraded or failed only by faults that happened."""
    with api.open_ledger() as (_, book), book.transaction() as conn:
        ended = conn.execute(_ENDED).all()
        held = book.holds(conn, None)
    found = statuses(numbers)
    for number in sorted(set(numbers) - {one["id"] for one in found}):
        yield Violation(name="lost project", project=number, detail="it has no row any more")
    for number, paths in held.items():
        yield Violation(name="still paused", project=number, detail=", ".join(paths) or "all of it")
    earned = {row.project for row in ended if row.state == "failed" and _earned(row)}
    for row in ended:
        follows = row.project in earned and (row.stage == "assemble" or row.state == "skipped")
        if follows or (row.state == "failed" and _earned(row)):
            continue
        yield Violation(
            name="unearned failure" if row.state == "failed" else f"left {row.state}",
            project=row.project, job=row.id,
            detail=f"{row.stage} {row.subject}, {row.failures} failures, {row.faults} faults: "
            f"{row.error_kind}: {row.error}",
        )  # fmt: skip
    for status in found:
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
    there = {one["id"] for one in statuses([number for number, _ in asked])}
    made: dict[int, Any] = {}
    for (number, path), times in asked.items():
        if number not in there:
            continue
        if number not in made:
            made[number] = {
                f"e{episode['no']}/s{shot['no']}": shot["take"]
                for episode in control.export_storyboard(number)["episodes"]
                for shot in episode["shots"]
            }
        if made[number].get(path, 0) < 1 + times:  # the first take was nobody's retake
            yield Violation(
                name="retake lost", project=number,
                detail=f"{path} is at take {made[number].get(path)} after {times} retakes",
            )  # fmt: skip


def planned(numbers):
    """The jobs that stand are those that the storyboard asks for, by the same keys."""
    with api.open_ledger() as (chosen, book):
        store = storage.Store(chosen.artifact_root)
        for number in [one["id"] for one in statuses(numbers)]:
            board = boards.current(book, store, number)
            if board is None:
                yield Violation(name="lost job", project=number, detail="none planned it")
                continue
            with book.transaction() as conn:
                project = book.project(number, conn)
                values = {"project": number, "planner": boards.PLANNER}
                rows = {(r.stage, r.subject): r for r in conn.execute(_STANDING, values)}
            asked = graph.wanted(
                board.board,
                episodes=[episode.no for episode in board.board.episodes],
                look=api.look_of(chosen, project),
            )
            for want in asked:
                row = rows.pop((want.stage, want.subject), None)
                if row is None or row.key != want.key:
                    yield Violation(
                        name="lost job" if row is None else "stale job", project=number,
                        job=None if row is None else row.id,
                        detail=f"{want.stage} {want.subject} by its storyboard",
                    )  # fmt: skip
            for (stage, subject), row in rows.items():
                yield Violation(
                    name="unwanted job", project=number, job=row.id, detail=f"{stage} {subject}"
                )


def products():
    """What is done made something, its bytes are those that were stored, the latest is shown."""
    with api.open_ledger() as (chosen, book), book.transaction() as conn:
        bare, stale = conn.execute(_BARE).all(), conn.execute(_STALE).all()
        files = conn.execute(_FILES).all()
    store = storage.Store(chosen.artifact_root)
    for row in bare:
        yield Violation(
            name="nothing made", project=row.project, job=row.id,
            detail=f"{row.stage} {row.subject} is done, without a file",
        )  # fmt: skip
    for row in stale:
        yield Violation(
            name="old video", project=row.project, job=row.id,
            detail=f"episode {row.no} shows {row.path}, which this job did not make",
        )  # fmt: skip
    for row in files:
        if store.digest(row.path) not in (row.sha256, None):  # None: `rows_stored` tells
            yield Violation(name="damaged file", job=row.job, detail=row.path)


def ledger(lease_s):
    """The invariants with the files; what housekeeping still has to do is waited for."""
    deadline = time.monotonic() + _SILENCE_LEASES * lease_s
    while True:
        found = _ledger(lease_s)
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(min(0.5, lease_s))


def _ledger(lease_s):
    with api.open_ledger() as (chosen, book), book.transaction() as conn:
        store = storage.Store(chosen.artifact_root)
        broken = invariants.check(conn, store.paths(), lease_s)
        leased = conn.execute(_LEASED).all()
        gone = conn.execute(_GONE).scalars().all()
        stored = set(store.paths())  # before the rows: what is stored later has no row yet
        known = {row.path for row in conn.execute(_FILES)}
    told = {one.detail.split(" has a ")[0] for one in broken}
    return [
        *(Violation(name=one.name, job=one.job, detail=one.detail) for one in broken),
        *(
            Violation(
                name="left open", project=row.project, job=row.id,
                detail=f"{row.stage} {row.subject} is {row.state}",
            )
            for row in leased
        ),
        *(Violation(name="lost job", job=job, detail="it has events and no row") for job in gone),
        *(
            Violation(name="stray file", detail=path)
            for path in sorted(stored - known - told)
        ),
    ]  # fmt: skip


def owners():
    """Nobody is left registered once all workers ended in good order."""
    with api.open_ledger() as (_, book), book.transaction() as conn:
        names = conn.execute(_OWNERS).scalars().all()
    return [Violation(name="owner not released", detail=name) for name in names]


def videos(numbers):
    """Every finished video can be read to its end, sound and picture of one length."""
    for status in statuses(numbers):
        for episode in status["episodes"]:
            if episode["state"] not in {"done", "degraded"}:
                continue
            detail = f"episode {episode['no']} is {episode['state']}, without one"
            if episode["video"] is not None:
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
