"""Tables as they look after months: four projects of five all settled, every fifth half done.

Written by generate_series, with every event, attempt, parameter and dependency that the product
would have written; then churned and vacuumed, as autovacuum would.
"""

from __future__ import annotations

import sqlalchemy as sa

JOBS = 100  #: of a project: a storyboard, 5 anchors, 31 shots of voice, panel and clip, assembly
ANCHORS = 5
OPEN_EACH = 5  #: every fifth project is half done
PUBLISHED = 20  #: bells that ring, in every size: they are bounded by windows

_JOBS = """
INSERT INTO jobs (
    id, project, episode, stage, subject, key, queue, class, rank, model, bucket, state, attempt,
    bell, seconds_est, peaks, blocked_at, ready_at, published_at, running_at, settled_at, progress,
    error_kind, error
)
SELECT id, p, 1, stage, subject, md5(CAST(id AS text)), queue,
    CASE WHEN queue = 'gpu.high' THEN 0 ELSE 1 END,
    0.5 / seconds - 0.2 * extract(epoch FROM at) / 3600, model, stage, state,
    CASE WHEN settled THEN 1 ELSE 0 END, CASE WHEN settled OR state = 'published' THEN 1 ELSE 0 END,
    seconds, ARRAY[CAST(1e9 AS bigint)], at,
    CASE WHEN state <> 'blocked' THEN at + interval '1 min' END,
    CASE WHEN settled OR state = 'published' THEN at + interval '2 min' END,
    CASE WHEN settled THEN at + interval '3 min' END,
    CASE WHEN settled THEN at + interval '4 min' END,
    CASE WHEN state = 'done' THEN 1 ELSE 0 END,
    CASE WHEN state = 'failed' THEN 'permanent' END, CASE WHEN state = 'failed' THEN 'broken' END
FROM (
    SELECT *, state IN ('done', 'failed') AS settled FROM (
        SELECT *, (p - 1) * :jobs + k + 1 AS id,
            clock_timestamp() - make_interval(mins => :projects - p + 10) AS at,
            CASE
                WHEN p % :open_each <> 0 AND k = :anchors + 3 AND p % 10 = 1 THEN 'failed'
                WHEN p % :open_each <> 0 OR k < :jobs / 2 THEN 'done'
                WHEN k = :jobs / 2 + 1 AND p <= :published * :open_each THEN 'published'
                WHEN k = :jobs / 2 OR (k < :jobs - 1 AND part <> 2) THEN 'ready'
                ELSE 'blocked'
            END AS state
        FROM (
            SELECT p, k,
                (k - :anchors - 1) % 3 AS part,
                CASE
                    WHEN k = 0 THEN 'storyboard' WHEN k <= :anchors THEN 'anchor'
                    WHEN k = :jobs - 1 THEN 'assemble' WHEN (k - :anchors) % 3 = 1 THEN 'voice'
                    WHEN (k - :anchors) % 3 = 2 THEN 'illustrate' ELSE 'animate'
                END AS stage,
                CASE
                    WHEN k = 0 THEN 'project' WHEN k <= :anchors THEN 'c/' || k
                    WHEN k = :jobs - 1 THEN 'e1'
                    WHEN (k - :anchors) % 3 = 1 THEN 'e1/s' || (k - :anchors) / 3 || '/l1'
                    ELSE 'e1/s' || (k - :anchors - 1) / 3
                END AS subject,
                CASE
                    WHEN k IN (0, :jobs - 1) OR (k > :anchors AND (k - :anchors) % 3 = 1) THEN 'cpu'
                    WHEN k <= :anchors THEN 'gpu.high' ELSE 'gpu.mid'
                END AS queue,
                CASE
                    WHEN k IN (0, :jobs - 1) OR (k - :anchors) % 3 = 1 THEN '' ELSE 'sdxl'
                END AS model,
                2.0 + (k % 7) * 3 AS seconds
            FROM generate_series(1, :projects) AS p, generate_series(0, :jobs - 1) AS k
        ) spread
    ) stated
) made
ORDER BY id
"""

_NEEDS = """
INSERT INTO job_dependencies (job, needs, kind)
SELECT (p - 1) * :jobs + k + 1, (p - 1) * :jobs + n + 1, kind
FROM generate_series(1, :projects) AS p, (
    SELECT k, 0 AS n, 'hard' AS kind FROM generate_series(1, :jobs - 2) AS k
    WHERE k <= :anchors OR (k - :anchors) % 3 = 1
    UNION ALL
    SELECT k, 1 + (k + a) % :anchors, 'soft'
    FROM generate_series(:anchors + 2, :jobs - 2, 3) AS k, generate_series(0, 1) AS a
    UNION ALL
    SELECT k, k - 1, 'hard' FROM generate_series(:anchors + 3, :jobs - 2, 3) AS k
    UNION ALL
    SELECT k, k - 2, 'soft' FROM generate_series(:anchors + 3, :jobs - 2, 3) AS k
    UNION ALL
    SELECT :jobs - 1, n, 'soft' FROM generate_series(:anchors + 1, :jobs - 2) AS n
    WHERE (n - :anchors) % 3 <> 2
) edges
"""

_EVENTS = """
INSERT INTO events (job, attempt, "from", "to", query, owner, at)
SELECT j.id, CASE WHEN e.query IN ('claim_jobs', 'finish_job') THEN 1 ELSE 0 END, e."from",
    CASE WHEN e.query = 'finish_job' THEN j.state ELSE e."to" END,
    CASE WHEN e.query = 'finish_job' AND j.state = 'failed' THEN 'fail_job' ELSE e.query END,
    CASE WHEN e.query IN ('claim_jobs', 'finish_job') THEN 'old/0/1' ELSE 'pass' END,
    j.blocked_at + make_interval(mins => e.no)
FROM jobs j, (VALUES
    (0, NULL, 'blocked', 'insert_jobs'), (1, 'blocked', 'ready', 'ready_jobs'),
    (2, 'ready', 'published', 'publish_jobs'), (3, 'published', 'running', 'claim_jobs'),
    (4, 'running', 'done', 'finish_job')
) AS e (no, "from", "to", query)
WHERE e.no = 0 OR (e.no = 1 AND j.ready_at IS NOT NULL)
    OR (e.no = 2 AND j.published_at IS NOT NULL) OR (e.no > 2 AND j.settled_at IS NOT NULL)
ORDER BY j.id, e.no
"""

_REST = (
    """
    INSERT INTO owners (name, worker, slot, generation, device, queues, released_at, release_reason)
    VALUES ('old/0/1', 'old', 0, 1, 'cpu', '{}', clock_timestamp(), 'shutdown')
    """,
    """
    INSERT INTO attempts (job, attempt, owner, device, started_at, ended_at, outcome)
    SELECT id, 1, 'old/0/1', 'cpu', running_at, settled_at,
        CASE WHEN state = 'done' THEN 'done' ELSE 'permanent' END
    FROM jobs WHERE settled_at IS NOT NULL ORDER BY id
    """,
    """
    INSERT INTO job_params (job, params)
    SELECT id, jsonb_build_object('prompt', repeat(key, 6), 'seed', id) FROM jobs ORDER BY id
    """,
    # as much churn as a table sees between two vacuums of it
    "UPDATE jobs SET bell = bell WHERE id % 4 = 0",
)

_CONTENT = (
    """
    INSERT INTO artifacts (job, attempt, kind, path, sha256)
    SELECT id, 1, 'video', project || '/' || id || '-1.mp4', md5(key) FROM jobs
    WHERE stage = 'assemble' AND state = 'done' ORDER BY id
    """,
    """
    INSERT INTO episodes (project, no, title, state, video, seconds)
    SELECT p.id, 1, '第1集', CASE WHEN a.id IS NULL THEN 'working' ELSE 'done' END, a.id, 60
    FROM projects p LEFT JOIN jobs j ON j.project = p.id AND j.stage = 'assemble'
    LEFT JOIN artifacts a ON a.job = j.id ORDER BY p.id
    """,
)


def fill(url: str, projects: int, *, jobs: int = JOBS, anchors: int = ANCHORS) -> None:
    """Fill an empty ledger with projects of so many jobs each, a tenth of all open."""
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    values = {
        "projects": projects, "jobs": jobs, "anchors": anchors, "open_each": OPEN_EACH,
        "published": PUBLISHED,
    }  # fmt: skip
    with engine.connect() as conn:
        conn.exec_driver_sql("SET session_replication_role = replica")  # no row is checked twice
        conn.exec_driver_sql("SET synchronous_commit = off")
        conn.exec_driver_sql("SET maintenance_work_mem = '256MB'")
        later = _drop_indexes(conn)
        conn.execute(
            sa.text(
                "INSERT INTO projects (id, title, settings) SELECT p, 'project ' || p, '{}' "
                "FROM generate_series(1, :projects) AS p"
            ),
            values,
        )
        for text in (_JOBS, _NEEDS, _EVENTS, *_REST, *_CONTENT):
            statement = sa.text(text)
            names = statement.compile().params
            conn.execute(statement, {name: values[name] for name in names})
        for definition in later:
            conn.exec_driver_sql(definition)
        for table in ("projects", "jobs"):
            conn.exec_driver_sql(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}"  # noqa: S608 - two names of ours
            )
        conn.exec_driver_sql("VACUUM ANALYZE")
        conn.exec_driver_sql("CHECKPOINT")


def _drop_indexes(conn: sa.Connection) -> list[str]:
    """Drop what is built faster at the end; answers the definitions."""
    rows = conn.exec_driver_sql(
        """
        SELECT c.relname, pg_get_indexdef(i.indexrelid) AS text
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE i.indrelid IN (
                'jobs'::regclass, 'events'::regclass, 'job_dependencies'::regclass
            )
            AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid)
        """
    ).all()
    for name, _ in rows:
        conn.exec_driver_sql(f"DROP INDEX {name}")
    return [text for _, text in rows]


_PUBLISHED = """
WITH made AS (
    INSERT INTO jobs (
        project, episode, stage, subject, key, queue, rank, model, bucket, state, bell, blocked_at,
        ready_at, published_at
    )
    SELECT :open_each * (1 + n % :projects), 1, 'voice', :batch || '/' || n, 'load', 'cpu', 0, '',
        'voice', 'published', 1, clock_timestamp(), clock_timestamp(), clock_timestamp()
    FROM generate_series(0, :count - 1) AS n ORDER BY n
    RETURNING id
), filled AS (
    INSERT INTO job_params (job, params)
    SELECT id, jsonb_build_object('prompt', repeat(md5(CAST(id AS text)), 6)) FROM made
), needed AS (
    INSERT INTO job_dependencies (job, needs, kind)
    SELECT id, (:open_each - 1) * :jobs + k, 'soft' FROM made, generate_series(1, 2) AS k
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, 0, "from", "to", query, 'load' FROM made, (VALUES
        (1, NULL, 'blocked', 'insert_jobs'), (2, 'blocked', 'ready', 'ready_jobs'),
        (3, 'ready', 'published', 'publish_jobs')
    ) AS e (no, "from", "to", query) ORDER BY id, no
)
SELECT id FROM made ORDER BY id
"""


def publish(url: str, count: int, batch: str, *, projects: int = 20) -> list[int]:
    """Add so many published jobs with two settled needs each, dealt out to open projects."""
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as conn:
        found = conn.execute(
            sa.text(_PUBLISHED),
            {"count": count, "batch": batch, "projects": projects, "jobs": JOBS,
             "open_each": OPEN_EACH},
        ).scalars()  # fmt: skip
        made = list(found)
        conn.exec_driver_sql("VACUUM ANALYZE jobs, events, attempts, job_params, dirty")
    return made
