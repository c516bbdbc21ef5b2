-- name: find_old_takes
-- superseded long ago, and needed by nothing that is still there: what needed them goes first
SELECT j.id, j.project FROM jobs j
WHERE j.superseded AND j.id > :after
    AND j.settled_at < statement_timestamp() - make_interval(secs => :older_than_s)
    AND NOT EXISTS (SELECT 1 FROM job_dependencies d WHERE d.needs = j.id)
ORDER BY j.id LIMIT :limit;

-- name: condemn_takes
-- from here on nobody can want them again: their key is no longer that of any work. Their files
-- count as lost, so that they may go before the rows that name them
WITH picked AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE id = ANY(CAST(:ids AS bigint[])) AND superseded AND settled_at IS NOT NULL
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
), moved AS (
    UPDATE jobs j SET key = 'pruned/' || j.id FROM picked p WHERE j.id = p.id RETURNING j.id
), lost AS (
    UPDATE artifacts a SET lost_at = coalesce(a.lost_at, clock_timestamp())
    FROM moved m WHERE a.job = m.id RETURNING a.job, a.path
)
SELECT m.id, array_remove(array_agg(l.path), NULL) AS paths
FROM moved m LEFT JOIN lost l ON l.job = m.id
GROUP BY m.id ORDER BY m.id;

-- name: remove_takes
-- events hang on jobs by number alone; all else goes by its foreign key
WITH picked AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE id = ANY(CAST(:ids AS bigint[])) AND superseded AND key = 'pruned/' || id
    ORDER BY id FOR UPDATE
), unlogged AS (
    DELETE FROM events e USING picked p WHERE e.job = p.id
)
DELETE FROM jobs j USING picked p WHERE j.id = p.id RETURNING j.id;

-- name: find_old_histories
-- one page of events, oldest first: where it ends, whether what follows is too young, and the jobs
-- in it whose whole project came to rest before
WITH page AS MATERIALIZED (
    SELECT id, job, at < statement_timestamp() - make_interval(secs => :older_than_s) AS old
    FROM events WHERE id > :after ORDER BY id LIMIT :limit
), named AS MATERIALIZED (
    SELECT DISTINCT p.job, j.project FROM page p LEFT JOIN jobs j ON j.id = p.job WHERE p.old
), awake AS MATERIALIZED (
    SELECT project FROM (SELECT DISTINCT project FROM named) n
    WHERE EXISTS (
        SELECT 1 FROM jobs j WHERE j.project = n.project AND (j.settled_at IS NULL
            OR j.settled_at >= statement_timestamp() - make_interval(secs => :older_than_s))
    )
)
SELECT (SELECT max(id) FROM page) AS last, (SELECT coalesce(bool_and(old), false) FROM page) AS more,
    ARRAY(
        SELECT n.job FROM named n
        WHERE n.project IS NULL OR NOT EXISTS (SELECT 1 FROM awake a WHERE a.project = n.project)
        ORDER BY n.job
    ) AS jobs;

-- name: forget_histories
-- a job's events go together or stay together; those that moved meanwhile stay
WITH settled AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE id = ANY(CAST(:ids AS bigint[]))
        AND settled_at < statement_timestamp() - make_interval(secs => :older_than_s)
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
), gone AS MATERIALIZED (
    SELECT w.id FROM unnest(CAST(:ids AS bigint[])) AS w (id)
    WHERE NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = w.id)
), pruned AS (
    DELETE FROM events e USING (SELECT id FROM settled UNION ALL SELECT id FROM gone) s
    WHERE e.job = s.id RETURNING e.id
)
SELECT count(*) FROM pruned;

-- name: prune_observations
DELETE FROM observations WHERE id IN (
    SELECT id FROM observations
    WHERE id <= (SELECT max(id) FROM observations) - CAST(:keep AS bigint)
    ORDER BY id LIMIT :limit
) RETURNING id;

-- name: prune_owners
-- released long ago, and no attempt that is still told of was theirs
DELETE FROM owners WHERE name IN (
    SELECT o.name FROM owners o
    WHERE o.released_at < statement_timestamp() - make_interval(secs => :older_than_s)
        AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.owner = o.name)
    ORDER BY o.name LIMIT :limit FOR UPDATE SKIP LOCKED
) RETURNING name;

-- name: prune_spent
-- budgets ask for today alone
DELETE FROM spent WHERE ctid IN (
    SELECT ctid FROM spent WHERE day < CAST(statement_timestamp() AS date) - 40 LIMIT :limit
) RETURNING project;
