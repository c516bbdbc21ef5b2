-- name: history_page
-- some jobs with all that happened to them, as one look at the database sees it
SELECT j.id,
    to_jsonb(j) AS job,
    coalesce((
        SELECT jsonb_agg(to_jsonb(e) ORDER BY e.id) FROM events e
        WHERE e.job = j.id AND (CAST(:since AS timestamptz) IS NULL OR e.at >= :since)
    ), '[]') AS events,
    coalesce((
        SELECT jsonb_agg(to_jsonb(a) ORDER BY a.attempt) FROM attempts a
        WHERE a.job = j.id
            AND (CAST(:since AS timestamptz) IS NULL OR coalesce(a.ended_at, a.started_at) >= :since)
    ), '[]') AS attempts
FROM jobs j
WHERE j.id > :after AND j.id <= :last
    AND (CAST(:projects AS bigint[]) IS NULL OR j.project = ANY(CAST(:projects AS bigint[])))
ORDER BY j.id LIMIT :limit;

-- name: history_end
SELECT coalesce(max(id), 0) FROM jobs;

-- name: history_projects
SELECT to_jsonb(p) AS project FROM projects p
WHERE CAST(:projects AS bigint[]) IS NULL OR p.id = ANY(CAST(:projects AS bigint[]))
ORDER BY p.id;

-- name: history_acts
SELECT a.id, to_jsonb(a) AS act FROM acts a
WHERE a.id > :after AND (CAST(:since AS timestamptz) IS NULL OR a.at >= :since)
    AND (CAST(:projects AS bigint[]) IS NULL OR a.project = ANY(CAST(:projects AS bigint[])))
ORDER BY a.id LIMIT :limit;
