"""Whose turn it is: start-time fair queuing between the projects of one lane. Pure.

A lane is one class of one queue. Each project has an account there, in virtual seconds: predicted
seconds divided by its weight, charged as jobs are published. The lowest account goes first;
accounts within one quantum are equal, and rank decides between them. Within a project the order is
always the rank's. Who comes back to a lane starts where the lane is: idling earns nothing.
Source: Goyal, Vin, Cheng, "Start-time fair queuing", 1996.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from mangen.ledger import publishing

#: class, quantum, rank backwards, id: the smallest first
Place: TypeAlias = tuple[int, int, float, int]

#: rank that one quantum outweighs: more than ranks of one moment can differ
_STEP = 8.0
_LEAST_S = 0.01


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """A job in its turn: its virtual start, and the rank that makes a pool keep this order."""

    job: publishing.Waiting
    start: float
    rank: float

    def place(self, quantum_s: float) -> Place:
        """Where it stands among all turns of its queue."""
        return self.job.klass, math.floor(self.start / quantum_s), -self.job.rank, self.job.id


def turns(found: Iterable[publishing.Waiting], quantum_s: float) -> Sequence[Turn]:
    """All of these jobs in the order in which they should be published.

    What a project's budget of the day no longer covers is left out.
    """
    made: list[Turn] = []
    account = operator.attrgetter("klass", "project")
    for _, group in itertools.groupby(sorted(found, key=account), account):
        for start, job in _account(group):
            behind = _STEP * math.floor(start / quantum_s)
            made.append(Turn(job=job, start=start, rank=job.rank - behind))
    return sorted(made, key=lambda turn: turn.place(quantum_s))


def _account(group: Iterable[publishing.Waiting]) -> Iterable[tuple[float, publishing.Waiting]]:
    """One project's jobs of one class, each with its virtual start."""
    jobs = sorted(group, key=lambda job: (-job.rank, job.id))
    start, remaining = jobs[0].served, jobs[0].remaining
    for job in jobs:
        if remaining is not None and remaining <= 0:
            return
        yield start, job
        start += _cost(job)
        remaining = None if remaining is None else remaining - job.seconds


def served(published: Iterable[Turn]) -> tuple[Mapping[int, float], float]:
    """What accounts stand at once these turns of one lane were taken, and where the lane is."""
    accounts: dict[int, float] = {}
    clock = 0.0
    for turn in published:
        end = turn.start + _cost(turn.job)
        accounts[turn.job.project] = max(end, accounts.get(turn.job.project, end))
        clock = max(clock, turn.start)
    return accounts, clock


def _cost(job: publishing.Waiting) -> float:
    """Virtual seconds of one job; no job is for nothing, or its project would have all turns."""
    return max(job.seconds, _LEAST_S) / job.weight
