"""Each invariant is broken with raw SQL, and must be named."""

import pytest

from mangen.ledger import invariants, jobs, queries

#: an attempt of a done job that nobody claimed
SECOND = """
insert into attempts (job, attempt, owner, device, ended_at, outcome)
values (:done, 2, 'w', 'cpu', clock_timestamp(), '{}')
"""


@pytest.fixture
def ledger_at_work(book, wanted, request):
    """A ledger with done, running and waiting jobs, all of it silent."""
    desk = request.getfixturevalue("desk")
    a, b, shot = desk.want(
        wanted("anchor", "c/a"),
        wanted("anchor", "c/b"),
        wanted("illustrate", "e1/s1", ("anchor", "c/a")),
    )
    [fence, running] = desk.run(a, b)
    with book.finishing(fence) as conn:
        book.add_artifacts(conn, fence, [jobs.Artifact(kind="ref", path="1/1-1.png", sha256="x")])
    desk.advance()
    assert desk.broken(iter(["1/1-1.png"])) == set()
    yield desk, a, running, shot
    desk.sql("delete from events")  # what was broken is not the next check's business
    desk.sql("truncate jobs cascade")


def told(desk):
    with desk.book.transaction() as conn:
        return [(one.name, one.detail) for one in invariants.check(conn, None, 30.0)]


def event(desk, job, query, frm, to):
    desk.sql(
        'insert into events (job, attempt, query, "from", "to")'
        " values (:job, 1, :query, :frm, :to)",
        job=job, query=query, frm=frm, to=to,
    )  # fmt: skip


def test_a_second_accepted_finish_is_seen(ledger_at_work):
    desk, done, *_ = ledger_at_work
    event(desk, done, "finish_job", "running", "done")
    assert "one_finish" in desk.broken()


def test_done_without_a_finish_is_seen(ledger_at_work):
    desk, done, *_ = ledger_at_work
    desk.sql("delete from events where job = :job and query = 'finish_job'", job=done)
    assert "one_finish" in desk.broken()


def test_a_claim_before_a_need_settled_is_seen(ledger_at_work):
    desk, _, running, shot = ledger_at_work
    desk.sql(
        "insert into job_dependencies (job, needs, kind) values (:a, :b, 'soft')",
        a=shot, b=running.job,
    )  # fmt: skip
    event(desk, shot, "claim_jobs", "ready", "running")
    assert "needs_settled" in desk.broken()


def test_a_claim_after_a_hard_need_failed_is_seen(ledger_at_work):
    desk, _, running, shot = ledger_at_work
    desk.book.fail(running, "permanent", "broken")
    desk.sql(
        "insert into job_dependencies (job, needs, kind) values (:a, :b, 'soft')",
        a=shot, b=running.job,
    )  # fmt: skip
    event(desk, shot, "claim_jobs", "ready", "running")
    assert "needs_settled" not in desk.broken()
    desk.sql("update job_dependencies set kind = 'hard'")
    assert "needs_settled" in desk.broken()


def test_more_than_three_failures_are_seen(ledger_at_work):
    desk, done, *_ = ledger_at_work
    desk.sql("alter table jobs drop constraint jobs_failures")
    desk.sql("update jobs set failures = 4 where id = :job", job=done)
    try:
        assert desk.broken() == {"failures_bounded"}
    finally:
        desk.sql("update jobs set failures = 0")
        desk.sql("alter table jobs add constraint jobs_failures check (failures between 0 and 3)")


@pytest.mark.parametrize(
    "how",
    [
        "delete from owners",
        "update owners set released_at = clock_timestamp(), release_reason = 'lease'",
        "update owners set beat_at = beat_at - interval '61 s'",
    ],
)
def test_a_running_job_without_a_living_owner_is_seen(ledger_at_work, how):
    desk, *_ = ledger_at_work
    desk.sql("update jobs set running_at = running_at - interval '61 s' where state = 'running'")
    assert desk.broken() == set()
    desk.sql(how)
    assert desk.broken() == {"running_owned"}


def test_done_that_did_not_stay_done_is_seen(ledger_at_work):
    desk, done, *_ = ledger_at_work
    desk.sql("update jobs set state = 'cancelled' where id = :job", job=done)
    assert "done_stays" in desk.broken()


def test_an_event_out_of_done_is_seen(ledger_at_work):
    desk, done, *_ = ledger_at_work
    event(desk, done, "revive_jobs", "done", "blocked")
    assert {"done_stays", "legal_events"} <= desk.broken()


def test_an_illegal_event_is_seen(ledger_at_work):
    desk, _, _, shot = ledger_at_work
    event(desk, shot, "publish_jobs", "ready", "done")
    assert "legal_events" in desk.broken()


def test_a_legal_event_of_another_query_is_seen(ledger_at_work):
    desk, _, _, shot = ledger_at_work
    event(desk, shot, "ready_jobs", "ready", "published")
    assert "legal_events" in desk.broken()


def test_a_move_without_its_event_is_seen(ledger_at_work):
    desk, _, _, shot = ledger_at_work
    desk.sql("delete from events where job = :job and query = 'ready_jobs'", job=shot)
    assert desk.broken() == {"events_replay"}


def test_a_gap_between_events_is_seen(ledger_at_work):
    desk, done, *_ = ledger_at_work
    desk.sql("delete from events where job = :job and query = 'ready_jobs'", job=done)
    assert desk.broken() == {"events_replay"}


def test_a_job_without_any_event_is_seen(ledger_at_work):
    desk, _, _, shot = ledger_at_work
    desk.sql("delete from events where job = :job", job=shot)
    assert desk.broken() == {"events_replay"}


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("update events set attempt = 3 where query = 'claim_jobs'", "is of attempt 3, not of"),
        ("update events set attempt = 1 where query = 'ready_jobs'", "is of attempt 1, not of"),
        ("update events set attempt = 0 where query = 'finish_job'", "is of attempt 0, not of"),
        (
            "update jobs set attempt = 2 where state = 'done'",
            "is at attempt 2, but its last event is of attempt 1",
        ),
    ],
)
def test_an_event_of_another_attempt_is_seen(ledger_at_work, how, said):
    desk, *_ = ledger_at_work
    desk.sql(how)
    assert any(said in detail for name, detail in told(desk) if name == "events_replay")


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (
            "insert into attempts (job, attempt, owner, device) values (:done, 2, 'w', 'cpu')",
            "attempt 2 of w was never ended, and the job is done at attempt 1",
        ),
        (
            SECOND.format("done"),
            "attempt 2 ended done, and the job is done at attempt 1",
        ),
        (
            "update attempts set outcome = null, ended_at = null where job = :done",
            "done by attempt 1, which is open by w/0/1",
        ),
        ("delete from artifacts; delete from attempts", "done by attempt 1, which has no row"),
        (
            "update attempts set outcome = 'lost', ended_at = now() where outcome is null",
            "running by attempt 1, which ended lost",
        ),
        (
            "update attempts set owner = 'thief' where outcome is null",
            "running by attempt 1, which is open by thief",
        ),
        (
            SECOND.format("lost"),
            "is at attempt 1 and has 2 attempts",
        ),
        (
            "update events set owner = 'thief' where job = :done and query = 'finish_job'",
            "finish_job of attempt 1 by thief, which w/0/1 had claimed",
        ),
    ],
)
def test_an_attempt_that_is_not_its_job_s_is_seen(ledger_at_work, how, said):
    desk, done, *_ = ledger_at_work
    for statement in how.split("; "):
        desk.sql(statement, **({"done": done} if ":done" in statement else {}))
    found = [detail for name, detail in told(desk) if name == "attempts_fenced"]
    assert any(said in detail for detail in found), found


def test_an_artifact_of_an_attempt_that_was_not_accepted_is_seen(ledger_at_work):
    desk, *_ = ledger_at_work
    desk.sql("update attempts set outcome = 'lost' where outcome = 'done'")
    assert desk.broken() == {"artifacts_accepted", "attempts_fenced"}


def test_a_row_without_its_file_is_seen(ledger_at_work):
    desk, *_ = ledger_at_work
    assert desk.broken(iter([])) == {"rows_stored"}
    assert desk.broken(None) == set()


def test_a_file_without_its_row_is_seen_unless_its_attempt_runs_or_just_ended(ledger_at_work):
    desk, done, running, _ = ledger_at_work
    good = f"1/{done}-1.png"
    assert desk.broken([good, "1/999-1.png", "1/stray.png"]) == set()  # strangers' files
    assert desk.broken([good, f"1/{running.job}-1.png", f"1/{done}-1-1.png"]) == set()
    desk.sql("update attempts set ended_at = ended_at - interval '61 s'")
    assert desk.broken([good, f"1/{done}-1-1.png"]) == {"files_accepted"}


def test_every_invariant_is_broken_by_a_test_here(ledger_at_work):
    with open(__file__, encoding="utf-8") as file:  # noqa: PTH123 - this very file
        text = file.read()
    missing = [name for name in queries.INVARIANTS if f'"{name}"' not in text]
    assert missing == []
    desk, done, *_ = ledger_at_work
    event(desk, done, "revive_jobs", "done", "blocked")
    with desk.book.transaction() as conn:
        found = invariants.check(conn, None, 30.0)
    assert {one.job for one in found} == {done}
    assert all(one.detail for one in found)
