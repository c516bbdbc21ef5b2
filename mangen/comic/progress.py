"""Where projects stand, as people read it: states, progress, failures, what waits and why."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from mangen import storage
from mangen.comic import model, tables
from mangen.dispatch import foresight
from mangen.ledger import report
from mangen.ledger import tables as scheduling
from mangen.ledger.states import OPEN, State

#: states in which nothing more happens by itself
SETTLED = frozenset({"done", "degraded", "failed", "cancelled", "planned"})
_TIMES = ("eta_low", "eta", "eta_high")
_OPEN = {state.value for state in OPEN}


def status(
    conn: sa.Connection,
    ids: Sequence[int] | None,
    store: storage.Store,
    *,
    withheld: Mapping[int, str] | None = None,
) -> list[dict[str, Any]]:
    """Answer one entry a project, in order of id; raises UnknownProject for an id that is none.

    `withheld`: why nothing of some projects begins just now.
    """
    with _uncollected():
        seen = report.overview(conn, ids)
        episodes = _episodes(conn, [one.id for one in seen], store)
        told = report.forecasts(conn, ids, stale_s=foresight.STALE_S)
        found = [_entry(one, episodes.get(one.id, []), told.get(one.id)) for one in seen]
        drawn = _qualities(conn, [one.id for one in seen])
    for entry in found:
        entry["quality"] = drawn.get(entry["id"], model.SKETCHED)
        works = entry["state"] in {"planning", "working"}
        entry["withheld"] = (withheld or {}).get(entry["id"]) if works else None
    return found


def _qualities(conn: sa.Connection, ids: Sequence[int]) -> dict[int, str]:
    """In which quality projects are drawn, of those that are no animatics."""
    p = scheduling.projects.c
    rows = conn.execute(
        sa.select(p.id, p.settings["quality"].astext.label("quality")).where(
            p.id == sa.any_(sa.cast(list(ids), pg.ARRAY(sa.BigInteger))),
            p.settings.has_key("quality"),
        )
    )
    return {row.id: row.quality for row in rows}


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Let the garbage collector wait.

    Ten thousand entries are a million small objects, none of them garbage, and it would look at
    all of them again and again: more than half of the time.
    """
    ran = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if ran:
            gc.enable()


def _entry(
    one: report.Overview, episodes: list[dict[str, Any]], told: Mapping[str, Any] | None
) -> dict[str, Any]:
    _settle_episodes(one, episodes)
    return {
        "id": one.id,
        "title": one.title,
        "state": _state(one, episodes),
        "held": list(one.held),
        "progress": round(one.progress, 4),
        "stages": {stage: dict(states) for stage, states in one.counts.items()},
        **_ready(one, told),
        "episodes": [episode for episode in episodes if episode["state"] != "planned"],
        "episodes_planned": len(episodes),
        "failures": [dict(failure) for failure in one.failures],
        "waiting": [dict(waiting) for waiting in one.waiting],
    }


def _ready(one: report.Overview, told: Mapping[str, Any] | None) -> dict[str, Any]:
    """When it will be ready: a range, and the seconds until its middle; or why nobody can tell."""
    found: dict[str, Any] = {"eta_low": None, "eta": None, "eta_high": None, "eta_seconds": None}
    if not any(state in _OPEN for states in one.counts.values() for state in states):
        return found | {"eta_why": ""}
    if told is None:
        return found | {"eta_why": "nobody has foretold it yet"}
    times = {n: told[n].isoformat(timespec="seconds") for n in _TIMES if told[n] is not None}
    seconds = None if told["eta_seconds"] is None else round(told["eta_seconds"])
    return found | times | {"eta_seconds": seconds, "eta_why": told["eta_why"]}


def _state(one: report.Overview, episodes: Sequence[Mapping[str, Any]]) -> str:
    open_jobs = sum(n for states in one.counts.values() for s, n in states.items() if s in _OPEN)
    if one.state == "purging":
        return "purging"
    if not one.counts:
        return "planned" if episodes else "new"
    if open_jobs:
        if one.paused:
            return "paused"
        return "planning" if set(one.counts) == {"storyboard"} else "working"
    states = {episode["state"] for episode in episodes} - {"planned"}
    plans = one.counts.get("storyboard", {})
    if plans and State.DONE.value not in plans:
        return "cancelled" if State.CANCELLED.value in plans else "failed"
    if not plans and not episodes:  # clips, which nobody planned
        ended = {state for stage in one.counts.values() for state in stage}
        return "failed" if State.FAILED.value in ended else "done"
    # the worst of what was asked for; what was cancelled on purpose spoils nothing else
    for state in ("failed", "degraded", "done", "cancelled"):
        if state in states:
            return state
    return "planned"


def _settle_episodes(one: report.Overview, episodes: list[dict[str, Any]]) -> None:
    """Say which episodes are being worked on and how they ended, from their assemble jobs.

    An episode with a video stays what it is; `next` says how the video stands that will follow.
    """
    for episode in episodes:
        assembling = one.assembling.get(episode["no"])
        if assembling is None:
            continue
        state = "failed" if assembling == State.SKIPPED.value else assembling
        if assembling in _OPEN:
            state = "paused" if f"e{episode['no']}" in one.held else "working"
        if episode["state"] not in {"done", "degraded"}:
            episode["state"] = state
        elif state != State.DONE.value:
            episode["next"] = state


def _episodes(
    conn: sa.Connection, ids: Sequence[int], store: storage.Store
) -> dict[int, list[dict[str, Any]]]:
    kept, artifacts = tables.episodes.c, scheduling.artifacts.c
    rows = conn.execute(
        sa.select(
            kept.project, kept.no, kept.title, kept.state, artifacts.path, kept.seconds,
            sa.func.nullif(kept.replaced, sa.literal_column("CAST('[]' AS jsonb)")),
        )
        .outerjoin(scheduling.artifacts, kept.video == artifacts.id)
        .where(kept.project == sa.any_(sa.cast(list(ids), pg.ARRAY(sa.BigInteger))))
        .order_by(kept.project, kept.no)
    ).all()  # fmt: skip
    found: dict[int, list[dict[str, Any]]] = {}
    for project, no, title, state, path, seconds, replaced in rows:
        found.setdefault(project, []).append(
            {
                "no": no,
                "title": title,
                "state": state,
                "video": store.address(path) if path else None,
                "seconds": seconds,
                "replaced": replaced or [],
            }
        )
    return found
