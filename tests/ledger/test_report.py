import pytest
import sqlalchemy as sa

from mangen import errors
from mangen.ledger import report


def test_overview_counts_weighs_and_explains(desk, wanted):
    done, failed, full, half, film = desk.want(
        wanted("voice", "e1/s1/l1", seconds_est=2.0),
        wanted("anchor", "c/a", seconds_est=1.0),
        wanted("anchor", "c/b", seconds_est=1.0),
        wanted("illustrate", "e1/s1", seconds_est=4.0),
        wanted("assemble", "e1", ("illustrate", "e1/s1"), episode=1, seconds_est=2.0),
    )
    desk.settle(done, "done")
    desk.settle(failed, "failed")
    fences = desk.run(full, half)
    desk.book.fail(fences[0], "resource", "no room in the store")
    desk.book.progress(fences[1], 1, 2)
    with desk.book.transaction() as conn:
        other = desk.book.insert_project(conn, title="空")
        [one, empty] = report.overview(conn, None)
        assert report.overview(conn, [other]) == [empty]
    assert (one.id, one.title, one.paused) == (desk.project, "故乡", False)
    assert one.counts == {
        "voice": {"done": 1},
        "anchor": {"failed": 1, "ready": 1},
        "illustrate": {"running": 1},
        "assemble": {"blocked": 1},
    }
    assert one.progress == pytest.approx((2 + 1 + 2) / 10)
    [failure] = one.failures
    assert failure.pop("at")
    assert failure == {
        "job": failed, "stage": "anchor", "subject": "c/a", "kind": "permanent",
        "error": "broken", "attempt": 1,
    }  # fmt: skip
    [waiting] = one.waiting
    assert waiting.pop("until")
    assert waiting == {
        "job": full, "stage": "anchor", "subject": "c/b", "kind": "resource",
        "error": "no room in the store",
    }  # fmt: skip
    assert one.assembling == {1: "blocked"}
    assert film
    assert (empty.counts, empty.progress, empty.failures) == ({}, 0.0, [])


def test_a_closing_job_that_waits_or_failed_is_told_as_both(desk, wanted):
    waits, fails = desk.want(
        wanted("assemble", "e1", episode=1), wanted("assemble", "e2", episode=2)
    )
    [fence] = desk.run(waits)
    desk.book.fail(fence, "transient", "not now")
    desk.settle(fails, "failed")
    with desk.book.transaction() as conn:
        [one] = report.overview(conn, None)
    assert one.assembling == {1: "ready", 2: "failed"}
    assert [waiting["job"] for waiting in one.waiting] == [waits]
    assert [failure["job"] for failure in one.failures] == [fails]
    assert one.waiting[0]["until"]


def test_superseded_jobs_count_nowhere(desk, wanted):
    [old] = desk.want(wanted("anchor", "c/a"))
    desk.settle(old, "failed")
    desk.want(wanted("anchor", "c/a", key="k2"))
    with desk.book.transaction() as conn:
        [one] = report.overview(conn, [desk.project])
    assert one.counts == {"anchor": {"blocked": 1}}
    assert one.failures == []


def test_an_unknown_project_is_named(desk):
    with desk.book.transaction() as conn, pytest.raises(errors.UnknownProject, match="999"):
        report.overview(conn, [desk.project, 999])


def test_three_queries_serve_any_number_of_projects(desk, wanted):
    with desk.book.transaction() as conn:
        for n in range(30):
            project = desk.book.insert_project(conn, title=str(n))
            desk.book.insert_jobs(conn, project, [wanted("anchor", "c/a")], by="test")
        seen = []
        sa.event.listen(conn, "after_cursor_execute", lambda *args: seen.append(args[2]))
        assert len(report.overview(conn, None)) == 31
    assert len(seen) == 3
