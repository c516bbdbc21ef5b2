"""The ledger's SQL, by name.

A .sql file beside this module holds queries, each under `-- name: x`. A transition also says
`-- from -> to`, and appends its events in the same statement.
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


#: what the ledger does: transitions, the pass, owners
QUERIES = _read("queries.sql")
#: what people ask of it
REPORTS = _read("report.sql")
#: what must always hold: each answers with the rows that break it
INVARIANTS = _read("invariants.sql")
