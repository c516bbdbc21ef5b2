"""What went wrong and what to do about it: dead jobs with their mends, and the rescue."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mangen import api, errors, services, settings, storage
from mangen.comic import keeping, mends
from mangen.dispatch import drain, housekeeping, leader, reconcile
from mangen.ledger import failures, ledger, scope

_LEAD_S = 5.0  #: a leader that beats does the pass itself within so long


def failed(*what: str | int) -> dict[str, Any]:
    """Dead jobs and what waits for room: of these scopes, or of all projects.

    `failures`: job, project, title, what, stage, subject, scope, kind, cause (one line), error,
    attempts, failures, losses, owner, device, device_state, report, skipped, at, mend.
    `waiting`: job, project, stage, subject, error, until, mend. Raises UsageError.
    """
    asked = [scope.parse(one) for one in what]
    with api.open_ledger() as (chosen, book), book.transaction() as conn:
        if any(one.path == scope.ALL for one in asked):
            asked = []
        numbers = sorted({one.project for one in asked if one.project is not None})
        known = {one.id for one in book.projects(numbers, conn)}
        missing = [number for number in numbers if number not in known]
        if missing:
            raise errors.UnknownProject(
                f"there is no project {missing[0]}: `manage.py status` lists the projects there are"
            )
        jobs = [one.job for one in asked if one.job is not None]
        only = numbers if asked else None
        dead = failures.dead(conn, only, jobs, lease_s=chosen.lease_s)
        stuck = failures.stuck(conn, only, jobs)
    return {
        "failures": [_failure(one) for one in dead if _meant(asked, one)],
        "waiting": [
            {
                "job": one.job, "project": one.project, "stage": one.stage,
                "subject": one.subject, "error": one.error,
                "until": one.until.isoformat() if one.until else None,
                "mend": mends.waiting(one.error),
            }
            for one in stuck
            if _meant(asked, one)
        ],
    }  # fmt: skip


def _meant(asked: Sequence[scope.Scope], one: failures.Dead | failures.Stuck) -> bool:
    """Whether one of the scopes holds the job; none asked for: all are meant."""
    return not asked or any(
        one.job == part.job
        if part.job is not None
        else one.project == part.project
        and (not part.path or f"{one.subject}/".startswith(f"{part.path}/"))
        for part in asked
    )


def _failure(one: failures.Dead) -> dict[str, Any]:
    kind, mend = mends.of(one)
    return {
        "job": one.job,
        "project": one.project,
        "title": one.title,
        "what": mends.name_of(one),
        "stage": one.stage,
        "subject": one.subject,
        "scope": mends.scope_of(one),
        "kind": kind,
        "cause": one.error.strip().split("\n")[0],
        "error": one.error,
        "attempts": one.attempts,
        "failures": one.failures,
        "losses": one.losses,
        "owner": one.owner,
        "device": one.device,
        "device_state": one.device_state,
        "report": mends.report_of(one),
        "skipped": one.skipped,
        "at": one.at.isoformat(),
        "mend": mend,
    }


def rescue(
    *,
    deep: bool = False,
    even_all: bool = False,
    tell: Callable[[Mapping[str, Any]], None] | None = None,
) -> list[dict[str, Any]]:
    """Find and mend what crashes left behind, beside workers or without; answers what it did.

    Each entry: what, project, jobs, detail, mended. `deep` reads every file and compares its
    checksum; `even_all` makes files anew though not one of them is there. Ends with a pass: its
    own, or the living leader's. Raises StorageError where the artifact store is not there.
    """
    done: list[dict[str, Any]] = []
    with api.open_ledger() as (chosen, book):
        store = storage.Store(chosen.artifact_root)
        for one in _mends(book, store, chosen, deep=deep, even_all=even_all):
            done.append(
                {"what": one.what, "project": one.project, "jobs": list(one.jobs),
                 "detail": one.detail, "mended": one.mended}
            )  # fmt: skip
            if tell is not None:
                tell(done[-1])
        _look(book, chosen)
    return done


def _mends(
    book: ledger.Ledger,
    store: storage.Store,
    chosen: settings.Settings,
    *,
    deep: bool,
    even_all: bool,
) -> Iterator[reconcile.Mend]:
    yield from reconcile.jobs_at_large(
        book, lease_s=chosen.lease_s, lost_bell_s=chosen.lost_bell_s, queues=drain.QUEUES
    )
    swept = housekeeping.sweep(book, store, lease_s=chosen.lease_s)
    if swept:
        yield reconcile.Mend(what="orphan", detail=f"{swept} files that no row names are removed")
    projects = [one.id for one in book.projects() if one.state != "purging"]
    yield from reconcile.files(
        book, store, projects, essential=keeping.essential, deep=deep, even_all=even_all
    )


def _look(book: ledger.Ledger, chosen: settings.Settings) -> None:
    """Let a pass act upon it: this process's, or that of whoever leads and shows life."""
    head = leader.Leader(
        services.read(chosen).database_url, lease_s=chosen.lease_s, application="mangen-rescue"
    )
    try:
        if head.take():
            api.make_pass(book, chosen).run(head.connection, session=head.session)
            return
        book.notify(None, book.WAKE)
        before, deadline = head.holder(), time.monotonic() + chosen.lease_s + _LEAD_S
        while head.holder() == before and time.monotonic() < deadline:
            if head.take():  # a frozen leader was deposed
                api.make_pass(book, chosen).run(head.connection, session=head.session)
                return
            time.sleep(0.2)
    finally:
        head.close()
