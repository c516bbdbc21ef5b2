"""CHECKs tie a job's state to its timestamps: an impossible row can't be written."""

import psycopg
import pytest
import sqlalchemy as sa


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ("state = 'lost'", "jobs_state"),
        ("state = 'ready'", "jobs_ready_at"),
        ("state = 'published', ready_at = now()", "jobs_published_at"),
        ("published_at = now()", "jobs_not_published"),
        ("ready_at = now()", "jobs_never_ready"),
        ("state = 'running', ready_at = now(), owner = 'x', attempt = 1", "jobs_running_at"),
        ("state = 'running', ready_at = now(), owner = 'x', running_at = now()", "jobs_running_at"),
        ("state = 'running', ready_at = now(), attempt = 1, running_at = now()", "jobs_owner"),
        ("owner = 'x'", "jobs_owner"),
        ("running_at = now()", "jobs_not_running"),
        ("state = 'done', ready_at = now(), running_at = now(), attempt = 1", "jobs_settled_at"),
        ("state = 'failed'", "jobs_settled_at"),
        ("settled_at = now()", "jobs_settled_at"),
        ("stop = true", "jobs_stop"),
        ("failures = 4", "jobs_failures"),
        ("progress = 1.5", "jobs_progress"),
        ("class = 3", "jobs_class"),
        ("cap = 0", "jobs_batch"),
        ("peaks = '{}'", "jobs_batch"),
        ("error_kind = 'bad luck'", "jobs_error_kind"),
    ],
)
def test_an_impossible_job_is_refused(desk, wanted, change, check):
    [job] = desk.want(wanted("anchor", "c/a"))
    with pytest.raises(sa.exc.IntegrityError) as caught:
        desk.sql(f"update jobs set {change} where id = :job", job=job)  # noqa: S608 - the cases above
    assert isinstance(caught.value.orig, psycopg.errors.CheckViolation)
    assert caught.value.orig.diag.constraint_name == check


def test_a_subject_has_one_current_row(desk, wanted):
    [old] = desk.want(wanted("anchor", "c/a"))
    desk.want(wanted("anchor", "c/a", key="k2"))
    with pytest.raises(sa.exc.IntegrityError, match="jobs_current"):
        desk.sql("update jobs set superseded = false where id = :job", job=old)


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (
            """select id from jobs where queue = 'cpu' and state = 'ready' and not held
            and class = 1 and project = 1 order by rank desc, id limit 20""",
            "jobs_ready",
        ),
        ("select id from jobs where state = 'running' and owner = 'w/0/1'", "jobs_running"),
        ("select id from jobs where project = 1 and state = 'blocked'", "jobs_blocked"),
        ("select queue, count(*) from jobs where state = 'published' group by queue",
         "jobs_published"),
    ],
)  # fmt: skip
def test_a_partial_index_serves_each_hot_question(desk, wanted, query, index):
    desk.want(*(wanted("voice", f"e1/s{n}/l1") for n in range(2000)))
    desk.sql("analyze jobs")
    with desk.book.transaction() as conn:
        conn.exec_driver_sql("set local enable_seqscan = off")
        plan = "\n".join(conn.exec_driver_sql(f"explain {query}").scalars())
    assert index in plan
    assert "Sort" not in plan
