"""The reconciler: what a crash may have left behind, found in the rows and mended.

Every step is safe beside workers, other rescues and a leader: each is one transaction of guarded
statements. The cheap ones run in every pass, the files of open projects are looked through now and
then by the leader, and `manage.py rescue` does all of it at once, for all projects.
"""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import sqlalchemy as sa

from mangen import errors
from mangen.ledger import jobs, ledger, mending

log = logging.getLogger(__name__)

#: the jobs of a project whose files must be there whoever needs them
Essential = Callable[[sa.Connection, int], Collection[int]]


class Store(Protocol):
    """What the reconciler needs of an artifact store."""

    def names(self, project: int) -> Collection[str]: ...
    def digest(self, path: str) -> str | None: ...
    def set_aside(self, path: str) -> None: ...


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Mend:
    """One thing that was found and mended, or could only be told (`mended` False)."""

    what: str  #: expired, ownerless, silent, bell, unlooked, lost, damaged, found
    project: int | None = None
    jobs: Sequence[int] = ()
    detail: str = ""
    mended: bool = True


def in_pass(
    book: ledger.Ledger, conn: sa.Connection, living: Sequence[jobs.Living], *, released: int
) -> int:
    """What each pass mends on its own connection; answers how much it was."""
    with conn.begin():
        mended = len(book.expire_jobs(conn))
    with conn.begin():
        mended += sum(1 for _ in _ownerless(book, conn))
    if released:
        with conn.begin():
            mended += len(_dead_bells(book, conn, living))
    return mended


def jobs_at_large(
    book: ledger.Ledger, *, lease_s: float, lost_bell_s: float, queues: Sequence[str]
) -> Iterator[Mend]:
    """Mend what happened to jobs. Waits for a lease where an owner seems to be lost."""
    with book.transaction() as conn:
        expired = book.expire_jobs(conn)
    if expired:
        yield Mend(what="expired", jobs=expired, detail="nobody began them in their time")
    with book.transaction() as conn:
        yield from list(_ownerless(book, conn))
    yield from _silent(book, lease_s)
    with book.transaction() as conn:
        living = book.living_owners(conn)
        rung = _dead_bells(book, conn, living)
        idle = {q for one in living if one.report.get("room", 0) > 0 for q in one.owner.queues}
        lost = book.unpublish_jobs(
            conn, lost_bell_s, sorted(_held(living)), sorted(idle) if living else list(queues)
        )
        if rung or lost:
            book.note_rescue(conn, None, {"what": "bell", "jobs": len(rung) + lost})
    if rung:
        yield Mend(what="bell", jobs=rung, detail="a lost worker held their messages")
    if lost:
        yield Mend(what="bell", detail=f"{lost} messages that no worker holds ring again")
    with book.transaction() as conn:
        unlooked = book.unlooked(conn)
        for project, count in unlooked.items():
            book.look_again(conn, project)
            book.note_rescue(conn, project, {"what": "unlooked", "jobs": count})
    for project, count in unlooked.items():
        yield Mend(
            what="unlooked", project=project,
            detail=f"{count} jobs may move and nothing told the pass: it looks again",
        )  # fmt: skip


def _ownerless(book: ledger.Ledger, conn: sa.Connection) -> Iterator[Mend]:
    for owner, held in book.ownerless(conn).items():
        book.release(owner, reason="lease", conn=conn)
        book.note_rescue(conn, None, {"what": "ownerless", "owner": owner, "jobs": list(held)})
        log.warning("%d jobs ran by %s, which no heartbeat carries: released", len(held), owner)
        yield Mend(what="ownerless", jobs=held, detail=f"they ran by {owner}, which is gone")


def _silent(book: ledger.Ledger, lease_s: float) -> Iterator[Mend]:
    """Release owners by two looks a lease apart, as the pass does."""
    with book.transaction() as conn:
        before = {
            str(one.owner): one.beat
            for one in book.living_owners(conn)
            if one.silent_s > lease_s
        }  # fmt: skip
    if not before:
        return
    slept = time.monotonic()
    time.sleep(lease_s)
    if time.monotonic() - slept > 2 * lease_s:  # a gap in this looker's own life
        return
    with book.transaction() as conn:
        lost = [
            str(one.owner)
            for one in book.living_owners(conn)
            if before.get(str(one.owner)) == one.beat
        ]
    for owner in lost:
        with book.transaction() as conn:
            moved = book.release(owner, reason="lease", conn=conn)
            book.note_rescue(conn, None, {"what": "silent", "owner": owner, "jobs": list(moved)})
        yield Mend(what="silent", jobs=list(moved), detail=f"{owner} gave no heartbeat: released")


def _dead_bells(
    book: ledger.Ledger, conn: sa.Connection, living: Sequence[jobs.Living]
) -> Sequence[int]:
    found = book.dead_bells(conn, sorted(_held(living)))
    if found:
        queues = sorted({job.queue for job in book.jobs(found, conn)})
        book.unpublish_jobs(conn, 0.0, (), queues, ids=found)
    return found


def _held(living: Sequence[jobs.Living]) -> set[int]:
    return {entry["job"] for one in living for entry in one.report.get("window", ())}


# -- files


@dataclasses.dataclass(slots=True)
class _Seen:
    """What one look at a project's files found."""

    lost: list[mending.Stored] = dataclasses.field(default_factory=list)
    damaged: list[mending.Stored] = dataclasses.field(default_factory=list)
    found: list[mending.Stored] = dataclasses.field(default_factory=list)
    there: int = 0


def files(
    book: ledger.Ledger,
    store: Store,
    projects: Iterable[int],
    *,
    essential: Essential,
    deep: bool = False,
    even_all: bool = False,
) -> Iterator[Mend]:
    """Mend what happened to files of these projects; `deep` reads each of them.

    What an open job needs, and what is essential, is made anew; the rest is only told. Raises
    StorageError where not one file is there, unless `even_all`: a disk that is not mounted looks
    just like that.
    """
    looks: dict[int, _Seen] = {}
    there = missing = 0
    for project in projects:
        seen = _look(book, store, project, deep=deep)
        there, missing = there + seen.there, missing + len(seen.lost)
        if seen.lost or seen.damaged or seen.found:
            looks[project] = seen
    if missing and not there and not even_all:
        raise errors.StorageError(
            f"none of the {missing} files that the ledger knows of is in the artifact store: mount "
            "it, or set MANGEN_ARTIFACTS to where it is; if they really are lost, say so "
            "(rescue --even-all) and they are made anew"
        )
    for project, seen in looks.items():
        yield from _mend_files(book, store, project, seen, essential)


def files_at_work(book: ledger.Ledger, store: Store, essential: Essential) -> int:
    """Mend the files of projects with open jobs; answers how many were gone. The leader's chore."""
    with book.transaction() as conn:
        projects = book.busy_projects(conn)
    gone = 0
    for one in files(book, store, projects, essential=essential):
        log.warning("%s: project %s: %s", one.what, one.project, one.detail)
        gone += one.what != "found"
    return gone


def _look(book: ledger.Ledger, store: Store, project: int, *, deep: bool) -> _Seen:
    seen = _Seen()
    with book.transaction() as conn:
        rows = list(book.stored_files(conn, project))
    names = store.names(project) if rows else ()
    for row in rows:
        if row.path not in names:
            seen.lost.append(row)
        elif deep and store.digest(row.path) != row.sha256:
            seen.damaged.append(row)
        else:
            seen.there += 1
            if row.lost:
                seen.found.append(row)
    return seen


def _mend_files(
    book: ledger.Ledger, store: Store, project: int, seen: _Seen, essential: Essential
) -> Iterator[Mend]:
    gone = [*seen.lost, *seen.damaged]
    fresh = [one for one in gone if not one.lost]
    for one in seen.damaged:  # first: after a crash here it is simply missing
        store.set_aside(one.path)

    def mend(conn: sa.Connection) -> mending.Redone:
        book.mark_lost(conn, [one.id for one in fresh])
        book.mark_lost(conn, [one.id for one in seen.found], lost=False)
        must = essential(conn, project)
        done = book.redo_jobs(conn, project, sorted({one.job for one in gone}), sorted(must))
        if fresh or seen.found or done.pairs:
            book.note_rescue(conn, project, _detail(fresh, seen.found, done.pairs))
        return done

    try:
        done = book.act(mend)
    except errors.UnknownProject:  # it was purged meanwhile, with its files
        return
    if done.pairs:
        book.settled(project)
    if done.stopping:
        book.notify(None, book.STOP)
    if seen.found:
        yield Mend(
            what="found", project=project, jobs=sorted({one.job for one in seen.found}),
            detail=f"{len(seen.found)} files are there again",
        )  # fmt: skip
    for one in gone:
        if one.lost and one.job not in done.pairs:
            continue  # told before
        anew = done.pairs.get(one.job)
        yield Mend(
            what="damaged" if one in seen.damaged else "lost",
            project=project,
            jobs=[one.job],
            detail=f"{one.stage} {one.subject}: {one.path}"
            + (f": made anew as job {anew}" if anew else ": no open job needs it"),
            mended=anew is not None,
        )


def _detail(
    lost: Sequence[mending.Stored], found: Sequence[mending.Stored], redone: Mapping[int, int]
) -> dict[str, Any]:
    return {
        "what": "files",
        "lost": [one.path for one in lost],
        "found": [one.path for one in found],
        "redone": {str(old): new for old, new in redone.items()},
    }
