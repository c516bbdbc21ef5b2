-- name: expire_jobs
-- blocked, ready, published -> cancelled
WITH picked AS MATERIALIZED (
    -- the statement's time, not the clock's: only a stable value is looked for in an index
    SELECT id, state FROM jobs
    WHERE expires_at <= statement_timestamp() AND state IN ('blocked', 'ready', 'published')
    ORDER BY id LIMIT :limit FOR NO KEY UPDATE SKIP LOCKED
), moved AS (
    UPDATE jobs j SET state = 'cancelled', settled_at = clock_timestamp(), error = 'expired'
    FROM picked p WHERE j.id = p.id
    RETURNING j.id, j.attempt, j.project, p.state AS was
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, was, 'cancelled', 'expire_jobs', :by FROM moved
), stained AS (
    INSERT INTO dirty (project) SELECT DISTINCT project FROM moved
)
SELECT id FROM moved ORDER BY id;

-- name: expire_at
-- asked for again: what waits is waited for again
UPDATE jobs SET expires_at = clock_timestamp() + make_interval(secs => :expires_s)
WHERE id = ANY(CAST(:ids AS bigint[])) AND state IN ('blocked', 'ready', 'published');

-- name: ownerless
-- running jobs that no heartbeat carries: their owner's row is gone, or was released before them
SELECT j.owner, array_agg(j.id ORDER BY j.id) AS jobs
FROM jobs j LEFT JOIN owners o ON o.name = j.owner
WHERE j.state = 'running' AND (o.name IS NULL OR o.released_at IS NOT NULL)
GROUP BY j.owner ORDER BY j.owner;

-- name: dead_bells
-- published jobs that a worker held when it was lost: no broker brings them back in time
SELECT j.id FROM jobs j
WHERE j.state = 'published' AND NOT j.id = ANY(CAST(:held AS bigint[]))
    AND EXISTS (
        SELECT 1 FROM owners o
        WHERE o.release_reason = 'lease' AND o.beat_at >= j.published_at
            AND o.report -> 'window' @> jsonb_build_array(jsonb_build_object('job', j.id))
    )
ORDER BY j.id;

-- name: unlooked
-- projects of which blocked jobs may move though nothing says that the pass should look
SELECT j.project, count(*) AS jobs
FROM jobs j JOIN projects p ON p.id = j.project
WHERE j.state = 'blocked' AND p.state = 'open'
    AND NOT EXISTS (SELECT 1 FROM dirty d WHERE d.project = j.project)
    AND (
        SELECT coalesce(
            bool_or(d.kind = 'hard' AND n.state IN ('failed', 'skipped', 'cancelled'))
            OR NOT bool_or(n.state IN ('blocked', 'ready', 'published', 'running')),
            true
        )
        FROM job_dependencies d JOIN jobs n ON n.id = d.needs WHERE d.job = j.id
    )
GROUP BY j.project ORDER BY j.project;

-- name: busy_projects
SELECT project FROM jobs WHERE state = 'blocked'
UNION SELECT project FROM jobs WHERE state = 'ready'
UNION SELECT project FROM jobs WHERE state = 'published'
UNION SELECT project FROM jobs WHERE state = 'running'
ORDER BY project;

-- name: stored_files
-- what a project's jobs published, whatever became of the jobs
SELECT a.id, a.job, a.kind, a.path, a.sha256, a.lost_at IS NOT NULL AS lost, j.stage, j.subject
FROM jobs j JOIN artifacts a ON a.job = j.id
WHERE j.project = :project;

-- name: mark_lost
UPDATE artifacts SET lost_at = CASE WHEN :lost THEN clock_timestamp() END
WHERE id = ANY(CAST(:ids AS bigint[])) AND (lost_at IS NULL) = :lost;

-- name: dependents
-- who needs these jobs, of what is still wanted
SELECT d.needs, d.job, j.state
FROM job_dependencies d JOIN jobs j ON j.id = d.job
WHERE d.needs = ANY(CAST(:ids AS bigint[])) AND NOT j.superseded
ORDER BY d.needs, d.job;

-- name: current_done
SELECT id FROM jobs
WHERE id = ANY(CAST(:ids AS bigint[])) AND state = 'done' AND NOT superseded
ORDER BY id FOR NO KEY UPDATE;

-- name: rename_keys
-- a superseded row gives its key up to the row that takes its place
UPDATE jobs SET key = key || '#lost-' || id
WHERE id = ANY(CAST(:ids AS bigint[])) AND superseded
RETURNING id;

-- name: redo_jobs
-- - -> blocked
WITH old AS MATERIALIZED (
    SELECT * FROM jobs WHERE id = ANY(CAST(:ids AS bigint[]))
), made AS (
    INSERT INTO jobs (
        project, episode, stage, subject, key, queue, class, model, bucket, cap, seconds_theory,
        seconds_est, brings, peaks, format, held, expires_at, home_queue, home_class
    )
    SELECT project, episode, stage, subject, regexp_replace(key, '#lost-[0-9]+$', ''), queue, class,
        model, bucket, cap, seconds_theory, seconds_est, brings, peaks, format, held,
        expires_at,
        home_queue, home_class
    FROM old ORDER BY id
    RETURNING id, stage, subject, attempt, state
), paired AS (
    SELECT o.id AS old, m.id AS new FROM made m JOIN old o USING (stage, subject)
), filled AS (
    INSERT INTO job_params (job, params)
    SELECT p.new, q.params FROM paired p JOIN job_params q ON q.job = p.old
), tied AS (
    INSERT INTO job_dependencies (job, needs, kind)
    SELECT p.new, coalesce(n.new, d.needs), d.kind
    FROM paired p JOIN job_dependencies d ON d.job = p.old
    LEFT JOIN paired n ON n.old = d.needs
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, NULL, state, 'redo_jobs', :by FROM made
)
SELECT old, new FROM paired ORDER BY old;

-- name: retie
-- what waits, and never ran in this life, needs the new rows instead of the old ones
UPDATE job_dependencies d SET needs = m.new
FROM unnest(CAST(:old AS bigint[]), CAST(:new AS bigint[])) AS m (old, new), jobs j
WHERE d.needs = m.old AND j.id = d.job AND NOT j.superseded AND j.state IN ('blocked', 'skipped');

-- name: note_rescue
INSERT INTO acts (by, verb, project, scope, detail)
VALUES (:by, 'rescue', :project, :scope, CAST(:detail AS jsonb));
