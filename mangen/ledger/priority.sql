-- name: set_class
UPDATE projects SET class = :klass WHERE id = :project RETURNING id;

-- name: move_jobs
-- what is not done follows its project's class, from where it was planned; promotions are undone
WITH picked AS MATERIALIZED (
    SELECT id FROM jobs WHERE project = :project AND state <> 'done'
    ORDER BY id FOR NO KEY UPDATE
), placed AS (
    SELECT j.id, coalesce(j.home_queue, j.queue) AS queue, coalesce(j.home_class, j.class) AS class
    FROM picked JOIN jobs j USING (id)
), aimed AS (
    SELECT w.*,
        CASE p.class WHEN 0 THEN 0 WHEN 2 THEN least(w.class + 1, 2) ELSE w.class END AS to_class,
        CASE
            WHEN p.class = 0 AND w.queue LIKE 'gpu.%' THEN 'gpu.high'
            WHEN p.class = 2 AND w.queue = 'gpu.high' THEN 'gpu.mid'
            WHEN p.class = 2 AND w.queue = 'gpu.mid' THEN 'gpu.low'
            ELSE w.queue
        END AS to_queue
    FROM placed w CROSS JOIN projects p WHERE p.id = :project
)
UPDATE jobs j SET queue = a.to_queue, class = a.to_class,
    home_queue = nullif(a.queue, a.to_queue), home_class = nullif(a.class, a.to_class)
FROM aimed a
WHERE j.id = a.id AND (j.queue, j.class) IS DISTINCT FROM (a.to_queue, a.to_class)
RETURNING j.id;

-- name: set_weight
UPDATE projects SET weight = :weight WHERE id = :project RETURNING id;

-- name: set_budget
UPDATE projects SET budget = :budget WHERE id = :project RETURNING id;

-- name: withheld
-- open projects that may begin nothing just now, though nobody paused them
SELECT p.id, p.class > 0 AND q.quiet AS quiet, p.budget, coalesce(t.seconds, 0) AS spent
FROM projects p
CROSS JOIN (
    SELECT EXISTS (
        SELECT 1 FROM unnest(CAST(:quiet_from AS time[]), CAST(:quiet_till AS time[]))
            AS q (since, till)
        WHERE CAST(clock_timestamp() AT TIME ZONE :zone AS time) >= q.since
            AND CAST(clock_timestamp() AT TIME ZONE :zone AS time) < q.till
    ) AS quiet
) q
LEFT JOIN spent t ON t.project = p.id AND p.budget IS NOT NULL
    AND t.day = CAST(clock_timestamp() AT TIME ZONE :zone AS date)
WHERE p.state = 'open'
    AND ((p.class > 0 AND q.quiet) OR p.budget <= coalesce(t.seconds, 0))
    AND (CAST(:ids AS bigint[]) IS NULL OR p.id = ANY(CAST(:ids AS bigint[])));
