-- name: close_for_purge
UPDATE projects SET state = 'purging' WHERE id = :project AND state <> 'purging' RETURNING id;

-- name: purging
SELECT id FROM projects WHERE state = 'purging' ORDER BY id;

-- name: purge_leftover
SELECT count(*) FILTER (WHERE state = 'running') AS running, count(*) AS jobs
FROM jobs WHERE project = :project;

-- name: purge_ids
SELECT j.id FROM jobs j JOIN projects p ON p.id = j.project
WHERE j.project = :project AND p.state = 'purging' AND j.attempt > 0;

-- name: purge_jobs
-- events hang on jobs by number alone; all else goes by its foreign key
WITH picked AS MATERIALIZED (
    SELECT j.id FROM jobs j JOIN projects p ON p.id = j.project
    WHERE j.project = :project AND p.state = 'purging' AND j.state <> 'running'
    ORDER BY j.id LIMIT :batch FOR UPDATE OF j
), unlogged AS (
    DELETE FROM events e USING picked p WHERE e.job = p.id
)
DELETE FROM jobs j USING picked p WHERE j.id = p.id RETURNING j.id;

-- name: purge_project
DELETE FROM projects p
WHERE p.id = :project AND p.state = 'purging'
    AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.project = p.id)
RETURNING p.id;
