"""The reporter over a real ledger that goes away; the pool is a toy at its seam."""

from __future__ import annotations

import threading
import time

import psycopg
import pytest
import sqlalchemy as sa

from mangen.dispatch import drain, leader, rank, reporter
from mangen.ledger import jobs, ledger, migrate

LEASE_S = 1.0
OWNER = jobs.Owner(worker="w", slot=0, generation=1, queues=("cpu",))


class Pool:
    """Says what it was told; drops its work when it is let to."""

    def __init__(self):
        self.told, self.lets_go = [], threading.Event()
        self.resumed = threading.Event()

    def owners(self):
        return [OWNER]

    def report(self):
        return {"window": [], "room": 1, "capacity": 1}

    def suspend(self):
        self.told.append("suspend")

    def resume(self):
        self.told.append("resume")
        self.resumed.set()

    def quiet(self):
        return self.lets_go.is_set()

    def stop_job(self, job):
        self.told.append(("stop", job))

    def replace(self, owner):
        self.told.append(("replace", owner))

    def learn(self, seen):
        pass

    def expect(self, models):
        pass


class Away:
    """Keeps everybody from one database, for real, and lets them in again."""

    def __init__(self, url, server):
        self.name = sa.make_url(url).database
        self.conn = psycopg.connect(
            host=str(server), user="postgres", dbname="postgres", autocommit=True
        )

    def begin(self):
        self.conn.execute(f"alter database {self.name} with allow_connections false")
        self.conn.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s",
            [self.name],
        )

    def end(self):
        self.conn.execute(f"alter database {self.name} with allow_connections true")


@pytest.fixture
def away(empty_database, postgres_server):
    migrate.upgrade(empty_database)
    one = Away(empty_database, postgres_server)
    yield one
    one.end()
    one.conn.close()


@pytest.fixture
def pool():
    return Pool()


@pytest.fixture
def book(empty_database, away):
    one = ledger.Ledger(empty_database, pool_size=2)
    yield one
    one.close()


@pytest.fixture
def reports(empty_database, book, pool):
    turn = drain.Pass(
        book, lambda *_: 0, lease_s=60, lost_bell_s=60, weights=rank.Weights(),
    )  # fmt: skip
    beats = ledger.Ledger(empty_database, pool_size=1)
    one = reporter.Reporter(
        beats,
        pool,
        leader.Leader(empty_database, lease_s=60, application="test"),
        turn,
        lease_s=LEASE_S,
        pass_s=60,
        housekeep=lambda: None,
    )
    one.start()
    yield one
    one.stop()
    beats.close()


def until(true):
    deadline = time.monotonic() + 30
    while not (found := true()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


@pytest.fixture
def running(book, reports):
    """A job that the owner runs."""
    with book.transaction() as conn:
        project = book.insert_project(conn, title="t")
        want = jobs.Wanted(
            stage="s", subject="a", key="k", queue="cpu", klass=1, bucket="b", model=""
        )
        (job,) = book.insert_jobs(conn, project, [want], by="test")
        book.ready_jobs(conn, {job: 0.0})
    return until(lambda: book.claim([job], OWNER).granted)[job]


def row(book, job):
    """Its state, failures and attempt; the reporter's own pass may have rung for it again."""
    (found,) = book.jobs([job])
    state = "ready" if found.state == "published" else found.state
    return state, found.failures, found.attempt


def test_a_worker_whose_beats_fail_drops_its_work_and_gives_it_up_when_it_is_heard(
    book, away, pool, reports, running
):
    away.begin()
    until(lambda: pool.told == ["suspend"])
    away.end()
    time.sleep(LEASE_S)
    book.dispose()
    assert row(book, running.job) == ("running", 0, 1), "not before all of it was dropped"
    assert pool.told == ["suspend"]
    pool.lets_go.set()
    assert pool.resumed.wait(30)
    assert row(book, running.job) == ("ready", 0, 1)
    assert book.claim([running.job], OWNER).granted, "the owner lives on"


def test_a_worker_that_was_released_meanwhile_replaces_its_child(
    book, away, pool, reports, running
):
    pool.lets_go.set()
    away.begin()
    until(lambda: pool.told == ["suspend"])
    away.end()
    book.dispose()
    with book.transaction() as conn:
        if not book.release(OWNER, reason="lease", conn=conn):
            pytest.skip("the worker was quicker than this test")
    assert pool.resumed.wait(30)
    assert ("replace", "w/0/1") in pool.told[: pool.told.index("resume")]
    assert row(book, running.job) == ("ready", 0, 1)


def test_a_beat_that_hangs_is_one_that_failed(book, pool, reports, running, empty_database):
    pool.lets_go.set()
    with psycopg.connect(empty_database.replace("+psycopg", "")) as blocker:
        blocker.execute("lock table owners in access exclusive mode")
        until(lambda: pool.told == ["suspend"])
        reports.child_lost("w/0/1", {running.job}, "child_lost")  # killed: it did not hear
    assert pool.resumed.wait(30)
    until(lambda: row(book, running.job)[0] == "ready")
    assert row(book, running.job) == ("ready", 0, 1), "uncharged: it was told to go"
    with book.transaction() as conn:
        assert book.living_owners(conn) == []
