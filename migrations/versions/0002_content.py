"""The content tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002_content"
down_revision = "0001_scheduling"


def upgrade() -> None:
    op.create_table(
        "sources",
        sa.Column("project", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("encoding", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("sources_project_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project", name=op.f("sources_pkey")),
    )
    op.create_table(
        "characters",
        sa.Column("project", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sex", sa.Text(), server_default="unknown", nullable=False),
        sa.Column("age", sa.Text(), server_default="adult", nullable=False),
        sa.Column("words", postgresql.JSONB(), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("era", sa.Text(), server_default="modern", nullable=False),
        sa.Column("seed", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("features", postgresql.JSONB(), nullable=True),
        sa.Column("reference", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("characters_project_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["reference"], ["artifacts.id"], name=op.f("characters_reference_fkey")
        ),
        sa.PrimaryKeyConstraint("project", "name", name=op.f("characters_pkey")),
    )
    op.create_table(
        "episodes",
        sa.Column("project", sa.BigInteger(), nullable=False),
        sa.Column("no", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), server_default="planned", nullable=False),
        sa.Column("video", sa.BigInteger(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("replaced", postgresql.JSONB(), server_default=sa.text("'[]'"), nullable=False),
        sa.CheckConstraint(
            "state IN ('planned', 'working', 'done', 'degraded', 'failed')",
            name=op.f("episodes_state"),
        ),
        sa.CheckConstraint(
            "state NOT IN ('done', 'degraded') OR video IS NOT NULL", name=op.f("episodes_video")
        ),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("episodes_project_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["video"], ["artifacts.id"], name=op.f("episodes_video_fkey")),
        sa.PrimaryKeyConstraint("project", "no", name=op.f("episodes_pkey")),
    )
    op.create_table(
        "shots",
        sa.Column("project", sa.BigInteger(), nullable=False),
        sa.Column("episode", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("no", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), server_default="shot", nullable=False),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("labels", postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("seed", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("take", sa.Integer(), server_default="1", nullable=False),
        sa.CheckConstraint("kind IN ('shot', 'title', 'end')", name=op.f("shots_kind")),
        sa.ForeignKeyConstraint(
            ["project", "episode"],
            ["episodes.project", "episodes.no"],
            name=op.f("shots_project_episode_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("shots_project_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project", "episode", "no", name=op.f("shots_pkey")),
    )
    op.create_table(
        "lines",
        sa.Column("project", sa.BigInteger(), nullable=False),
        sa.Column("episode", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("shot", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("no", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("character", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("span", postgresql.INT4RANGE(), nullable=False),
        sa.Column("spoken", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("samples", sa.Integer(), nullable=True),
        sa.CheckConstraint("samples >= 0", name=op.f("lines_samples")),
        sa.ForeignKeyConstraint(
            ["project", "episode", "shot"],
            ["shots.project", "shots.episode", "shots.no"],
            name=op.f("lines_project_episode_shot_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("lines_project_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project", "episode", "shot", "no", name=op.f("lines_pkey")),
    )


def downgrade() -> None:
    op.drop_table("lines")
    op.drop_table("shots")
    op.drop_table("episodes")
    op.drop_table("characters")
    op.drop_table("sources")
