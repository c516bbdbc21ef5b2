-- Every way a job may move is one query here, named as in states.TRANSITIONS; it names the states it
-- may leave and appends its events in the same statement. Database time, never a host's.
-- Lock order: owner row, project row (FOR NO KEY UPDATE, which no foreign key waits for), job rows by
-- id. The pass takes job rows with SKIP LOCKED, so it never waits for one; whoever it skipped has
-- written `dirty`.
-- One case breaks the order: a finishing job that inserts jobs holds its own row first. Who
-- supersedes that very job in that very moment may see a deadlock, and tries again.
-- Needs are asked row by row through aggregates, not through joins with states in their WHERE:
-- states shift faster than statistics, and a join planned for "hardly any is blocked" takes minutes
-- once a novel was inserted.

-- name: notify
SELECT pg_notify(:channel, :payload);

-- name: insert_project
INSERT INTO projects (title, class, weight, settings, episodes_wanted)
VALUES (:title, :klass, :weight, CAST(:settings AS jsonb), CAST(:episodes_wanted AS integer[]))
RETURNING id;

-- name: projects
SELECT * FROM projects
WHERE CAST(:ids AS bigint[]) IS NULL OR id = ANY(CAST(:ids AS bigint[]))
ORDER BY id;

-- name: set_paused
UPDATE projects SET paused = :paused WHERE id = :project RETURNING id;

-- name: want_episodes
UPDATE projects SET episodes_wanted = CAST(:episodes AS integer[]) WHERE id = :project RETURNING id;

-- name: lock_project
SELECT id FROM projects WHERE id = :project FOR NO KEY UPDATE;

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
        model text, cap integer, episode integer, seconds_est float, peaks bigint[], params jsonb
    )
), made AS (
    INSERT INTO jobs (
        project, stage, subject, key, queue, class, bucket, model, cap, episode, seconds_est, peaks,
        format
    )
    SELECT :project, stage, subject, key, queue, class, bucket, model, cap, episode, seconds_est,
        peaks, :format
    FROM wanted ORDER BY no
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

-- name: dirty_projects
SELECT DISTINCT project FROM dirty ORDER BY project;

-- name: clear_dirty
DELETE FROM dirty WHERE project = :project RETURNING job;

-- name: open_projects
SELECT p.id FROM projects p
WHERE p.state = 'open'
    AND EXISTS (SELECT 1 FROM jobs j WHERE j.project = p.id AND j.state = 'blocked')
ORDER BY p.id;

-- name: skip_jobs
-- blocked -> skipped
WITH picked AS MATERIALIZED (
    SELECT j.id, j.state FROM jobs j
    WHERE j.project = :project AND j.state = 'blocked'
        AND (
            SELECT coalesce(bool_or(
                d.kind = 'hard' AND n.state IN ('failed', 'skipped', 'cancelled')
            ), false)
            FROM job_dependencies d JOIN jobs n ON n.id = d.needs WHERE d.job = j.id
        )
    ORDER BY j.id FOR NO KEY UPDATE OF j SKIP LOCKED
), moved AS (
    UPDATE jobs j SET state = 'skipped', settled_at = clock_timestamp()
    FROM picked p WHERE j.id = p.id
    RETURNING j.id, j.attempt, p.state AS was
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, was, 'skipped', 'skip_jobs', :by FROM moved
)
SELECT id FROM moved ORDER BY id;

-- name: find_ready
SELECT j.id, j.seconds_est, j.peaks[1] AS peak_bytes, j.class AS klass,
    (SELECT count(*) FILTER (WHERE n.state = 'blocked')
     FROM job_dependencies d JOIN jobs n ON n.id = d.job WHERE d.needs = j.id) AS frees
FROM jobs j
WHERE j.project = :project AND j.state = 'blocked'
    AND NOT (
        SELECT coalesce(bool_or(
            n.state IN ('blocked', 'ready', 'published', 'running')
            OR (d.kind = 'hard' AND n.state <> 'done')
        ), false)
        FROM job_dependencies d JOIN jobs n ON n.id = d.needs WHERE d.job = j.id
    )
ORDER BY j.id;

-- name: find_ready_near
-- as find_ready, among those that need one of these
SELECT j.id, j.seconds_est, j.peaks[1] AS peak_bytes, j.class AS klass,
    (SELECT count(*) FILTER (WHERE n.state = 'blocked')
     FROM job_dependencies d JOIN jobs n ON n.id = d.job WHERE d.needs = j.id) AS frees
FROM (
    SELECT DISTINCT job FROM job_dependencies WHERE needs = ANY(CAST(:near AS bigint[]))
) c
JOIN jobs j ON j.id = c.job
WHERE j.project = :project AND j.state = 'blocked'
    AND NOT (
        SELECT coalesce(bool_or(
            n.state IN ('blocked', 'ready', 'published', 'running')
            OR (d.kind = 'hard' AND n.state <> 'done')
        ), false)
        FROM job_dependencies d JOIN jobs n ON n.id = d.needs WHERE d.job = j.id
    )
ORDER BY j.id;

-- name: now_hours
SELECT CAST(extract(epoch FROM clock_timestamp()) / 3600 AS float);

-- name: ready_jobs
-- blocked -> ready
WITH ranked AS MATERIALIZED (
    SELECT * FROM unnest(CAST(:ids AS bigint[]), CAST(:ranks AS float[])) AS r (id, rank)
), picked AS MATERIALIZED (
    SELECT j.id, j.state, r.rank FROM jobs j JOIN ranked r ON r.id = j.id
    WHERE j.state = 'blocked'
        AND NOT (
            SELECT coalesce(bool_or(
                n.state IN ('blocked', 'ready', 'published', 'running')
                OR (d.kind = 'hard' AND n.state <> 'done')
            ), false)
            FROM job_dependencies d JOIN jobs n ON n.id = d.needs WHERE d.job = j.id
        )
    ORDER BY j.id FOR NO KEY UPDATE OF j SKIP LOCKED
), moved AS (
    UPDATE jobs j SET state = 'ready', rank = p.rank, ready_at = clock_timestamp()
    FROM picked p WHERE j.id = p.id
    RETURNING j.id, j.attempt, p.state AS was
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, was, 'ready', 'ready_jobs', :by FROM moved
)
SELECT id FROM moved ORDER BY id;

-- name: find_publishable
SELECT j.*, q.params
FROM jobs j JOIN projects p ON p.id = j.project LEFT JOIN job_params q ON q.job = j.id
WHERE j.queue = :queue AND j.state = 'ready'
    AND (j.not_before IS NULL OR j.not_before <= clock_timestamp())
    AND p.state = 'open' AND NOT p.paused
ORDER BY j.class, j.rank DESC, j.id
LIMIT :limit;

-- name: publish_jobs
-- ready -> published
WITH picked AS MATERIALIZED (
    SELECT j.id, j.state FROM jobs j JOIN projects p ON p.id = j.project
    WHERE j.id = ANY(CAST(:ids AS bigint[])) AND j.state = 'ready'
        AND (j.not_before IS NULL OR j.not_before <= clock_timestamp())
        AND p.state = 'open' AND NOT p.paused
    ORDER BY j.id FOR NO KEY UPDATE OF j SKIP LOCKED
), moved AS (
    UPDATE jobs j SET state = 'published', bell = j.bell + 1, published_at = clock_timestamp()
    FROM picked p WHERE j.id = p.id
    RETURNING j.*, p.state AS was
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, was, 'published', 'publish_jobs', :by FROM moved
)
SELECT m.*, q.params FROM moved m LEFT JOIN job_params q ON q.job = m.id
ORDER BY m.class, m.rank DESC, m.id;

-- name: unpublish_jobs
-- published -> ready
WITH picked AS MATERIALIZED (
    SELECT id, state FROM jobs
    WHERE state = 'published' AND queue = ANY(CAST(:queues AS text[]))
        AND published_at < clock_timestamp() - make_interval(secs => :older_than_s)
        AND NOT id = ANY(CAST(:held AS bigint[]))
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
), moved AS (
    UPDATE jobs j SET state = 'ready', published_at = NULL
    FROM picked p WHERE j.id = p.id
    RETURNING j.id, j.attempt, p.state AS was
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, was, 'ready', 'unpublish_jobs', :by FROM moved
)
SELECT count(*) FROM moved;

-- name: published_count
SELECT queue, count(*) AS published FROM jobs WHERE state = 'published' GROUP BY queue;

-- name: jobs
SELECT j.*, q.params FROM jobs j LEFT JOIN job_params q ON q.job = j.id
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
        AND p.state = 'open' AND NOT p.paused
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
SELECT w.id,
    CASE
        WHEN j.id IS NULL THEN 'unknown'
        WHEN j.state = 'running' THEN 'running by ' || j.owner
        WHEN j.state NOT IN ('published', 'ready') THEN j.state
        WHEN o.name IS NULL THEN 'owner not registered'
        WHEN o.released_at IS NOT NULL THEN 'owner released'
        WHEN p.paused THEN 'paused'
        WHEN p.state <> 'open' THEN 'project ' || p.state
        WHEN j.not_before > clock_timestamp() THEN 'not before ' || j.not_before
        WHEN o.device = ANY(j.exclude) THEN 'device class excluded'
        WHEN j.format > :format THEN 'format ' || j.format || ' not understood'
        ELSE 'locked by another'
    END AS why
FROM unnest(CAST(:ids AS bigint[])) AS w (id)
LEFT JOIN jobs j ON j.id = w.id
LEFT JOIN projects p ON p.id = j.project
LEFT JOIN owners o ON o.name = :owner;

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

-- name: held_jobs
-- what an owner runs of these: a claim whose answer was lost on its way is found again here
SELECT id, attempt FROM jobs
WHERE id = ANY(CAST(:ids AS bigint[])) AND state = 'running' AND owner = :owner
ORDER BY id;

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
    RETURNING id, attempt, project, state
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, 'running', state, 'finish_job', :owner FROM moved
), closed AS (
    UPDATE attempts a SET ended_at = clock_timestamp(), outcome = m.state
    FROM moved m WHERE a.job = m.id AND a.attempt = m.attempt
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
        -- 2^n x base, jittered by a quarter, so that what failed together does not return together
        least(300, CAST(:backoff_s AS float) * (0.75 + 0.5 * random())
            * 2 ^ least(20, CASE WHEN :kind = 'resource' THEN c.waits + 1 ELSE c.charge END))
            AS wait_s
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
    RETURNING j.id, j.attempt, j.project, j.state
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, 'running', state, 'fail_job', :owner FROM moved
), closed AS (
    UPDATE attempts a SET ended_at = clock_timestamp(), error = :error,
        outcome = CASE WHEN m.state = 'cancelled' THEN 'cancelled' ELSE :kind END
    FROM moved m WHERE a.job = m.id AND a.attempt = m.attempt
), stained AS (
    INSERT INTO dirty (project) SELECT project FROM moved WHERE state <> 'ready'
)
SELECT state FROM moved;

-- name: register
INSERT INTO owners (name, worker, slot, generation, device, queues)
VALUES (:owner, :worker, :slot, :generation, :device, CAST(:queues AS text[]))
ON CONFLICT (name) DO UPDATE SET name = excluded.name
RETURNING released_at;

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
        error_kind = CASE WHEN :reason = 'shutdown' THEN j.error_kind ELSE 'lost' END,
        error = CASE WHEN :reason = 'shutdown' THEN j.error ELSE :error END,
        not_before = CASE WHEN d.guilty AND d.next = 'ready' THEN clock_timestamp()
            + make_interval(secs => CAST(:backoff_s AS float) * (0.75 + 0.5 * random())
                * 2 ^ d.charge) END,
        published_at = CASE WHEN d.next = 'ready' THEN NULL ELSE j.published_at END,
        running_at = CASE WHEN d.next = 'ready' THEN NULL ELSE j.running_at END,
        settled_at = CASE WHEN d.next = 'ready' THEN NULL ELSE clock_timestamp() END
    FROM decided d WHERE j.id = d.id
    RETURNING j.id, j.attempt, j.project, j.state
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, 'running', state, 'release_owner', :owner FROM moved
), closed AS (
    UPDATE attempts a SET ended_at = clock_timestamp(), error = :error,
        outcome = CASE WHEN m.state = 'cancelled' THEN 'cancelled' ELSE 'lost' END
    FROM moved m WHERE a.job = m.id AND a.attempt = m.attempt
), stained AS (
    INSERT INTO dirty (project) SELECT DISTINCT project FROM moved
)
SELECT id, state FROM moved ORDER BY id;

-- name: cancel_jobs
-- blocked, ready, published -> cancelled; a running one is asked to stop
WITH picked AS MATERIALIZED (
    SELECT id, state FROM jobs
    WHERE id = ANY(CAST(:ids AS bigint[]))
        AND state IN ('blocked', 'ready', 'published', 'running')
    ORDER BY id FOR NO KEY UPDATE
), moved AS (
    UPDATE jobs j SET state = 'cancelled', settled_at = clock_timestamp()
    FROM picked p WHERE j.id = p.id AND p.state <> 'running'
    RETURNING j.id, j.attempt, j.project, p.state AS was
), asked AS (
    UPDATE jobs j SET stop = true
    FROM picked p WHERE j.id = p.id AND p.state = 'running'
    RETURNING j.id, j.attempt, j.project, j.owner
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, was, 'cancelled', 'cancel_jobs', :by FROM moved
), stained AS (
    INSERT INTO dirty (project) SELECT DISTINCT project FROM moved
)
SELECT id, attempt, NULL AS owner FROM moved UNION ALL SELECT id, attempt, owner FROM asked
ORDER BY id;

-- name: supersede_jobs
-- blocked, ready, published -> cancelled; a running one is asked to stop; a settled one is marked
WITH picked AS MATERIALIZED (
    SELECT id, state FROM jobs
    WHERE id = ANY(CAST(:ids AS bigint[])) AND NOT superseded
    ORDER BY id FOR NO KEY UPDATE
), moved AS (
    UPDATE jobs j SET superseded = true, stop = p.state = 'running',
        state = CASE WHEN p.state IN ('blocked', 'ready', 'published')
            THEN 'cancelled' ELSE p.state END,
        settled_at = CASE WHEN p.state IN ('blocked', 'ready', 'published')
            THEN clock_timestamp() ELSE j.settled_at END
    FROM picked p WHERE j.id = p.id
    RETURNING j.id, j.attempt, j.project, j.owner, j.state, p.state AS was
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, was, state, 'supersede_jobs', :by FROM moved WHERE was <> state
), stained AS (
    INSERT INTO dirty (project) SELECT DISTINCT project FROM moved
)
SELECT id, attempt, owner FROM moved ORDER BY id;

-- name: revive_jobs
-- failed, skipped, cancelled -> blocked; with what was skipped only because of them
WITH RECURSIVE also (id) AS (
    SELECT id FROM jobs
    WHERE id = ANY(CAST(:ids AS bigint[])) AND state IN ('failed', 'skipped', 'cancelled')
        AND (:wanted OR NOT superseded)
    UNION
    SELECT j.id FROM also a
    JOIN job_dependencies d ON d.needs = a.id AND d.kind = 'hard'
    JOIN jobs j ON j.id = d.job AND j.state = 'skipped' AND NOT j.superseded
), picked AS MATERIALIZED (
    SELECT id, state FROM jobs
    WHERE id IN (SELECT id FROM also) AND state IN ('failed', 'skipped', 'cancelled')
        -- asked again of the locked row: another may have superseded it meanwhile
        AND (NOT superseded OR (:wanted AND id = ANY(CAST(:ids AS bigint[]))))
    ORDER BY id FOR NO KEY UPDATE
), moved AS (
    UPDATE jobs j SET state = 'blocked', failures = 0, losses = 0, solo = false,
        superseded = false, exclude = '{}', progress = 0, not_before = NULL,
        error_kind = NULL, error = NULL, blocked_at = clock_timestamp(), ready_at = NULL,
        published_at = NULL, running_at = NULL, settled_at = NULL
    FROM picked p WHERE j.id = p.id
    RETURNING j.id, j.attempt, j.project, p.state AS was
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, was, 'blocked', 'revive_jobs', :by FROM moved
), stained AS (
    INSERT INTO dirty (project) SELECT DISTINCT project FROM moved
)
SELECT id FROM moved ORDER BY id;

-- name: observe
INSERT INTO observations (kind, model, stage, bucket, device, members, seconds, peak, meta)
SELECT kind, model, stage, bucket, device, members, seconds, peak, meta
FROM jsonb_to_recordset(CAST(:observed AS jsonb)) AS o (
    no integer, kind text, model text, stage text, bucket text, device text, members integer,
    seconds float, peak bigint, meta jsonb
)
ORDER BY no;

-- name: expected_models
-- of what is published, bounded by the windows of living workers
SELECT model FROM jobs WHERE state = 'published' AND model <> ''
GROUP BY model ORDER BY min(class), max(rank) DESC, model;

-- name: observations
SELECT kind, model, stage, bucket, device, members, seconds, peak, meta
FROM (SELECT * FROM observations ORDER BY id DESC LIMIT :limit) recent
ORDER BY id;
