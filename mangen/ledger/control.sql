-- name: cancel_jobs
-- blocked, ready, published -> cancelled; a running one is asked to stop
WITH picked AS MATERIALIZED (
    SELECT id, state FROM jobs
    WHERE id = ANY(CAST(:ids AS bigint[]))
        AND state IN ('blocked', 'ready', 'published', 'running')
    ORDER BY id FOR NO KEY UPDATE
), moved AS (
    UPDATE jobs j SET state = 'cancelled', settled_at = clock_timestamp()
    FROM picked p WHERE j.id = p.id AND p.state <> 'running'
    RETURNING j.id, j.attempt, j.project, p.state AS was
), asked AS (
    UPDATE jobs j SET stop = true
    FROM picked p WHERE j.id = p.id AND p.state = 'running'
    RETURNING j.id, j.attempt, j.project, j.owner
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, was, 'cancelled', 'cancel_jobs', :by FROM moved
), stained AS (
    INSERT INTO dirty (project) SELECT DISTINCT project FROM moved
)
SELECT id, attempt, NULL AS owner FROM moved UNION ALL SELECT id, attempt, owner FROM asked
ORDER BY id;

-- name: supersede_jobs
-- blocked, ready, published -> cancelled; a running one is asked to stop; a settled one is marked
WITH picked AS MATERIALIZED (
    SELECT id, state FROM jobs
    WHERE id = ANY(CAST(:ids AS bigint[])) AND NOT superseded
    ORDER BY id FOR NO KEY UPDATE
), moved AS (
    UPDATE jobs j SET superseded = true, stop = p.state = 'running',
        state = CASE WHEN p.state IN ('blocked', 'ready', 'published')
            THEN 'cancelled' ELSE p.state END,
        settled_at = CASE WHEN p.state IN ('blocked', 'ready', 'published')
            THEN clock_timestamp() ELSE j.settled_at END
    FROM picked p WHERE j.id = p.id
    RETURNING j.id, j.attempt, j.project, j.owner, j.state, p.state AS was
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, was, state, 'supersede_jobs', :by FROM moved WHERE was <> state
), stained AS (
    INSERT INTO dirty (project) SELECT DISTINCT project FROM moved
)
SELECT id, attempt, owner FROM moved ORDER BY id;

-- name: revive_jobs
-- failed, skipped, cancelled -> blocked; with what was skipped only because of them
WITH RECURSIVE also (id) AS (
    SELECT id FROM jobs
    WHERE id = ANY(CAST(:ids AS bigint[])) AND state IN ('failed', 'skipped', 'cancelled')
        AND (:wanted OR NOT superseded)
    UNION
    SELECT j.id FROM also a
    JOIN job_dependencies d ON d.needs = a.id AND d.kind = 'hard'
    JOIN jobs j ON j.id = d.job AND j.state = 'skipped' AND NOT j.superseded
), picked AS MATERIALIZED (
    SELECT id, state FROM jobs
    WHERE id IN (SELECT id FROM also) AND state IN ('failed', 'skipped', 'cancelled')
        -- asked again of the locked row: another may have superseded it meanwhile
        AND (NOT superseded OR (:wanted AND id = ANY(CAST(:ids AS bigint[]))))
    ORDER BY id FOR NO KEY UPDATE
), moved AS (
    UPDATE jobs j SET state = 'blocked', failures = 0, losses = 0, solo = false,
        superseded = false, exclude = '{}', progress = 0, not_before = NULL,
        expires_at = NULL, error_kind = NULL, error = NULL, blocked_at = clock_timestamp(),
        ready_at = NULL,
        published_at = NULL, running_at = NULL, settled_at = NULL
    FROM picked p WHERE j.id = p.id
    RETURNING j.id, j.attempt, j.project, p.state AS was
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, was, 'blocked', 'revive_jobs', :by FROM moved
), stained AS (
    INSERT INTO dirty (project) SELECT DISTINCT project FROM moved
)
SELECT id FROM moved ORDER BY id;
