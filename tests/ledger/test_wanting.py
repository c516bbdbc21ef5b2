import threading

import pytest
import sqlalchemy as sa

from mangen import errors
from mangen.ledger import jobs


def test_insert_jobs_keeps_every_field(desk, wanted):
    [job] = desk.want(
        wanted(
            "illustrate", "e1/s1", queue="gpu.mid", klass=2, bucket="512", model="animatic", cap=4,
            episode=1, params={"prompt": "雪: 'a' \\ :b"}, seconds_est=2.5, peaks=(10, 30),
        )
    )  # fmt: skip
    [found] = desk.book.jobs([job])
    assert found == jobs.Job(
        id=job, project=desk.project, episode=1, stage="illustrate", subject="e1/s1", key="k1",
        queue="gpu.mid", klass=2, rank=0.0, model="animatic", bucket="512", cap=4, state="blocked",
        attempt=0, failures=0, bell=0, solo=False, seconds_est=2.5, seconds_theory=2.5,
        peaks=(10, 30),
        params={"prompt": "雪: 'a' \\ :b"},
    )  # fmt: skip
    assert desk.events(job) == [("insert_jobs", None, "blocked")]


def test_insert_jobs_twice_inserts_once(desk, wanted):
    plan = [wanted("anchor", "c/a"), wanted("illustrate", "e1/s1", ("anchor", "c/a"))]
    first = desk.want(*plan)
    assert len(first) == 2
    assert desk.want(*plan) == []
    assert desk.sql("select count(*) as n from jobs")[0]["n"] == 2
    assert desk.sql("select count(*) as n from events")[0]["n"] == 2


def test_a_need_may_be_a_job_that_was_there_before(desk, wanted):
    [anchor] = desk.want(wanted("anchor", "c/a"))
    [shot] = desk.want(wanted("illustrate", "e2/s1", ("anchor", "c/a")))
    assert desk.sql("select job, needs, kind from job_dependencies") == [
        {"job": shot, "needs": anchor, "kind": "soft"}
    ]


def test_a_need_that_is_nowhere_is_refused_and_nothing_is_written(desk, wanted):
    with pytest.raises(errors.LedgerError, match="needs anchor c/b, which is neither wanted"):
        desk.want(wanted("illustrate", "e1/s1", ("anchor", "c/b")))
    assert desk.sql("select * from jobs") == []


def test_a_subject_wanted_twice_is_refused(desk, wanted):
    with pytest.raises(errors.LedgerError, match="anchor c/a is wanted twice"):
        desk.want(wanted("anchor", "c/a"), wanted("anchor", "c/a", key="k2"))


def test_an_unknown_project_is_named(desk, wanted):
    with (
        pytest.raises(errors.UnknownProject, match="no project 999"),
        desk.book.transaction() as conn,
    ):
        desk.book.insert_jobs(conn, 999, [wanted("anchor", "c/a")], by="test")


def test_a_new_key_supersedes_the_old_row_and_its_dependents_follow(desk, wanted):
    old_anchor, shot = desk.want(
        wanted("anchor", "c/a"), wanted("illustrate", "e1/s1", ("anchor", "c/a"))
    )
    [anchor] = desk.want(
        wanted("anchor", "c/a", key="k2"), wanted("illustrate", "e1/s1", ("anchor", "c/a"))
    )
    assert desk.state(old_anchor) == "cancelled"
    assert desk.row(old_anchor)["superseded"]
    assert desk.events(old_anchor)[-1] == ("supersede_jobs", "blocked", "cancelled")
    assert desk.sql("select job, needs from job_dependencies") == [{"job": shot, "needs": anchor}]


def test_an_earlier_key_wanted_again_goes_back_to_blocked(desk, wanted):
    [first] = desk.want(wanted("anchor", "c/a"))
    [second] = desk.want(wanted("anchor", "c/a", key="k2"))
    assert desk.want(wanted("anchor", "c/a")) == [first]
    assert (desk.state(first), desk.row(first)["superseded"]) == ("blocked", False)
    assert (desk.state(second), desk.row(second)["superseded"]) == ("cancelled", True)


def test_a_done_job_wanted_again_is_reused(desk, wanted):
    [first] = desk.want(wanted("anchor", "c/a"))
    desk.settle(first, "done")
    [second] = desk.want(wanted("anchor", "c/a", key="k2"))
    assert (desk.state(first), desk.row(first)["superseded"]) == ("done", True)
    assert desk.want(wanted("anchor", "c/a")) == []
    assert (desk.state(first), desk.row(first)["superseded"]) == ("done", False)
    assert desk.state(second) == "cancelled"


def test_a_running_job_that_is_superseded_stops_and_one_wanted_again_goes_on(desk, wanted):
    [first] = desk.want(wanted("anchor", "c/a"))
    [fence] = desk.run(first)
    desk.want(wanted("anchor", "c/a", key="k2"))
    assert desk.row(first)["stop"]
    assert desk.want(wanted("anchor", "c/a")) == []
    assert not desk.row(first)["stop"]
    desk.finish(fence)
    assert desk.state(first) == "done"


def test_a_cancelled_job_wanted_again_is_revived_and_a_failed_one_is_not(desk, wanted):
    cancelled, failed = desk.want(wanted("anchor", "c/a"), wanted("anchor", "c/b"))
    desk.book.cancel(cancelled)
    desk.settle(failed, "failed")
    assert desk.want(wanted("anchor", "c/a"), wanted("anchor", "c/b")) == [cancelled]
    assert (desk.state(cancelled), desk.state(failed)) == ("blocked", "failed")


def test_what_is_done_or_runs_keeps_its_needs(desk, wanted):
    anchor, shot = desk.want(
        wanted("anchor", "c/a"), wanted("illustrate", "e1/s1", ("anchor", "c/a"))
    )
    desk.settle(anchor, "done")
    desk.run(shot)
    desk.want(wanted("illustrate", "e1/s1"))
    assert desk.sql("select job, needs from job_dependencies") == [{"job": shot, "needs": anchor}]


def test_inserting_marks_the_project_dirty(desk, wanted):
    desk.want(wanted("anchor", "c/a"))
    with desk.book.transaction() as conn:
        assert desk.book.dirty_projects(conn) == [desk.project]


def test_twenty_thousand_jobs_go_in_by_a_handful_of_statements(desk, wanted):
    desk.sql(
        "delete from pg_statistic where cast(starelid as regclass)"
        " in (cast('jobs' as regclass), cast('job_dependencies' as regclass))"
    )
    plan = [wanted("anchor", f"c/{n}") for n in range(10)]
    for n in range(5000):
        plan += [
            wanted("voice", f"e1/s{n}/l1", params={"text": "我冒了严寒"}),
            wanted("illustrate", f"e1/s{n}", ("anchor", f"c/{n % 10}")),
            wanted(
                "animate", f"e1/s{n}",
                ("illustrate", f"e1/s{n}", "hard"), ("voice", f"e1/s{n}/l1"),
            ),
            wanted("upscale", f"e1/s{n}", ("illustrate", f"e1/s{n}", "hard")),
        ]  # fmt: skip
    count = 0

    def note(*_):
        nonlocal count
        count += 1

    sa.event.listen(desk.book._engine, "after_cursor_execute", note)
    made = desk.want(*plan)
    sa.event.remove(desk.book._engine, "after_cursor_execute", note)
    assert len(made) == 20_010
    assert count < 25
    # without statistics the first look at a novel would read whole tables for each job
    known = desk.sql("select tablename, attname from pg_stats where schemaname = 'public'")
    assert {("jobs", "project"), ("job_dependencies", "job")} <= {
        (row["tablename"], row["attname"]) for row in known
    }
    _, ready = desk.advance()
    assert len(ready) == 5_010


def test_two_that_submit_at_once_make_one_set_of_jobs(desk, wanted):
    plan = [wanted("anchor", f"c/{n}") for n in range(50)]
    plan += [wanted("illustrate", f"e1/s{n}", ("anchor", f"c/{n}")) for n in range(50)]
    gate, made, wrong = threading.Barrier(3), [], []

    def submit(order):
        gate.wait(10)
        try:
            made.append(desk.want(*order))
        except Exception as error:  # noqa: BLE001 - told to the main thread
            wrong.append(error)

    threads = [threading.Thread(target=submit, args=(order,)) for order in (plan, plan[::-1], plan)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
    assert sorted(map(len, made)) == [0, 0, 100]
    assert desk.sql("select count(*) as n from job_dependencies")[0]["n"] == 50


def test_a_submit_beside_a_running_pass_gives_new_needs_before_the_job_is_ready(desk, wanted):
    [shot] = desk.want(wanted("illustrate", "e1/s1"))
    looked, go = threading.Event(), threading.Event()

    def look():
        with desk.book.transaction() as conn:
            desk.book.lock_project(conn, desk.project)
            found = desk.book.find_ready(conn, desk.project)
            looked.set()
            assert go.wait(10)
            desk.book.ready_jobs(conn, {one.id: 1.0 for one in found})

    thread = threading.Thread(target=look)
    thread.start()
    assert looked.wait(10)
    submit = threading.Thread(
        target=desk.want,
        args=(wanted("anchor", "c/a"), wanted("illustrate", "e1/s1", ("anchor", "c/a"))),
    )
    submit.start()
    go.set()
    thread.join(10)
    submit.join(10)
    # the pass was first: the job was ready, so it keeps the needs it was judged by
    assert desk.state(shot) == "ready"
    assert desk.sql("select * from job_dependencies") == []
