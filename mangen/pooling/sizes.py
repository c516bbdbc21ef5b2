"""How large a batch is worth forming: measured, never assumed. Pure.

A climb over the sizes 1, 2, 4, ... up to the engine's own cap, on the time per item. A size counts
by the median of its last few sessions, the lower one of two: the median, because sessions of one
kind differ in steps, and a minimum would favour whichever size was measured most; the lower one,
because what makes a first session slow (warming up, a cold disk) is no property of its size.
"""

from __future__ import annotations

import collections
import dataclasses
import statistics
from collections.abc import Sequence

from mangen.pooling import estimate

_SAMPLES = 5  #: of a size, that are remembered
_DRIFT = 0.3


class _Record:
    """What was measured of one kind: seconds of whole sessions by their number of members."""

    def __init__(self) -> None:
        self.seconds: dict[int, collections.deque[float]] = {}
        self.settled = 0  #: the size that won the last climb; 0: none yet
        self.usual = 0.0  #: its time per item from then on; 0: too few sessions to tell
        self.sessions = 0  #: since that climb began
        self.room = 0  #: the gate could only take so many; 0: it never took fewer
        self.room_until = 0  #: in sessions

    def cost(self, size: int) -> float | None:
        """Time per item."""
        seen = self.seconds.get(size)
        return statistics.median_low(seen) / size if seen else None

    def looks(self, size: int) -> int:
        return len(self.seconds.get(size, ()))

    def settle(self, size: int) -> None:
        """Note who won."""
        if size != self.settled:
            self.settled, self.usual = size, 0.0

    def forget_others(self) -> None:
        """Climb again from the settled size: what else was measured is too old to compare with."""
        kept = self.seconds.get(self.settled)
        self.seconds = {self.settled: kept} if kept else {}
        self.sessions = self.room = self.room_until = 0
        self.usual = 0.0


@dataclasses.dataclass(slots=True)
class _Limits:
    """What memory showed of one kind: kept apart, and for more kinds, since it is for ever."""

    ceiling: int = 0
    hopeless: bool = False


class Sizes:
    """Batch caps by kind, for one pool's life.

    A larger size is tried while the last step up saved more than `gain` of the time per item; a
    try that seems to gain nothing is repeated once before it is believed. After `again` sessions,
    or when times changed by 30 %, the neighbours of the settled size are tried again. `kinds`
    bounds what is remembered, the last used stay.
    """

    def __init__(self, *, gain: float = 0.03, again: int = 200, kinds: int = 4096) -> None:
        self._gain = gain
        self._again = again
        self._records: estimate.Recent[estimate.Kind, _Record] = estimate.Recent(kinds)
        self._limits: estimate.Recent[estimate.Kind, _Limits] = estimate.Recent(8 * kinds)

    def cap(self, kind: estimate.Kind, bound: int, waiting: int) -> int:
        """The largest batch to form now, of so many that wait; `bound` is the engine's own cap.

        While the climb goes on and fewer wait than the next size has, all of them may go at once.
        """
        record = self._records.of(kind, _Record)
        limit = self.ceiling(kind, bound)
        if record.room and record.sessions < record.room_until:
            limit = min(limit, record.room)
        ladder = _ladder(limit)
        best = self._best(record, ladder)
        wanted = self._next(record, ladder, best)
        if wanted is None:
            record.settle(best)
            return best
        return min(wanted, max(best, waiting))

    def ceiling(self, kind: estimate.Kind, bound: int) -> int:
        """The engine's own cap, below every size at which memory ran out; nothing is tried."""
        limits = self._limits.get(kind)
        least = limits.ceiling if limits is not None and limits.ceiling else bound
        return max(1, min(bound, least))

    def observe(self, kind: estimate.Kind, members: int, seconds: float) -> None:
        """Learn from a session that so many members shared from its first step to its last.

        `seconds` are all of it, without loading.
        """
        if members < 1 or seconds <= 0:
            return
        record = self._records.of(kind, _Record)
        record.sessions += 1
        seen = record.seconds.setdefault(members, collections.deque(maxlen=_SAMPLES))
        seen.append(seconds)
        cost = record.cost(members)
        if members == record.settled and cost is not None and len(seen) == _SAMPLES:
            record.usual = record.usual or cost
            long_enough = record.sessions >= self._again // 10  # sessions of a kind vary
            if long_enough and abs(cost / record.usual - 1) > _DRIFT:
                record.forget_others()
        if record.settled and record.sessions >= self._again:
            record.forget_others()

    def oom(self, kind: estimate.Kind, members: int) -> None:
        """Memory ran out under so many: never that size or a larger one again."""
        limits = self._limits.of(kind, _Limits)
        ceiling = max(1, members // 2)
        limits.ceiling = min(limits.ceiling or ceiling, ceiling)

    def admitted(self, kind: estimate.Kind, members: int) -> None:
        """Note that the gate could only take so many of a larger batch.

        Larger ones are not tried for a while; it says nothing about what they are worth.
        """
        record = self._records.of(kind, _Record)
        record.room = max(1, members)
        record.room_until = record.sessions + max(1, self._again // 10)

    def proved_hopeless(self, kind: estimate.Kind) -> None:
        """Note that one alone, with everything evicted, did not fit the device."""
        self._limits.of(kind, _Limits).hopeless = True

    def hopeless(self, kind: estimate.Kind) -> bool:
        limits = self._limits.get(kind)
        return limits is not None and limits.hopeless

    def _best(self, record: _Record, ladder: Sequence[int]) -> int:
        """The smallest size that is as cheap as any; the settled one, or 1, when none was measured.

        As cheap: what a larger one saves is not worth its bytes, and that all wait for all.
        """
        costs = [(cost, size) for size in ladder if (cost := record.cost(size)) is not None]
        if costs:
            cheap = min(costs)[0] / (1 - self._gain)
            return min(size for cost, size in costs if cost <= cheap)
        return max(size for size in ladder if size <= max(1, record.settled))

    def _next(self, record: _Record, ladder: Sequence[int], best: int) -> int | None:
        """The size to try; None when nothing is left to try."""
        cost = record.cost(best)
        if cost is None or record.looks(best) < (2 if record.sessions < 2 else 1):
            return best  # the first session of all warms up: it counts only beside a second one
        place = ladder.index(best)
        below = ladder[place - 1] if place else 0
        above = ladder[place + 1] if place + 1 < len(ladder) else 0
        lower = record.cost(below) if below else None
        if below and lower is None:  # it was forgotten
            return below
        climbing = lower is None or cost < lower * (1 - self._gain)
        if above and climbing and record.looks(above) < 2:
            return above
        return None


def _ladder(limit: int) -> list[int]:
    """Powers of two below the limit, then the limit itself."""
    return [*(2**n for n in range(limit.bit_length()) if 2**n < limit), limit]
