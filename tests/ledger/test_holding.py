import threading

import pytest
import sqlalchemy as sa

from mangen import errors
from mangen.ledger import scope


def hold(desk, path, *, how="hold"):
    with desk.book.transaction() as conn:
        return getattr(desk.book, how)(conn, desk.project, path)


def held(desk):
    return {row["subject"] for row in desk.sql("select subject from jobs where held")}


def test_a_pause_reaches_what_its_scope_names_and_no_more(desk, wanted):
    subjects = ["e1", "e1/s1", "e1/s1/l1", "e1/s10", "e10", "e10/s1", "c/e1"]
    a, *_ = desk.want(*(wanted("x", subject) for subject in subjects))
    assert hold(desk, "e1/s1")
    assert held(desk) == {"e1/s1", "e1/s1/l1"}
    assert hold(desk, "e1")
    assert held(desk) == {"e1", "e1/s1", "e1/s1/l1", "e1/s10"}
    assert not hold(desk, "e1")
    desk.want(wanted("y", "e1/s1"), wanted("y", "e2"))
    assert desk.sql("select held from jobs where stage = 'y' order by id") == [
        {"held": True}, {"held": False},
    ]  # fmt: skip
    desk.advance()
    assert desk.book.claim([a], desk.owner).refused == {a: "held"}
    assert hold(desk, "e1", how="let_go")
    assert not hold(desk, "e1", how="let_go")
    assert held(desk) == {"e1/s1", "e1/s1/l1"}
    with desk.book.transaction() as conn:
        assert desk.book.holds(conn, None) == {desk.project: ["e1/s1"]}
        with pytest.raises(errors.UnknownProject):
            desk.book.hold(conn, 999, "")


def test_what_is_done_stays_free_and_what_comes_back_is_held(desk, wanted):
    done, failed = desk.want(wanted("x", "e1/s1"), wanted("x", "e1/s2"))
    desk.settle(done, "done")
    desk.settle(failed, "failed")
    hold(desk, "e1")
    with desk.book.transaction() as conn:
        desk.book.revive_jobs(conn, [failed])
    assert held(desk) == {"e1/s2"}


def test_a_job_is_paused_by_its_number(desk, wanted):
    a, b = desk.want(wanted("x", "e1/s1"), wanted("y", "e1/s1"))
    hold(desk, f"job/{a}")
    assert (desk.row(a)["held"], desk.row(b)["held"]) == (True, False)
    hold(desk, f"job/{a}", how="let_go")
    assert held(desk) == set()


def test_jobs_of_a_scope_and_what_only_they_need(desk, wanted):
    alone, shared, one, two, _ = desk.want(
        wanted("anchor", "c/a"),
        wanted("anchor", "c/b"),
        wanted("panel", "e1/s1", ("anchor", "c/a"), ("anchor", "c/b")),
        wanted("panel", "e2/s1", ("anchor", "c/b")),
        wanted("film", "e1", ("panel", "e1/s1")),
    )
    with desk.book.transaction() as conn:
        found = desk.book.scope_jobs(conn, desk.project, "e1/s1")
        assert [job.id for job in found] == [one]
        assert desk.book.idle_needs(conn, [one]) == [alone]
        assert desk.book.idle_needs(conn, [one, two]) == [alone, shared]
        desk.book.cancel_jobs(conn, [one, alone])
        again = desk.book.retry_jobs(conn, desk.project, "e1")
        assert [job.id for job in again] == [alone, one]
        assert desk.book.standing(conn, 999) is None


def test_an_act_is_kept_with_what_it_did_and_is_tried_again_after_a_deadlock(desk, wanted):
    [job] = desk.want(wanted("x", "e1"))
    turns, both = [], threading.Barrier(2)

    def crossing(first, second):
        def do(conn):
            conn.execute(sa.text(f"select pg_advisory_xact_lock({first})"))
            if len(turns) < 2:
                turns.append(first)
                both.wait(30)
            conn.execute(sa.text(f"select pg_advisory_xact_lock({second})"))
            desk.book.note_act(conn, "test", project=desk.project, scope="e1", by="li")

        desk.book.act(do)

    threads = [threading.Thread(target=crossing, args=order) for order in ((1, 2), (2, 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    acts = desk.book.acts([desk.project])
    assert [(act.verb, act.scope, act.by) for act in acts] == [("test", "e1", "li")] * 2
    with desk.book.transaction() as conn:
        desk.book.note_act(conn, "undone", project=None, by="li")
        conn.rollback()
    assert len(desk.book.acts()) == 2
    assert job


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("12", (12, "", None, None, None)),
        (12, (12, "", None, None, None)),
        (" 12/e3 ", (12, "e3", 3, None, None)),
        ("12/e3/s7", (12, "e3/s7", 3, 7, None)),
        ("job/4711", (None, "job/4711", None, None, 4711)),
        ("all", (None, "all", None, None, None)),
    ],
)
def test_a_scope_is_read(words, parts):
    found = scope.parse(words)
    assert (found.project, found.path, found.episode, found.shot, found.job) == parts
    assert str(found) == str(words).strip()


@pytest.mark.parametrize(
    "words", ["", "0", "12/3", "12/s3", "12/e3/l1", "job", "job/x", "e3", "-1"]
)
def test_what_names_nothing_is_refused(words):
    with pytest.raises(errors.UsageError, match="names nothing"):
        scope.parse(words)
