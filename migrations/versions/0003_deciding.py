"""Control, fair shares, budgets, durations, expiry: what the ledger needs to decide."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003_deciding"
down_revision = "0002_content"

_HOT = {"fillfactor": 70, "autovacuum_vacuum_scale_factor": 0.01}
_NOW = sa.text("clock_timestamp()")


def _project(table: str) -> list[sa.schema.SchemaItem]:
    return [
        sa.Column("project", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f(f"{table}_project_fkey"), ondelete="CASCADE"
        ),
    ]


def _time(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), server_default=_NOW, nullable=False)


def upgrade() -> None:
    op.drop_constraint(op.f("projects_state"), "projects")
    op.create_check_constraint(
        op.f("projects_state"), "projects", "state IN ('open', 'closed', 'purging')"
    )
    op.create_check_constraint(op.f("projects_budget"), "projects", "budget >= 0")
    op.add_column(
        "jobs", sa.Column("held", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    op.add_column("jobs", sa.Column("expires_at", sa.DateTime(timezone=True)))
    op.add_column(
        "jobs", sa.Column("seconds_theory", sa.Float(), server_default="1", nullable=False)
    )
    op.execute("UPDATE jobs SET seconds_theory = seconds_est WHERE settled_at IS NULL")
    op.add_column("jobs", sa.Column("brings", sa.Integer(), server_default="0", nullable=False))
    op.drop_constraint(op.f("owners_release_reason"), "owners")
    op.create_check_constraint(
        op.f("owners_release_reason"),
        "owners",
        "release_reason IN ('child_lost', 'lease', 'shutdown', 'silent')",
    )
    op.add_column("artifacts", sa.Column("lost_at", sa.DateTime(timezone=True)))
    op.add_column("jobs", sa.Column("home_queue", sa.Text()))
    op.add_column("jobs", sa.Column("home_class", sa.SmallInteger()))
    op.drop_index("jobs_ready", table_name="jobs")
    op.create_index(
        "jobs_ready",
        "jobs",
        ["queue", "class", "project", sa.text("rank DESC"), "id"],
        postgresql_where=sa.text("state = 'ready' AND NOT held"),
    )
    op.create_index(
        "jobs_gating",
        "jobs",
        ["project", sa.text("rank DESC"), "id"],
        postgresql_where=sa.text(
            "state = 'ready' AND NOT held AND queue = 'gpu.high'"
            " AND coalesce(home_queue, queue) = 'gpu.high'"
        ),
    )
    op.create_index("jobs_superseded", "jobs", ["id"], postgresql_where=sa.text("superseded"))
    op.create_index(
        "jobs_expiring",
        "jobs",
        ["expires_at"],
        postgresql_where=sa.text(
            "expires_at IS NOT NULL AND state IN ('blocked', 'ready', 'published')"
        ),
    )
    op.create_table(
        "acts",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        _time("at"),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("verb", sa.Text(), nullable=False),
        sa.Column("project", sa.BigInteger()),
        sa.Column("scope", sa.Text(), server_default="", nullable=False),
        sa.Column("detail", postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("acts_pkey")),
    )
    op.create_index("acts_project", "acts", ["project", "id"])
    op.create_table(
        "holds",
        *_project("holds"),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("project", "scope", name=op.f("holds_pkey")),
    )
    op.create_table(
        "boards",
        *_project("boards"),
        sa.Column("part", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("data", postgresql.JSONB(), nullable=False),
        sa.CheckConstraint("part >= 0", name=op.f("boards_part")),
        sa.PrimaryKeyConstraint("project", "part", name=op.f("boards_pkey")),
    )
    op.create_table(
        "shares",
        *_project("shares"),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("served", sa.Float(), server_default="0", nullable=False),
        _time("at"),
        sa.PrimaryKeyConstraint("project", "lane", name=op.f("shares_pkey")),
    )
    op.create_table(
        "lanes",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("clock", sa.Float(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("lanes_pkey")),
    )
    op.create_table(
        "spent",
        *_project("spent"),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("seconds", sa.Float(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("project", "day", name=op.f("spent_pkey")),
        postgresql_with=_HOT,
    )
    op.create_table(
        "durations",
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("bucket", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("device", sa.Text(), nullable=False),
        sa.Column("samples", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("low", sa.Float(), nullable=False),
        sa.Column("typical", sa.Float(), nullable=False),
        sa.Column("high", sa.Float(), nullable=False),
        sa.Column("mean", sa.Float(), nullable=False),
        sa.Column("factor_low", sa.Float(), server_default="1", nullable=False),
        sa.Column("factor", sa.Float(), server_default="1", nullable=False),
        sa.Column("factor_high", sa.Float(), server_default="1", nullable=False),
        sa.Column("recent", postgresql.ARRAY(sa.Float()), server_default="{}", nullable=False),
        sa.Column("theory", postgresql.ARRAY(sa.Float()), server_default="{}", nullable=False),
        _time("at"),
        sa.PrimaryKeyConstraint("stage", "bucket", "model", "device", name=op.f("durations_pkey")),
        postgresql_with=_HOT,
    )
    op.create_table(
        "forecasts",
        *_project("forecasts"),
        _time("at"),
        sa.Column("jobs", sa.Integer(), server_default="0", nullable=False),
        sa.Column("seconds", sa.Float(), server_default="0", nullable=False),
        sa.Column("eta_low", sa.DateTime(timezone=True)),
        sa.Column("eta", sa.DateTime(timezone=True)),
        sa.Column("eta_high", sa.DateTime(timezone=True)),
        sa.Column("why", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("project", name=op.f("forecasts_pkey")),
        postgresql_with=_HOT,
    )
    op.create_table(
        "backlogs",
        sa.Column("queue", sa.Text(), nullable=False),
        sa.Column("class", sa.SmallInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("jobs", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("seconds", sa.Float(), server_default="0", nullable=False),
        _time("at"),
        sa.PrimaryKeyConstraint("queue", "class", "state", name=op.f("backlogs_pkey")),
        postgresql_with=_HOT,
    )


def downgrade() -> None:
    op.drop_column("jobs", "brings")
    op.drop_column("jobs", "seconds_theory")
    for table in (
        "backlogs", "forecasts", "durations", "spent", "lanes", "shares", "boards", "holds", "acts",
    ):  # fmt: skip
        op.drop_table(table)
    op.drop_index("jobs_expiring", table_name="jobs")
    op.drop_index("jobs_superseded", table_name="jobs")
    op.drop_index("jobs_gating", table_name="jobs")
    op.drop_index("jobs_ready", table_name="jobs")
    op.create_index(
        "jobs_ready",
        "jobs",
        ["queue", "class", sa.text("rank DESC"), "id"],
        postgresql_where=sa.text("state = 'ready'"),
    )
    op.drop_column("artifacts", "lost_at")
    op.execute("UPDATE owners SET release_reason = 'shutdown' WHERE release_reason = 'silent'")
    op.drop_constraint(op.f("owners_release_reason"), "owners")
    op.create_check_constraint(
        op.f("owners_release_reason"),
        "owners",
        "release_reason IN ('child_lost', 'lease', 'shutdown')",
    )
    op.drop_column("jobs", "expires_at")
    op.drop_column("jobs", "held")
    op.drop_column("jobs", "home_class")
    op.drop_column("jobs", "home_queue")
    op.drop_constraint(op.f("projects_budget"), "projects")
    op.drop_constraint(op.f("projects_state"), "projects")
    op.create_check_constraint(op.f("projects_state"), "projects", "state IN ('open', 'closed')")
