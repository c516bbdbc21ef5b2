-- name: lock_attempt
SELECT stop FROM jobs
WHERE id = :job AND attempt = :attempt AND owner = :owner AND state = 'running'
FOR NO KEY UPDATE;

-- name: standing_of
SELECT state, attempt, owner FROM jobs WHERE id = :job;

-- name: progress
UPDATE jobs SET progress = :progress
WHERE id = :job AND attempt = :attempt AND owner = :owner AND state = 'running'
RETURNING NOT stop;

-- name: add_artifacts
INSERT INTO artifacts (job, attempt, kind, path, sha256, meta)
SELECT :job, :attempt, kind, path, sha256, meta
FROM jsonb_to_recordset(CAST(:artifacts AS jsonb)) AS a (
    no integer, kind text, path text, sha256 text, meta jsonb
)
ORDER BY no
RETURNING id;

-- name: artifacts
SELECT a.id, a.job, a.kind, a.path, a.sha256, a.meta
FROM artifacts a WHERE a.job = ANY(CAST(:jobs AS bigint[])) ORDER BY a.id;

-- name: orphans
-- {project}/{job}-{attempt}[-n].ext of an attempt that this ledger knows and that ended without
-- them; a stranger's file, or one of another ledger's, is none of ours
WITH stored AS MATERIALIZED (
    SELECT s.path,
        regexp_match(s.path, '^([0-9]{1,18})/([0-9]{1,18})-([0-9]{1,9})[-.]') AS part
    FROM unnest(CAST(:paths AS text[])) AS s (path)
)
SELECT s.path FROM stored s
WHERE NOT EXISTS (SELECT 1 FROM artifacts a WHERE a.path = s.path)
    AND EXISTS (
        SELECT 1 FROM attempts t JOIN jobs j ON j.id = t.job
        WHERE t.job = CAST(s.part[2] AS bigint) AND t.attempt = CAST(s.part[3] AS integer)
            AND j.project = CAST(s.part[1] AS bigint) AND t.ended_at IS NOT NULL
    )
ORDER BY s.path;

-- name: note_attempt
UPDATE attempts SET peak = coalesce(:peak, peak), meta = meta || CAST(:meta AS jsonb)
WHERE job = :job AND attempt = :attempt;

-- name: finish_job
-- running -> done, cancelled
WITH moved AS (
    UPDATE jobs SET state = CASE WHEN stop THEN 'cancelled' ELSE 'done' END,
        progress = CASE WHEN stop THEN progress ELSE 1 END,
        owner = NULL, stop = false, not_before = NULL, error_kind = NULL, error = NULL,
        settled_at = clock_timestamp()
    WHERE id = :job AND attempt = :attempt AND owner = :owner AND state = 'running'
    RETURNING id, attempt, project, state, queue
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, 'running', state, 'finish_job', :owner FROM moved
), closed AS (
    UPDATE attempts a SET ended_at = clock_timestamp(), outcome = m.state
    FROM moved m WHERE a.job = m.id AND a.attempt = m.attempt
    RETURNING a.started_at, a.ended_at, a.members, m.project, m.queue
), paid AS (
    -- a batch's seconds are shared among its members
    INSERT INTO spent (project, day, seconds)
    SELECT project, CAST(ended_at AT TIME ZONE :zone AS date),
        greatest(0, extract(epoch FROM ended_at - started_at)) / members
    FROM closed WHERE queue LIKE 'gpu.%'
    ON CONFLICT (project, day) DO UPDATE SET seconds = spent.seconds + excluded.seconds
), stained AS (
    INSERT INTO dirty (project, job)
    SELECT project, CASE WHEN state = 'done' THEN id END FROM moved
)
SELECT state FROM moved;

-- name: fail_job
-- running -> ready, failed, cancelled
WITH picked AS MATERIALIZED (
    SELECT j.id, j.stop, j.failures,
        (SELECT count(*) FROM attempts a WHERE a.job = j.id AND a.outcome = 'resource') AS waits
    FROM jobs j
    WHERE j.id = :job AND j.attempt = :attempt AND j.owner = :owner AND j.state = 'running'
    FOR NO KEY UPDATE OF j
), charged AS (
    SELECT p.*,
        CASE WHEN p.stop OR :kind = 'resource' THEN p.failures ELSE least(p.failures + 1, 3) END
            AS charge
    FROM picked p
), decided AS (
    SELECT c.id, c.charge,
        CASE
            WHEN c.stop THEN 'cancelled'
            WHEN :kind = 'permanent' OR (:kind = 'transient' AND c.charge >= 3) THEN 'failed'
            ELSE 'ready'
        END AS next,
        -- 2^n x base, jittered by a quarter, so that what failed together does not return together,
        -- not at the most either: 240 x 1.25 is 300 s
        least(240, CAST(:backoff_s AS float)
            * 2 ^ least(20, CASE WHEN :kind = 'resource' THEN c.waits + 1 ELSE c.charge END))
            * (0.75 + 0.5 * random()) AS wait_s
    FROM charged c
), moved AS (
    UPDATE jobs j SET state = d.next, failures = d.charge, owner = NULL, stop = false,
        error_kind = :kind, error = :error,
        not_before = CASE
            WHEN d.next = 'ready' THEN clock_timestamp() + make_interval(secs => d.wait_s) END,
        published_at = CASE WHEN d.next = 'ready' THEN NULL ELSE j.published_at END,
        running_at = CASE WHEN d.next = 'ready' THEN NULL ELSE j.running_at END,
        settled_at = CASE WHEN d.next = 'ready' THEN NULL ELSE clock_timestamp() END
    FROM decided d WHERE j.id = d.id
    RETURNING j.id, j.attempt, j.project, j.state, j.queue
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, 'running', state, 'fail_job', :owner FROM moved
), closed AS (
    UPDATE attempts a SET ended_at = clock_timestamp(), error = :error,
        outcome = CASE WHEN m.state = 'cancelled' THEN 'cancelled' ELSE :kind END
    FROM moved m WHERE a.job = m.id AND a.attempt = m.attempt
    RETURNING a.started_at, a.ended_at, a.members, m.project, m.queue
), paid AS (
    INSERT INTO spent (project, day, seconds)
    SELECT project, CAST(ended_at AT TIME ZONE :zone AS date),
        greatest(0, extract(epoch FROM ended_at - started_at)) / members
    FROM closed WHERE queue LIKE 'gpu.%'
    ON CONFLICT (project, day) DO UPDATE SET seconds = spent.seconds + excluded.seconds
), stained AS (
    INSERT INTO dirty (project) SELECT project FROM moved WHERE state <> 'ready'
)
SELECT state FROM moved;
