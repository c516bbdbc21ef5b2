"""When a child should be followed by a fresh one: what it did, and how its memory looks. Pure.

A leak is a *slope* of the idle floor, the live bytes that nobody can explain; a step is none: the
first use of a library takes its workspace once and keeps it. So the looks are cut into fifths,
each counts by its median, and a slope must rise from the first to the last by enough, by more
than the looks scatter within a fifth, without a fall, and with no single rise between two
neighbours making up half of it. One step makes up all of it, two equal ones half. Medians, because
a look may fall into a moment of garbage.

Looks are kept at three paces, so that a leak that shows within 30 looks and one that takes 2,000
are both seen, with memory for 90.
"""

from __future__ import annotations

import collections
import itertools
import statistics

_MIB = 2**20
_LOOKS = 30
_PACES = (1, 8, 64)
_PARTS = 5
_LARGEST_STEP = 0.45
_LEAST_RISE = 256 * _MIB
_LEAST_SHARE = 0.02
_FRAGMENTED = 0.15
_STRANDED = 512 * _MIB
_IN_A_ROW = 3
_REFUSALS = 3


class _Pace:
    """The last looks, one for every so many: their lowest, since garbage only adds."""

    def __init__(self, every: int) -> None:
        self._every = every
        self._open: list[int] = []
        self.looks: collections.deque[int] = collections.deque(maxlen=_LOOKS)

    def add(self, floor: int) -> None:
        self._open.append(floor)
        if len(self._open) == self._every:
            self.looks.append(min(self._open))
            self._open.clear()

    def rise(self) -> int:
        """Bytes by which the floor rises steadily over the window; 0 before it is full."""
        if len(self.looks) < _LOOKS:
            return 0
        looks, size = list(self.looks), _LOOKS // _PARTS
        parts = [looks[n : n + size] for n in range(0, _LOOKS, size)]
        middles = [statistics.median_low(part) for part in parts]
        scatter = statistics.median_low(max(part) - min(part) for part in parts)
        rise = middles[-1] - middles[0]
        steps = [later - earlier for earlier, later in itertools.pairwise(middles)]
        steady = min(steps) >= 0 and max(steps) <= _LARGEST_STEP * rise
        return rise if steady and rise > scatter else 0


class Wear:
    """One child's record; its successor begins an empty one.

    `restart_after` tasks wear it out, 0: never. Slope and fragmentation count only after
    `between` tasks, so that a device whose floor is noisy doesn't restart in a loop.
    """

    def __init__(self, restart_after: int = 0, *, between: int = 20) -> None:
        self.tasks = 0
        self._restart_after = restart_after
        self._between = between
        self._refusals = 0
        self._worked = False
        self._paces = [_Pace(every) for every in _PACES]
        self._total = 0
        self._fragmented = 0
        self._fragmentation = 0.0
        self._stranded = 0

    def done(self, tasks: int = 1) -> None:
        """Note that it ended so many pieces of work."""
        self.tasks += tasks
        self._worked = self._worked or tasks > 0

    def took(self) -> None:
        """Note that its gate let work in."""
        self._refusals = 0

    def refused(self, *, foreign: bool = False) -> None:
        """Note that its gate let nothing in; `foreign`: others on the device explain it."""
        if not foreign:
            self._refusals += 1

    def look(
        self, *, floor: int, total: int, fragmentation: float | None = None, stranded: int = -1
    ) -> None:
        """Look at an idle child, in bytes.

        `floor` are its live bytes that nobody can explain, `total` the device's. `fragmentation`
        and `stranded` (what its allocator holds beyond what lives) only where it has just trimmed;
        stranded below 0: unknown, and fragmentation is taken of the whole device.
        """
        self._total = total
        if self._worked:  # work leaks, not waiting: many looks at rest would hide a slope
            self._worked = False
            for pace in self._paces:
                pace.add(floor)
        if fragmentation is not None:
            self._fragmentation = fragmentation
            self._stranded = int(fragmentation * total) if stranded < 0 else stranded
            bad = fragmentation > _FRAGMENTED and self._stranded > _STRANDED
            self._fragmented = self._fragmented + 1 if bad else 0

    def why(self) -> str:
        """Say what wore it out, with figures; empty: it is not worn."""
        if 0 < self._restart_after <= self.tasks:
            return f"it did {self.tasks} tasks of {self._restart_after}"
        if self._refusals >= _REFUSALS:
            return f"its gate refused {self._refusals} offers in a row, and took none"
        if self.tasks < self._between:
            return ""
        rise = max(pace.rise() for pace in self._paces)
        most = max(_LEAST_RISE, int(_LEAST_SHARE * self._total))
        if rise > most:
            return (
                f"its idle floor rose by {rise // _MIB} MiB in {self.tasks} tasks, "
                f"more than {most // _MIB} MiB"
            )
        if self._fragmented >= _IN_A_ROW:
            return (
                f"{self._fragmentation:.0%} of its memory lies in fragments, "
                f"{self._stranded // _MIB} MiB, at {self._fragmented} idle looks in a row"
            )
        return ""
