-- name: beat
WITH mine AS MATERIALIZED (
    SELECT name, released_at FROM owners
    WHERE name = ANY(CAST(:owners AS text[]))
    ORDER BY name FOR NO KEY UPDATE
), beaten AS (
    UPDATE owners o SET beat = o.beat + 1, beat_at = clock_timestamp(),
        report = CAST(:report AS jsonb)
    FROM mine m WHERE o.name = m.name AND m.released_at IS NULL
)
SELECT name FROM mine WHERE released_at IS NOT NULL;

-- name: stopping_jobs
SELECT id, attempt, owner FROM jobs
WHERE state = 'running' AND owner = ANY(CAST(:owners AS text[])) AND stop
ORDER BY id;

-- name: living_owners
SELECT name, worker, slot, generation, device, queues, beat, report,
    CAST(extract(epoch FROM clock_timestamp() - beat_at) AS float) AS silent_s
FROM owners WHERE released_at IS NULL
ORDER BY name;

-- name: lock_owner
SELECT name FROM owners WHERE name = :owner FOR UPDATE;

-- name: close_owner
UPDATE owners SET released_at = clock_timestamp(), release_reason = :reason
WHERE name = :owner AND released_at IS NULL;

-- name: release_owner
-- running -> ready, failed, cancelled
WITH picked AS MATERIALIZED (
    SELECT id, stop, failures, losses, id = ANY(CAST(:alone AS bigint[])) AS alone FROM jobs
    WHERE state = 'running' AND owner = :owner
    ORDER BY id FOR NO KEY UPDATE
), judged AS (
    SELECT p.*,
        NOT p.stop AND ((:reason = 'child_lost' AND p.alone)
            OR (:reason = 'lease' AND p.losses + 1 >= 3)) AS guilty
    FROM picked p
), charged AS (
    SELECT g.*, CASE WHEN g.guilty THEN least(g.failures + 1, 3) ELSE g.failures END AS charge
    FROM judged g
), decided AS (
    SELECT c.*,
        CASE
            WHEN c.stop THEN 'cancelled'
            WHEN c.guilty AND c.charge >= 3 THEN 'failed'
            ELSE 'ready'
        END AS next
    FROM charged c
), moved AS (
    UPDATE jobs j SET state = d.next, failures = d.charge, owner = NULL, stop = false,
        losses = d.losses + CASE WHEN :reason = 'lease' THEN 1 ELSE 0 END,
        solo = j.solo OR (:reason = 'child_lost' AND NOT d.alone),
        error_kind = CASE WHEN :reason IN ('shutdown', 'silent') THEN j.error_kind ELSE 'lost' END,
        error = CASE WHEN :reason IN ('shutdown', 'silent') THEN j.error ELSE :error END,
        not_before = CASE WHEN d.guilty AND d.next = 'ready' THEN clock_timestamp()
            + make_interval(secs => least(300, CAST(:backoff_s AS float) * (0.75 + 0.5 * random())
                * 2 ^ d.charge)) END,
        published_at = CASE WHEN d.next = 'ready' THEN NULL ELSE j.published_at END,
        running_at = CASE WHEN d.next = 'ready' THEN NULL ELSE j.running_at END,
        settled_at = CASE WHEN d.next = 'ready' THEN NULL ELSE clock_timestamp() END
    FROM decided d WHERE j.id = d.id
    RETURNING j.id, j.attempt, j.project, j.state, j.queue
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, 'running', state, 'release_owner', :owner FROM moved
), closed AS (
    UPDATE attempts a SET ended_at = clock_timestamp(), error = :error,
        outcome = CASE WHEN m.state = 'cancelled' THEN 'cancelled' ELSE 'lost' END
    FROM moved m WHERE a.job = m.id AND a.attempt = m.attempt
    RETURNING a.started_at, a.ended_at, a.members, m.project, m.queue
), paid AS (
    INSERT INTO spent (project, day, seconds)
    SELECT project, CAST(ended_at AT TIME ZONE :zone AS date) AS day,
        sum(greatest(0, extract(epoch FROM ended_at - started_at)) / members)
    FROM closed WHERE queue LIKE 'gpu.%'
    GROUP BY project, day ORDER BY project, day
    ON CONFLICT (project, day) DO UPDATE SET seconds = spent.seconds + excluded.seconds
), stained AS (
    INSERT INTO dirty (project) SELECT DISTINCT project FROM moved
)
SELECT id, state FROM moved ORDER BY id;

-- name: expected_models
-- of what is published, bounded by the windows of living workers
SELECT model FROM jobs WHERE state = 'published' AND model <> ''
GROUP BY model ORDER BY min(class), max(rank) DESC, model;
