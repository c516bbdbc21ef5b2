"""The content tables: what a project's source became. They share the ledger's metadata.

Rows are written inside the finishing transaction of the stage that makes them.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from mangen.ledger import tables

metadata = tables.metadata
_EMPTY = sa.text("'{}'")
_EMPTY_LIST = sa.text("'[]'")


def _project(**options: Any) -> sa.Column[int]:
    return sa.Column(
        "project", sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False, **options
    )


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, primary_key=True, autoincrement=False)


sources = sa.Table(
    "sources",
    metadata,
    _project(primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),  # decoded, newlines normalised
    sa.Column("encoding", sa.Text, nullable=False),
    sa.Column("sha256", sa.Text, nullable=False),  # of the bytes as they came
)

# The storyboard as people edited it, in parts, so that a retake in a long novel writes little. No
# rows: the planner's own counts. Part 0 is all but the episodes, part n is episode n.
boards = sa.Table(
    "boards",
    metadata,
    _project(primary_key=True),
    _number("part"),
    sa.Column("data", pg.JSONB, nullable=False),
    sa.CheckConstraint("part >= 0", name="part"),
)

characters = sa.Table(
    "characters",
    metadata,
    _project(primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("sex", sa.Text, nullable=False, server_default="unknown"),
    sa.Column("age", sa.Text, nullable=False, server_default="adult"),
    sa.Column("words", pg.JSONB, nullable=False, server_default=_EMPTY_LIST),
    sa.Column("era", sa.Text, nullable=False, server_default="modern"),
    sa.Column("seed", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("features", pg.JSONB),  # null: no anchor yet, or it failed
    sa.Column("reference", sa.ForeignKey("artifacts.id")),
)

episodes = sa.Table(
    "episodes",
    metadata,
    _project(primary_key=True),
    _number("no"),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False, server_default="planned"),
    sa.Column("video", sa.ForeignKey("artifacts.id")),  # the current one, until a new one is done
    sa.Column("seconds", sa.Float),
    sa.Column("replaced", pg.JSONB, nullable=False, server_default=_EMPTY_LIST),
    sa.CheckConstraint(
        "state IN ('planned', 'working', 'done', 'degraded', 'failed')", name="state"
    ),
    sa.CheckConstraint("state NOT IN ('done', 'degraded') OR video IS NOT NULL", name="video"),
)

shots = sa.Table(
    "shots",
    metadata,
    _project(primary_key=True),
    _number("episode"),
    _number("no"),
    sa.Column("kind", sa.Text, nullable=False, server_default="shot"),
    sa.Column("identity", sa.Text, nullable=False),  # source text and its occurrence
    sa.Column("labels", pg.JSONB, nullable=False, server_default=_EMPTY),
    sa.Column("seed", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("take", sa.Integer, nullable=False, server_default="1"),
    sa.ForeignKeyConstraint(
        ["project", "episode"], ["episodes.project", "episodes.no"], ondelete="CASCADE"
    ),
    sa.CheckConstraint("kind IN ('shot', 'title', 'end')", name="kind"),
)

lines = sa.Table(
    "lines",
    metadata,
    _project(primary_key=True),
    _number("episode"),
    _number("shot"),
    _number("no"),
    sa.Column("character", sa.Text),  # null: the narrator
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("span", pg.INT4RANGE, nullable=False),  # characters of sources.text
    sa.Column("spoken", sa.Boolean, nullable=False, server_default=sa.text("true")),
    sa.Column("samples", sa.Integer),  # at 48 kHz; null: not spoken (yet)
    sa.ForeignKeyConstraint(
        ["project", "episode", "shot"],
        ["shots.project", "shots.episode", "shots.no"],
        ondelete="CASCADE",
    ),
    sa.CheckConstraint("samples >= 0", name="samples"),
)
