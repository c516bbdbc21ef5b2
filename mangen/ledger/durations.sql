-- name: observe
-- keeps what was seen, writes it beside its attempts, and appends it to the samples of its kind;
-- kinds in one order, so that workers who learn of the same ones wait for each other in turn
WITH seen AS MATERIALIZED (
    SELECT o.*, kind = 'work' AND jsonb_typeof(meta -> 'job') = 'number'
        AND jsonb_typeof(meta -> 'attempt') = 'number' AS claimed
    FROM jsonb_to_recordset(CAST(:observed AS jsonb)) AS o (
        no integer, kind text, model text, stage text, bucket text, device text, members integer,
        seconds float, peak bigint, meta jsonb
    )
), kept AS (
    INSERT INTO observations (kind, model, stage, bucket, device, members, seconds, peak, meta)
    SELECT kind, model, stage, bucket, device, members, seconds, peak, meta FROM seen ORDER BY no
), noted AS (
    -- the message's attempt is the one before its claim
    UPDATE attempts a SET peak = coalesce(s.peak, a.peak), meta = a.meta || jsonb_strip_nulls(
        jsonb_build_object('device_seconds', s.seconds, 'loading_seconds', s.meta -> 'loading',
            'together', s.members))
    FROM seen s
    WHERE s.claimed
        AND a.job = CASE WHEN s.claimed THEN CAST(s.meta ->> 'job' AS bigint) END
        AND a.attempt = CASE WHEN s.claimed THEN CAST(s.meta ->> 'attempt' AS integer) + 1 END
        AND a.owner = s.meta ->> 'owner'
), samples AS (
    SELECT stage, bucket, model, device, count(*) AS samples,
        array_agg(seconds / greatest(members, 1) ORDER BY no) AS recent,
        array_agg(CASE WHEN jsonb_typeof(meta -> 'planned') = 'number'
            THEN CAST(meta ->> 'planned' AS float) ELSE 0 END ORDER BY no) AS theory
    FROM seen
    WHERE kind = 'work' AND stage <> '' AND seconds >= 0 AND meta ->> 'status' = 'done'
    GROUP BY stage, bucket, model, device
)
INSERT INTO durations (
    stage, bucket, model, device, samples, recent, theory, low, typical, high, mean
)
SELECT stage, bucket, model, device, samples,
    recent[greatest(1, samples - :window + 1):], theory[greatest(1, samples - :window + 1):],
    0, 0, 0, 0
FROM samples ORDER BY stage, bucket, model, device
ON CONFLICT (stage, bucket, model, device) DO UPDATE SET
    samples = durations.samples + excluded.samples,
    recent = (durations.recent || excluded.recent)[greatest(1,
        cardinality(durations.recent) + cardinality(excluded.recent) - :window + 1):],
    theory = (durations.theory || excluded.theory)[greatest(1,
        cardinality(durations.theory) + cardinality(excluded.theory) - :window + 1):]
RETURNING stage, bucket, model, device;

-- name: learn_durations
-- of kinds whose samples changed in this transaction
UPDATE durations d
SET (low, typical, high, mean, factor_low, factor, factor_high, at) = (
    SELECT percentile_cont(0.1) WITHIN GROUP (ORDER BY s.seconds),
        percentile_cont(0.5) WITHIN GROUP (ORDER BY s.seconds),
        percentile_cont(0.9) WITHIN GROUP (ORDER BY s.seconds),
        avg(s.seconds),
        coalesce(percentile_cont(0.1) WITHIN GROUP (ORDER BY s.seconds / nullif(s.theory, 0)), 1),
        coalesce(sum(s.seconds) FILTER (WHERE s.theory > 0) / nullif(sum(s.theory), 0), 1),
        coalesce(percentile_cont(0.9) WITHIN GROUP (ORDER BY s.seconds / nullif(s.theory, 0)), 1),
        clock_timestamp()
    FROM unnest(d.recent, d.theory) AS s (seconds, theory)
)
WHERE (d.stage, d.bucket, d.model, d.device) IN (
    SELECT * FROM unnest(CAST(:stages AS text[]), CAST(:buckets AS text[]),
        CAST(:models AS text[]), CAST(:devices AS text[]))
);

-- name: durations
SELECT stage, bucket, model, device, samples, low, typical, high, mean,
    factor_low, factor, factor_high, cardinality(array_remove(theory, 0)) AS fresh
FROM durations ORDER BY stage, bucket, model, device;

-- name: observations
SELECT kind, model, stage, bucket, device, members, seconds, peak, meta
FROM (SELECT * FROM observations ORDER BY id DESC LIMIT :limit) recent
ORDER BY id;
