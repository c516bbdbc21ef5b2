"""All moves of the ledger, in any order, held against a model after each one.

`pytest tests/ledger/test_machine.py --hypothesis-profile=long` looks further, with other dice.
"""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import HealthCheck, Phase, settings, stateful
from hypothesis import strategies as st

from mangen import errors
from mangen.dispatch import drain
from mangen.ledger import jobs, states
from tests.ledger import machine, model

LONG = 2000
#: which jobs, owners, scopes: numbers that are taken modulo what there is
SOME = st.sets(st.integers(0, 19), min_size=1, max_size=6)
ONE = st.integers(0, 19)
WHO = st.integers(0, len(machine.DEVICES) - 1)
LEASE_S = machine.LEASE_S
KINDS = st.sampled_from(["transient", "transient", "resource", "permanent"])
REASONS = st.sampled_from(["child_lost", "lease", "shutdown", "silent"])


class Machine(machine.Ground):
    # -- people and plans

    @stateful.rule(take=st.sampled_from(["k1", "k2", "k3"]))
    def plan(self, take):
        self._plan(take)

    @stateful.rule(some=SOME)
    def cancel(self, some):
        ids = self._ids(some)
        ended = self.book.cancel(ids)
        waiting = [i for i in ids if self.model.jobs[i].state in model.WAITING]
        assert list(ended.ids) == waiting
        assert [fence.job for fence in ended.stopping] == [
            i for i in ids if self.model.jobs[i].state == "running"
        ]
        self.model.cancel(ids)

    @stateful.rule(some=SOME)
    def supersede(self, some):
        with self.book.transaction() as conn:
            self.book.supersede_jobs(conn, self._ids(some))
        self.model.supersede(self._ids(some))

    @stateful.rule(some=SOME)
    def revive(self, some):
        with self.book.transaction() as conn:
            found = self.book.revive_jobs(conn, self._ids(some))
        assert set(found) == self.model.revive(self._ids(some))

    @stateful.rule(scope=st.sampled_from(model.SCOPES))
    def hold_or_let_go(self, scope):
        self._hold_or_let_go(scope)

    @stateful.rule(some=SOME, wanted=SOME)
    def lose_files(self, some, wanted):
        lost, essential = self._ids(some), self._ids(wanted)
        expected = self.model.redo(lost, essential)
        with self.book.transaction() as conn:
            done = self.book.redo_jobs(conn, self.project, lost, essential)
        assert set(done.pairs) == expected
        self.model.replace(dict(done.pairs))

    # -- the pass, by its parts and as a whole

    @stateful.rule()
    def advance(self):
        with self.book.transaction() as conn:
            self.book.lock_project(conn, self.project)
            self.book.clear_dirty(conn, self.project)
            for job in self.book.skip_jobs(conn, self.project):
                assert self.model.doomed(self.model.jobs[job]) or self._doomed_by_skips(job)
                self.model.jobs[job].state = "skipped"
            found = self.book.find_ready(conn, self.project)
            ready = self.book.ready_jobs(conn, {one.id: 1.0 for one in found})
        assert not [j for j in self.model.jobs.values() if self.model.doomed(j)]
        assert set(ready) == {j.id for j in self.model.jobs.values() if self.model.may_be_ready(j)}
        for job in ready:
            self.model.jobs[job].state = "ready"

    @stateful.rule(some=SOME)
    def call_ready_what_may_not_be(self, some):
        ids = self._ids(some)
        with self.book.transaction() as conn:
            found = self.book.ready_jobs(conn, dict.fromkeys(ids, 1.0))
        assert set(found) == {i for i in ids if self.model.may_be_ready(self.model.jobs[i])}
        for job in found:
            self.model.jobs[job].state = "ready"

    @stateful.rule(some=SOME)
    def publish(self, some):
        self.advance()
        with self.book.transaction() as conn:
            found = {one.id for one in self.book.publish_jobs(conn, self._ids(some))}
        able = [self.model.jobs[i] for i in self._ids(some)]
        able = [job for job in able if job.state == "ready" and self.model.allowed(job)]
        assert found == {job.id for job in able}
        for job in able:
            self._published(job)

    @stateful.rule(held=SOME)
    def unpublish(self, held):
        with self.book.transaction() as conn:
            self.book.unpublish_jobs(conn, 0.0, self._ids(held), drain.QUEUES)
        for job in self.model.jobs.values():
            if job.state == "published" and job.rang_s <= 0 and job.id not in self._ids(held):
                job.state = "ready"

    @stateful.rule(queue=st.sampled_from(drain.QUEUES), klass=st.sampled_from([1, 2]))
    def promote(self, queue, klass):
        tomorrow = dt.datetime.now(dt.UTC) + dt.timedelta(days=1000)
        with self.book.transaction() as conn:
            found = self.book.promote_jobs(conn, queue, klass, before=tomorrow)
        able = [
            job for job in self.model.jobs.values()
            if (job.state, job.queue, job.klass) == ("ready", queue, klass)
            and self.model.allowed(job)
        ]  # fmt: skip
        assert set(found) == {job.id for job in able}
        for job in able:
            self._promoted(job)

    @stateful.rule()
    def expire(self):
        with self.book.transaction() as conn:
            found = self.book.expire_jobs(conn)
        assert set(found) == {j.id for j in self.model.jobs.values() if self._expired(j)}
        for job in found:
            self.model.jobs[job].state = "cancelled"

    @stateful.rule(
        seconds=st.sampled_from([0.0, 1.0, LEASE_S / 2, LEASE_S, 10 * LEASE_S]),
        session=st.integers(0, 1),
        window=SOME,
    )
    def run_the_pass(self, seconds, session, window):
        """Its clock may jump, its connection may be new; workers report what they hold."""
        for owner in self.owners[:2]:
            report = {"window": [{"job": i} for i in self._ids(window)], "room": 4, "capacity": 8}
            self._beat(owner, report)
        self.clock += seconds
        self._run(session)

    # -- owners

    @stateful.rule(some=SOME, who=WHO, twice=st.booleans())
    def claim(self, some, who, twice):
        """A message may be there twice, and its copy reach another child."""
        owner = self.owners[who]
        self._claim(self._ids(some), owner)
        if twice:
            granted = [i for i in self._ids(some) if self.model.jobs[i].state == "running"]
            again = self.book.claim(granted, self.owners[who - 1])
            assert not again.granted
            assert set(again.refused) == set(granted)

    @stateful.rule(who=WHO, most=st.integers(1, 4))
    def work(self, who, most):
        """What is ready gets done, as on most days."""
        self.advance()
        self._claim(sorted(self.model.jobs), self.owners[who])
        for job in sorted(self.running)[:most]:
            if not self.model.jobs[job].stop:
                self.book.finish(self.running[job])
                self.model.finish(self.model.jobs[job])
                self._drop([job])

    @stateful.rule(job=ONE, who=WHO, ago=st.integers(0, 1),
                   why=st.sampled_from(["paused", "never_fits", "revoked"]))  # fmt: skip
    def hand_back(self, job, who, ago, why):
        rung = [j.id for j in self.model.jobs.values() if j.state in ("published", "ready")]
        row = self.model.jobs[rung[job % len(rung)] if rung else self._one(job)]
        attempt, device = max(0, row.attempt - ago), self.owners[who].device
        found = self.book.hand_back(row.id, attempt, why, device=device)
        assert found == self.model.hand_back(row, attempt, why, device)

    @stateful.rule(job=ONE, stopped=st.booleans())
    def finish(self, job, stopped):
        fence = self._running(job, stopped=stopped)
        if fence is None:
            return
        row = self.model.jobs[fence.job]
        if self.model.finish(row) == "cancelled":
            with pytest.raises(errors.Stopped), self.book.finishing(fence):
                raise AssertionError("work that was asked to stop was written")
        elif job % 2:
            self.book.finish(fence)
        else:
            with self.book.finishing(fence) as conn:
                path = f"{self.project}/{fence.job}-{fence.attempt}.bin"
                made = jobs.Artifact(kind="x", path=path, sha256="y")
                self.book.add_artifacts(conn, fence, [made])

    @stateful.rule(job=ONE, kind=KINDS)
    def fail(self, job, kind):
        fence = self._running(job)
        if fence is None:
            return
        found = self.book.fail(fence, kind, "broken")
        assert found == self.model.fail(self.model.jobs[fence.job], kind)

    @stateful.precondition(lambda self: self.running)
    @stateful.rule(job=ONE)
    def report_progress(self, job):
        fence = list(self.running.values())[job % len(self.running)]
        assert self.book.progress(fence, 1, 2) == (not self.model.jobs[fence.job].stop)

    @stateful.precondition(lambda self: self.late)
    @stateful.rule(which=ONE, how=st.integers(0, 2))
    def come_too_late(self, which, how):
        fence = self.late[which % len(self.late)]
        if how == 0:
            assert not self.book.progress(fence, 1, 2)
            return
        with pytest.raises(errors.FenceLost) as lost:  # noqa: PT012 - either of two ways
            if how == 1:
                self.book.fail(fence, "permanent", "late")
            with self.book.finishing(fence):
                raise AssertionError("a lost attempt was let in")
        assert not isinstance(lost.value, errors.Stopped)

    @stateful.rule(who=WHO, alone=SOME, reason=REASONS)
    def die(self, who, alone, reason):
        """A child dies or falls silent; the next one in its slot is a new generation."""
        name = str(self.owners[who])
        self._claim(self._ids(alone), self.owners[who])
        held = set(self._ids(alone))
        if reason == "silent":
            found = self.book.give_up(name)
        else:
            found = self.book.release(name, held, reason)
        assert found == self.model.release(name, reason, held)
        self._drop(found)
        if reason != "silent":
            assert self.book.release(name, held, reason) == {}
            with pytest.raises(errors.LedgerError, match="released"):
                self.book.register(self.owners[who])
            assert not self.book.claim(self._ids(alone), name).granted
            self.owners[who] = self._born(who)

    @stateful.rule(who=WHO)
    def beat(self, who):
        answer = self._beat(self.owners[who], {})
        stopping = [j.id for j in self.model.running(str(self.owners[who])) if j.stop]
        assert [fence.job for fence in answer.stop] == stopping

    # -- the world

    @stateful.rule(hours=st.sampled_from([-2, 1, 3]))
    def jump_the_clock(self, hours):
        self._jump(hours)


def test_no_order_of_moves_and_no_clock_leads_the_ledger_astray(ledger_url):
    further = settings.get_current_profile_name() == "long"
    Machine.url, Machine.moves = ledger_url, set()
    stateful.run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=LONG if further else 20,
            stateful_step_count=80 if further else 50,
            derandomize=not further,
            database=None,
            deadline=None,
            phases=[Phase.generate, Phase.shrink] if further else [Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
    legal = {
        (query, frm and str(frm), str(to))
        for query, pairs in states.TRANSITIONS.items()
        for frm, to in pairs
    }
    assert Machine.moves <= legal
    assert {query for query, _, _ in Machine.moves} == set(states.TRANSITIONS)
    if further:
        assert Machine.moves == legal
