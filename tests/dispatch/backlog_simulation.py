"""A backlog worked off by simulated devices, as the pass orders it, and what was foretold of it."""

from __future__ import annotations

import datetime as dt
import heapq
import random

from mangen.dispatch import forecast, pace
from mangen.ledger import durations, foreseeing

EPOCH = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
QUANTUM = 30.0
#: stage -> (planned seconds, seconds observed / planned, class); drawn anew for each job
STAGES = {
    "anchor": (1.0, 1.4, 0),
    "illustrate": (4.0, 0.7, 1),
    "animate": (8.0, 2.1, 1),
    "assemble": (30.0, 1.3, 0),
}


class Backlog:
    """Projects of anchors, panels, clips and one film each, on some devices."""

    def __init__(self, seed, *, projects, shots, devices, weights=(1.0,), noise=0.35, before=0):
        self.random = random.Random(seed)
        self.devices, self.noise = devices, noise
        self.now = 0.0
        self.weight = {p: weights[p % len(weights)] for p in range(projects)}
        self.served = dict.fromkeys(self.weight, 0.0)
        self.ended: dict[int, float] = {}
        self.samples = {
            stage: [(factor * self.random.lognormvariate(0, noise), 1.0) for _ in range(before)]
            for stage, (_, factor, _) in STAGES.items()
        }
        self.jobs: dict[int, dict] = {}
        self.waiting: list[int] = []
        self.running: list[tuple[float, int]] = []
        for project in self.weight:
            cast = [self._job(project, "anchor") for _ in range(3)]
            clips = [
                self._job(project, "animate", [self._job(project, "illustrate", cast)])
                for _ in range(self.random.randint(*shots))
            ]
            self._job(project, "assemble", clips)

    def _job(self, project, stage, needs=()):
        planned, factor, klass = STAGES[stage]
        planned *= self.random.uniform(0.5, 1.5)
        number = len(self.jobs)
        self.jobs[number] = {
            "project": project, "stage": stage, "klass": klass, "planned": planned,
            "needs": set(needs), "frees": [], "state": "blocked",
            "seconds": planned * factor * self.random.lognormvariate(0, self.noise),
        }  # fmt: skip
        for need in needs:
            self.jobs[need]["frees"].append(number)
        if not needs:
            self.waiting.append(number)
        return number

    def step(self):
        """Go on to the next end of a job."""
        while self.waiting and len(self.running) < self.devices:
            best = min(self.waiting, key=self._turn)
            self.waiting.remove(best)
            job = self.jobs[best]
            job["state"], job["since"] = "running", self.now
            self.served[job["project"]] += self.foretold(job) / self.weight[job["project"]]
            heapq.heappush(self.running, (self.now + job["seconds"], best))
        self.now, number = heapq.heappop(self.running)
        job = self.jobs.pop(number)
        self.samples[job["stage"]].append((job["seconds"], job["planned"]))
        for freed in job["frees"]:
            self.jobs[freed]["needs"].discard(number)
            if not self.jobs[freed]["needs"]:
                self.waiting.append(freed)
        if job["stage"] == "assemble":
            self.ended[job["project"]] = self.now

    def foretold(self, job):
        recent = self.samples[job["stage"]][-durations.WINDOW :]
        factor = sum(s for s, _ in recent) / sum(p for _, p in recent) if recent else 1.0
        return job["planned"] * factor

    def _turn(self, number):
        job = self.jobs[number]
        turn = self.served[job["project"]] // QUANTUM
        return job["klass"], turn, self.foretold(job), number  # as rank has it: the short first

    def learned(self):
        rows = []
        for stage, samples in self.samples.items():
            recent = samples[-durations.WINDOW :]
            if not recent:
                continue
            ratios = sorted(seconds / planned for seconds, planned in recent)
            factor = sum(s for s, _ in recent) / sum(p for _, p in recent)
            rows.append(
                durations.Duration(
                    stage=stage, bucket="b", model="m", device="cpu", samples=len(samples),
                    low=0, typical=0, high=0, mean=0,
                    factor_low=ratios[len(ratios) // 10], factor=factor,
                    factor_high=ratios[-1 - len(ratios) // 10], fresh=len(recent),
                )
            )  # fmt: skip
        return durations.Learned(rows, devices=["cpu"])

    def work(self):
        rows: dict[tuple, list[float]] = {}
        for job in self.jobs.values():
            left = job["planned"]
            if job["state"] == "running":
                left *= max(0.05, 1 - (self.now - job["since"]) / job["seconds"])
            key = (
                job["project"],
                job["stage"],
                job["klass"],
                "blocked" if job["needs"] else "ready",
            )
            rows.setdefault(key, []).append(left)
        return [
            foreseeing.Work(
                project=project, klass=1, weight=self.weight[project], queue="cpu", lane=klass,
                state=state, stage=stage, bucket="b", model="m", held=False, jobs=len(left),
                seconds=sum(left), squares=sum(x * x for x in left), longest=max(left),
            )
            for (project, stage, klass, state), left in sorted(rows.items())
        ]  # fmt: skip

    def foretell(self):
        crew = [pace.Device(queues=frozenset({"cpu"}))] * self.devices
        return forecast.foresee(
            self.work(),
            self.learned(),
            crew,
            now=EPOCH + dt.timedelta(seconds=self.now),
            quantum=QUANTUM,
        )

    def run(self, looks=12):
        """Work everything off; answers (told at, project, low, eta, high) of some looks."""
        told, total, n = [], len(self.jobs), 0
        while self.jobs:
            if n * looks >= total * (len({at for at, *_ in told}) + 0.5):
                for one in self.foretell():
                    if one.eta is not None:
                        ends = [(t - EPOCH).total_seconds() for t in (one.low, one.eta, one.high)]
                        told.append((self.now, one.project, *ends))
            self.step()
            n += 1
        return told


def score(backlog, told):
    """Share of ranges that held the true end, and the mean error and width over the time to it."""
    held = errors = widths = 0.0
    for at, project, low, eta, high in told:
        end = backlog.ended[project]
        held += low <= end <= high
        errors += abs(eta - end) / max(end - at, 5.0)
        widths += (high - low) / max(end - at, 5.0)
    return held / len(told), errors / len(told), widths / len(told)
