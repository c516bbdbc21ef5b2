-- name: lock_jobs
SELECT id FROM jobs WHERE id = ANY(CAST(:ids AS bigint[])) ORDER BY id FOR NO KEY UPDATE;

-- name: insert_dirty
INSERT INTO dirty (project) VALUES (:project);

-- name: standing_jobs
SELECT j.id, j.stage, j.subject, j.key, j.state, j.stop, j.superseded
FROM unnest(CAST(:stages AS text[]), CAST(:subjects AS text[])) AS w (stage, subject)
JOIN jobs j ON j.project = :project AND j.stage = w.stage AND j.subject = w.subject
ORDER BY j.id;

-- name: insert_jobs
-- - -> blocked
WITH wanted AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(CAST(:wanted AS jsonb)) AS w (
        no integer, stage text, subject text, key text, queue text, class smallint, bucket text,
        model text, cap integer, episode integer, seconds_est float, peaks bigint[], params jsonb,
        expires_s float, brings integer
    )
), placed AS (
    -- a project's class moves its jobs: as move_jobs does
    SELECT w.*,
        CASE p.class WHEN 0 THEN 0 WHEN 2 THEN least(w.class + 1, 2) ELSE w.class END AS to_class,
        CASE
            WHEN p.class = 0 AND w.queue LIKE 'gpu.%' THEN 'gpu.high'
            WHEN p.class = 2 AND w.queue = 'gpu.high' THEN 'gpu.mid'
            WHEN p.class = 2 AND w.queue = 'gpu.mid' THEN 'gpu.low'
            ELSE w.queue
        END AS to_queue
    FROM wanted w CROSS JOIN projects p WHERE p.id = :project
), made AS (
    INSERT INTO jobs (
        project, stage, subject, key, queue, class, bucket, model, cap, episode, seconds_theory,
        seconds_est, brings, peaks, format, expires_at, home_queue, home_class
    )
    SELECT :project, stage, subject, key, to_queue, to_class, bucket, model, cap, episode,
        seconds_est, seconds_est, brings, peaks, :format,
        clock_timestamp() + make_interval(secs => expires_s),
        nullif(queue, to_queue), nullif(class, to_class)
    FROM placed ORDER BY no
    ON CONFLICT (project, stage, subject, key) DO NOTHING
    RETURNING id, stage, subject, key, attempt, state
), filled AS (
    INSERT INTO job_params (job, params)
    SELECT m.id, w.params FROM made m JOIN wanted w USING (stage, subject, key)
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, NULL, state, 'insert_jobs', :by FROM made
)
SELECT id, stage, subject, key, state FROM made;

-- name: keep_jobs
-- wanted again: what a superseded row did stays done, what it does goes on
UPDATE jobs SET superseded = false, stop = false
WHERE id = ANY(CAST(:ids AS bigint[])) AND state IN ('running', 'done') AND (superseded OR stop);

-- name: insert_dependencies
-- of new rows, which have none yet
INSERT INTO job_dependencies (job, needs, kind)
SELECT job, needs, kind FROM unnest(
    CAST(:job AS bigint[]), CAST(:needs AS bigint[]), CAST(:kind AS text[])
) AS w (job, needs, kind);

-- name: replace_dependencies
WITH wanted AS MATERIALIZED (
    SELECT * FROM unnest(
        CAST(:job AS bigint[]), CAST(:needs AS bigint[]), CAST(:kind AS text[])
    ) AS w (job, needs, kind)
), dropped AS (
    DELETE FROM job_dependencies d
    WHERE d.job = ANY(CAST(:standing AS bigint[]))
        AND NOT EXISTS (SELECT 1 FROM wanted w WHERE w.job = d.job AND w.needs = d.needs)
)
INSERT INTO job_dependencies (job, needs, kind)
SELECT job, needs, kind FROM wanted
ON CONFLICT (job, needs) DO UPDATE SET kind = excluded.kind;

-- name: learn_statistics
-- after a large insert: without them each job's few needs are looked for by reading whole tables
ANALYZE (SKIP_LOCKED) jobs, job_dependencies;
