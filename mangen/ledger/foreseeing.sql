-- name: open_work
-- what is left, by project and kind. Each state has its partial index: settled jobs cost nothing.
SELECT o.project, p.class AS klass, p.weight, o.queue, o.class AS lane, o.state, o.stage, o.bucket,
    o.model, p.paused OR p.state <> 'open' OR o.held AS held, count(*) AS jobs,
    sum(o.left_s) AS seconds, sum(o.left_s ^ 2) AS squares, max(o.left_s) AS longest
FROM (
    SELECT project, queue, class, state, stage, bucket, model, held, seconds_theory AS left_s
    FROM jobs WHERE state = 'blocked'
    UNION ALL
    SELECT project, queue, class, state, stage, bucket, model, held, seconds_theory
    FROM jobs WHERE state = 'ready'
    UNION ALL
    SELECT project, queue, class, state, stage, bucket, model, held, seconds_theory
    FROM jobs WHERE state = 'published'
    UNION ALL
    -- a twentieth is left of what takes longer than was thought
    SELECT project, queue, class, state, stage, bucket, model, held,
        seconds_theory * greatest(0.05, least(1 - progress,
            1 - extract(epoch FROM clock_timestamp() - running_at) / greatest(seconds_est, 0.01)))
    FROM jobs WHERE state = 'running'
) o
JOIN projects p ON p.id = o.project
GROUP BY o.project, p.class, p.weight, o.queue, o.class, o.state, o.stage, o.bucket, o.model,
    p.paused OR p.state <> 'open' OR o.held
ORDER BY o.project;

-- name: write_forecasts
-- anew, but for rows that would say the same
WITH told AS MATERIALIZED (
    SELECT * FROM unnest(
        CAST(:projects AS bigint[]), CAST(:jobs AS integer[]), CAST(:seconds AS float[]),
        CAST(:low AS timestamptz[]), CAST(:eta AS timestamptz[]), CAST(:high AS timestamptz[]),
        CAST(:why AS text[])
    ) AS t (project, jobs, seconds, low, eta, high, why)
), over AS (
    DELETE FROM forecasts f WHERE NOT EXISTS (SELECT 1 FROM told t WHERE t.project = f.project)
)
INSERT INTO forecasts (project, jobs, seconds, eta_low, eta, eta_high, why)
SELECT t.project, t.jobs, t.seconds, t.low, t.eta, t.high, t.why
FROM told t JOIN projects p ON p.id = t.project
ORDER BY t.project
ON CONFLICT (project) DO UPDATE SET at = clock_timestamp(), jobs = excluded.jobs,
    seconds = excluded.seconds, eta_low = excluded.eta_low, eta = excluded.eta,
    eta_high = excluded.eta_high, why = excluded.why
WHERE (forecasts.jobs, forecasts.seconds, forecasts.eta_low, forecasts.eta, forecasts.eta_high,
        forecasts.why)
    IS DISTINCT FROM (excluded.jobs, excluded.seconds, excluded.eta_low, excluded.eta,
        excluded.eta_high, excluded.why);

-- name: clear_backlogs
DELETE FROM backlogs;

-- name: write_backlogs
-- one row even where nothing is open: it says when somebody looked
INSERT INTO backlogs (queue, class, state, jobs, seconds)
SELECT * FROM unnest(
    CAST(:queues AS text[]), CAST(:lanes AS smallint[]), CAST(:states AS text[]),
    CAST(:jobs AS bigint[]), CAST(:seconds AS float[])
) AS b (queue, class, state, jobs, seconds)
ON CONFLICT (queue, class, state) DO UPDATE SET jobs = excluded.jobs, seconds = excluded.seconds,
    at = clock_timestamp();

-- name: backlogs
SELECT queue, class, state, jobs, seconds,
    CAST(extract(epoch FROM clock_timestamp() - at) AS float) AS age_s
FROM backlogs ORDER BY queue, class, state;

-- name: looked_at
SELECT clock_timestamp();

-- name: worked_since
-- seconds that devices worked, by kind, as far as it was told; and where to go on from
SELECT device, coalesce(sum(seconds / greatest(members, 1)) FILTER (WHERE kind = 'work'), 0)
    AS seconds, max(id) AS last
FROM observations WHERE id > :after GROUP BY device;

-- name: last_observation
SELECT coalesce(max(id), 0) FROM observations;
