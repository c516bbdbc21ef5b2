"""The ledger's state machine: one database, its model, and how the two are held together."""

from __future__ import annotations

import datetime as dt

import sqlalchemy as sa
from hypothesis import stateful

from mangen.dispatch import drain, rank
from mangen.ledger import door, invariants, jobs, ledger
from mangen.ledger import tables as scheduling
from tests.ledger import model

DEVICES = ("cpu", "cpu", "card")
LEASE_S = 3.0
SEEN = """
    select id, state, attempt, failures, losses, bell, solo, stop, superseded, held, owner, key,
        queue, class, exclude, coalesce(not_before <= clock_timestamp(), true) as due
    from jobs
"""


class Ground(stateful.RuleBasedStateMachine):
    url = ""
    moves: set[tuple[str, str | None, str]]  #: over all runs

    def __init__(self):
        super().__init__()
        self.book = ledger.Ledger(self.url, application="machine", pool_size=1)
        self.book.backoff_s = 100.0  # what fails waits for a jump of the clock
        with self.book.transaction() as conn:
            names = ", ".join(table.name for table in scheduling.metadata.sorted_tables)
            conn.execute(sa.text(f"truncate {names} restart identity cascade"))
            self.project = self.book.insert_project(conn, title="p")
        self.engine = door.engine_of(self.url, application="machine-pass")
        self.conn = self.engine.connect()
        self.clock = 0.0
        self.turn = drain.Pass(
            self.book, self._send, lease_s=LEASE_S, lost_bell_s=0.0, weights=rank.Weights(),
            clock=lambda: self.clock,
        )  # fmt: skip
        self.model = model.Model()
        self.generation = 0
        self.owners: list[jobs.Owner] = []
        self.late: list[jobs.Fence] = []  # of attempts that ended, or were lost
        self.running: dict[int, jobs.Fence] = {}
        self.beats_seen: dict[str, int] = {}
        self.seen_event = 0
        for slot in range(len(DEVICES)):
            self.owners.append(self._born(slot))
        self._plan("k1")

    def teardown(self):
        try:
            self._come_to_an_end()
            assert self._broken() == []
            self.moves.update(self._asked('select distinct query, "from", "to" from events'))
        finally:
            self.conn.close()
            self.engine.dispose()
            self.book.close()

    @stateful.invariant()
    def the_rows_are_what_the_model_says(self):
        found = {row.id: row for row in self._asked(SEEN)}
        assert found.keys() == self.model.jobs.keys()
        for job in self.model.jobs.values():
            row = found[job.id]
            assert (
                row.state, row.attempt, row.failures, row.losses, row.bell, row.solo, row.stop,
                row.superseded, row.held, row.owner, row.key, row.queue, getattr(row, "class"),
                tuple(row.exclude), row.due,
            ) == (
                job.state, job.attempt, job.failures, job.losses, job.bell, job.solo, job.stop,
                job.superseded, job.held, job.owner, job.key, job.queue, job.klass, job.exclude,
                job.due,
            ), f"job {job.id}, {job.stage} {job.subject}"  # fmt: skip
        needs = {(row.job, row.needs, row.kind) for row in self._asked(
            "select job, needs, kind from job_dependencies")}  # fmt: skip
        assert needs == {
            (j.id, n, kind) for j in self.model.jobs.values() for n, kind in j.needs.items()
        }

    # -- how it is done

    def _hold_or_let_go(self, scope):
        held = scope in self.model.holds
        with self.book.transaction() as conn:
            do = self.book.let_go if held else self.book.hold
            assert do(conn, self.project, scope)
        (self.model.let_go if held else self.model.hold)(scope)

    def _jump(self, hours):
        """The database's clock jumps: all that was written down moves the other way."""
        columns = [c for c in scheduling.jobs.c if isinstance(c.type, sa.DateTime)]
        with self.book.transaction() as conn:
            conn.execute(
                sa.update(scheduling.jobs).values(
                    {c: c - dt.timedelta(hours=hours) for c in columns}
                )
            )
        self.model.jump(hours * 3600.0)

    def _asked(self, text):
        with self.book.statement() as conn:
            return conn.execute(sa.text(text)).all()

    def _broken(self):
        with self.book.transaction() as conn:
            return list(invariants.check(conn, None, 30.0))

    def _ids(self, some):
        known = sorted(self.model.jobs)
        return sorted({known[n % len(known)] for n in some})

    def _one(self, number):
        return self._ids([number])[0]

    def _expired(self, job):
        return job.expires_s is not None and job.expires_s <= 0 and job.state in model.WAITING

    def _doomed_by_skips(self, job):
        return any(kind == "hard" and self.model.jobs[need].state == "blocked"
                   for need, kind in self.model.jobs[job].needs.items())  # fmt: skip

    def _born(self, slot):
        self.generation += 1
        owner = jobs.Owner(
            worker="w", slot=slot, generation=self.generation, device=DEVICES[slot],
            queues=drain.QUEUES,
        )  # fmt: skip
        self.book.register(owner)
        self.model.owners[str(owner)] = model.Owner(str(owner), owner.device)
        return owner

    def _beat(self, owner, report):
        self.model.owners[str(owner)].beats += 1
        answer = self.book.beat([owner], report)
        assert list(answer.released) == []
        return answer

    def _plan(self, take):
        wanted = [
            jobs.Wanted(
                stage=stage, subject=subject, key=take if keyed else "k", queue=queue, klass=klass,
                bucket="b", model="m", needs=[jobs.Need(stage=s, subject=n, kind=k)
                for s, n, k in needs], expires_s=model.EXPIRES_S if subject == "clip/x" else None,
            )
            for stage, subject, queue, klass, needs, keyed in model.PLAN
        ]  # fmt: skip
        with self.book.transaction() as conn:
            found = self.book.insert_jobs(conn, self.project, wanted, by="machine")
        rows = self._asked("select id, stage, subject, key from jobs")
        made = {(r.stage, r.subject): r.id for r in rows if r.id not in self.model.jobs}
        assert set(found) == self.model.plan(take, made)

    def _claim(self, ids, owner):
        claims = self.book.claim(ids, owner)
        granted = self.model.claim(ids, str(owner))
        assert sorted(claims.granted) == granted
        assert set(claims.refused) == set(ids) - set(granted)
        self.running |= claims.granted

    def _running(self, number, *, stopped=False):
        """One that runs, as if it ended now; of those asked to stop where there are any."""
        if not self.running:
            self.advance()
            self._claim(sorted(self.model.jobs), self.owners[number % len(self.owners)])
        if not self.running:
            return None
        fence = list(self.running.values())[number % len(self.running)]
        if stopped:
            self.book.cancel(fence.job)
            self.model.cancel([fence.job])
        self._drop([fence.job])
        return fence

    def _drop(self, ids):
        self.late += [self.running.pop(job) for job in ids if job in self.running]

    def _published(self, job):
        job.state, job.bell, job.rang_s = "published", job.bell + 1, 0.0

    def _promoted(self, job):
        job.klass -= 1
        job.queue = {"gpu.low": "gpu.mid", "gpu.mid": "gpu.high"}.get(job.queue, job.queue)

    def _send(self, ready, titles):
        assert titles.keys() >= {job.project for job in ready}
        return len(ready)

    def _run(self, session):
        """A whole pass: whatever it did must have been allowed, and nothing is left to move."""
        before = {name: one.beats for name, one in self.model.owners.items()}
        [last] = self._asked("select coalesce(max(id), 0) as id from events")
        self.turn.run(self.conn, session=session)
        with self.book.statement() as conn:
            found = conn.execute(
                sa.text("select job, query, owner from events where id > :last order by id"),
                {"last": last.id},
            ).all()
        lost = [name for name, one in self.model.owners.items() if not one.released
                and not any(r.name == name for r in self._asked(
                    "select name from owners where released_at is null"))]  # fmt: skip
        for name in lost:
            assert self.beats_seen.get(name) == before[name], f"{name} beat, and was released"
            self._drop(self.model.release(name, "lease"))
        self.beats_seen = before
        for event in found:
            self._follow(self.model.jobs[event.job], event.query)
        self.owners = [
            self._born(one.slot) if str(one) in lost else one for one in self.owners
        ]  # fmt: skip
        assert not [
            j.id for j in self.model.jobs.values()
            if self.model.doomed(j) or self.model.may_be_ready(j)
        ], "the pass left what may move"  # fmt: skip

    def _follow(self, job, query):
        match query:
            case "release_owner":
                return
            case "expire_jobs":
                assert self._expired(job)
                job.state = "cancelled"
            case "skip_jobs":
                assert self.model.doomed(job) or self._doomed_by_skips(job.id)
                job.state = "skipped"
            case "ready_jobs":
                assert self.model.may_be_ready(job)
                job.state = "ready"
            case "unpublish_jobs":
                assert job.state == "published"
                job.state = "ready"
            case "promote_jobs":
                assert job.state == "ready"
                self._promoted(job)
            case "publish_jobs":
                assert job.state == "ready"
                assert self.model.allowed(job)
                self._published(job)
            case other:
                raise AssertionError(f"a pass wrote {other}")

    def _come_to_an_end(self):
        """Nothing is held any more and time goes by: all that is wanted settles."""
        for scope in sorted(self.model.holds):
            self._hold_or_let_go(scope)
        for _ in range(30):
            self._jump(3)
            for owner in self.owners:
                self._beat(owner, {"window": [], "room": 8, "capacity": 8})
            self._run(1)
            for owner in self.owners:
                self._claim(sorted(self.model.jobs), owner)
            for job in sorted(self.running):
                row = self.model.jobs[job]
                self.book.fail(self.running[job], "permanent", "the end") if row.stop else (
                    self.book.finish(self.running[job])
                )
                self.model.finish(row) if not row.stop else self.model.fail(row, "permanent")
                self._drop([job])
            self.the_rows_are_what_the_model_says()
            if not any(j.state in model.OPEN for j in self.model.jobs.values()):
                return
        raise AssertionError("the work never came to its end")
