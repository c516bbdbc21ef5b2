"""The turn that foretells, on a real ledger."""

from __future__ import annotations

import datetime as dt

import pytest
import sqlalchemy as sa

from mangen.comic import progress
from mangen.dispatch import foresight
from mangen.ledger import jobs, ledger, migrate
from mangen.storage import Store

QUEUES = ("gpu.high", "cpu", "gpu.mid", "gpu.low")


@pytest.fixture
def book(empty_database):
    migrate.upgrade(empty_database)
    one = ledger.Ledger(empty_database)
    yield one
    one.close()


def want(book, title, *seconds, queue="cpu"):
    with book.transaction() as conn:
        project = book.insert_project(conn, title=title)
        wanted = [
            jobs.Wanted(
                stage="animate", subject=f"e1/s{n}", key=str(n), queue=queue, klass=1, bucket="b",
                model="m", seconds_est=one,
            )
            for n, one in enumerate(seconds)
        ]  # fmt: skip
        made = list(book.insert_jobs(conn, project, wanted, by="test"))
        book.ready_jobs(conn, dict.fromkeys(made, 0.0))
    return project, made


def status(book, tmp_path):
    with book.transaction() as conn:
        return {one["id"]: one for one in progress.status(conn, None, Store(tmp_path))}


def test_who_leads_foretells_what_is_open_and_status_shows_it(book, tmp_path):
    promo, [clip] = want(book, "promo", 30.0)
    novel, _ = want(book, "novel", *[30.0] * 40)
    turn = foresight.Foresight(lease_s=30, quantum_s=60, planning="storyboard")
    assert status(book, tmp_path)[promo]["eta_why"] == "nobody has foretold it yet"
    assert turn.turn(book) == 2
    assert status(book, tmp_path)[promo]["eta_why"] == "no worker runs"
    owner = jobs.Owner(worker="w", slot=0, generation=1, device="cpu", queues=QUEUES)
    book.register(owner)
    turn.turn(book)
    assert status(book, tmp_path)[promo]["eta_why"] == "nothing like it was made yet"
    seen = jobs.Observation(
        kind="work", stage="animate", bucket="b", model="m", device="cpu", seconds=60.0,
        meta={"status": "done", "planned": 30.0},
    )  # fmt: skip
    book.observe([seen] * 64)
    turn.turn(book)
    found = status(book, tmp_path)
    assert found[novel]["eta_low"] <= found[novel]["eta"] <= found[novel]["eta_high"]
    assert found[novel]["eta_seconds"] == pytest.approx(41 * 60, rel=0.1)
    assert found[promo]["eta_seconds"] < found[novel]["eta_seconds"]

    fence = book.claim([clip], owner).granted[clip]
    waiting = foresight.waiting(book, lease_s=30)
    assert sum(one.seconds for one in waiting.lanes) == pytest.approx(41 * 60, rel=0.02)
    with book.finishing(fence):
        pass
    assert turn.turn(book) == 1
    found = status(book, tmp_path)
    assert (found[promo]["eta"], found[promo]["eta_why"]) == (None, "")
    waiting = foresight.waiting(book, lease_s=30)
    assert [(one.queue, one.state, one.jobs) for one in waiting.lanes] == [("cpu", "ready", 40)]
    assert len(waiting.devices) == 1


def test_the_backlog_is_counted_anew_where_nobody_leads(book):
    assert foresight.waiting(book, lease_s=30).lanes == ()
    turn = foresight.Foresight(lease_s=30, quantum_s=60, planning="storyboard")
    turn.turn(book)
    want(book, "late", 10.0, 20.0, queue="gpu.mid")
    [lane] = foresight.waiting(book, lease_s=30).lanes  # no worker is there to count
    assert (lane.queue, lane.jobs, lane.seconds) == ("gpu.mid", 2, 30.0)
    book.register(jobs.Owner(worker="w", slot=0, generation=1, device="cpu", queues=QUEUES))
    assert foresight.waiting(book, lease_s=30).lanes == ()
    with book.transaction() as conn:
        conn.execute(sa.text("update backlogs set at = at - interval '10 minutes'"))
    [lane] = foresight.waiting(book, lease_s=30).lanes
    assert (lane.queue, lane.jobs, lane.seconds) == ("gpu.mid", 2, 30.0)


def test_the_pace_counts_what_passes_between_two_jobs(book, tmp_path):
    novel, _ = want(book, "novel", *[10.0] * 60)
    owner = jobs.Owner(worker="w", slot=0, generation=1, device="cpu", queues=QUEUES)
    book.register(owner)
    seen = jobs.Observation(
        kind="work", stage="animate", bucket="b", model="m", device="cpu", seconds=10.0,
        meta={"status": "done", "planned": 10.0},
    )  # fmt: skip
    book.observe([seen] * 64)
    turn = foresight.Foresight(lease_s=30, quantum_s=60, planning="storyboard")

    def later(pieces):
        """A minute in which so many pieces of ten seconds were made, on a device that had it."""
        book.observe([seen] * pieces)
        turn._before = (turn._before[0] - dt.timedelta(seconds=60), True)
        turn.turn(book)
        return status(book, tmp_path)[novel]["eta_seconds"]

    turn.turn(book)
    assert status(book, tmp_path)[novel]["eta_seconds"] == pytest.approx(600, rel=0.05)
    for _ in range(6):
        slow = later(3)
    assert slow == pytest.approx(1100, rel=0.15)
    for _ in range(12):
        fast = later(6)
    assert fast == pytest.approx(640, rel=0.1)


def test_the_rest_of_running_work_shrinks_as_it_runs(book):
    _, [clip] = want(book, "one", 100.0)
    owner = jobs.Owner(worker="w", slot=0, generation=1, queues=QUEUES)
    book.register(owner)
    assert book.claim([clip], owner).granted

    def left(ran):
        with book.transaction() as conn:
            conn.execute(
                sa.text(
                    "update jobs set running_at = clock_timestamp() - make_interval(secs => :s)"
                ),
                {"s": ran},
            )
            [work] = book.open_work(conn)
        return work.seconds

    assert left(0) == pytest.approx(100, abs=5)
    assert left(60) == pytest.approx(40, abs=5)
    assert left(1000) == pytest.approx(5)
