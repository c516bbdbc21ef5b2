import dataclasses

import psycopg
import pytest
import sqlalchemy as sa

from mangen import errors
from mangen.ledger import jobs


@pytest.fixture
def fence(desk, wanted):
    [job] = desk.want(wanted("anchor", "c/a"))
    return desk.run(job)[0]


def waits_s(desk, job):
    [row] = desk.sql(
        "select extract(epoch from not_before - clock_timestamp()) as s from jobs where id = :id",
        id=job,
    )
    return float(row["s"])


def test_finish_job_writes_rows_and_done_in_one_transaction(desk, fence):
    artifact = jobs.Artifact(kind="panel", path="1/1-1.png", sha256="ab", meta={"w": 720})
    with desk.book.finishing(fence) as conn:
        desk.book.add_artifacts(conn, fence, [artifact, dataclasses.replace(artifact, path="1/b")])
        desk.book.note_attempt(conn, fence, peak=9, meta={"seed": 7})
    row = desk.row(fence.job)
    assert (row["state"], row["progress"], row["owner"]) == ("done", 1.0, None)
    assert desk.events(fence.job)[-1] == ("finish_job", "running", "done")
    assert desk.book.artifacts([fence.job])[fence.job][0] == artifact
    [attempt] = desk.sql("select * from attempts")
    assert (attempt["outcome"], attempt["peak"], attempt["meta"]) == ("done", 9, {"seed": 7})
    assert attempt["ended_at"] >= attempt["started_at"]


def test_work_without_rows_is_finished_in_one_statement(desk, wanted, fence):
    desk.book.finish(fence)
    assert desk.state(fence.job) == "done"
    with pytest.raises(errors.FenceLost):
        desk.book.finish(fence)
    [job] = desk.want(wanted("anchor", "c/stopped"))
    [other] = desk.run(job)
    desk.book.cancel(job)
    with pytest.raises(errors.Stopped):
        desk.book.finish(other)
    assert desk.state(job) == "cancelled"


def test_an_exception_while_finishing_rolls_everything_back(desk, fence):
    def body():
        with desk.book.finishing(fence) as conn:
            desk.book.add_artifacts(
                conn, fence, [jobs.Artifact(kind="panel", path="1/1-1.png", sha256="ab")]
            )
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        body()
    assert desk.state(fence.job) == "running"
    assert desk.sql("select * from artifacts") == []
    desk.finish(fence)


def test_a_late_finish_after_a_release_is_refused(desk, fence):
    desk.book.release(desk.owner, reason="lease")
    with (
        pytest.raises(errors.FenceLost, match="attempt 1 of w/0/1 was lost, it is ready"),
        desk.book.finishing(fence),
    ):
        pytest.fail("the body must not run")
    assert desk.state(fence.job) == "ready"


def test_a_late_finish_beside_a_newer_attempt_is_refused(desk, fence):
    desk.book.release(desk.owner, reason="lease")
    other = jobs.Owner(worker="w", slot=0, generation=2)
    desk.book.register(other)
    [newer] = desk.run(fence.job, owner=other)
    for late in (
        fence,
        dataclasses.replace(fence, attempt=2),
        dataclasses.replace(newer, attempt=1),
    ):
        with pytest.raises(errors.FenceLost, match="running by w/0/2, attempt 2"):
            desk.finish(late)
        with pytest.raises(errors.FenceLost):
            desk.book.fail(late, "transient", "late")
        assert desk.book.progress(late, 1, 2) is False
    desk.finish(newer)
    with pytest.raises(errors.FenceLost, match="it is done"):
        desk.finish(newer)


def test_a_fence_of_no_job_is_lost(desk):
    with pytest.raises(errors.FenceLost, match="does not exist"):
        desk.finish(jobs.Fence(job=999, attempt=1, owner="w/0/1"))


def test_finishing_a_job_that_was_asked_to_stop_cancels_it(desk, fence):
    desk.book.cancel(fence.job)
    assert desk.book.progress(fence, 1, 2) is False
    with (
        pytest.raises(errors.Stopped, match="it is cancelled"),
        desk.book.finishing(fence),
    ):
        pytest.fail("the body must not run")
    assert desk.state(fence.job) == "cancelled"
    assert desk.events(fence.job)[-1] == ("finish_job", "running", "cancelled")


def test_a_cancel_waits_for_a_finish_that_has_begun(desk, fence):
    def cancel():
        with desk.book.transaction() as conn:
            conn.exec_driver_sql("set local lock_timeout = '50ms'")
            desk.book.cancel_jobs(conn, [fence.job])

    with desk.book.finishing(fence), pytest.raises(sa.exc.OperationalError) as caught:
        cancel()
    assert isinstance(caught.value.orig, psycopg.errors.LockNotAvailable)
    assert desk.state(fence.job) == "done"
    assert desk.book.cancel(fence.job).ids == []


def test_a_permanent_failure_fails_at_once(desk, fence):
    assert desk.book.fail(fence, "permanent", "no such glyph") == "failed"
    row = desk.row(fence.job)
    assert (row["failures"], row["error_kind"], row["error"]) == (1, "permanent", "no such glyph")
    assert desk.events(fence.job)[-1] == ("fail_job", "running", "failed")


@pytest.mark.parametrize("error", ["a\0b", "lone \ud800 surrogate", "x" * 100_000])
def test_no_error_is_too_odd_to_be_kept(desk, fence, error):
    assert desk.book.fail(fence, "permanent", error) == "failed"
    assert 0 < len(desk.row(fence.job)["error"]) <= 4001


def test_the_third_transient_failure_fails_after_growing_waits(desk, fence):
    assert desk.book.fail(fence, "transient", "away") == "ready"
    assert 1.4 * 2 < waits_s(desk, fence.job) <= 1.25 * 4
    assert desk.book.claim([fence.job], desk.owner).granted == {}
    desk.due(fence.job)
    [second] = desk.run(fence.job)
    assert second.attempt == 2
    assert desk.book.fail(second, "transient", "away") == "ready"
    assert 1.4 * 4 < waits_s(desk, fence.job) <= 1.25 * 8
    desk.due(fence.job)
    [third] = desk.run(fence.job)
    assert desk.book.fail(third, "transient", "away again") == "failed"
    row = desk.row(fence.job)
    assert (row["failures"], row["attempt"], row["error"]) == (3, 3, "away again")
    outcomes = desk.sql("select outcome from attempts order by attempt")
    assert [row["outcome"] for row in outcomes] == ["transient"] * 3


def test_want_of_a_resource_is_never_charged_and_waits_at_most_300_s(desk, fence):
    job, before = fence.job, 0.0
    for n in range(10):
        assert desk.book.fail(fence, "resource", "store full") == "ready"
        wait = waits_s(desk, job)
        expected = min(240.0, 2.0 * 2 ** (n + 1))
        assert 0.75 * expected - 1 < wait <= 1.25 * expected
        before = max(before, wait)
        desk.due(job)
        [fence] = desk.run(job)
    assert desk.row(job)["failures"] == 0
    assert desk.row(job)["error"] == "store full"
    desk.finish(fence)
    assert desk.row(job)["error"] is None


def test_backoffs_are_jittered(desk, wanted):
    ids = desk.want(*(wanted("voice", f"e1/s1/l{n}") for n in range(6)))
    for fence in desk.run(*ids):
        desk.book.fail(fence, "transient", "away")
    [row] = desk.sql("select max(not_before) - min(not_before) as spread from jobs")
    assert row["spread"].total_seconds() > 0.05


@pytest.mark.parametrize("kind", ["permanent", "transient", "resource"])
def test_stop_wins_over_any_failure(desk, fence, kind):
    desk.book.cancel(fence.job)
    assert desk.book.fail(fence, kind, "stopped") == "cancelled"
    assert desk.row(fence.job)["failures"] == 0
    assert desk.sql("select outcome from attempts")[0]["outcome"] == "cancelled"


def test_progress_is_kept_and_says_whether_to_go_on(desk, fence):
    assert desk.book.progress(fence, 3, 12) is True
    assert desk.row(fence.job)["progress"] == 0.25
    assert desk.book.progress(fence, 30, 12) is True
    assert desk.row(fence.job)["progress"] == 1.0
    assert desk.book.progress(fence, 0, 0) is True


def test_what_settles_marks_its_project_dirty_and_what_waits_does_not(desk, wanted):
    a, b, c = desk.want(*(wanted("anchor", f"c/{n}") for n in range(3)))
    fences = desk.run(a, b, c)

    def dirty():
        with desk.book.transaction() as conn:
            found = desk.book.dirty_projects(conn)
            desk.book.clear_dirty(conn, desk.project)
            return found

    desk.book.fail(fences[0], "transient", "away")
    assert dirty() == []
    desk.book.fail(fences[1], "permanent", "broken")
    assert dirty() == [desk.project]
    desk.finish(fences[2])
    assert dirty() == [desk.project]


def test_orphans_are_files_of_ended_attempts_without_a_row(desk, fence):
    """A stranger's file is left alone, and so is one of another ledger's project."""
    job, project = fence.job, desk.project
    running, foreign = f"{project}/{job}-1.png", f"{project + 7}/{job}-1.png"
    strangers = [f"{project}/999-1-2.mp4", f"{project}/cover.png", "thesis/final.docx", foreign]
    assert desk.book.orphans([running, *strangers]) == []
    with desk.book.finishing(fence) as conn:
        desk.book.add_artifacts(
            conn, fence, [jobs.Artifact(kind="panel", path=running, sha256="ab")]
        )
    second = f"{project}/{job}-1-1.png"
    assert desk.book.orphans([running, second, *strangers]) == [second]
