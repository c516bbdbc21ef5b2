"""Where projects stand: counts, progress, failures, and what waits with its reason."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from mangen.ledger import projects, queries


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Overview:
    """One project. Superseded jobs count nowhere."""

    id: int
    title: str
    state: str  #: open, closed, purging
    paused: bool
    held: Sequence[str]  #: parts of it that are paused by themselves: eN, eN/sN, job/ID
    progress: float  #: 0..1 of the estimated seconds; settled jobs count whole
    counts: Mapping[str, Mapping[str, int]]  #: stage -> state -> jobs
    #: {job, stage, subject, kind, error, attempt, at}
    failures: Sequence[Mapping[str, Any]]
    #: {job, stage, subject, kind, error, until}: store or memory full, or a backoff
    waiting: Sequence[Mapping[str, Any]]
    assembling: Mapping[int, str]  #: episode -> state of its closing job


def overview(
    conn: sa.Connection, ids: Sequence[int] | None, *, closing: str = "assemble"
) -> Sequence[Overview]:
    """The projects of these ids (None: all), in order of id: three queries, however many.

    `closing` names the stage that ends an episode. Raises UnknownProject.
    """
    values = {"ids": None if ids is None else list(ids), "closing": closing}
    found = conn.execute(queries.REPORTS["project_counts"], values).all()
    unknown = set(ids or ()) - {row.id for row in found}
    if unknown:
        raise projects.unknown(min(unknown))
    details: dict[int, list[Any]] = {}
    for row in conn.execute(queries.REPORTS["project_details"], values).all():
        details.setdefault(row.project, []).append(row)
    held: dict[int, list[str]] = {}
    for row in conn.execute(queries.REPORTS["project_holds"], {"ids": values["ids"]}).all():
        held.setdefault(row.project, []).append(row.scope)
    return [_overview(row, details.get(row.id, ()), held.get(row.id, ())) for row in found]


def _overview(row: Any, details: Sequence[Any], held: Sequence[str]) -> Overview:
    number, title, paused, state, told, weight, done = row
    words = told.split("\t") if told else ()
    counts: dict[str, dict[str, int]] = {}
    for stage, stood, count in sorted(zip(words[::3], words[1::3], words[2::3], strict=True)):
        counts.setdefault(stage, {})[stood] = int(count)
    failures, waiting, assembling = [], [], {}
    for one in details:
        if one.what == "failure":
            failures.append({**_trouble(one), "attempt": one.attempt, "at": one.at.isoformat()})
        if one.what in {"closing", "both"}:
            assembling[one.episode] = one.state
        if one.what in {"waiting", "both"}:
            waiting.append({**_trouble(one), "until": one.at.isoformat() if one.at else None})
    return Overview(
        id=number,
        title=title,
        state=state,
        paused=paused,
        held=held,
        progress=min(1.0, done / weight) if weight else 0.0,
        counts=counts,
        failures=failures,
        waiting=waiting,
        assembling=assembling,
    )


def forecasts(
    conn: sa.Connection, ids: Sequence[int] | None, *, stale_s: float
) -> Mapping[int, Mapping[str, Any]]:
    """Project -> when it will be ready, as somebody who leads foretold it of late.

    Projects without open jobs are left out, and all of them where nobody looked for `stale_s`.
    """
    values = {"ids": None if ids is None else list(ids)}
    return {
        row.project: {
            "left_seconds": row.seconds,
            "eta_low": row.eta_low,
            "eta": row.eta,
            "eta_high": row.eta_high,
            "eta_seconds": row.eta_s,
            "eta_why": row.why,
        }
        for row in conn.execute(queries.REPORTS["project_forecasts"], values)
        if row.age_s is not None and row.age_s <= stale_s
    }


def _trouble(row: Any) -> dict[str, Any]:
    return {
        "job": row.id,
        "stage": row.stage,
        "subject": row.subject,
        "kind": row.error_kind,
        "error": row.error,
    }
