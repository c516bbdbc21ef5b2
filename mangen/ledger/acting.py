"""What people asked for: each act one transaction, kept beside what it changed."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import os
import pwd
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa

from mangen.ledger import door

_T = TypeVar("_T")

_TRIES = 8
#: deadlock_detected, serialization_failure: another went first, and it may simply be done again
_AGAIN = {"40P01", "40001"}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Act:
    """One thing that a person asked for."""

    id: int
    at: dt.datetime
    by: str
    verb: str
    project: int | None
    scope: str
    detail: Mapping[str, Any]


class Acting(door.Door):
    """The ledger's door for people."""

    def act(self, do: Callable[[sa.Connection], _T]) -> _T:
        """Run `do` in one transaction, again where it met a deadlock; answers what it answers.

        A job that inserts others as it finishes takes locks in another order (see `queries`);
        whoever loses against it tries again here.
        """
        for left in range(_TRIES, 0, -1):
            try:
                with self.transaction() as conn:
                    return do(conn)
            except sa.exc.DBAPIError as error:
                if left == 1 or getattr(error.orig, "sqlstate", None) not in _AGAIN:
                    raise
                time.sleep(random.uniform(0.01, 0.1))
        raise AssertionError  # the last try returns or raises

    def note_act(
        self,
        conn: sa.Connection,
        verb: str,
        *,
        project: int | None,
        scope: str = "",
        by: str,
        detail: Mapping[str, Any] | None = None,
    ) -> None:
        """Write an act into the transaction that does it. `detail` is JSON."""
        door.run(
            conn,
            "insert_act",
            by=by,
            verb=verb,
            project=project,
            scope=scope,
            detail=json.dumps(dict(detail or {}), ensure_ascii=False),
        )

    def acts(
        self,
        projects: Sequence[int] | None = None,
        *,
        limit: int = 100,
        conn: sa.Connection | None = None,
    ) -> Sequence[Act]:
        """The latest acts on these projects, or on any (None), the newest first."""
        if conn is None:
            with self.statement() as own:
                return self.acts(projects, limit=limit, conn=own)
        asked = None if projects is None else list(projects)
        return [Act(**row) for row in door.rows(conn, "acts", projects=asked, limit=limit)]


def person() -> str:
    """Who acts on this machine: the user's name, or number where it has none."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
