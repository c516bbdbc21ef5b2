-- What people ask of the ledger; all of it ignores what is superseded.

-- name: project_counts
SELECT p.id, p.title, p.paused, p.state AS project_state, c.stage, c.state, c.jobs, c.weight, c.done
FROM projects p
LEFT JOIN (
    SELECT project, stage, state, count(*) AS jobs, sum(seconds_est) AS weight,
        sum(seconds_est * CASE WHEN settled_at IS NULL THEN progress ELSE 1 END) AS done
    FROM jobs
    WHERE NOT superseded
        AND (CAST(:ids AS bigint[]) IS NULL OR project = ANY(CAST(:ids AS bigint[])))
    GROUP BY project, stage, state
) c ON c.project = p.id
WHERE CAST(:ids AS bigint[]) IS NULL OR p.id = ANY(CAST(:ids AS bigint[]))
ORDER BY p.id, c.stage, c.state;

-- name: project_details
-- failures, what waits for a reason, and the closing stage of each episode
SELECT project, 'failure' AS what, id, stage, subject, episode, state, error_kind, error, attempt,
    settled_at AS at
FROM jobs
WHERE state = 'failed' AND NOT superseded
    AND (CAST(:ids AS bigint[]) IS NULL OR project = ANY(CAST(:ids AS bigint[])))
UNION ALL
SELECT project, 'waiting', id, stage, subject, episode, state, error_kind, error, attempt,
    not_before
FROM jobs
WHERE state = 'ready' AND NOT superseded
    AND (error_kind = 'resource' OR not_before > clock_timestamp())
    AND (CAST(:ids AS bigint[]) IS NULL OR project = ANY(CAST(:ids AS bigint[])))
UNION ALL
SELECT project, 'closing', id, stage, subject, episode, state, NULL, NULL, attempt, NULL
FROM jobs
WHERE stage = :closing AND episode IS NOT NULL AND NOT superseded
    AND (CAST(:ids AS bigint[]) IS NULL OR project = ANY(CAST(:ids AS bigint[])))
ORDER BY 1, 3;

-- name: project_holds
SELECT project, scope FROM holds
WHERE scope NOT IN ('', 'all')
    AND (CAST(:ids AS bigint[]) IS NULL OR project = ANY(CAST(:ids AS bigint[])))
ORDER BY project, scope;
