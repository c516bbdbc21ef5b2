"""One migrated database for all ledger tests, emptied before each."""

from __future__ import annotations

import dataclasses
import uuid

import psycopg
import pytest
import sqlalchemy as sa

from mangen.ledger import invariants, jobs, ledger, migrate
from mangen.ledger import tables as scheduling


@pytest.fixture(scope="session")
def ledger_url(postgres_server):
    name = f"l{uuid.uuid4().hex[:12]}"
    with psycopg.connect(
        host=str(postgres_server), user="postgres", dbname="postgres", autocommit=True
    ) as conn:
        conn.execute(f"create database {name}")
    url = f"postgresql+psycopg://postgres@/{name}?host={postgres_server}"
    migrate.upgrade(url)
    return url


@dataclasses.dataclass
class Desk:
    """A ledger with one project, and short ways to bring jobs where a test wants them."""

    book: ledger.Ledger
    project: int
    owner: jobs.Owner

    def want(self, *wanted, by="test"):
        with self.book.transaction() as conn:
            return list(self.book.insert_jobs(conn, self.project, wanted, by=by))

    def advance(self):
        """One look of the pass at the project: answers (skipped, ready)."""
        with self.book.transaction() as conn:
            self.book.lock_project(conn, self.project)
            self.book.clear_dirty(conn, self.project)
            skipped = self.book.skip_jobs(conn, self.project)
            found = self.book.find_ready(conn, self.project)
            return skipped, self.book.ready_jobs(conn, {one.id: 1.0 for one in found})

    def publish(self, *ids):
        with self.book.transaction() as conn:
            return [job.id for job in self.book.publish_jobs(conn, ids)]

    def run(self, *ids, owner=None):
        """Advance and claim; answers the fences in the order of the ids."""
        self.advance()
        claims = self.book.claim(ids, owner or self.owner)
        assert not claims.refused
        return [claims.granted[job] for job in ids]

    def finish(self, fence):
        with self.book.finishing(fence):
            pass

    def settle(self, job, how):
        """Bring a fresh, unblocked job to an end: done, failed, cancelled."""
        [fence] = self.run(job)
        if how == "done":
            self.finish(fence)
        elif how == "failed":
            self.book.fail(fence, "permanent", "broken")
        else:
            with self.book.transaction() as conn:
                self.book.cancel_jobs(conn, [job])
            self.book.fail(fence, "transient", "stopped")

    def sql(self, text, **values):
        with self.book.transaction() as conn:
            found = conn.execute(sa.text(text), values)
            return found.mappings().all() if found.returns_rows else []

    def row(self, job):
        [row] = self.sql("select * from jobs where id = :job", job=job)
        return row

    def state(self, job):
        return self.row(job)["state"]

    def events(self, job):
        found = self.sql(
            'select query, "from", "to", owner, attempt from events where job = :job order by id',
            job=job,
        )
        return [(row["query"], row["from"], row["to"]) for row in found]

    def due(self, *ids):
        """Let a backoff pass."""
        self.sql("update jobs set not_before = null where id = any(:ids)", ids=list(ids))

    def pause(self, project=None):
        with self.book.transaction() as conn:
            return self.book.hold(conn, project or self.project, "")

    def resume(self):
        with self.book.transaction() as conn:
            return self.book.let_go(conn, self.project, "")

    def broken(self, paths=None, lease_s=30.0):
        with self.book.transaction() as conn:
            return {one.name for one in invariants.check(conn, paths, lease_s)}


@pytest.fixture
def book(ledger_url):
    found = ledger.Ledger(ledger_url, application="test", pool_size=4)
    with found.transaction() as conn:
        names = ", ".join(table.name for table in scheduling.metadata.sorted_tables)
        conn.execute(sa.text(f"truncate {names} restart identity cascade"))
    yield found
    found.close()


@pytest.fixture
def desk(book):
    owner = jobs.Owner(worker="w", slot=0, generation=1, queues=("cpu",))
    with book.transaction() as conn:
        project = book.insert_project(conn, title="故乡", settings={"width": 720})
    book.register(owner)
    desk = Desk(book, project, owner)
    yield desk
    assert desk.broken() == set(), "a ledger test left an invariant broken"


@pytest.fixture
def wanted():
    """Make a Wanted: needs as (stage, subject) or (stage, subject, kind)."""

    def make(stage, subject, *needs, key="k1", **more):
        more = {"queue": "cpu", "klass": 1, "bucket": stage, "model": "m"} | more
        return jobs.Wanted(
            stage=stage,
            subject=subject,
            key=key,
            needs=[
                jobs.Need(stage=need[0], subject=need[1], kind=need[2] if len(need) > 2 else "soft")
                for need in needs
            ],
            **more,
        )

    return make
