-- What must always hold. Each query answers with the rows that break it: job (or null), detail.

-- name: one_finish
SELECT job, count(*) || ' accepted finishes' AS detail
FROM events WHERE query = 'finish_job' AND "to" = 'done'
GROUP BY job HAVING count(*) > 1
UNION ALL
SELECT j.id, 'done without an accepted finish'
FROM jobs j
WHERE j.state = 'done' AND NOT EXISTS (
    SELECT 1 FROM events e WHERE e.job = j.id AND e.query = 'finish_job' AND e."to" = 'done'
) AND (
    -- a history that was pruned is gone as a whole, and not before its time
    j.settled_at > clock_timestamp() - interval '12 hours'
    OR EXISTS (SELECT 1 FROM events e WHERE e.job = j.id)
);

-- name: needs_settled
-- from events alone: between a job's last way into blocked and a claim, every need had settled
SELECT c.job, 'attempt ' || c.attempt || ' claimed before job ' || d.needs || ' was '
    || CASE d.kind WHEN 'hard' THEN 'done' ELSE 'settled' END AS detail
FROM events c
JOIN job_dependencies d ON d.job = c.job
WHERE c.query = 'claim_jobs'
    AND NOT EXISTS (
        SELECT 1 FROM events b WHERE b.job = c.job AND b.id > c.id AND b."to" = 'blocked'
    )
    AND NOT EXISTS (
        SELECT 1 FROM events n
        WHERE n.job = d.needs AND n.id < c.id
            AND (n."to" = 'done'
                 OR (d.kind = 'soft' AND n."to" IN ('failed', 'skipped', 'cancelled')))
    )
    AND EXISTS (SELECT 1 FROM events n WHERE n.job = d.needs);

-- name: failures_bounded
SELECT id AS job, failures || ' failures' AS detail FROM jobs WHERE failures NOT BETWEEN 0 AND 3;

-- name: running_owned
SELECT j.id AS job,
    CASE
        WHEN j.owner IS NULL THEN 'running without an owner'
        WHEN o.name IS NULL THEN 'running by ' || j.owner || ', which never registered'
        WHEN o.released_at IS NOT NULL THEN 'running by ' || j.owner || ', which was released'
        ELSE 'running by ' || j.owner || ', silent for more than two leases'
    END AS detail
FROM jobs j LEFT JOIN owners o ON o.name = j.owner
WHERE j.state = 'running'
    AND (o.name IS NULL OR o.released_at IS NOT NULL
         OR greatest(o.beat_at, j.running_at)
             < clock_timestamp() - make_interval(secs => :two_leases));

-- name: done_stays
SELECT e.job, 'done, and then ' || e."to" || ' by ' || e.query AS detail
FROM events e WHERE e."from" = 'done'
UNION ALL
SELECT j.id, 'was done and is ' || j.state
FROM jobs j
WHERE j.state <> 'done'
    AND EXISTS (SELECT 1 FROM events e WHERE e.job = j.id AND e."to" = 'done');

-- name: legal_events
SELECT e.job, 'event ' || e.id || ': ' || e.query || ' wrote ' || coalesce(e."from", 'nothing')
    || ' -> ' || e."to" AS detail
FROM events e
WHERE NOT EXISTS (
    SELECT 1 FROM unnest(
        CAST(:legal_query AS text[]), CAST(:legal_from AS text[]), CAST(:legal_to AS text[])
    ) AS t (query, "from", "to")
    WHERE t.query = e.query AND t."from" IS NOT DISTINCT FROM e."from" AND t."to" = e."to"
);

-- name: events_replay
-- each event leaves the state that the one before it entered, of the attempt that a claim began;
-- and the last is of the row's state and attempt
WITH chain AS (
    SELECT job, id, query, "from", "to", attempt,
        lag("to") OVER w AS before,
        coalesce(lag(attempt) OVER w, CASE WHEN query <> 'revive_jobs' THEN 0 END)
            + CASE WHEN query = 'claim_jobs' THEN 1 ELSE 0 END AS claimed,
        lead(id) OVER w IS NULL AS last
    FROM events WINDOW w AS (PARTITION BY job ORDER BY id)
)
SELECT job, 'event ' || id || ' leaves ' || coalesce("from", 'nothing') || ', but the job was '
    || coalesce(before, 'nothing') AS detail
FROM chain
WHERE "from" IS DISTINCT FROM before
    -- revived after its history was pruned
    AND NOT (before IS NULL AND query = 'revive_jobs')
UNION ALL
SELECT job, 'event ' || id || ' is of attempt ' || attempt || ', not of attempt ' || claimed
FROM chain
WHERE attempt <> claimed
UNION ALL
SELECT j.id, 'is ' || j.state || ', but its last event says ' || coalesce(c."to", 'nothing')
FROM jobs j LEFT JOIN chain c ON c.job = j.id AND c.last
WHERE c."to" IS DISTINCT FROM j.state
    AND (c.job IS NOT NULL OR j.settled_at IS NULL
        OR j.settled_at > clock_timestamp() - interval '12 hours')
UNION ALL
SELECT j.id, 'is at attempt ' || j.attempt || ', but its last event is of attempt ' || c.attempt
FROM jobs j JOIN chain c ON c.job = j.id AND c.last
WHERE c.attempt <> j.attempt;

-- name: attempts_fenced
-- an attempt is open while its job runs it, and only then; the last one of a done job, and no other
-- one, is done; who claimed an attempt ends it
SELECT t.job, 'attempt ' || t.attempt || ' of ' || t.owner || ' was never ended, and the job is '
    || j.state || ' at attempt ' || j.attempt AS detail
FROM attempts t JOIN jobs j ON j.id = t.job
WHERE t.outcome IS NULL AND NOT (j.state = 'running' AND j.attempt = t.attempt)
UNION ALL
SELECT t.job, 'attempt ' || t.attempt || ' ended done, and the job is ' || j.state
    || ' at attempt ' || j.attempt
FROM attempts t JOIN jobs j ON j.id = t.job
WHERE t.outcome = 'done' AND NOT (j.state = 'done' AND j.attempt = t.attempt)
UNION ALL
SELECT j.id, j.state || ' by attempt ' || j.attempt || ', which '
    || CASE
        WHEN t.job IS NULL THEN 'has no row'
        WHEN t.outcome IS NOT NULL THEN 'ended ' || t.outcome
        ELSE 'is open by ' || t.owner
    END
FROM jobs j LEFT JOIN attempts t ON t.job = j.id AND t.attempt = j.attempt
WHERE (j.state = 'done' AND t.outcome IS DISTINCT FROM 'done')
    OR (j.state = 'running' AND (t.job IS NULL OR t.owner <> j.owner OR t.outcome IS NOT NULL))
UNION ALL
SELECT j.id, 'is at attempt ' || j.attempt || ' and has ' || count(t.job) || ' attempts'
FROM jobs j LEFT JOIN attempts t ON t.job = j.id
GROUP BY j.id HAVING count(t.job) <> j.attempt
UNION ALL
SELECT e.job, e.query || ' of attempt ' || e.attempt || ' by ' || coalesce(e.owner, 'nobody')
    || ', which ' || t.owner || ' had claimed'
FROM events e JOIN attempts t ON t.job = e.job AND t.attempt = e.attempt
WHERE e.query IN ('claim_jobs', 'finish_job', 'fail_job', 'release_owner')
    AND e.owner IS DISTINCT FROM t.owner;

-- name: artifacts_accepted
SELECT a.job, a.path || ' belongs to attempt ' || a.attempt || ', which ended '
    || coalesce(t.outcome, 'not at all') AS detail
FROM artifacts a LEFT JOIN attempts t ON t.job = a.job AND t.attempt = a.attempt
WHERE t.outcome IS DISTINCT FROM 'done';

-- name: rows_stored
-- every row; its file is looked for afterwards. What a rescue found lost is known to be
-- so; of a purged project they go first
SELECT a.job, a.path AS detail
FROM artifacts a JOIN jobs j ON j.id = a.job JOIN projects p ON p.id = j.project
WHERE a.lost_at IS NULL AND p.state <> 'purging'
ORDER BY a.id;

-- name: files_accepted
-- files of this ledger's attempts that ended two leases ago or longer; strangers' are not ours
WITH stored AS MATERIALIZED (
    SELECT s.path,
        regexp_match(s.path, '^([0-9]{1,18})/([0-9]{1,18})-([0-9]{1,9})[-.]') AS part
    FROM unnest(CAST(:paths AS text[])) AS s (path)
)
SELECT CAST(s.part[2] AS bigint) AS job, s.path || ' has a file and no row' AS detail
FROM stored s
WHERE NOT EXISTS (SELECT 1 FROM artifacts a WHERE a.path = s.path)
    AND EXISTS (
        SELECT 1 FROM attempts t JOIN jobs j ON j.id = t.job
        WHERE t.job = CAST(s.part[2] AS bigint) AND t.attempt = CAST(s.part[3] AS integer)
            AND j.project = CAST(s.part[1] AS bigint)
            AND t.ended_at <= clock_timestamp() - make_interval(secs => :two_leases)
    );
