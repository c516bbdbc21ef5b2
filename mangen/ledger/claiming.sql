-- name: jobs
SELECT j.id, j.project, j.episode, j.stage, j.subject, j.key, j.queue, j.class, j.rank, j.model,
    j.bucket, j.cap, j.state, j.attempt, j.failures, j.bell, j.solo, j.seconds_est,
    j.seconds_theory, j.peaks, j.home_queue, q.params
FROM jobs j LEFT JOIN job_params q ON q.job = j.id
WHERE j.id = ANY(CAST(:ids AS bigint[]))
ORDER BY j.id;

-- name: claim_jobs
-- published, ready -> running
WITH living AS MATERIALIZED (
    -- a release takes this row FOR UPDATE first: no claim slips in behind it
    SELECT name, device FROM owners
    WHERE name = :owner AND released_at IS NULL
    FOR KEY SHARE
), picked AS MATERIALIZED (
    SELECT j.id, j.state FROM living l, jobs j JOIN projects p ON p.id = j.project
    WHERE j.id = ANY(CAST(:ids AS bigint[])) AND j.state IN ('published', 'ready')
        AND (j.not_before IS NULL OR j.not_before <= clock_timestamp())
        AND p.state = 'open' AND NOT p.paused AND NOT j.held
        AND (p.class = 0 OR NOT EXISTS (
            SELECT 1 FROM unnest(CAST(:quiet_from AS time[]), CAST(:quiet_till AS time[]))
                AS q (since, till)
            WHERE CAST(clock_timestamp() AT TIME ZONE :zone AS time) >= q.since
                AND CAST(clock_timestamp() AT TIME ZONE :zone AS time) < q.till
        ))
        AND (p.budget IS NULL OR j.queue NOT LIKE 'gpu.%' OR p.budget > coalesce((
            SELECT t.seconds FROM spent t WHERE t.project = p.id
                AND t.day = CAST(clock_timestamp() AT TIME ZONE :zone AS date)
        ), 0))
        AND NOT l.device = ANY(j.exclude)
        AND j.format <= :format
    ORDER BY j.id FOR NO KEY UPDATE OF j SKIP LOCKED
), moved AS (
    UPDATE jobs j SET state = 'running', attempt = j.attempt + 1, owner = :owner, progress = 0,
        running_at = clock_timestamp()
    FROM picked p WHERE j.id = p.id
    RETURNING j.id, j.attempt, p.state AS was
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, was, 'running', 'claim_jobs', :owner FROM moved
), opened AS (
    INSERT INTO attempts (job, attempt, owner, device, session, members)
    SELECT m.id, m.attempt, l.name, l.device, :session, (SELECT count(*) FROM moved)
    FROM moved m, living l
)
SELECT id, attempt FROM moved ORDER BY id;

-- name: refusals
-- why; and of what may run later, the attempt with which its bell is taken back
WITH judged AS (
    SELECT w.id, j.state, j.attempt,
        CASE
            WHEN j.id IS NULL THEN 'unknown'
            WHEN j.state = 'running' THEN 'running by ' || j.owner
            WHEN j.state NOT IN ('published', 'ready') THEN j.state
            WHEN o.name IS NULL THEN 'owner not registered'
            WHEN o.released_at IS NOT NULL THEN 'owner released'
            WHEN p.state <> 'open' THEN 'project ' || p.state
        END AS never,
        CASE
            WHEN p.paused THEN 'paused'
            WHEN j.held THEN 'held'
            WHEN j.not_before > clock_timestamp() THEN 'not before ' || j.not_before
            WHEN p.class > 0 AND EXISTS (
                SELECT 1 FROM unnest(CAST(:quiet_from AS time[]), CAST(:quiet_till AS time[]))
                    AS q (since, till)
                WHERE CAST(clock_timestamp() AT TIME ZONE :zone AS time) >= q.since
                    AND CAST(clock_timestamp() AT TIME ZONE :zone AS time) < q.till
            ) THEN 'quiet hours'
            WHEN j.queue LIKE 'gpu.%' AND p.budget <= coalesce((
                SELECT t.seconds FROM spent t WHERE t.project = p.id
                    AND t.day = CAST(clock_timestamp() AT TIME ZONE :zone AS date)
            ), 0) THEN 'budget of ' || p.budget || ' s a day spent'
        END AS later,
        CASE
            WHEN o.device = ANY(j.exclude) THEN 'device class excluded'
            WHEN j.format > :format THEN 'format ' || j.format || ' not understood'
            ELSE 'locked by another'
        END AS here
    FROM unnest(CAST(:ids AS bigint[])) AS w (id)
    LEFT JOIN jobs j ON j.id = w.id
    LEFT JOIN projects p ON p.id = j.project
    LEFT JOIN owners o ON o.name = :owner
)
SELECT id, coalesce(never, later, here) AS why,
    CASE WHEN never IS NULL AND later IS NOT NULL AND state = 'published' THEN attempt END AS rung
FROM judged;

-- name: hand_back
-- published, ready -> ready, failed, cancelled
WITH picked AS MATERIALIZED (
    SELECT id, state, queue, exclude FROM jobs
    WHERE id = :job AND attempt = :attempt AND state IN ('published', 'ready')
    FOR NO KEY UPDATE
), decided AS (
    SELECT p.id, p.state AS was,
        CASE
            WHEN :why = 'cancel' THEN 'cancelled'
            WHEN :why = 'never_fits' AND NOT EXISTS (
                SELECT 1 FROM owners o
                WHERE o.released_at IS NULL AND p.queue = ANY(o.queues)
                    AND o.device <> :device AND NOT o.device = ANY(p.exclude)
            ) THEN 'failed'
            ELSE 'ready'
        END AS next,
        CASE
            WHEN :why = 'never_fits' AND NOT :device = ANY(p.exclude)
            THEN array_append(p.exclude, :device) ELSE p.exclude
        END AS exclude
    FROM picked p
), moved AS (
    UPDATE jobs j SET state = d.next, exclude = d.exclude,
        published_at = CASE WHEN d.next = 'ready' THEN NULL ELSE j.published_at END,
        settled_at = CASE WHEN d.next = 'ready' THEN NULL ELSE clock_timestamp() END,
        error_kind = CASE WHEN d.next = 'failed' THEN 'permanent' ELSE j.error_kind END,
        error = CASE WHEN d.next = 'failed' THEN 'larger than every registered device: '
            || array_to_string(d.exclude, ', ') ELSE j.error END
    FROM decided d WHERE j.id = d.id
    RETURNING j.id, j.attempt, j.project, d.was, j.state
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, was, state, 'hand_back', :by FROM moved
), stained AS (
    INSERT INTO dirty (project) SELECT project FROM moved WHERE state <> 'ready'
)
SELECT state FROM moved;

-- name: held_jobs
-- what an owner runs of these: a claim whose answer was lost on its way is found again here
SELECT id, attempt FROM jobs
WHERE id = ANY(CAST(:ids AS bigint[])) AND state = 'running' AND owner = :owner
ORDER BY id;

-- name: register
INSERT INTO owners (name, worker, slot, generation, device, queues)
VALUES (:owner, :worker, :slot, :generation, :device, CAST(:queues AS text[]))
ON CONFLICT (name) DO UPDATE SET name = excluded.name
RETURNING released_at;
