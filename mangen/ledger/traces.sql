-- name: trace_jobs
-- these jobs and all that they need, whatever became of it
WITH RECURSIVE tree (id) AS (
    SELECT * FROM unnest(CAST(:roots AS bigint[])) AS r (id)
    UNION
    SELECT d.needs FROM tree t JOIN job_dependencies d ON d.job = t.id
)
SELECT j.id, j.project, j.episode, j.stage, j.subject, j.key, j.queue, j.class, j.model, j.bucket,
    j.state, j.superseded, j.failures, j.losses, j.seconds_theory, j.seconds_est, j.error_kind,
    j.error, q.params -> 'seed' AS seed,
    ARRAY(SELECT d.needs FROM job_dependencies d WHERE d.job = j.id ORDER BY d.needs) AS needs,
    coalesce((
        SELECT jsonb_agg(jsonb_build_object('attempt', e.attempt, 'to', e."to", 'at', e.at)
            ORDER BY e.id)
        FROM events e WHERE e.job = j.id
    ), '[]') AS events,
    coalesce((
        SELECT jsonb_agg(to_jsonb(a) || jsonb_build_object('worker', o.worker, 'slot', o.slot,
            'released', o.release_reason) ORDER BY a.attempt)
        FROM attempts a LEFT JOIN owners o ON o.name = a.owner WHERE a.job = j.id
    ), '[]') AS attempts,
    coalesce((
        SELECT jsonb_agg(jsonb_build_object('attempt', f.attempt, 'kind', f.kind, 'path', f.path,
            'sha256', f.sha256, 'meta', f.meta) ORDER BY f.id)
        FROM artifacts f WHERE f.job = j.id
    ), '[]') AS artifacts,
    ARRAY(
        SELECT o.id FROM jobs o
        WHERE o.project = j.project AND o.stage = j.stage AND o.subject = j.subject
            AND o.superseded AND o.id <> j.id
        ORDER BY o.id
    ) AS earlier
FROM tree t JOIN jobs j ON j.id = t.id LEFT JOIN job_params q ON q.job = j.id
ORDER BY j.id;

-- name: trace_file
-- a stored path, or any file by the sha256 of its bytes; the newest first
SELECT job, attempt, kind, path, sha256 FROM artifacts
WHERE path = :path OR sha256 = :sha256
ORDER BY id DESC;
