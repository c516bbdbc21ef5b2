-- name: dirty_projects
SELECT DISTINCT project FROM dirty ORDER BY project;

-- name: clear_dirty
DELETE FROM dirty WHERE project = :project RETURNING job;

-- name: open_projects
SELECT p.id FROM projects p
WHERE p.state = 'open'
    AND EXISTS (SELECT 1 FROM jobs j WHERE j.project = p.id AND j.state = 'blocked')
ORDER BY p.id;

-- name: skip_jobs
-- blocked -> skipped
WITH picked AS MATERIALIZED (
    SELECT j.id, j.state FROM jobs j
    WHERE j.project = :project AND j.state = 'blocked'
        AND (
            SELECT coalesce(bool_or(
                d.kind = 'hard' AND n.state IN ('failed', 'skipped', 'cancelled')
            ), false)
            FROM job_dependencies d JOIN jobs n ON n.id = d.needs WHERE d.job = j.id
        )
    ORDER BY j.id FOR NO KEY UPDATE OF j SKIP LOCKED
), moved AS (
    UPDATE jobs j SET state = 'skipped', settled_at = clock_timestamp()
    FROM picked p WHERE j.id = p.id
    RETURNING j.id, j.attempt, p.state AS was
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, was, 'skipped', 'skip_jobs', :by FROM moved
)
SELECT id FROM moved ORDER BY id;

-- name: find_ready
SELECT j.id, j.seconds_theory, j.stage, j.bucket, j.model, j.peaks[1] AS peak_bytes,
    j.class AS klass,
    (SELECT count(*) FILTER (WHERE n.state = 'blocked')
     FROM job_dependencies d JOIN jobs n ON n.id = d.job WHERE d.needs = j.id) AS frees
FROM jobs j
WHERE j.project = :project AND j.state = 'blocked'
    AND NOT (
        SELECT coalesce(bool_or(
            n.state IN ('blocked', 'ready', 'published', 'running')
            OR (d.kind = 'hard' AND n.state <> 'done')
        ), false)
        FROM job_dependencies d JOIN jobs n ON n.id = d.needs WHERE d.job = j.id
    )
ORDER BY j.id;

-- name: find_ready_near
-- as find_ready, among those that need one of these
SELECT j.id, j.seconds_theory, j.stage, j.bucket, j.model, j.peaks[1] AS peak_bytes,
    j.class AS klass,
    (SELECT count(*) FILTER (WHERE n.state = 'blocked')
     FROM job_dependencies d JOIN jobs n ON n.id = d.job WHERE d.needs = j.id) AS frees
FROM (
    SELECT DISTINCT job FROM job_dependencies WHERE needs = ANY(CAST(:near AS bigint[]))
) c
JOIN jobs j ON j.id = c.job
WHERE j.project = :project AND j.state = 'blocked'
    AND NOT (
        SELECT coalesce(bool_or(
            n.state IN ('blocked', 'ready', 'published', 'running')
            OR (d.kind = 'hard' AND n.state <> 'done')
        ), false)
        FROM job_dependencies d JOIN jobs n ON n.id = d.needs WHERE d.job = j.id
    )
ORDER BY j.id;

-- name: now_hours
SELECT CAST(extract(epoch FROM clock_timestamp()) / 3600 AS float);

-- name: ready_jobs
-- blocked -> ready
WITH ranked AS MATERIALIZED (
    SELECT * FROM unnest(
        CAST(:ids AS bigint[]), CAST(:ranks AS float[]), CAST(:seconds AS float[])
    ) AS r (id, rank, seconds)
), picked AS MATERIALIZED (
    SELECT j.id, j.state, r.rank, r.seconds FROM jobs j JOIN ranked r ON r.id = j.id
    WHERE j.state = 'blocked'
        AND NOT (
            SELECT coalesce(bool_or(
                n.state IN ('blocked', 'ready', 'published', 'running')
                OR (d.kind = 'hard' AND n.state <> 'done')
            ), false)
            FROM job_dependencies d JOIN jobs n ON n.id = d.needs WHERE d.job = j.id
        )
    ORDER BY j.id FOR NO KEY UPDATE OF j SKIP LOCKED
), moved AS (
    UPDATE jobs j SET state = 'ready', rank = p.rank, seconds_est = coalesce(p.seconds, j.seconds_est),
        ready_at = clock_timestamp()
    FROM picked p WHERE j.id = p.id
    RETURNING j.id, j.attempt, p.state AS was
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, was, 'ready', 'ready_jobs', :by FROM moved
)
SELECT id FROM moved ORDER BY id;

-- name: find_publishable
SELECT j.*, q.params
FROM jobs j JOIN projects p ON p.id = j.project LEFT JOIN job_params q ON q.job = j.id
WHERE j.queue = :queue AND j.state = 'ready'
    AND (j.not_before IS NULL OR j.not_before <= clock_timestamp())
    AND p.state = 'open' AND NOT p.paused AND NOT j.held
ORDER BY j.class, j.rank DESC, j.id
LIMIT :limit;

-- name: publish_jobs
-- ready -> published
WITH picked AS MATERIALIZED (
    SELECT j.id, j.state FROM jobs j JOIN projects p ON p.id = j.project
    WHERE j.id = ANY(CAST(:ids AS bigint[])) AND j.state = 'ready'
        AND (j.not_before IS NULL OR j.not_before <= clock_timestamp())
        AND p.state = 'open' AND NOT p.paused AND NOT j.held
    ORDER BY j.id FOR NO KEY UPDATE OF j SKIP LOCKED
), moved AS (
    UPDATE jobs j SET state = 'published', bell = j.bell + 1, published_at = clock_timestamp()
    FROM picked p WHERE j.id = p.id
    RETURNING j.*, p.state AS was
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, was, 'published', 'publish_jobs', :by FROM moved
)
SELECT m.*, q.params FROM moved m LEFT JOIN job_params q ON q.job = m.id
ORDER BY m.class, m.rank DESC, m.id;

-- name: unpublish_jobs
-- published -> ready
WITH picked AS MATERIALIZED (
    SELECT id, state FROM jobs
    WHERE state = 'published' AND queue = ANY(CAST(:queues AS text[]))
        AND published_at < clock_timestamp() - make_interval(secs => :older_than_s)
        AND NOT id = ANY(CAST(:held AS bigint[]))
        AND (CAST(:ids AS bigint[]) IS NULL OR id = ANY(CAST(:ids AS bigint[])))
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
), moved AS (
    UPDATE jobs j SET state = 'ready', published_at = NULL
    FROM picked p WHERE j.id = p.id
    RETURNING j.id, j.attempt, p.state AS was
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, was, 'ready', 'unpublish_jobs', :by FROM moved
)
SELECT count(*) FROM moved;

-- name: published_count
SELECT queue, count(*) AS published FROM jobs WHERE state = 'published' GROUP BY queue;
