-- name: find_publishable
-- Who may be published next in a queue: the projects in the order of their fair shares, and the
-- best jobs of those that can be among the first :limit. A jump a project, never a look at each
-- job. The guards are those of publish_jobs and claim_jobs.
WITH RECURSIVE found (class, project) AS (
    (
        SELECT j.class, j.project FROM jobs j
        WHERE j.state = 'ready' AND NOT j.held AND j.queue = :queue
            AND CAST(:projects AS bigint[]) IS NULL
        ORDER BY j.class, j.project LIMIT 1
    )
    UNION ALL
    SELECT n.class, n.project FROM found f CROSS JOIN LATERAL (
        SELECT j.class, j.project FROM jobs j
        WHERE j.state = 'ready' AND NOT j.held AND j.queue = :queue
            AND (j.class, j.project) > (f.class, f.project)
        ORDER BY j.class, j.project LIMIT 1
    ) n
), line AS MATERIALIZED (
    SELECT class, project FROM found
    UNION ALL
    SELECT class, project
    FROM unnest(CAST(:classes AS smallint[]), CAST(:projects AS bigint[])) AS k (class, project)
), due AS MATERIALIZED (
    -- what budgets must still expect: bounded by windows and devices
    SELECT project, sum(seconds_est) AS seconds FROM (
        SELECT project, seconds_est FROM jobs WHERE state = 'published' AND queue LIKE 'gpu.%'
        UNION ALL
        SELECT project, seconds_est FROM jobs WHERE state = 'running' AND queue LIKE 'gpu.%'
    ) open GROUP BY project
), able AS MATERIALIZED (
    SELECT l.class, l.project, p.weight,
        greatest(
            coalesce(s.served, 0),
            floor(coalesce(c.clock, 0) / CAST(:quantum_s AS float)) * CAST(:quantum_s AS float)
        ) AS served,
        CASE WHEN CAST(:queue AS text) LIKE 'gpu.%' THEN
            p.budget - coalesce(d.seconds, 0) - coalesce((
                SELECT t.seconds FROM spent t WHERE t.project = p.id
                    AND t.day = CAST(clock_timestamp() AT TIME ZONE :zone AS date)
            ), 0)
        END AS remaining
    FROM line l
    JOIN projects p ON p.id = l.project
    LEFT JOIN shares s ON s.project = l.project AND s.lane = CAST(:queue AS text) || '/' || l.class
    LEFT JOIN lanes c ON c.name = CAST(:queue AS text) || '/' || l.class
    LEFT JOIN due d ON d.project = l.project AND p.budget IS NOT NULL
    WHERE p.state = 'open' AND NOT p.paused
        AND (p.class = 0 OR NOT EXISTS (
            SELECT 1 FROM unnest(CAST(:quiet_from AS time[]), CAST(:quiet_till AS time[]))
                AS q (since, till)
            WHERE CAST(clock_timestamp() AT TIME ZONE :zone AS time) >= q.since
                AND CAST(clock_timestamp() AT TIME ZONE :zone AS time) < q.till
        ))
), heads AS MATERIALIZED (
    SELECT a.*, row_number() OVER (
        ORDER BY a.class, floor(a.served / CAST(:quantum_s AS float)), h.rank DESC, a.project
    ) AS place
    FROM able a CROSS JOIN LATERAL (
        SELECT j.rank FROM jobs j
        WHERE j.state = 'ready' AND NOT j.held AND j.queue = :queue AND j.class = a.class
            AND j.project = a.project
            AND (j.not_before IS NULL OR j.not_before <= clock_timestamp())
        ORDER BY j.rank DESC, j.id LIMIT 1
    ) h
    WHERE a.remaining IS NULL OR a.remaining > 0
    ORDER BY place LIMIT :most
)
SELECT b.id, h.project, h.class AS klass, b.rank, b.seconds_est AS seconds, b.cap, h.served,
    h.weight, h.remaining
FROM heads h CROSS JOIN LATERAL (
    SELECT j.id, j.rank, j.seconds_est, j.cap FROM jobs j
    WHERE j.state = 'ready' AND NOT j.held AND j.queue = :queue AND j.class = h.class
        AND j.project = h.project
        AND (j.not_before IS NULL OR j.not_before <= clock_timestamp())
    ORDER BY j.rank DESC, j.id LIMIT CASE WHEN h.place <= :limit THEN :limit ELSE 1 END
) b
ORDER BY h.place, b.rank DESC, b.id;

-- name: find_gating
-- ready jobs that gate others, a project's together: they go beyond the windows' bound
SELECT j.id, j.project, j.class AS klass, j.rank, j.seconds_est AS seconds, j.cap,
    CAST(0 AS float) AS served, p.weight, r.remaining
FROM jobs j JOIN projects p ON p.id = j.project CROSS JOIN LATERAL (
    SELECT p.budget - coalesce((
        SELECT sum(o.seconds_est) FROM jobs o
        WHERE o.state = 'published' AND o.project = p.id AND o.queue LIKE 'gpu.%'
    ), 0) - coalesce((
        SELECT sum(o.seconds_est) FROM jobs o
        WHERE o.state = 'running' AND o.project = p.id AND o.queue LIKE 'gpu.%'
    ), 0) - coalesce((
        SELECT t.seconds FROM spent t WHERE t.project = p.id
            AND t.day = CAST(clock_timestamp() AT TIME ZONE :zone AS date)
    ), 0) AS remaining
    WHERE p.budget IS NOT NULL
    UNION ALL
    SELECT NULL WHERE p.budget IS NULL
) r
WHERE j.state = 'ready' AND NOT j.held AND j.queue = 'gpu.high'
    AND coalesce(j.home_queue, j.queue) = 'gpu.high'
    AND (j.not_before IS NULL OR j.not_before <= clock_timestamp())
    AND p.state = 'open' AND NOT p.paused
    AND (r.remaining IS NULL OR r.remaining > 0)
    AND (p.class = 0 OR NOT EXISTS (
        SELECT 1 FROM unnest(CAST(:quiet_from AS time[]), CAST(:quiet_till AS time[]))
            AS q (since, till)
        WHERE CAST(clock_timestamp() AT TIME ZONE :zone AS time) >= q.since
            AND CAST(clock_timestamp() AT TIME ZONE :zone AS time) < q.till
    ))
ORDER BY j.project, j.rank DESC, j.id
LIMIT :limit;

-- name: publish_jobs
-- ready -> published
WITH picked AS MATERIALIZED (
    SELECT j.id, j.state FROM jobs j JOIN projects p ON p.id = j.project
    WHERE j.id = ANY(CAST(:ids AS bigint[])) AND j.state = 'ready' AND NOT j.held
        AND (j.not_before IS NULL OR j.not_before <= clock_timestamp())
        AND p.state = 'open' AND NOT p.paused
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
    ORDER BY j.id FOR NO KEY UPDATE OF j SKIP LOCKED
), moved AS (
    UPDATE jobs j SET state = 'published', bell = j.bell + 1, published_at = clock_timestamp()
    FROM picked p WHERE j.id = p.id
    RETURNING j.id, j.project, j.episode, j.stage, j.subject, j.key, j.queue, j.class, j.rank,
        j.model, j.bucket, j.cap, j.state, j.attempt, j.failures, j.bell, j.solo, j.seconds_est,
        j.seconds_theory, j.peaks, j.home_queue, p.state AS was
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, was, 'published', 'publish_jobs', :by FROM moved
)
SELECT m.* FROM moved m ORDER BY m.class, m.rank DESC, m.id;

-- name: charge_shares
-- what was published is served: each project's account, and how far the lane has come
WITH lane AS (
    INSERT INTO lanes (name, clock) VALUES (:lane, :clock)
    ON CONFLICT (name) DO UPDATE SET clock = greatest(lanes.clock, excluded.clock)
)
INSERT INTO shares (project, lane, served, at)
SELECT c.project, :lane, c.served, clock_timestamp()
FROM unnest(CAST(:projects AS bigint[]), CAST(:served AS float[])) AS c (project, served)
ORDER BY c.project
ON CONFLICT (project, lane) DO UPDATE SET served = excluded.served, at = excluded.at;

-- name: promote_jobs
-- ready -> ready
-- Of each project that a lane has not served for a limit, the best of what waits so long, a
-- quantum's worth, one class and one queue higher: no class starves, and no backlog overtakes.
WITH RECURSIVE found (project) AS (
    (
        SELECT j.project FROM jobs j
        WHERE j.state = 'ready' AND NOT j.held AND j.queue = :queue AND j.class = :klass
        ORDER BY j.project LIMIT 1
    )
    UNION ALL
    SELECT n.project FROM found f CROSS JOIN LATERAL (
        SELECT j.project FROM jobs j
        WHERE j.state = 'ready' AND NOT j.held AND j.queue = :queue AND j.class = :klass
            AND j.project > f.project
        ORDER BY j.project LIMIT 1
    ) n
), stale AS MATERIALIZED (
    SELECT f.project FROM found f
    JOIN projects p ON p.id = f.project
    LEFT JOIN shares s ON s.project = f.project
        AND s.lane = CAST(:queue AS text) || '/' || CAST(:klass AS integer)
    WHERE p.state = 'open' AND NOT p.paused AND (s.at IS NULL OR s.at < :before)
        AND EXISTS (
            SELECT 1 FROM jobs j
            WHERE j.state = 'ready' AND NOT j.held AND j.queue = :queue AND j.class = :klass
                AND j.project = f.project AND j.ready_at < :before
                AND (j.not_before IS NULL OR j.not_before <= clock_timestamp())
        )
    ORDER BY s.at NULLS FIRST, f.project
    LIMIT :projects
), best AS MATERIALIZED (
    SELECT b.id FROM stale s CROSS JOIN LATERAL (
        SELECT w.id, sum(w.seconds_est) OVER (ORDER BY w.rank DESC, w.id) - w.seconds_est AS ahead
        FROM (
            SELECT j.id, j.rank, j.seconds_est FROM jobs j
            WHERE j.state = 'ready' AND NOT j.held AND j.queue = :queue AND j.class = :klass
                AND j.project = s.project AND j.ready_at < :before
                AND (j.not_before IS NULL OR j.not_before <= clock_timestamp())
            ORDER BY j.rank DESC, j.id LIMIT :most
        ) w
    ) b
    WHERE b.ahead < CAST(:quantum_s AS float)
), picked AS MATERIALIZED (
    SELECT j.id, j.state FROM jobs j
    WHERE j.id IN (SELECT id FROM best) AND j.state = 'ready'
    ORDER BY j.id FOR NO KEY UPDATE SKIP LOCKED
), moved AS (
    UPDATE jobs j SET state = 'ready', class = j.class - 1,
        queue = CASE j.queue
            WHEN 'gpu.low' THEN 'gpu.mid' WHEN 'gpu.mid' THEN 'gpu.high' ELSE j.queue END,
        home_class = coalesce(j.home_class, j.class), home_queue = coalesce(j.home_queue, j.queue)
    FROM picked p WHERE j.id = p.id AND j.class > 0
    RETURNING j.id, j.attempt, j.project, j.queue, j.class, j.seconds_est, p.state AS was
), logged AS (
    INSERT INTO events (job, attempt, "from", "to", query, owner)
    SELECT id, attempt, was, 'ready', 'promote_jobs', :by FROM moved
), noted AS (
    -- the next of this project, and these where they are now, wait for a limit again
    INSERT INTO shares (project, lane, served, at)
    SELECT project, lane, 0.0, clock_timestamp() FROM (
        SELECT DISTINCT m.project, l.lane FROM moved m CROSS JOIN LATERAL (VALUES
            (CAST(:queue AS text) || '/' || CAST(:klass AS integer)), (m.queue || '/' || m.class)
        ) AS l (lane)
    ) n ORDER BY project, lane
    ON CONFLICT (project, lane) DO UPDATE SET at = excluded.at
)
SELECT id, seconds_est AS seconds FROM moved ORDER BY id;

-- name: published_load
SELECT queue, count(*) AS jobs, sum(seconds_est) AS seconds,
    count(*) FILTER (WHERE coalesce(home_queue, queue) = 'gpu.high') AS gating
FROM jobs WHERE state = 'published' GROUP BY queue;

-- name: now
SELECT clock_timestamp();
