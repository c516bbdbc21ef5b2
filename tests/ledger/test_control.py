import concurrent.futures

import psycopg
import pytest

from mangen import errors
from mangen.ledger import jobs


def test_cancel_jobs_ends_what_waits_and_asks_what_runs(desk, wanted):
    blocked, ready, published, running, done = desk.want(
        wanted("illustrate", "e1/s1", ("anchor", "c/2")),
        *(wanted("anchor", f"c/{n}") for n in range(1, 5)),
    )
    desk.settle(done, "done")
    [fence] = desk.run(running)
    desk.advance()
    desk.publish(published)
    with desk.book.transaction() as conn:
        ended = desk.book.cancel_jobs(conn, [blocked, ready, published, running, done], by="li")
    assert ended.ids == [blocked, ready, published]
    assert ended.stopping == [fence]
    for job, was in ((blocked, "blocked"), (ready, "ready"), (published, "published")):
        assert desk.events(job)[-1] == ("cancel_jobs", was, "cancelled")
    assert desk.row(running)["stop"]
    assert desk.state(done) == "done"
    assert desk.sql("select owner from events where query = 'cancel_jobs'")[0]["owner"] == "li"


def test_cancel_rings_the_stop_channel_for_what_runs(desk, wanted, ledger_url):
    [a] = desk.want(wanted("anchor", "c/a"))
    desk.run(a)
    with psycopg.connect(ledger_url.replace("+psycopg", ""), autocommit=True) as conn:
        conn.execute("listen mangen_stop")
        desk.book.cancel(a)
        assert [note.channel for note in conn.notifies(timeout=10, stop_after=1)] == ["mangen_stop"]


def test_supersede_jobs_marks_settled_ones_too(desk, wanted):
    done, failed, blocked, running = desk.want(*(wanted("anchor", f"c/{n}") for n in range(4)))
    desk.settle(done, "done")
    desk.settle(failed, "failed")
    [fence] = desk.run(running)
    with desk.book.transaction() as conn:
        ended = desk.book.supersede_jobs(conn, [done, failed, blocked, running])
        assert desk.book.supersede_jobs(conn, [done, failed, blocked, running]).ids == []
    assert (ended.ids, ended.stopping) == ([done, failed, blocked], [fence])
    assert [desk.state(job) for job in (done, failed, blocked, running)] == [
        "done", "failed", "cancelled", "running",
    ]  # fmt: skip
    assert desk.book.fail(fence, "transient", "stopped") == "cancelled"


def test_revive_jobs_forgets_failures_and_brings_back_what_was_skipped_for_them(desk, wanted):
    panel, clip, done = desk.want(
        wanted("illustrate", "e1/s1"),
        wanted("animate", "e1/s1", ("illustrate", "e1/s1", "hard")),
        wanted("anchor", "c/a"),
    )
    desk.settle(done, "done")
    desk.settle(panel, "failed")
    desk.advance()
    assert desk.state(clip) == "skipped"
    with desk.book.transaction() as conn:
        assert desk.book.revive_jobs(conn, [panel, done]) == [panel, clip]
    row = desk.row(panel)
    assert (row["state"], row["failures"], row["error"], row["attempt"]) == ("blocked", 0, None, 1)
    assert desk.events(clip)[-1] == ("revive_jobs", "skipped", "blocked")
    assert desk.advance() == ([], [panel])


def test_a_person_does_not_revive_what_was_superseded(desk, wanted):
    [old] = desk.want(wanted("anchor", "c/a"))
    desk.want(wanted("anchor", "c/a", key="k2"))
    with desk.book.transaction() as conn:
        assert desk.book.revive_jobs(conn, [old]) == []
    assert desk.state(old) == "cancelled"


def test_a_revived_job_runs_under_a_new_fence(desk, wanted):
    [a] = desk.want(wanted("anchor", "c/a"))
    [late] = desk.run(a)
    desk.book.cancel(a)
    desk.book.fail(late, "transient", "stopped")
    with desk.book.transaction() as conn:
        desk.book.revive_jobs(conn, [a])
    [fence] = desk.run(a)
    assert fence == jobs.Fence(job=a, attempt=2, owner="w/0/1")
    with pytest.raises(errors.FenceLost):
        desk.finish(late)
    desk.finish(fence)


def test_projects_come_back_as_they_were_written(desk):
    with desk.book.transaction() as conn:
        number = desk.book.insert_project(
            conn, title="祝福", klass=0, weight=2.0, settings={"a": [1]}, episodes_wanted=[1, 3]
        )
        desk.book.want_episodes(conn, number, [1, 2, 3])
    found = desk.book.project(number)
    assert (found.title, found.klass, found.weight, found.paused) == ("祝福", 0, 2.0, False)
    assert (found.settings, found.episodes_wanted) == ({"a": [1]}, (1, 2, 3))
    assert [one.id for one in desk.book.projects()] == [desk.project, number]
    with pytest.raises(errors.UnknownProject):
        desk.book.project(999)
    with pytest.raises(errors.UnknownProject):
        desk.pause(999)


def _meanwhile(desk, act, begin):
    """Run `act` in a thread while the transaction of `begin` holds the rows it waits for."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with desk.book.transaction() as conn:
            begin(conn)
            future = pool.submit(act)
            with psycopg.connect(desk.book.url.replace("+psycopg", ""), autocommit=True) as other:
                other.execute(
                    "do $$ begin while not exists (select 1 from pg_stat_activity where"
                    " wait_event_type = 'Lock' and datname = current_database())"
                    " loop perform pg_sleep(0.01), pg_stat_clear_snapshot(); end loop; end $$"
                )
        return future.result(30)


def test_what_was_claimed_while_a_cancel_waited_is_asked_to_stop(desk, wanted):
    [job] = desk.want(wanted("anchor", "c/a"))
    desk.advance()
    ended = _meanwhile(
        desk,
        lambda: desk.book.cancel(job),
        lambda conn: desk.book.claim_jobs(conn, [job], desk.owner),
    )
    assert [fence.job for fence in ended.stopping] == [job]
    assert desk.row(job)["stop"]


def test_what_was_given_back_while_it_was_superseded_is_cancelled(desk, wanted):
    [job] = desk.want(wanted("anchor", "c/a"))
    [fence] = desk.run(job)
    new = wanted("anchor", "c/a", key="k2")
    _meanwhile(
        desk,
        lambda: desk.want(new),
        lambda conn: desk.book.fail_job(conn, fence, "resource", "full"),
    )
    assert desk.state(job) == "cancelled"


def test_what_was_cancelled_again_while_it_was_revived_comes_back(desk, wanted):
    [job] = desk.want(wanted("anchor", "c/a"))
    desk.advance()
    desk.book.cancel(job)

    def revive():
        with desk.book.transaction() as conn:
            return desk.book.revive_jobs(conn, [job])

    def again(conn):
        desk.book.revive_jobs(conn, [job])
        desk.book.cancel_jobs(conn, [job])

    assert _meanwhile(desk, revive, again) == [job]
    assert desk.state(job) == "blocked"
