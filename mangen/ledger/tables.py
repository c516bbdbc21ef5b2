"""The scheduling tables. `mangen.comic.tables` adds the content to the same metadata.

Predicates of partial indexes are literals, so that the planner matches them with the literals of
the .sql files. The hot tables leave room in their pages for in-page updates and are vacuumed early.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from mangen.ledger import columns, states

metadata = columns.metadata

_HOT = {"fillfactor": 70, "autovacuum_vacuum_scale_factor": 0.01}
_QUEUE = {"autovacuum_vacuum_scale_factor": 0.0, "autovacuum_vacuum_threshold": 500}
_EMPTY = columns.EMPTY
_SETTLED = ", ".join(f"'{state}'" for state in states.State if state in states.SETTLED)
_STATES = ", ".join(f"'{state}'" for state in states.State)


_id, _project, _job, _time = columns.identity, columns.project, columns.job, columns.time
_text, _number, _flag, _json = columns.text, columns.number, columns.flag, columns.json

projects = sa.Table(
    "projects",
    metadata,
    _id(),
    _text("title"),
    _text("state", "open"),  # closed: kept, never looked at again; purging: being removed
    sa.Column("class", sa.SmallInteger, nullable=False, server_default="1"),
    _number("weight", sa.Float, "1"),
    _flag("paused"),
    sa.Column("budget", sa.Float),  # seconds a day on the gpu queues; null: no limit
    _json("settings"),  # snapshot of what affects the products
    sa.Column("episodes_wanted", pg.ARRAY(sa.Integer)),  # null: all of them
    _time("created_at", now=True),
    sa.CheckConstraint("state IN ('open', 'closed', 'purging')", name="state"),
    sa.CheckConstraint("class BETWEEN 0 AND 2", name="class"),
    sa.CheckConstraint("weight > 0", name="weight"),
    sa.CheckConstraint("budget >= 0", name="budget"),
)

jobs = sa.Table(
    "jobs",
    metadata,
    _id(),
    _project(),
    sa.Column("episode", sa.Integer),
    _text("stage"),
    _text("subject"),  # c/NAME, eN/sN, eN/sN/lN, eN, clip/ID
    _text("key"),  # content: own inputs, upstream keys, seed, take
    _text("queue"),
    sa.Column("class", sa.SmallInteger, nullable=False, server_default="1"),
    _number("rank", sa.Float, "0"),  # stored when the job becomes ready; the largest first
    _text("model", ""),
    _text("bucket", ""),
    _number("cap", sa.Integer, "1"),
    _text("state", "blocked"),
    _number("attempt", sa.Integer, "0"),  # the fence, unbounded
    _number("failures", sa.SmallInteger, "0"),  # by its own fault
    _number("losses", sa.Integer, "0"),  # owners lost under it
    _flag("solo"),  # to run alone: a child died under its batch
    _flag("stop"),  # asked of a running job, honoured between steps
    _flag("superseded"),  # no longer wanted: another key took its place
    _number("bell", sa.Integer, "0"),  # publications
    sa.Column("owner", sa.Text),
    # as planned, where the project's class or a promotion moved it from there; null: not moved
    sa.Column("home_queue", sa.Text),
    sa.Column("home_class", sa.SmallInteger),
    _flag("held"),  # paused by a person, below the project: see `holds`
    _time("not_before"),
    _time("expires_at"),  # an ad-hoc request that nobody waits for any more is cancelled then
    sa.Column("exclude", pg.ARRAY(sa.Text), nullable=False, server_default=_EMPTY),
    _number("progress", sa.Float, "0"),
    _number("seconds_theory", sa.Float, "1"),  # as planned, before anything was observed
    _number("seconds_est", sa.Float, "1"),  # theory times what was learned of such work
    _number("brings", sa.Integer, "0"),  # jobs that it will insert: they count as freed
    sa.Column("peaks", pg.ARRAY(sa.BigInteger), nullable=False, server_default="{0}"),
    _number("format", sa.SmallInteger, "1"),  # of the payload; workers claim what they know
    sa.Column("error_kind", sa.Text),
    sa.Column("error", sa.Text),
    _time("blocked_at", now=True),
    _time("ready_at"),
    _time("published_at"),
    _time("running_at"),
    _time("settled_at"),
    sa.UniqueConstraint("project", "stage", "subject", "key"),
    sa.CheckConstraint(f"state IN ({_STATES})", name="state"),
    sa.CheckConstraint("class BETWEEN 0 AND 2", name="class"),
    sa.CheckConstraint("failures BETWEEN 0 AND 3", name="failures"),
    sa.CheckConstraint("progress BETWEEN 0 AND 1", name="progress"),
    sa.CheckConstraint("cap >= 1 AND cardinality(peaks) >= 1", name="batch"),
    sa.CheckConstraint(
        "error_kind IN ('permanent', 'transient', 'resource', 'lost')", name="error_kind"
    ),
    sa.CheckConstraint("(state = 'running') = (owner IS NOT NULL)", name="owner"),
    sa.CheckConstraint("NOT stop OR state = 'running'", name="stop"),
    sa.CheckConstraint(
        "state NOT IN ('blocked', 'skipped') OR ready_at IS NULL", name="never_ready"
    ),
    sa.CheckConstraint(
        "state NOT IN ('ready', 'published', 'running', 'done') OR ready_at IS NOT NULL",
        name="ready_at",
    ),
    sa.CheckConstraint(
        "state NOT IN ('blocked', 'ready', 'skipped') OR published_at IS NULL",
        name="not_published",
    ),
    sa.CheckConstraint("state <> 'published' OR published_at IS NOT NULL", name="published_at"),
    sa.CheckConstraint(
        "state NOT IN ('running', 'done') OR (running_at IS NOT NULL AND attempt > 0)",
        name="running_at",
    ),
    sa.CheckConstraint(
        "state NOT IN ('blocked', 'ready', 'published', 'skipped') OR running_at IS NULL",
        name="not_running",
    ),
    sa.CheckConstraint(f"(state IN ({_SETTLED})) = (settled_at IS NOT NULL)", name="settled_at"),
    sa.Index(
        "jobs_current", "project", "stage", "subject",
        unique=True, postgresql_where=sa.text("NOT superseded"),
    ),
    sa.Index(
        "jobs_blocked", "project", "id", postgresql_where=sa.text("state = 'blocked'")
    ),
    # by project before rank: the pass takes the best of each project, in turn
    sa.Index(
        "jobs_ready", "queue", "class", "project", sa.text("rank DESC"), "id",
        postgresql_where=sa.text("state = 'ready' AND NOT held"),
    ),
    # what gates other work goes beyond the windows' bound
    sa.Index(
        "jobs_gating", "project", sa.text("rank DESC"), "id",
        postgresql_where=sa.text(
            "state = 'ready' AND NOT held AND queue = 'gpu.high'"
            " AND coalesce(home_queue, queue) = 'gpu.high'"
        ),
    ),
    sa.Index("jobs_superseded", "id", postgresql_where=sa.text("superseded")),
    sa.Index(
        "jobs_expiring", "expires_at",
        postgresql_where=sa.text(
            "expires_at IS NOT NULL AND state IN ('blocked', 'ready', 'published')"
        ),
    ),
    sa.Index(
        "jobs_published", "queue", "published_at", postgresql_where=sa.text("state = 'published'")
    ),
    sa.Index("jobs_running", "owner", "id", postgresql_where=sa.text("state = 'running'")),
    sa.Index(
        "jobs_failed", "project", "id", postgresql_where=sa.text("state = 'failed'")
    ),
    postgresql_with=_HOT,
)  # fmt: skip

job_params = sa.Table(
    "job_params",
    metadata,
    _job(primary_key=True),
    sa.Column("params", pg.JSONB, nullable=False),
)

job_dependencies = sa.Table(
    "job_dependencies",
    metadata,
    _job(primary_key=True),
    sa.Column(
        "needs",
        sa.ForeignKey("jobs.id", ondelete="CASCADE"),
        primary_key=True,
        index=True,
        nullable=False,
    ),
    _text("kind"),
    sa.CheckConstraint("kind IN ('hard', 'soft')", name="kind"),
    sa.CheckConstraint("job <> needs", name="not_itself"),
)

attempts = sa.Table(
    "attempts",
    metadata,
    _job(primary_key=True),
    sa.Column("attempt", sa.Integer, primary_key=True, autoincrement=False),
    _text("owner"),
    _text("device"),
    sa.Column("session", sa.Text),
    _number("members", sa.Integer, "1"),
    _time("started_at", now=True),
    _time("ended_at"),
    sa.Column("outcome", sa.Text),
    sa.Column("peak", sa.BigInteger),  # bytes
    sa.Column("error", sa.Text),
    _json("meta"),  # seed, model version, cache hits: what traces a product
    sa.CheckConstraint(
        "outcome IN ('done', 'cancelled', 'permanent', 'transient', 'resource', 'lost')",
        name="outcome",
    ),
    sa.CheckConstraint("(outcome IS NULL) = (ended_at IS NULL)", name="ended"),
    postgresql_with=_HOT,
)

# Append-only; no foreign key: every transition writes here, and a job is never deleted alone.
events = sa.Table(
    "events",
    metadata,
    _id(),
    sa.Column("job", sa.BigInteger, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("from", sa.Text),
    _text("to"),
    _text("query"),
    sa.Column("owner", sa.Text),
    _time("at", now=True),
    sa.Index("events_job", "job", "id"),
)

artifacts = sa.Table(
    "artifacts",
    metadata,
    _id(),
    _job(),
    sa.Column("attempt", sa.Integer, nullable=False),
    _text("kind"),
    sa.Column("path", sa.Text, nullable=False, unique=True),  # below the store's root
    _text("sha256"),
    _json("meta"),
    _time("at", now=True),
    _time("lost_at"),  # the store was found without it, or with something else in its place
    sa.ForeignKeyConstraint(["job", "attempt"], ["attempts.job", "attempts.attempt"]),
    sa.Index("artifacts_job", "job", "kind"),
)

owners = sa.Table(
    "owners",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),  # worker/slot/generation
    _text("worker"),
    sa.Column("slot", sa.Integer, nullable=False),
    sa.Column(
        "generation", sa.BigInteger, nullable=False
    ),  # grows over restarts: see pooling.owners
    _text("device"),  # the device's class: jobs.exclude names these
    sa.Column("queues", pg.ARRAY(sa.Text), nullable=False, server_default=_EMPTY),
    _number("beat", sa.BigInteger, "0"),  # a counter: two equal looks a lease apart mean lost
    _time("beat_at", now=True),
    _json("report"),
    _time("registered_at", now=True),
    _time("released_at"),
    sa.Column("release_reason", sa.Text),
    sa.UniqueConstraint("worker", "slot", "generation"),
    sa.CheckConstraint(
        "release_reason IN ('child_lost', 'lease', 'shutdown', 'silent')", name="release_reason"
    ),
    sa.CheckConstraint("(released_at IS NULL) = (release_reason IS NULL)", name="released"),
    sa.Index("owners_living", "worker", postgresql_where=sa.text("released_at IS NULL")),
    postgresql_with=_HOT,
)

observations = sa.Table(
    "observations",
    metadata,
    _id(),
    _time("at", now=True),
    _text("kind"),  # session, load, restart, ...
    _text("model", ""),
    _text("stage", ""),
    _text("bucket", ""),
    _text("device", ""),
    _number("members", sa.Integer, "1"),
    sa.Column("seconds", sa.Float),
    sa.Column("peak", sa.BigInteger),  # bytes over the weights
    _json("meta"),
    sa.Index("observations_recent", "model", "stage", "bucket", "id"),
)

# What a person asked for, each in the transaction that did it; no foreign key: it outlives a purge.
acts = sa.Table(
    "acts",
    metadata,
    _id(),
    _time("at", now=True),
    _text("by"),
    _text("verb"),  # pause, resume, cancel, priority, retry, retake, edit, purge, ...
    sa.Column("project", sa.BigInteger),
    _text("scope", ""),  # empty: the whole project; eN, eN/sN, job/ID
    _json("detail"),
    sa.Index("acts_project", "project", "id"),
)

# Paused below the project; jobs inserted later are held by it too.
holds = sa.Table(
    "holds",
    metadata,
    _project(primary_key=True),
    sa.Column("scope", sa.Text, primary_key=True),  # eN, eN/sN, job/ID
)

# Fair shares: virtual seconds that each project was served; written by the pass alone.
shares = sa.Table(
    "shares",
    metadata,
    _project(primary_key=True),
    sa.Column("lane", sa.Text, primary_key=True),  # queue/class
    _number("served", sa.Float, "0"),  # estimated seconds / weight
    _time("at", now=True),  # when it was last served: promotion counts from there
)

# How far a lane's fair share has come: who returns to it starts here, without credit for idling.
lanes = sa.Table(
    "lanes",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),  # queue/class
    _number("clock", sa.Float, "0"),  # virtual seconds
)

# What projects used a day on the gpu queues, written as attempts end; budgets are asked of it.
spent = sa.Table(
    "spent",
    metadata,
    _project(primary_key=True),
    sa.Column("day", sa.Date, primary_key=True),  # in the deployment's time zone
    _number("seconds", sa.Float, "0"),
    postgresql_with=_HOT,
)

# Durations of one item, learned as observations are written; they make estimates and forecasts.
# They keep the latest samples themselves, so that pruning observations loses nothing.
durations = sa.Table(
    "durations",
    metadata,
    sa.Column("stage", sa.Text, primary_key=True),
    sa.Column("bucket", sa.Text, primary_key=True),
    sa.Column("model", sa.Text, primary_key=True),
    sa.Column("device", sa.Text, primary_key=True),  # the kind of device
    _number("samples", sa.BigInteger, "0"),
    sa.Column("low", sa.Float, nullable=False),  # 10 % last no longer than this, in seconds
    sa.Column("typical", sa.Float, nullable=False),  # the median
    sa.Column("high", sa.Float, nullable=False),  # 90 %
    sa.Column("mean", sa.Float, nullable=False),
    # the same of observed / theory, for work that differs in length; 1: no theory was given
    _number("factor_low", sa.Float, "1"),
    _number("factor", sa.Float, "1"),  # seconds of all samples / their theory
    _number("factor_high", sa.Float, "1"),
    sa.Column("recent", pg.ARRAY(sa.Float), nullable=False, server_default=_EMPTY),  # seconds
    sa.Column("theory", pg.ARRAY(sa.Float), nullable=False, server_default=_EMPTY),  # beside them
    _time("at", now=True),
    postgresql_with=_HOT,
)

# What is left of each project and when it will be ready; the leader writes it anew all the time.
forecasts = sa.Table(
    "forecasts",
    metadata,
    _project(primary_key=True),
    _time("at", now=True),
    _number("jobs", sa.Integer, "0"),  # open ones
    _number("seconds", sa.Float, "0"),  # that devices will spend on them
    _time("eta_low"),
    _time("eta"),
    _time("eta_high"),
    _text("why", ""),  # there is no eta
    postgresql_with=_HOT,
)

# Open work by queue and class, written with the forecasts: what a scaler asks every half minute.
backlogs = sa.Table(
    "backlogs",
    metadata,
    sa.Column("queue", sa.Text, primary_key=True),
    sa.Column("class", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("state", sa.Text, primary_key=True),
    _number("jobs", sa.BigInteger, "0"),
    _number("seconds", sa.Float, "0"),
    _time("at", now=True),
    postgresql_with=_HOT,
)

# Insert-only, so that finishing never waits for the pass; the pass deletes.
dirty = sa.Table(
    "dirty",
    metadata,
    _id(),
    _project(),
    sa.Column("job", sa.BigInteger),  # done: only its dependents may move; null: look at all
    _time("at", now=True),
    sa.Index("dirty_project", "project"),
    postgresql_with=_QUEUE,
)
