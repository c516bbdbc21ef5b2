"""When will it be ready: from what is left and who works to a range for each project. Pure.

Devices are shared as the pass shares them: by class, and within a class by weight. A project with
W seconds left and weight w has been served when every other one of its class got
min(its own seconds, its weight x W / w): until then it waits for that much work and no more, so

    T = (all of the classes before it + sum of min(W_j, w_j x W / w)) / devices

Jobs of the high lane don't wait for their project's turn: what is open of it is done before, what
is blocked of it (the end of an episode) right after its project's last turn. A turn lasts for a
quantum, so that others may have had one turn less or more.

To this comes its tail, in which few of its jobs can run beside each other: one long job of each
stage after the other. What comes in later is not foreseen.
"""

from __future__ import annotations

import bisect
import dataclasses
import datetime as dt
import itertools
import math
from collections.abc import Mapping, Sequence

from mangen.dispatch import pace
from mangen.ledger import durations, foreseeing, hours

#: of normally spread sums, 80 % lie within so many deviations of the mean
_Z = 1.2816
#: what a plan can't know: gaps between jobs, other load on the machine, a kind that changed
_SLACK_LOW, _SLACK_HIGH, _SLACK_S = 0.1, 0.15, 2.0
#: of the tail that is expected; the rest of it is in the high end
_TAIL = 0.8
#: turns of others, beside as many as its own, until a project's last one ends
_TURNS = (-1.0, 0.0, 0.5)
#: of the seconds left: with less of known kinds there is no forecast
_KNOWN = 0.5
_NEVER = hours.Hours()


def _ends() -> list[float]:
    return [0.0, 0.0, 0.0]


@dataclasses.dataclass(slots=True)
class _Pooled:
    """What is left for one pool of devices, as (low, mean, high) seconds."""

    first: list[float] = dataclasses.field(default_factory=_ends)  #: before all that is fair
    fair: list[float] = dataclasses.field(default_factory=_ends)  #: in turn with other projects
    last: list[float] = dataclasses.field(default_factory=_ends)  #: as soon as it is freed


@dataclasses.dataclass(slots=True)
class _Left:
    """What is left of a project."""

    klass: int
    weight: float
    jobs: int = 0
    free: int = 0  #: jobs that are not held
    unserved: str = ""
    planning: bool = False
    variance: float = 0.0
    known: float = 0.0
    pools: list[_Pooled] = dataclasses.field(default_factory=list)
    longest: dict[str, tuple[float, float, float]] = dataclasses.field(default_factory=dict)


def foresee(
    work: Sequence[foreseeing.Work],
    learned: durations.Learned,
    crew: Sequence[pace.Device],
    *,
    now: dt.datetime,
    quiet: hours.Hours = _NEVER,
    quantum: float = 60.0,
    planning: str = "",
) -> list[foreseeing.Forecast]:
    """Foretell each project that has open jobs.

    `quantum`: seconds of a turn. `planning` names the stage that makes a project's other jobs.
    """
    pools = _pools(crew)
    power = [sum(one.share for one in crew if one.queues & queues) for queues in pools]
    left = {
        project: _left(list(rows), learned, pools, planning)
        for project, rows in itertools.groupby(work, lambda one: one.project)
    }
    waits = [
        [_waits(left, pool, end, quantum) for end in range(3)] for pool in range(len(pools))
    ]  # pool -> end -> project -> seconds of work before it is through
    return [
        _forecast(project, one, waits, power, now=now, quiet=quiet) for project, one in left.items()
    ]


def backlogs(
    work: Sequence[foreseeing.Work], learned: durations.Learned
) -> list[foreseeing.Backlog]:
    """Sum foretold seconds by queue, class and state; what people hold is no work to wait for."""
    sums: dict[tuple[str, int, str], list[float]] = {}
    for one in work:
        if one.held:
            continue
        factor = learned.factor(one.stage, one.bucket, one.model).mean
        lane = sums.setdefault((one.queue, one.lane, one.state), [0.0, 0.0])
        lane[0] += one.jobs
        lane[1] += one.seconds * factor
    return [
        foreseeing.Backlog(queue=queue, lane=lane, state=state, jobs=int(n), seconds=seconds)
        for (queue, lane, state), (n, seconds) in sorted(sums.items())
    ]


def _pools(crew: Sequence[pace.Device]) -> list[frozenset[str]]:
    """Queues that share devices belong together."""
    pools: list[frozenset[str]] = []
    for one in crew:
        touching = [pool for pool in pools if pool & one.queues]
        pools = [pool for pool in pools if not pool & one.queues]
        pools.append(one.queues.union(*touching))
    return pools


def _left(
    rows: Sequence[foreseeing.Work],
    learned: durations.Learned,
    pools: Sequence[frozenset[str]],
    planning: str,
) -> _Left:
    found = _Left(klass=rows[0].klass, weight=rows[0].weight)
    found.pools = [_Pooled() for _ in pools]
    for row in rows:
        found.jobs += row.jobs
        found.planning = found.planning or row.stage == planning
        if row.held:
            continue
        found.free += row.jobs
        factor = learned.factor(row.stage, row.bucket, row.model)
        # what single jobs have more or less evens out; what is wrong of their mean does not
        ends = (factor.least, factor.mean, factor.most)
        pool = next((n for n, queues in enumerate(pools) if row.queue in queues), None)
        if pool is None:
            found.unserved = row.queue
            continue
        for end, times in enumerate(ends):
            _part(found, row, pool)[end] += times * row.seconds
        if factor.known:
            spread = (factor.high - factor.low) / (2 * _Z)
            found.variance += spread * spread * row.squares
            found.known += factor.mean * row.seconds
        single = tuple(times * row.longest for times in (factor.low, factor.mean, factor.high))
        before = found.longest.get(row.stage, (0.0, 0.0, 0.0))
        found.longest[row.stage] = (
            max(before[0], single[0]), max(before[1], single[1]), max(before[2], single[2]),
        )  # fmt: skip
    return found


def _part(left: _Left, row: foreseeing.Work, pool: int) -> list[float]:
    if left.klass == row.lane or row.lane > 0:
        return left.pools[pool].fair
    return left.pools[pool].last if row.state == "blocked" else left.pools[pool].first


def _waits(left: Mapping[int, _Left], pool: int, end: int, quantum: float) -> dict[int, float]:
    """Project -> seconds of devices that are spent, on all, until this one is served."""
    waits: dict[int, float] = {}
    before = 0.0
    active = [(p, one, one.pools[pool]) for p, one in left.items() if one.free]
    active.sort(key=lambda at: (at[1].klass, at[2].fair[end] / at[1].weight))
    for _, members in itertools.groupby(active, lambda at: at[1].klass):
        group = list(members)
        shares = [own.fair[end] / one.weight for _, one, own in group]
        # of the first n: all their seconds; of the others: their weights
        through = [0.0, *itertools.accumulate(own.fair[end] + own.last[end] for *_, own in group)]
        weights = [0.0, *itertools.accumulate(one.weight for _, one, _ in group)]
        before += sum(own.first[end] for *_, own in group)
        for n, (project, _, own) in enumerate(group):
            share = max(0.0, shares[n] + _TURNS[end] * quantum)
            served = bisect.bisect_right(shares, share)
            waits[project] = before + through[served] + share * (weights[-1] - weights[served])
            if served <= n:  # its own, whoever else still waits
                waits[project] += own.fair[end] + own.last[end] - share * group[n][1].weight
        before += through[-1]
    return waits


def _forecast(
    project: int,
    left: _Left,
    waits: Sequence[Sequence[Mapping[int, float]]],
    power: Sequence[float],
    *,
    now: dt.datetime,
    quiet: hours.Hours,
) -> foreseeing.Forecast:
    seconds = [
        sum(own.first[end] + own.fair[end] + own.last[end] for own in left.pools)
        for end in range(3)
    ]
    told = foreseeing.Forecast(project=project, jobs=left.jobs, seconds=round(seconds[1], 1))
    why = _why(left, power, seconds[1])
    if why:
        return dataclasses.replace(told, why=why)
    served = [
        max(waits[n][end].get(project, 0.0) / power[n] for n in range(len(power)))
        for end in range(3)
    ]
    alone = [sum(stage[end] for stage in left.longest.values()) for end in range(3)]
    tail = 1 - 1 / max(1.0, *power)
    spread = _Z * math.sqrt(left.variance) / min(power)
    middle = max(served[1] + _TAIL * tail * alone[1], alone[1])
    low = (1 - _SLACK_LOW) * max(served[0] + 0.1 * tail * alone[0], 0.8 * alone[0]) - spread
    high = (1 + _SLACK_HIGH) * (served[2] + tail * alone[2]) + spread + _SLACK_S
    ends = (max(0.0, min(low, middle)), middle, max(high, middle))
    times = [
        now + dt.timedelta(seconds=s) if left.klass == 0 else quiet.after(now, s) for s in ends
    ]
    if times[2] is None:
        return dataclasses.replace(told, why="quiet hours leave no time for it")
    return dataclasses.replace(told, low=times[0], eta=times[1], high=times[2])


def _why(left: _Left, power: Sequence[float], seconds: float) -> str:
    """Why nobody can tell, in words; empty: one can."""
    if not power:
        return "no worker runs"
    if not left.free:
        return "paused"
    if left.unserved:
        return f"no worker serves {left.unserved}"
    if left.planning:
        return "being planned"
    if left.known < _KNOWN * seconds:
        return "nothing like it was made yet"
    return ""
