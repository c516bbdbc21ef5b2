"""The pool's figures, from what its runs left. Pure; docs/benchmarks.md says what each means."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Sequence

import _pool_run

SAMPLES = 5
CROWD = 16
"""So many of a bucket wait where a batch must be as large as it is worth."""


def gaps(run: _pool_run.Run) -> float:
    """Wall seconds in which work was there and the device neither ran a stage nor loaded.

    The simulation lets a device second pass in 1/speed of the wall's; whatever else passed is the
    pool's own: words between parent and child, choosing, settling. That costs on a real device
    what it costs here, so that gaps count as they are.
    """
    return max(0.0, run.wall - (run.busy + run.load) / run.speed)


def device_time(run: _pool_run.Run) -> float:
    """Seconds that the run would take on the card that is simulated."""
    return run.busy + run.load + gaps(run)


def busy_ratio(run: _pool_run.Run) -> float:
    """Device busy of the time in which work waited or ran, in device time."""
    return run.busy / device_time(run)


def busy_ratio_wall(run: _pool_run.Run) -> float:
    """Strict: as if each wall second of a gap were `speed` device seconds."""
    return run.busy / run.speed / run.wall


def judged(sessions: Sequence[_pool_run.Session]) -> Iterator[_pool_run.Session]:
    """Sessions after the fifth of their bucket and number of members."""
    seen: collections.Counter[tuple[str, int]] = collections.Counter()
    for session in sessions:
        kind = session.bucket, session.members
        if seen[kind] >= SAMPLES:
            yield session
        seen[kind] += 1


def under_estimates(sessions: Sequence[_pool_run.Session]) -> float:
    found = list(judged(sessions))
    return mean([one.peak > one.reserved for one in found])


def over_reservation(sessions: Sequence[_pool_run.Session]) -> float:
    return mean([one.reserved / one.peak - 1 for one in judged(sessions) if one.peak > 0])


def crowded(sessions: Sequence[_pool_run.Session]) -> list[_pool_run.Session]:
    """Sessions that began when a crowd of their bucket waited, after the warm-up."""
    return [one for one in sessions if one.waited >= CROWD and one.warm]


def mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / max(1, len(numbers))


def restart_bound(run: _pool_run.Run, reload_s: float, after: int) -> float:
    """What soft restarts may cost of the total: a reload for every `after` jobs, and 1 %."""
    return reload_s / (after * run.busy / run.jobs) + 0.01
