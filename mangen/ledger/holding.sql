-- name: insert_hold
INSERT INTO holds (project, scope) VALUES (:project, :scope) ON CONFLICT DO NOTHING
RETURNING project;

-- name: delete_hold
DELETE FROM holds WHERE project = :project AND scope = :scope RETURNING project;

-- name: lock_open_projects
SELECT id FROM projects WHERE state = 'open' ORDER BY id FOR NO KEY UPDATE;

-- name: insert_holds
INSERT INTO holds (project, scope) SELECT id, :scope FROM projects WHERE state = 'open'
ON CONFLICT DO NOTHING
RETURNING project;

-- name: delete_holds
DELETE FROM holds WHERE scope = :scope RETURNING project;

-- name: follow_pauses
UPDATE projects p SET paused = EXISTS (
    SELECT 1 FROM holds h WHERE h.project = p.id AND h.scope IN ('', 'all')
)
WHERE p.id = ANY(CAST(:projects AS bigint[]));

-- name: hold_jobs
WITH picked AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE project = :project AND NOT held AND state <> 'done'
        AND (subject = :scope OR starts_with(subject, :scope || '/') OR :scope = 'job/' || id)
        AND EXISTS (SELECT 1 FROM holds WHERE project = :project AND scope = :scope)
    ORDER BY id FOR NO KEY UPDATE
)
UPDATE jobs j SET held = true FROM picked p WHERE j.id = p.id;

-- name: free_jobs
-- those that no other pause holds
WITH picked AS MATERIALIZED (
    SELECT j.id FROM jobs j
    WHERE j.project = :project AND j.held
        AND (j.subject = :scope OR starts_with(j.subject, :scope || '/')
             OR :scope = 'job/' || j.id)
        AND NOT EXISTS (
            SELECT 1 FROM holds h
            WHERE h.project = j.project
                AND (j.subject = h.scope OR starts_with(j.subject, h.scope || '/')
                     OR h.scope = 'job/' || j.id)
        )
    ORDER BY j.id FOR NO KEY UPDATE OF j
)
UPDATE jobs j SET held = false FROM picked p WHERE j.id = p.id;

-- name: holds
SELECT project, scope FROM holds
WHERE CAST(:projects AS bigint[]) IS NULL OR project = ANY(CAST(:projects AS bigint[]))
ORDER BY project, scope;

-- name: hold_new
-- what is inserted under a pause is held from its first moment
UPDATE jobs j SET held = true
WHERE EXISTS (SELECT 1 FROM holds WHERE project = :project)
    AND j.id = ANY(CAST(:ids AS bigint[]))
    AND EXISTS (
        SELECT 1 FROM holds h
        WHERE h.project = j.project
            AND (j.subject = h.scope OR starts_with(j.subject, h.scope || '/'))
    );
