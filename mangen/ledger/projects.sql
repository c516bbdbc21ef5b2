-- name: insert_project
INSERT INTO projects (title, class, weight, settings, episodes_wanted, budget)
VALUES (
    :title, :klass, :weight, CAST(:settings AS jsonb), CAST(:episodes_wanted AS integer[]), :budget
)
RETURNING id;

-- name: projects
SELECT * FROM projects
WHERE CAST(:ids AS bigint[]) IS NULL OR id = ANY(CAST(:ids AS bigint[]))
ORDER BY id;

-- name: want_episodes
UPDATE projects SET episodes_wanted = CAST(:episodes AS integer[]) WHERE id = :project RETURNING id;

-- name: lock_project
SELECT id FROM projects WHERE id = :project FOR NO KEY UPDATE;

-- name: notify
SELECT pg_notify(:channel, :payload);

-- name: ring
-- as notify, alone in its transaction: what a crash loses of it, the next look finds by itself
SELECT pg_notify(:channel, :payload), set_config('synchronous_commit', 'off', true);
