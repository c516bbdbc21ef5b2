"""Why nothing of a project begins just now, though it has work and nobody paused it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from mangen.ledger import ledger, priority


def told(book: ledger.Ledger, conn: sa.Connection, ids: Sequence[int] | None) -> Mapping[int, str]:
    """Project -> the reason in words; those that may begin are left out."""
    quiet = _quiet(book, conn)
    return {
        project: quiet if one.quiet else _spent(one, book.times.zone)
        for project, one in book.withheld(conn, ids).items()
    }


def now(book: ledger.Ledger, conn: sa.Connection) -> str:
    """Say whether it is quiet in this deployment, and until when; empty where no hours are set."""
    if not book.times.spans:
        return ""
    if book.times.quiet(book.now(conn)):
        return f"{_quiet(book, conn)}: only urgent projects begin anything"
    return f"not now ({book.times.zone})"


def _quiet(book: ledger.Ledger, conn: sa.Connection) -> str:
    until = book.times.until(book.now(conn))
    if until is None:
        return "quiet hours all day"
    return f"quiet hours until {until:%H:%M} ({book.times.zone})"


def _spent(one: priority.Withheld, zone: str) -> str:
    return f"its gpu budget is spent until midnight ({zone}): {one.spent:.0f} of {one.budget:.0f} s"
