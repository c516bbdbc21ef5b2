-- name: dirty_projects
-- who waits longest first: what stays dirty must not starve others
SELECT project FROM dirty GROUP BY project ORDER BY min(id);

-- name: look_project
-- as lock_project; and this transaction ends without waiting for the disk: a crash that takes it
-- back leaves the project dirty, and whatever commits after it takes it along
SELECT id, set_config('synchronous_commit', 'off', true) FROM projects
WHERE id = :project FOR NO KEY UPDATE;

-- name: clear_dirty
DELETE FROM dirty WHERE project = :project RETURNING job;

-- name: open_projects
-- open projects with blocked jobs: a jump a project, however many have finished
WITH RECURSIVE found (project) AS (
    (SELECT project FROM jobs WHERE state = 'blocked' ORDER BY project LIMIT 1)
    UNION ALL
    SELECT n.project FROM found f CROSS JOIN LATERAL (
        SELECT j.project FROM jobs j WHERE j.state = 'blocked' AND j.project > f.project
        ORDER BY j.project LIMIT 1
    ) n
)
SELECT p.id FROM found f JOIN projects p ON p.id = f.project
WHERE p.state = 'open'
ORDER BY p.id;

-- name: movable_projects
-- those of these projects in which a blocked job could be skipped or become ready
SELECT p.id FROM unnest(CAST(:projects AS bigint[])) AS p (id)
WHERE EXISTS (
    SELECT 1 FROM jobs j
    WHERE j.project = p.id AND j.state = 'blocked'
        AND (
            SELECT coalesce(
                bool_or(d.kind = 'hard' AND n.state IN ('failed', 'skipped', 'cancelled'))
                OR NOT bool_or(n.state IN ('blocked', 'ready', 'published', 'running')),
                true
            )
            FROM job_dependencies d JOIN jobs n ON n.id = d.needs WHERE d.job = j.id
        )
)
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
    j.brings + (SELECT count(*) FILTER (WHERE n.state = 'blocked')
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
    j.brings + (SELECT count(*) FILTER (WHERE n.state = 'blocked')
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
