"""A running batch of one stage: claims through the ledger, settles each member when it ends."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from mangen import errors
from mangen.comic.stages import faults, kit, scratch, stage, tracing
from mangen.ledger import jobs
from mangen.ledger.states import State
from mangen.pooling import work
from mangen.pooling.devices import device

log = logging.getLogger(__name__)
T = TypeVar("T")

#: leases for which a child waits for a ledger that it alone can't reach, before it gives itself up:
#: its parent's heartbeats keep the work its own so long. Where those fail too, the parent drops the
#: work after one lease (dispatch.reporter), and kills the child that waits here and does not hear
_PATIENCE_LEASES = 10
#: parts of a lease after which a session asks whether its work is still its own: its parent, who
#: would say so, may be stopped
_LOOKS = 3


class LedgerAway(SystemExit):
    """The ledger stayed away: this child ends, its jobs are released."""


class StageSession:
    """The pool's Session over one stage's members."""

    def __init__(
        self,
        bucket: str,
        members: stage.Members,
        owner: jobs.Owner,
        tools: kit.Kit,
        *,
        cache: Mapping[str, int] | None = None,
    ) -> None:
        """`cache` counts what the members asked of the feature cache."""
        self._bucket, self._members, self._owner, self._kit = bucket, members, owner, tools
        self.joinable = members.joinable
        self._jobs: dict[work.Key, jobs.Job] = {}
        self._fences: dict[work.Key, jobs.Fence] = {}
        #: out of memory, claimed still: they will be added again
        self._parked: dict[work.Key, jobs.Job] = {}
        #: ended in an `add` that ran out of memory, and was never answered
        self._untold: dict[work.Key, work.Outcome] = {}
        self._settled_projects: set[int] = set()
        self._cache = cache if cache is not None else {}
        #: what the ledger knows this batch by
        self._name = uuid.uuid4().hex[:12]
        self._looked = time.monotonic()

    def add(self, items: Sequence[work.Item]) -> Mapping[work.Key, work.Outcome]:
        keys: dict[int, work.Key] = {}
        outcomes: dict[work.Key, work.Outcome] = {}
        again = [item.key for item in items if item.key in self._parked]
        for key in again:
            self._begin(key, self._parked.pop(key), outcomes)
        items = [item for item in items if item.key not in again]
        if again and not items:
            self._tell()
            return outcomes
        for item in items:
            if keys.setdefault(int((item.data or {})["job"]), item.key) != item.key:
                outcomes[item.key] = work.Outcome.stale("another message rings for this job")
        known = {job.id: job for job in self._reach(lambda: self._kit.ledger.jobs(list(keys)))}
        # a broker may hold messages of another ledger, whose ids mean other jobs here
        ours = [n for n in keys if n in known and known[n].bucket == self._bucket]
        for number in keys.keys() - {*ours}:
            outcomes[keys[number]] = work.Outcome.stale("the ledger knows no such job")
        granted, refused = self._claim(ours)
        outcomes |= {keys[n]: work.Outcome.stale(why) for n, why in refused.items()}
        for number, fence in granted.items():  # all, before the first can run out of memory
            self._jobs[keys[number]] = dataclasses.replace(known[number], attempt=fence.attempt)
            self._fences[keys[number]] = fence
        for number in granted:
            self._begin(keys[number], self._jobs[keys[number]], outcomes)
        self._tell()
        return outcomes

    def _begin(self, key: work.Key, job: jobs.Job, outcomes: dict[work.Key, work.Outcome]) -> None:
        """Let a claimed member begin; one that can't is ended by that.

        Running out of memory ends nobody: it is raised, and the pool parks those it may concern.
        """
        try:
            self._members.add(key, job)
        except Exception as error:
            if device.out_of_memory(error):
                self._untold |= outcomes
                raise
            outcomes[key] = self._fail(key, error)

    def _claim(self, ids: Sequence[int]) -> tuple[dict[int, jobs.Fence], Mapping[int, str]]:
        claims = self._reach(lambda: self._kit.ledger.claim(ids, self._owner, session=self._name))
        granted, refused = dict(claims.granted), dict(claims.refused)
        if refused:
            # a claim may have been made though its answer was lost: what this owner runs and this
            # session, its only one, does not know of, is such a one
            mine = {fence.job for fence in self._fences.values()}
            lost = [number for number in refused if number not in mine]
            for number, fence in self._reach(
                lambda: self._kit.ledger.held(lost, self._owner)
            ).items():
                granted[number] = fence
                del refused[number]
        return granted, refused

    def step(self) -> Mapping[work.Key, work.Outcome]:
        outcomes = self._leave_lost()
        if outcomes and self._fences.keys() <= self._parked.keys():
            self._tell()
            return outcomes
        ended = self._members.step()
        self.joinable = self._members.joinable
        for key, made in ended.items():
            if isinstance(made, Exception):
                outcomes[key] = self._fail(key, made)
            else:
                outcomes[key] = self._finish(key, made)
        self._tell()
        return outcomes

    def _leave_lost(self) -> dict[work.Key, work.Outcome]:
        """Part with members that were taken away: nothing they make would be accepted."""
        now, outcomes = time.monotonic(), dict[work.Key, work.Outcome]()
        if now - self._looked < self._kit.settings.lease_s / _LOOKS:
            return outcomes
        self._looked = now
        mine = {key: one for key, one in self._fences.items() if key not in self._parked}
        try:
            held = self._kit.ledger.held([one.job for one in mine.values()], self._owner)
        except Exception as error:
            if not faults.is_unreachable(error):
                raise
            self._kit.ledger.dispose()
            return outcomes
        for key, fence in mine.items():
            if held.get(fence.job) != fence:
                log.warning("job %d attempt %d is another's by now", fence.job, fence.attempt)
                self._members.drop(key)
                self._forget(key)
                outcomes[key] = work.Outcome.stale("it was taken away while it ran")
        return outcomes

    def drop(self, key: work.Key, why: work.Why) -> work.Outcome:
        self._members.drop(key)
        fence = self._fences.get(key)
        if fence is None:
            if key in self._untold:
                return self._untold.pop(key)
            return work.Outcome.stale("not here")
        if why is work.Why.OOM:
            self._parked[key] = self._jobs[key]
            scratch.clear(self._kit.scratch, f"{fence.job}-{fence.attempt}")
            return work.Outcome.parked()
        self._parked.pop(key, None)
        if why is work.Why.NEVER_FITS:
            outcome = self._fail(key, MemoryError("more is needed than this device has, alone"))
            self._tell()
            return outcome
        if why is work.Why.SHUTDOWN:  # the reporter releases the whole owner, uncharged
            self._forget(key)
            return work.Outcome.aborted(why.value)
        if why is work.Why.REVOKED:  # by Celery, past the ledger: make it the ledger's word
            self._reach(lambda: self._kit.ledger.cancel(fence.job))
        said = "it ran past its time limit" if why is work.Why.DEADLINE else "it was stopped"
        outcome = self._fail(key, errors.EngineUnavailable(said))
        self._tell()
        return outcome

    def close(self) -> None:
        self._members.close()

    def _finish(self, key: work.Key, made: stage.Made) -> work.Outcome:
        job, fence = self._jobs[key], self._fences[key]
        stored: list[jobs.Artifact] = []
        try:
            for number, file in enumerate(made.files):
                stored.append(self._publish(job, fence, number, file))
            state = self._reach(lambda: self._commit(job, fence, made, stored))
        except errors.Stopped as error:
            self._sweep(stored)
            self._forget(key)
            return work.Outcome.aborted(str(error))
        except errors.FenceLost as error:
            log.warning("job %d attempt %d came too late: %s", job.id, fence.attempt, error)
            self._sweep(stored)
            self._forget(key)
            return work.Outcome.stale(str(error))
        except Exception as error:  # noqa: BLE001 - the store's and the rows' errors are the job's
            outcome = self._fail(key, error)
            self._sweep(stored)
            return outcome
        self._forget(key)
        if state is State.CANCELLED:
            return work.Outcome.aborted("cancelled")
        return work.Outcome.done({"job": job.id, "attempt": fence.attempt, **made.value})

    def _sweep(self, stored: Sequence[jobs.Artifact]) -> None:
        """Remove what an attempt published and the ledger did not take; the pass sweeps the rest.

        The rows are asked first: a finish whose answer was lost on its way did take it.
        """
        with contextlib.suppress(Exception):
            for path in self._kit.ledger.orphans([one.path for one in stored]):
                self._kit.store.remove(path)

    def _publish(
        self, job: jobs.Job, fence: jobs.Fence, number: int, file: stage.File
    ) -> jobs.Artifact:
        name = f"{job.id}-{fence.attempt}{f'-{number}' if number else ''}{file.path.suffix}"
        stored = self._kit.store.put(file.path, project=job.project, name=name)
        file.path.unlink(missing_ok=True)
        return jobs.Artifact(kind=file.kind, path=stored.path, sha256=stored.sha256, meta=file.meta)

    def _commit(
        self,
        job: jobs.Job,
        fence: jobs.Fence,
        made: stage.Made,
        stored: Sequence[jobs.Artifact],
    ) -> State:
        versions = tracing.versions(self._kit, self._bucket, job.model)
        traced = tracing.trace(job, made, versions, self._cache)
        with self._kit.ledger.finishing(fence) as conn:
            self._kit.ledger.add_artifacts(conn, fence, stored)
            self._kit.ledger.note_attempt(conn, fence, meta=traced)
            if made.write is not None:
                made.write(conn, stored)
        return State.DONE

    def _fail(self, key: work.Key, error: Exception) -> work.Outcome:
        fence, said = self._fences[key], faults.sentence(error)
        kind = faults.kind_of(error)
        log.warning("job %d attempt %d failed (%s): %s", fence.job, fence.attempt, kind, said)
        try:
            state = self._reach(lambda: self._kit.ledger.fail(fence, kind, said))
        except errors.FenceLost as lost:
            self._forget(key)
            return work.Outcome.stale(str(lost))
        self._forget(key)
        if state is State.CANCELLED:
            return work.Outcome.aborted("cancelled")
        return work.Outcome.failed(said)

    def _forget(self, key: work.Key) -> None:
        self._settled_projects.add(self._jobs.pop(key).project)
        fence = self._fences.pop(key)
        scratch.clear(self._kit.scratch, f"{fence.job}-{fence.attempt}")

    def _tell(self) -> None:
        """Wake the pass, once a settling step, after its commits."""
        for project in self._settled_projects:
            try:
                self._kit.ledger.settled(project)
            except Exception as error:  # noqa: BLE001 - the periodic pass finds it anyhow
                log.info("a wake was lost: %s", error)
        self._settled_projects.clear()

    def _reach(self, call: Callable[[], T]) -> T:
        return reach(self._kit, call)


def reach(tools: kit.Kit, call: Callable[[], T]) -> T:
    """Call the ledger; wait for one that is away, and give this child up if it stays so."""
    deadline = time.monotonic() + _PATIENCE_LEASES * tools.settings.lease_s
    while True:
        try:
            return call()
        except Exception as error:
            if not faults.is_unreachable(error):
                raise
            if time.monotonic() > deadline:
                raise LedgerAway(3) from error
            log.warning("the ledger is away, waiting: %s", faults.sentence(error))
            tools.ledger.dispose()
            time.sleep(0.5)
