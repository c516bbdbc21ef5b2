\set n :n + 1
\set id :first + :client_id * :each + :n - 1
BEGIN;
UPDATE jobs SET state = 'running', attempt = attempt + 1, owner = 'raw/0/1', progress = 0, running_at = clock_timestamp() WHERE id = :id AND state = 'published';
INSERT INTO attempts (job, attempt, owner, device) VALUES (:id, 1, 'raw/0/1', 'cpu');
INSERT INTO events (job, attempt, "from", "to", query, owner) VALUES (:id, 1, 'published', 'running', 'claim_jobs', 'raw/0/1');
COMMIT;
BEGIN;
UPDATE jobs SET state = 'done', progress = 1, owner = NULL, settled_at = clock_timestamp() WHERE id = :id AND state = 'running' RETURNING project \gset
UPDATE attempts SET ended_at = clock_timestamp(), outcome = 'done' WHERE job = :id AND attempt = 1;
INSERT INTO events (job, attempt, "from", "to", query, owner) VALUES (:id, 1, 'running', 'done', 'finish_job', 'raw/0/1');
INSERT INTO dirty (project, job) VALUES (:project, :id);
COMMIT;
