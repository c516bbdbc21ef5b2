"""The scheduling tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001_scheduling"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "events",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("job", sa.BigInteger(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("from", sa.Text(), nullable=True),
        sa.Column("to", sa.Text(), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column(
            "at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("events_pkey")),
    )
    op.create_index("events_job", "events", ["job", "id"], unique=False)
    op.create_table(
        "observations",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column(
            "at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), server_default="", nullable=False),
        sa.Column("stage", sa.Text(), server_default="", nullable=False),
        sa.Column("bucket", sa.Text(), server_default="", nullable=False),
        sa.Column("device", sa.Text(), server_default="", nullable=False),
        sa.Column("members", sa.Integer(), server_default="1", nullable=False),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("peak", sa.BigInteger(), nullable=True),
        sa.Column("meta", postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("observations_pkey")),
    )
    op.create_index(
        "observations_recent", "observations", ["model", "stage", "bucket", "id"], unique=False
    )
    op.create_table(
        "owners",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("generation", sa.BigInteger(), nullable=False),
        sa.Column("device", sa.Text(), nullable=False),
        sa.Column(
            "queues", postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False
        ),
        sa.Column("beat", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column(
            "beat_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("report", postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column(
            "registered_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("released_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("release_reason", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "release_reason IN ('child_lost', 'lease', 'shutdown')",
            name=op.f("owners_release_reason"),
        ),
        sa.CheckConstraint(
            "(released_at IS NULL) = (release_reason IS NULL)", name=op.f("owners_released")
        ),
        sa.PrimaryKeyConstraint("name", name=op.f("owners_pkey")),
        sa.UniqueConstraint(
            "worker", "slot", "generation", name=op.f("owners_worker_slot_generation_key")
        ),
        postgresql_with={"fillfactor": 70, "autovacuum_vacuum_scale_factor": 0.01},
    )
    op.create_index(
        "owners_living",
        "owners",
        ["worker"],
        unique=False,
        postgresql_where=sa.text("released_at IS NULL"),
    )
    op.create_table(
        "projects",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), server_default="open", nullable=False),
        sa.Column("class", sa.SmallInteger(), server_default="1", nullable=False),
        sa.Column("weight", sa.Float(), server_default="1", nullable=False),
        sa.Column("paused", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("budget", sa.Float(), nullable=True),
        sa.Column("settings", postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("episodes_wanted", postgresql.ARRAY(sa.Integer()), nullable=True),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.CheckConstraint("state IN ('open', 'closed')", name=op.f("projects_state")),
        sa.CheckConstraint("class BETWEEN 0 AND 2", name=op.f("projects_class")),
        sa.CheckConstraint("weight > 0", name=op.f("projects_weight")),
        sa.PrimaryKeyConstraint("id", name=op.f("projects_pkey")),
    )
    op.create_table(
        "dirty",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("project", sa.BigInteger(), nullable=False),
        sa.Column("job", sa.BigInteger(), nullable=True),
        sa.Column(
            "at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("dirty_project_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("dirty_pkey")),
        postgresql_with={"autovacuum_vacuum_scale_factor": 0.0, "autovacuum_vacuum_threshold": 500},
    )
    op.create_index("dirty_project", "dirty", ["project"], unique=False)
    op.create_table(
        "jobs",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("project", sa.BigInteger(), nullable=False),
        sa.Column("episode", sa.Integer(), nullable=True),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("queue", sa.Text(), nullable=False),
        sa.Column("class", sa.SmallInteger(), server_default="1", nullable=False),
        sa.Column("rank", sa.Float(), server_default="0", nullable=False),
        sa.Column("model", sa.Text(), server_default="", nullable=False),
        sa.Column("bucket", sa.Text(), server_default="", nullable=False),
        sa.Column("cap", sa.Integer(), server_default="1", nullable=False),
        sa.Column("state", sa.Text(), server_default="blocked", nullable=False),
        sa.Column("attempt", sa.Integer(), server_default="0", nullable=False),
        sa.Column("failures", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("losses", sa.Integer(), server_default="0", nullable=False),
        sa.Column("solo", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("stop", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("superseded", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("bell", sa.Integer(), server_default="0", nullable=False),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "exclude", postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False
        ),
        sa.Column("progress", sa.Float(), server_default="0", nullable=False),
        sa.Column("seconds_est", sa.Float(), server_default="1", nullable=False),
        sa.Column("peaks", postgresql.ARRAY(sa.BigInteger()), server_default="{0}", nullable=False),
        sa.Column("format", sa.SmallInteger(), server_default="1", nullable=False),
        sa.Column("error_kind", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column(
            "blocked_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("ready_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("running_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("(state = 'running') = (owner IS NOT NULL)", name=op.f("jobs_owner")),
        sa.CheckConstraint(
            "(state IN ('done', 'failed', 'skipped', 'cancelled')) = (settled_at IS NOT NULL)",
            name=op.f("jobs_settled_at"),
        ),
        sa.CheckConstraint("NOT stop OR state = 'running'", name=op.f("jobs_stop")),
        sa.CheckConstraint(
            "error_kind IN ('permanent', 'transient', 'resource', 'lost')",
            name=op.f("jobs_error_kind"),
        ),
        sa.CheckConstraint(
            "state <> 'published' OR published_at IS NOT NULL", name=op.f("jobs_published_at")
        ),
        sa.CheckConstraint(
            "state IN ('blocked', 'ready', 'published', 'running', 'done', 'failed', 'skipped', 'cancelled')",  # noqa: E501 - one CHECK
            name=op.f("jobs_state"),
        ),
        sa.CheckConstraint(
            "state NOT IN ('blocked', 'ready', 'published', 'skipped') OR running_at IS NULL",
            name=op.f("jobs_not_running"),
        ),
        sa.CheckConstraint(
            "state NOT IN ('blocked', 'ready', 'skipped') OR published_at IS NULL",
            name=op.f("jobs_not_published"),
        ),
        sa.CheckConstraint(
            "state NOT IN ('blocked', 'skipped') OR ready_at IS NULL", name=op.f("jobs_never_ready")
        ),
        sa.CheckConstraint(
            "state NOT IN ('ready', 'published', 'running', 'done') OR ready_at IS NOT NULL",
            name=op.f("jobs_ready_at"),
        ),
        sa.CheckConstraint(
            "state NOT IN ('running', 'done') OR (running_at IS NOT NULL AND attempt > 0)",
            name=op.f("jobs_running_at"),
        ),
        sa.CheckConstraint("cap >= 1 AND cardinality(peaks) >= 1", name=op.f("jobs_batch")),
        sa.CheckConstraint("class BETWEEN 0 AND 2", name=op.f("jobs_class")),
        sa.CheckConstraint("failures BETWEEN 0 AND 3", name=op.f("jobs_failures")),
        sa.CheckConstraint("progress BETWEEN 0 AND 1", name=op.f("jobs_progress")),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("jobs_project_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("jobs_pkey")),
        sa.UniqueConstraint(
            "project", "stage", "subject", "key", name=op.f("jobs_project_stage_subject_key_key")
        ),
        postgresql_with={"fillfactor": 70, "autovacuum_vacuum_scale_factor": 0.01},
    )
    op.create_index(
        "jobs_blocked",
        "jobs",
        ["project", "id"],
        unique=False,
        postgresql_where=sa.text("state = 'blocked'"),
    )
    op.create_index(
        "jobs_current",
        "jobs",
        ["project", "stage", "subject"],
        unique=True,
        postgresql_where=sa.text("NOT superseded"),
    )
    op.create_index(
        "jobs_failed",
        "jobs",
        ["project", "id"],
        unique=False,
        postgresql_where=sa.text("state = 'failed'"),
    )
    op.create_index(
        "jobs_published",
        "jobs",
        ["queue", "published_at"],
        unique=False,
        postgresql_where=sa.text("state = 'published'"),
    )
    op.create_index(
        "jobs_ready",
        "jobs",
        ["queue", "class", sa.literal_column("rank DESC"), "id"],
        unique=False,
        postgresql_where=sa.text("state = 'ready'"),
    )
    op.create_index(
        "jobs_running",
        "jobs",
        ["owner", "id"],
        unique=False,
        postgresql_where=sa.text("state = 'running'"),
    )
    op.create_table(
        "attempts",
        sa.Column("job", sa.BigInteger(), nullable=False),
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("device", sa.Text(), nullable=False),
        sa.Column("session", sa.Text(), nullable=True),
        sa.Column("members", sa.Integer(), server_default="1", nullable=False),
        sa.Column(
            "started_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("peak", sa.BigInteger(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("meta", postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False),
        sa.CheckConstraint(
            "outcome IN ('done', 'cancelled', 'permanent', 'transient', 'resource', 'lost')",
            name=op.f("attempts_outcome"),
        ),
        sa.CheckConstraint("(outcome IS NULL) = (ended_at IS NULL)", name=op.f("attempts_ended")),
        sa.ForeignKeyConstraint(
            ["job"], ["jobs.id"], name=op.f("attempts_job_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job", "attempt", name=op.f("attempts_pkey")),
        postgresql_with={"fillfactor": 70, "autovacuum_vacuum_scale_factor": 0.01},
    )
    op.create_table(
        "job_dependencies",
        sa.Column("job", sa.BigInteger(), nullable=False),
        sa.Column("needs", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.CheckConstraint("kind IN ('hard', 'soft')", name=op.f("job_dependencies_kind")),
        sa.CheckConstraint("job <> needs", name=op.f("job_dependencies_not_itself")),
        sa.ForeignKeyConstraint(
            ["job"], ["jobs.id"], name=op.f("job_dependencies_job_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["needs"], ["jobs.id"], name=op.f("job_dependencies_needs_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job", "needs", name=op.f("job_dependencies_pkey")),
    )
    op.create_index(op.f("job_dependencies_needs"), "job_dependencies", ["needs"], unique=False)
    op.create_table(
        "job_params",
        sa.Column("job", sa.BigInteger(), nullable=False),
        sa.Column("params", postgresql.JSONB(), nullable=False),
        sa.ForeignKeyConstraint(
            ["job"], ["jobs.id"], name=op.f("job_params_job_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job", name=op.f("job_params_pkey")),
    )
    op.create_table(
        "artifacts",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("job", sa.BigInteger(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("meta", postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column(
            "at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["job", "attempt"],
            ["attempts.job", "attempts.attempt"],
            name=op.f("artifacts_job_attempt_fkey"),
        ),
        sa.ForeignKeyConstraint(
            ["job"], ["jobs.id"], name=op.f("artifacts_job_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("artifacts_pkey")),
        sa.UniqueConstraint("path", name=op.f("artifacts_path_key")),
    )
    op.create_index("artifacts_job", "artifacts", ["job", "kind"], unique=False)


def downgrade() -> None:
    op.drop_table("artifacts")
    op.drop_table("job_params")
    op.drop_table("job_dependencies")
    op.drop_table("attempts")
    op.drop_table("jobs")
    op.drop_table("dirty")
    op.drop_table("projects")
    op.drop_table("owners")
    op.drop_table("observations")
    op.drop_table("events")
