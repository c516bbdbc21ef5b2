"""What the tables are made of: their metadata, and columns of the kinds that recur."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

metadata = sa.MetaData(
    naming_convention={
        "ix": "%(table_name)s_%(column_0_N_name)s",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ck": "%(table_name)s_%(constraint_name)s",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
        "pk": "%(table_name)s_pkey",
    }
)

_NOW = sa.text("clock_timestamp()")
EMPTY = sa.text("'{}'")


def identity() -> sa.Column[int]:
    """The number of a row."""
    return sa.Column("id", sa.BigInteger, sa.Identity(always=False), primary_key=True)


def project(**options: Any) -> sa.Column[int]:
    """The project that a row belongs to; it goes with it."""
    return sa.Column(
        "project", sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False, **options
    )


def job(**options: Any) -> sa.Column[int]:
    """The job that a row belongs to; it goes with it."""
    return sa.Column("job", sa.ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False, **options)


def time(name: str, *, now: bool = False) -> sa.Column[Any]:
    """A point in time; `now`: the row's own."""
    if now:
        return sa.Column(name, sa.DateTime(timezone=True), nullable=False, server_default=_NOW)
    return sa.Column(name, sa.DateTime(timezone=True))


def text(name: str, default: str | None = None) -> sa.Column[str]:
    """Words, never null."""
    return sa.Column(name, sa.Text, nullable=False, server_default=default)


def number(name: str, kind: Any, default: str) -> sa.Column[Any]:
    """A number, never null."""
    return sa.Column(name, kind, nullable=False, server_default=default)


def flag(name: str) -> sa.Column[bool]:
    """Yes or no, no by default."""
    return sa.Column(name, sa.Boolean, nullable=False, server_default=sa.text("false"))


def json(name: str) -> sa.Column[Any]:
    """JSON, an empty object by default."""
    return sa.Column(name, pg.JSONB, nullable=False, server_default=EMPTY)
