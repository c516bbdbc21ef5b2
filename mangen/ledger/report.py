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
    found: dict[int, list[Any]] = {}
    for row in conn.execute(queries.REPORTS["project_counts"], values):
        found.setdefault(row.id, []).append(row)
    for project in ids or ():
        if project not in found:
            raise projects.unknown(project)
    details: dict[int, list[Any]] = {}
    for row in conn.execute(queries.REPORTS["project_details"], values):
        details.setdefault(row.project, []).append(row)
    held: dict[int, list[str]] = {}
    for row in conn.execute(queries.REPORTS["project_holds"], {"ids": values["ids"]}):
        held.setdefault(row.project, []).append(row.scope)
    return [
        _overview(rows, details.get(project, []), held.get(project, []))
        for project, rows in found.items()
    ]


def _overview(rows: Sequence[Any], details: Sequence[Any], held: Sequence[str]) -> Overview:
    counts: dict[str, dict[str, int]] = {}
    for row in rows:
        if row.stage is not None:
            counts.setdefault(row.stage, {})[row.state] = row.jobs
    weight = sum(row.weight or 0.0 for row in rows)
    done = sum(row.done or 0.0 for row in rows)
    return Overview(
        id=rows[0].id,
        title=rows[0].title,
        state=rows[0].project_state,
        paused=rows[0].paused,
        held=held,
        progress=min(1.0, done / weight) if weight > 0 else 0.0,
        counts=counts,
        failures=[
            {**_trouble(row), "attempt": row.attempt, "at": row.at.isoformat()}
            for row in details
            if row.what == "failure"
        ],
        waiting=[
            {**_trouble(row), "until": row.at.isoformat() if row.at else None}
            for row in details
            if row.what == "waiting"
        ],
        assembling={row.episode: row.state for row in details if row.what == "closing"},
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
