"""Where something came from: from a video, a shot or a job back to every attempt behind it."""

from __future__ import annotations

import collections
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from mangen import errors, storage
from mangen.comic import scopes, tables
from mangen.ledger import ledger, scope, traces
from mangen.ledger import tables as scheduling

_ACTS = 1_000  #: the latest of a project that are looked through
#: what an attempt's notes tell of who made it; the rest of them is what it made
_MAKERS = (
    "key", "seed", "model", "model_version", "engine", "engine_version", "planner", "mangen",
    "cache", "device_seconds", "loading_seconds", "together",
)  # fmt: skip


def of_scope(conn: sa.Connection, book: ledger.Ledger, asked: scope.Scope) -> Mapping[str, Any]:
    """Trace a job, a shot, or an episode's current video; of a project, its only episode's.

    Raises UnknownProject, or UsageError that says what there is.
    """
    if asked.job is not None:
        found = book.standing(conn, asked.job)
        if found is None:
            raise errors.UsageError(
                f"there is no job {asked.job}: `manage.py status ID` and `failures` name jobs"
            )
        return _trace(
            conn, book, asked=str(asked), project=found.project, roots=[found.id],
            episode=found.episode, path=asked.path,
        )  # fmt: skip
    asked = scopes.check(conn, book, asked)
    project = scopes.project_of(asked)
    if asked.shot is not None:
        roots = [job.id for job in book.scope_jobs(conn, project, asked.path)]
        if not roots:
            raise errors.UsageError(
                f"shot {asked} was planned and never asked for: `manage.py submit {project}` does"
            )
        return _trace(
            conn, book, asked=str(asked), project=project, roots=roots, episode=asked.episode,
            path=asked.path,
        )  # fmt: skip
    episode = asked.episode if asked.episode is not None else _only_episode(conn, project)
    root = _film(conn, project, episode)
    if root is None:
        raise errors.UsageError(
            f"episode {episode} of project {project} was planned and never asked for: "
            f"`manage.py submit {project}` does"
        )
    return _trace(
        conn, book, asked=f"{project}/e{episode}", project=project, roots=[root], episode=episode,
        path=f"e{episode}",
    )  # fmt: skip


def of_file(
    conn: sa.Connection, book: ledger.Ledger, store: storage.Store, file: pathlib.Path, sha256: str
) -> Mapping[str, Any]:
    """Trace a stored or an exported file, by its place or by its bytes; raises UsageError."""
    root, full = store.root.resolve(), file.resolve()
    path = full.relative_to(root).as_posix() if full.is_relative_to(root) else None
    found = book.trace_file(conn, path=path, sha256=sha256)
    if not found:
        raise errors.UsageError(
            f"{file} is none of the files that this ledger made: its bytes are unknown here"
        )
    job = book.standing(conn, found[0]["job"])
    assert job is not None  # its artifact's row would have gone with it
    traced = _trace(
        conn, book, asked=str(file), project=job.project, roots=[job.id], episode=job.episode,
        path=job.subject, attempt=found[0]["attempt"],
    )  # fmt: skip
    alike = sorted({row["job"] for row in found} - {job.id})
    return {**traced, "same_bytes": alike}


def _trace(
    conn: sa.Connection,
    book: ledger.Ledger,
    *,
    asked: str,
    project: int,
    roots: Sequence[int],
    episode: int | None,
    path: str,
    attempt: int | None = None,
) -> Mapping[str, Any]:
    jobs = book.trace_jobs(conn, roots)
    acts = [
        {"at": act.at.isoformat(), "by": act.by, "verb": act.verb, "scope": act.scope,
         "detail": dict(act.detail)}
        for act in book.acts([project], limit=_ACTS, conn=conn)
        if _touches(act.scope, path)
    ]  # fmt: skip
    return {
        "asked": asked,
        "project": {"id": project, "title": book.project(project, conn).title},
        "video": None if episode is None else _video(conn, project, episode, roots, attempt),
        "roots": list(roots),
        "jobs": [_job(one) for one in jobs.values()],
        "acts": acts,
        "totals": _totals(jobs.values()),
        "same_bytes": [],
    }


def _video(
    conn: sa.Connection, project: int, no: int, roots: Sequence[int], attempt: int | None
) -> dict[str, Any] | None:
    """The video that one of the roots made, if it is one; `current`: the episode's own today."""
    a, e = scheduling.artifacts.c, tables.episodes.c
    made = conn.execute(
        sa.select(a.id, a.job, a.attempt, a.path, a.sha256, a.meta)
        .where(a.job.in_(roots), a.kind == "video")
        .where(sa.true() if attempt is None else a.attempt == attempt)
        .order_by(a.id.desc())
    ).first()
    episode = conn.execute(
        sa.select(tables.episodes).where(e.project == project, e.no == no)
    ).first()
    if made is None or episode is None:
        return None
    current = episode.video == made.id
    return {
        "episode": no,
        "title": episode.title,
        "path": made.path,
        "sha256": made.sha256,
        "seconds": made.meta.get("seconds"),
        "current": current,
        "replaced": episode.replaced if current else None,
    }


def _job(one: traces.Traced) -> dict[str, Any]:
    row = one.row
    return {
        "id": one.id,
        "stage": one.stage,
        "subject": one.subject,
        "state": row["state"],
        "superseded": row["superseded"],
        "key": row["key"],
        "seed": row["seed"],
        "queue": row["queue"],
        "class": row["class"],
        "model": row["model"],
        "bucket": row["bucket"],
        "planned_seconds": row["seconds_theory"],
        "foretold_seconds": row["seconds_est"],
        "failures": row["failures"],
        "losses": row["losses"],
        "error_kind": row["error_kind"],
        "error": row["error"],
        "needs": list(one.needs),
        "earlier": list(one.earlier),
        "attempts": [_attempt(attempt) for attempt in one.attempts],
        "artifacts": list(one.artifacts),
    }


def _attempt(attempt: Mapping[str, Any]) -> dict[str, Any]:
    meta = dict(attempt["meta"])
    makers = {name: meta.pop(name, None) for name in _MAKERS}
    return {
        **{
            name: attempt[name]
            for name in (
                "attempt", "owner", "worker", "slot", "device", "session", "members", "started_at",
                "ended_at", "outcome", "error", "peak", "waits",
            )
        },
        **makers,
        "made": meta,
    }  # fmt: skip


def _totals(jobs: Any) -> dict[str, Any]:
    """Sums over all attempts behind it."""
    outcomes: collections.Counter[str] = collections.Counter()
    cache: collections.Counter[str] = collections.Counter()
    waits: collections.Counter[str] = collections.Counter()
    for job in jobs:
        sessions: set[str | None] = set()
        for attempt in job.attempts:
            outcomes[attempt["outcome"] or "running"] += 1
            waits.update(attempt["waits"] or {})
            meta = attempt["meta"]
            if attempt["session"] not in sessions:  # it counts for all its members together
                cache.update(meta.get("cache") or {})
            sessions.add(attempt["session"])
            cache["voices_cached"] += bool(meta.get("cached"))
    return {
        "attempts": dict(outcomes),
        "seconds": {name: round(seconds, 1) for name, seconds in waits.items()},
        "cache": dict(+cache),
    }


def _touches(acted: str, path: str) -> bool:
    """Whether an act on one part meant another: it, something around it, or something in it."""
    return acted in ("", path) or path.startswith(f"{acted}/") or acted.startswith(f"{path}/")


def _only_episode(conn: sa.Connection, project: int) -> int:
    e = tables.episodes.c
    known = conn.scalars(sa.select(e.no).where(e.project == project).order_by(e.no)).all()
    if len(known) == 1:
        return int(known[0])
    if not known:
        raise errors.UsageError(
            f"project {project} has no episodes yet: `manage.py submit {project}` plans them"
        )
    raise errors.UsageError(
        f"project {project} has episodes {scopes.ranges(known)}: name one, as {project}/e{known[0]}"
    )


def _film(conn: sa.Connection, project: int, no: int) -> int | None:
    """The job of an episode's current video; where there is none, the job that will make it."""
    a, e, j = scheduling.artifacts.c, tables.episodes.c, scheduling.jobs.c
    made = conn.scalar(
        sa.select(a.job)
        .join(tables.episodes, e.video == a.id)
        .where(e.project == project, e.no == no)
    )
    wanted = conn.scalar(
        sa.select(j.id).where(
            j.project == project, j.stage == "assemble", j.subject == f"e{no}", ~j.superseded
        )
    )
    return made or wanted
