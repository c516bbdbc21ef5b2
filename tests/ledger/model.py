"""What the ledger ought to do, in plain Python: what its state machine is held against."""

from __future__ import annotations

import dataclasses

OPEN = ("blocked", "ready", "published", "running")
WAITING = ("blocked", "ready", "published")
DEAD = ("failed", "skipped", "cancelled")
#: (stage, subject, queue, class, needs as (stage, subject, kind), keyed by the take)
PLAN = (
    ("anchor", "c/a", "gpu.high", 0, (), False),
    ("anchor", "c/b", "gpu.high", 0, (), False),
    ("voice", "e1/s1/l1", "cpu", 1, (), False),
    ("illustrate", "e1/s1", "gpu.mid", 1,
     (("anchor", "c/a", "soft"), ("anchor", "c/b", "soft")), True),
    ("illustrate", "e1/s2", "gpu.mid", 1, (("anchor", "c/b", "soft"),), False),
    ("animate", "e1/s1", "gpu.mid", 1,
     (("illustrate", "e1/s1", "hard"), ("voice", "e1/s1/l1", "soft")), True),
    ("animate", "e1/s2", "gpu.mid", 1, (("illustrate", "e1/s2", "hard"),), False),
    ("assemble", "e1", "cpu", 2,
     (("animate", "e1/s1", "soft"), ("animate", "e1/s2", "soft")), True),
    ("animate", "clip/x", "gpu.low", 2, (), False),
)  # fmt: skip
SCOPES = ("", "e1", "e1/s1", "c/a", "clip")
EXPIRES_S = 600.0


@dataclasses.dataclass
class Job:
    id: int
    stage: str
    subject: str
    key: str
    queue: str
    klass: int
    needs: dict[int, str]  # id -> hard, soft
    state: str = "blocked"
    attempt: int = 0
    failures: int = 0
    losses: int = 0
    bell: int = 0
    solo: bool = False
    stop: bool = False
    superseded: bool = False
    held: bool = False
    owner: str | None = None
    exclude: tuple[str, ...] = ()
    wait_s: float | None = None  # until not_before
    expires_s: float | None = None
    rang_s: float = 0.0  # until published_at, below 0 once it is past

    @property
    def due(self):
        return self.wait_s is None or self.wait_s <= 0

    def end(self, state):
        self.state, self.owner, self.stop = state, None, False


@dataclasses.dataclass
class Owner:
    name: str
    device: str
    released: bool = False
    beats: int = 0


class Model:
    def __init__(self):
        self.jobs: dict[int, Job] = {}
        self.owners: dict[str, Owner] = {}
        self.holds: set[str] = set()

    # -- what follows from the rows

    def current(self, stage, subject):
        found = [
            j for j in self.jobs.values()
            if (j.stage, j.subject) == (stage, subject) and not j.superseded
        ]  # fmt: skip
        assert len(found) <= 1, "two rows of one subject count"
        return found[0] if found else None

    def doomed(self, job):
        return job.state == "blocked" and any(
            kind == "hard" and self.jobs[need].state in DEAD for need, kind in job.needs.items()
        )

    def may_be_ready(self, job):
        return job.state == "blocked" and all(
            self.jobs[need].state not in OPEN
            and (kind == "soft" or self.jobs[need].state == "done")
            for need, kind in job.needs.items()
        )

    def allowed(self, job):
        return job.due and "" not in self.holds and not job.held

    def running(self, owner):
        return [j for j in self.jobs.values() if j.state == "running" and j.owner == owner]

    def is_held(self, job):
        return any(
            scope and (job.subject == scope or job.subject.startswith(f"{scope}/"))
            for scope in self.holds
        )

    # -- what people and plans do

    def supersede(self, ids):
        for job in (self.jobs[i] for i in ids):
            if job.superseded:
                continue
            job.superseded = True
            job.stop = job.state == "running"
            if job.state in WAITING:
                job.state = "cancelled"

    def cancel(self, ids):
        for job in (self.jobs[i] for i in ids):
            if job.state in WAITING:
                job.state = "cancelled"
            elif job.state == "running":
                job.stop = True

    def revive(self, ids, *, wanted=False):
        also = {
            i for i in ids
            if self.jobs[i].state in DEAD and (wanted or not self.jobs[i].superseded)
        }  # fmt: skip
        while more := {
            j.id for j in self.jobs.values()
            if j.state == "skipped" and not j.superseded
            and any(need in also and kind == "hard" for need, kind in j.needs.items())
        } - also:  # fmt: skip
            also |= more
        for job in (self.jobs[i] for i in also):
            job.state, job.failures, job.losses, job.solo = "blocked", 0, 0, False
            job.superseded, job.exclude = False, ()
            job.wait_s = job.expires_s = None
        return also

    def plan(self, take, made):
        """Want the plan with this take; `made`: (stage, subject) -> id of what was inserted."""
        wants = {
            (stage, subject, take if keyed else "k"): (queue, klass, needs)
            for stage, subject, queue, klass, needs, keyed in PLAN
        }
        rows = {(j.stage, j.subject, j.key): j for j in self.jobs.values()}
        standing = [rows[want] for want in wants if want in rows]
        again = [j for j in standing if j.state == "cancelled"]
        again += [j for j in standing if j.superseded and j.state in ("failed", "skipped")]
        kept = [j for j in standing if (j.superseded or j.stop) and j.state in ("running", "done")]
        blocked = {j.id for j in standing if j.state == "blocked"}
        subjects = {want[:2] for want in wants}
        self.supersede([
            j.id for j in self.jobs.values()
            if (j.stage, j.subject) in subjects and (j.stage, j.subject, j.key) not in wants
        ])  # fmt: skip
        moved = self.revive([j.id for j in again], wanted=True)
        for job in kept:
            job.superseded = job.stop = False
        fresh = {self._insert(want, *wants[want][:2], made) for want in wants if want not in rows}
        for job in standing:
            if job.subject == "clip/x" and job.state in WAITING:
                job.expires_s = EXPIRES_S
        for (stage, subject, _), (_, _, needs) in wants.items():
            job = self.current(stage, subject)
            if job.id in {*fresh, *moved, *blocked}:
                job.needs = {self.current(s, sub).id: kind for s, sub, kind in needs}
        return fresh | moved

    def _insert(self, want, queue, klass, made):
        job = Job(made[want[:2]], *want, queue, klass, {})
        job.expires_s = EXPIRES_S if job.subject == "clip/x" else None
        job.held = self.is_held(job)
        self.jobs[job.id] = job
        return job.id

    def redo(self, lost, essential):
        """Which rows are replaced when the files of these done jobs are lost."""
        standing = {i for i in lost if self.jobs[i].state == "done" and not self.jobs[i].superseded}
        needed = [
            (need, j) for j in self.jobs.values() if not j.superseded
            for need in j.needs if need in standing
        ]  # fmt: skip
        chosen = {need for need, job in needed if job.state in OPEN} | (standing & set(essential))
        while more := {need for need, job in needed if job.id in chosen} - chosen:
            chosen |= more
        begun = {
            job.id for need, job in needed
            if need in chosen and job.state in ("ready", "published", "running", "failed")
        }  # fmt: skip
        return chosen | begun

    def replace(self, pairs):
        """Let new rows stand for old ones, old id -> new."""
        self.supersede(pairs)
        for old, new in pairs.items():
            was = self.jobs[old]
            job = Job(new, was.stage, was.subject, was.key, was.queue, was.klass, {})
            job.needs = {pairs.get(need, need): kind for need, kind in was.needs.items()}
            job.expires_s = was.expires_s
            job.held = was.held or self.is_held(job)
            was.key = f"{was.key}#lost-{old}"
            self.jobs[new] = job
        for job in self.jobs.values():
            if not job.superseded and job.state in ("blocked", "skipped"):
                job.needs = {pairs.get(need, need): kind for need, kind in job.needs.items()}

    def hold(self, scope):
        self.holds.add(scope)
        for job in self.jobs.values():
            if job.state != "done" and scope:
                job.held = job.held or self.is_held(job)

    def let_go(self, scope):
        self.holds.discard(scope)
        for job in self.jobs.values():
            if job.subject == scope or job.subject.startswith(f"{scope}/"):
                job.held = job.held and self.is_held(job)

    # -- what owners do

    def claim(self, ids, owner):
        """Answers the granted ids; a bell that rang in vain is taken back."""
        holder = self.owners.get(owner)
        living = holder is not None and not holder.released
        granted = []
        for job in (self.jobs[i] for i in sorted(set(ids))):
            if job.state not in ("published", "ready") or not living:
                continue
            if self.allowed(job) and holder.device not in job.exclude:
                job.state, job.owner, job.attempt = "running", owner, job.attempt + 1
                granted.append(job.id)
            elif not self.allowed(job) and job.state == "published":
                job.state = "ready"
        return granted

    def hand_back(self, job, attempt, why, device):
        if job.attempt != attempt or job.state not in ("published", "ready"):
            return None
        job.state = "ready"
        if why == "revoked":
            job.state = "cancelled"
        elif why == "never_fits":
            others = {o.device for o in self.owners.values() if not o.released}
            if not others - {device} - set(job.exclude):
                job.state = "failed"
            if device not in job.exclude:
                job.exclude += (device,)
        return job.state

    def finish(self, job):
        job.end("cancelled" if job.stop else "done")
        job.wait_s = None
        return job.state

    def fail(self, job, kind):
        if job.stop:
            job.end("cancelled")
            job.wait_s = None
            return job.state
        if kind != "resource":
            job.failures = min(3, job.failures + 1)
        dead = kind == "permanent" or (kind == "transient" and job.failures >= 3)
        job.end("failed" if dead else "ready")
        job.wait_s = None if dead else 240.0
        return job.state

    def release(self, owner, reason, alone=()):
        found = {}
        if reason != "silent" and owner in self.owners:
            self.owners[owner].released = True
        for job in self.running(owner):
            if reason == "lease":
                job.losses += 1
            guilty = not job.stop and (
                (reason == "child_lost" and job.id in alone)
                or (reason == "lease" and job.losses >= 3)
            )
            if guilty:
                job.failures = min(3, job.failures + 1)
            job.solo = job.solo or (reason == "child_lost" and job.id not in alone)
            dead = guilty and job.failures >= 3
            state = "cancelled" if job.stop else "failed" if dead else "ready"
            job.end(state)
            job.wait_s = 240.0 if guilty and state == "ready" else None
            found[job.id] = state
        return found

    # -- time

    def jump(self, seconds):
        for job in self.jobs.values():
            if job.wait_s is not None:
                job.wait_s -= seconds
            if job.expires_s is not None:
                job.expires_s -= seconds
            job.rang_s -= seconds
