-- name: standing
SELECT id, project, episode, stage, subject, state, superseded, stop FROM jobs WHERE id = :job;

-- name: scope_jobs
SELECT id, project, episode, stage, subject, state, superseded, stop FROM jobs
WHERE project = :project AND NOT superseded AND state = ANY(CAST(:states AS text[]))
    AND (:scope = '' OR subject = :scope OR starts_with(subject, :scope || '/')
         OR :scope = 'job/' || id)
ORDER BY id;

-- name: idle_needs
SELECT n.id FROM jobs n
WHERE n.id IN (SELECT needs FROM job_dependencies WHERE job = ANY(CAST(:ids AS bigint[])))
    AND NOT n.id = ANY(CAST(:ids AS bigint[]))
    AND n.state IN ('blocked', 'ready', 'published', 'running')
    AND NOT n.superseded AND NOT n.stop
    AND NOT EXISTS (
        SELECT 1 FROM job_dependencies d JOIN jobs j ON j.id = d.job
        WHERE d.needs = n.id AND NOT j.superseded AND NOT j.stop
            AND j.state IN ('blocked', 'ready', 'published', 'running')
            AND NOT j.id = ANY(CAST(:ids AS bigint[]))
    )
ORDER BY n.id;

-- name: retry_jobs
WITH RECURSIVE needed (id) AS (
    SELECT id FROM jobs
    WHERE project = :project AND NOT superseded AND state IN ('failed', 'skipped', 'cancelled')
        AND (:scope = '' OR subject = :scope OR starts_with(subject, :scope || '/')
             OR :scope = 'job/' || id)
    UNION
    SELECT n.id FROM needed m
    JOIN job_dependencies d ON d.job = m.id
    JOIN jobs n ON n.id = d.needs AND NOT n.superseded
        AND n.state IN ('failed', 'skipped', 'cancelled')
), waiting (id) AS (
    SELECT id FROM needed
    UNION
    SELECT j.id FROM waiting w
    JOIN job_dependencies d ON d.needs = w.id
    JOIN jobs j ON j.id = d.job AND NOT j.superseded AND j.state IN ('failed', 'skipped')
)
SELECT id, project, episode, stage, subject, state, superseded, stop FROM jobs
WHERE id IN (SELECT id FROM waiting)
ORDER BY id;

-- name: move_scope
-- what is not done of a scope, to a class and its queues, from where it was planned
WITH picked AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE project = :project AND NOT superseded AND state <> 'done'
        AND (subject = :scope OR starts_with(subject, :scope || '/') OR :scope = 'job/' || id)
    ORDER BY id FOR NO KEY UPDATE
), placed AS (
    SELECT j.id, coalesce(j.home_queue, j.queue) AS queue, coalesce(j.home_class, j.class) AS class
    FROM picked JOIN jobs j USING (id)
), aimed AS (
    SELECT w.*,
        CASE :klass WHEN 0 THEN 0 WHEN 2 THEN least(w.class + 1, 2) ELSE w.class END AS to_class,
        CASE
            WHEN :klass = 0 AND w.queue LIKE 'gpu.%' THEN 'gpu.high'
            WHEN :klass = 2 AND w.queue = 'gpu.high' THEN 'gpu.mid'
            WHEN :klass = 2 AND w.queue = 'gpu.mid' THEN 'gpu.low'
            ELSE w.queue
        END AS to_queue
    FROM placed w
)
UPDATE jobs j SET queue = a.to_queue, class = a.to_class,
    home_queue = nullif(a.queue, a.to_queue), home_class = nullif(a.class, a.to_class)
FROM aimed a
WHERE j.id = a.id AND (j.queue, j.class) IS DISTINCT FROM (a.to_queue, a.to_class)
RETURNING j.id;
