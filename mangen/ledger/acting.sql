-- name: insert_act
INSERT INTO acts (by, verb, project, scope, detail)
VALUES (:by, :verb, :project, :scope, CAST(:detail AS jsonb));

-- name: acts
SELECT id, at, by, verb, project, scope, detail FROM acts
WHERE CAST(:projects AS bigint[]) IS NULL OR project = ANY(CAST(:projects AS bigint[]))
ORDER BY id DESC LIMIT :limit;
