"""The ledger's SQL, by name.

A .sql file lies beside the module that runs its queries, each under `-- name: x`. Every way a job
may move is one query, named as in `states.TRANSITIONS`: it says `-- from -> to`, names the states
it may leave, and appends its events in the same statement. Database time, never a host's.

Lock order: owner row, project row (FOR NO KEY UPDATE, which no foreign key waits for), job rows by
id. The pass takes job rows with SKIP LOCKED, so it never waits for one; whoever it skipped has
written `dirty`. One case breaks the order: a finishing job that inserts jobs holds its own row
first. Who supersedes that very job in that very moment may see a deadlock, and tries again.

Needs are asked row by row through aggregates, not through joins with states in their WHERE: states
shift faster than statistics, and a join planned for "hardly any is blocked" takes minutes once a
novel was inserted.
"""

from __future__ import annotations

import pathlib
import re

import sqlalchemy as sa

_NAME = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


def load(path: pathlib.Path) -> dict[str, str]:
    """Name -> text of every query in a file, comments kept; ValueError on a name given twice."""
    pieces = _NAME.split(path.read_text("utf-8"))
    names, texts = pieces[1::2], pieces[2::2]
    if len(set(names)) != len(names):
        raise ValueError(f"{path} names a query twice")
    return dict(zip(names, (text.strip() for text in texts), strict=True))


def _read(file: str) -> dict[str, sa.TextClause]:
    found = load(pathlib.Path(__file__).with_name(file))
    # comments go: a colon in one would be taken for a parameter
    return {name: sa.text(re.sub(r"--[^\n]*", "", text)) for name, text in found.items()}


#: rooms of the ledger, each a module and a .sql file
ROOMS = (
    "projects",
    "wanting",
    "control",
    "passing",
    "publishing",
    "priority",
    "claiming",
    "settling",
    "owning",
    "durations",
    "foreseeing",
    "history",
    "traces",
    "mending",
    "acting",
    "holding",
    "scoping",
    "purging",
    "pruning",
)
#: what the ledger does: transitions, the pass, owners
QUERIES = {name: query for room in ROOMS for name, query in _read(f"{room}.sql").items()}
#: planned once a connection: asked for each job, and led by keys alone, so that one plan serves
#: all values. None answers `*`, which would change under it as columns are added.
HOT = frozenset(
    {
        "claim_jobs", "held_jobs", "lock_attempt", "finish_job", "fail_job", "progress",
        "add_artifacts", "artifacts", "note_attempt", "beat", "stopping_jobs", "notify",
        "dirty_projects", "lock_project", "clear_dirty", "find_ready_near", "now_hours",
        "ready_jobs", "insert_jobs", "standing_jobs", "insert_dirty", "expire_jobs", "ownerless",
        "jobs", "publish_jobs", "hold_new", "insert_dependencies", "look_project", "ring",
    }
)  # fmt: skip
#: what people ask of it
REPORTS = _read("report.sql")
#: what must always hold: each answers with the rows that break it
INVARIANTS = _read("invariants.sql")
