"""What must always hold, checked by one function: tests, chaos and `manage.py doctor` share it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from mangen.ledger import queries, states

_STORED = ("rows_stored", "files_accepted")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Violation:
    """One broken invariant: its name, the job where it is one job's, and what was found."""

    name: str
    job: int | None
    detail: str


def check(
    conn: sa.Connection, store_paths: Iterable[str] | None, lease_s: float
) -> Sequence[Violation]:
    """Every violation; empty where all invariants hold. True at any moment, while work runs too.

    `store_paths` are the files below the artifact store's root: hand over the store's own
    iterator, it is read after the rows and before the attempts. None leaves files out.
    """
    legal = [
        (query, frm, to)
        for query, pairs in states.TRANSITIONS.items()
        for frm, to in sorted(pairs, key=str)
    ]
    values: dict[str, Any] = {
        "two_leases": 2.0 * lease_s,
        "legal_query": [query for query, _, _ in legal],
        "legal_from": [None if frm is None else str(frm) for _, frm, _ in legal],
        "legal_to": [str(to) for _, _, to in legal],
    }
    found: list[Violation] = []
    for name in queries.INVARIANTS:
        if name not in _STORED:
            found += _ask(conn, name, values)
    if store_paths is not None:
        rows = _ask(conn, "rows_stored", values)
        paths = set(store_paths)
        found += [
            dataclasses.replace(row, detail=f"{row.detail} has a row and no file")
            for row in rows
            if row.detail not in paths
        ]
        found += _ask(conn, "files_accepted", {**values, "paths": sorted(paths)})
    return found


def _ask(conn: sa.Connection, name: str, values: Mapping[str, Any]) -> list[Violation]:
    query = queries.INVARIANTS[name]
    asked = {key: values[key] for key in query.compile().params}
    return [
        Violation(name=name, job=row.job, detail=row.detail) for row in conn.execute(query, asked)
    ]
