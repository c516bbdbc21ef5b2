-- What people ask of the ledger; all of it ignores what is superseded.

-- name: project_counts
-- a row a project, however many stages and states: `counts` is stage, state, jobs and so on, between
-- tabs; three arrays of them would be a sixth slower
SELECT p.id, p.title, p.paused, p.state, c.counts, c.weight, c.done
FROM projects p
LEFT JOIN (
    SELECT project,
        string_agg(stage || chr(9) || state || chr(9) || jobs, chr(9)) AS counts,
        sum(weight) AS weight, sum(done) AS done
    FROM (
        SELECT project, stage, state, count(*) AS jobs, sum(seconds_est) AS weight,
            sum(seconds_est * CASE WHEN settled_at IS NULL THEN progress ELSE 1 END) AS done
        FROM jobs
        WHERE NOT superseded
            AND (CAST(:ids AS bigint[]) IS NULL OR project = ANY(CAST(:ids AS bigint[])))
        GROUP BY project, stage, state
    ) counted
    GROUP BY project
) c ON c.project = p.id
WHERE CAST(:ids AS bigint[]) IS NULL OR p.id = ANY(CAST(:ids AS bigint[]))
ORDER BY p.id;

-- name: project_details
-- failures, what waits for a reason, the closing stage of each episode, and what is both of these:
-- the last three in one look at all jobs
SELECT project, 'failure' AS what, id, stage, subject, episode, state, error_kind, error, attempt,
    settled_at AS at
FROM jobs
WHERE state = 'failed' AND NOT superseded
    AND (CAST(:ids AS bigint[]) IS NULL OR project = ANY(CAST(:ids AS bigint[])))
UNION ALL
SELECT project, CASE WHEN NOT closes THEN 'waiting' WHEN waits THEN 'both' ELSE 'closing' END,
    id, stage, subject, episode, state, error_kind, error, attempt, not_before
FROM (
    SELECT *, stage = :closing AND episode IS NOT NULL AS closes,
        state = 'ready' AND (error_kind = 'resource' OR coalesce(not_before > now(), false))
            AS waits
    FROM jobs
    WHERE NOT superseded
        AND (
            (stage = :closing AND episode IS NOT NULL)
            OR (state = 'ready' AND (error_kind = 'resource' OR not_before > now()))
        )
        AND (CAST(:ids AS bigint[]) IS NULL OR project = ANY(CAST(:ids AS bigint[])))
) j
ORDER BY 1, 3;

-- name: project_holds
SELECT project, scope FROM holds
WHERE scope NOT IN ('', 'all')
    AND (CAST(:ids AS bigint[]) IS NULL OR project = ANY(CAST(:ids AS bigint[])))
ORDER BY project, scope;

-- name: dead_jobs
-- failed jobs with their last attempt, its owner, and what of that owner's device was last heard
SELECT j.id, j.project, p.title, j.stage, j.subject, j.error_kind, j.error, j.attempt, j.failures,
    j.losses, j.exclude, j.peaks[1] AS peak_bytes, j.queue, j.settled_at AS at,
    a.owner, a.device, o.slot, o.worker, o.released_at, o.release_reason,
    coalesce(o.report -> 'quarantined' @> to_jsonb(o.slot), false) AS quarantined,
    (SELECT count(*) FROM job_dependencies d JOIN jobs n ON n.id = d.job
     WHERE d.needs = j.id AND n.state = 'skipped' AND NOT n.superseded) AS skipped
FROM jobs j
JOIN projects p ON p.id = j.project
LEFT JOIN attempts a ON a.job = j.id AND a.attempt = j.attempt
LEFT JOIN owners o ON o.name = a.owner
WHERE j.state = 'failed' AND NOT j.superseded
    AND (
        CAST(:projects AS bigint[]) IS NULL OR j.project = ANY(CAST(:projects AS bigint[]))
        OR j.id = ANY(CAST(:jobs AS bigint[]))
    )
ORDER BY j.project, j.id;

-- name: stuck_jobs
-- ready, and held back by want of room: they go on by themselves once there is some
SELECT project, id, stage, subject, error, not_before
FROM jobs
WHERE state = 'ready' AND error_kind = 'resource' AND NOT superseded
    AND (
        CAST(:projects AS bigint[]) IS NULL OR project = ANY(CAST(:projects AS bigint[]))
        OR id = ANY(CAST(:jobs AS bigint[]))
    )
ORDER BY project, id;

-- name: living_slots
-- devices that serve now, by worker and slot
SELECT worker, slot, device, coalesce(report -> 'quarantined' @> to_jsonb(slot), false)
    AS quarantined, clock_timestamp() - beat_at > make_interval(secs => :lease_s) AS silent
FROM owners WHERE released_at IS NULL;

-- name: project_forecasts
-- as they were told last; `age_s`: since anybody looked at all
SELECT f.project, f.seconds, f.eta_low, f.eta, f.eta_high, f.why,
    CAST(extract(epoch FROM clock_timestamp() - (SELECT max(at) FROM backlogs)) AS float) AS age_s,
    CAST(greatest(0, extract(epoch FROM f.eta - clock_timestamp())) AS float) AS eta_s
FROM forecasts f
WHERE CAST(:ids AS bigint[]) IS NULL OR f.project = ANY(CAST(:ids AS bigint[]));
