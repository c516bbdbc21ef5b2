"""A ledger under the pass, with workers that exist as rows; sending is recorded at the seam."""

from __future__ import annotations

import sqlalchemy as sa

from mangen.dispatch import drain, rank
from mangen.ledger import jobs, ledger, migrate

QUEUES = drain.QUEUES


class Clock:
    now = 0.0
    tick = 0.0

    def __call__(self):
        self.now += self.tick
        return self.now


class World:
    def __init__(self, url, *, rules=None, clock=None):
        migrate.upgrade(url)
        self.book = ledger.Ledger(url)
        self.clock = clock or Clock()
        self.sent = []  # ids, a list each time the broker was reached
        self.rung = []  # the jobs, as they were sent
        self.engine = sa.create_engine(url, poolclass=sa.NullPool)
        self.conn = self.engine.connect()
        self.turn = drain.Pass(
            self.book,
            self._send,
            lease_s=3,
            lost_bell_s=0,
            weights=rank.Weights(),
            rules=rules,
            clock=self.clock,
        )
        self.project = self.another()

    def _send(self, ready, _titles):
        self.sent.append([job.id for job in ready])
        self.rung += ready
        return len(ready)

    def another(self, **more):
        with self.book.transaction() as conn:
            return self.book.insert_project(conn, title="t", **more)

    def want(self, *wanted, project=None):
        with self.book.transaction() as conn:
            return self.book.insert_jobs(conn, project or self.project, wanted, by="test")

    def sql(self, text, **values):
        with self.book.transaction() as conn:
            found = conn.execute(sa.text(text), values)
            return found.all() if found.returns_rows else []

    def serve(self, owner):
        """Run and finish what waits in the window; answers the projects, a job each."""
        rung, self.rung = self.rung, []
        for fence in self.book.claim([job.id for job in rung], owner).granted.values():
            with self.book.finishing(fence):
                pass
        return [job.project for job in rung]

    def close(self):
        self.conn.close()
        self.book.close()

    def run(self, session=1):
        return self.turn.run(self.conn, session=session)

    def states(self):
        with self.engine.connect() as conn:
            return dict(conn.execute(sa.text("select subject, state from jobs")).all())

    def worker(self, name="w", capacity=8, room=8):
        owner = jobs.Owner(worker=name, slot=0, generation=1, device="cpu", queues=QUEUES)
        self.book.register(owner)
        self.book.beat([owner], {"window": [], "room": room, "capacity": capacity})
        return owner


def job(subject, *, queue="cpu", needs=(), klass=1, seconds=1.0):
    return jobs.Wanted(
        stage="s",
        subject=subject,
        key=subject,
        queue=queue,
        klass=klass,
        bucket="b",
        model="",
        needs=[jobs.Need(stage="s", subject=one, kind=kind) for one, kind in needs],
        seconds_est=seconds,
    )
