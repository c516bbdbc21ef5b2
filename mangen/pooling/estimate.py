"""What work will need, learned from what it needed: peaks and durations. Pure."""

from __future__ import annotations

import collections
import dataclasses
import math
from collections.abc import Sequence
from typing import TypeVar

from mangen.pooling import work

_K = TypeVar("_K")


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """What must be equal for two observations to speak of the same thing."""

    name: str
    model: str
    bucket: str

    @classmethod
    def of(cls, item: work.Item) -> Kind:
        return cls(item.name, item.model, item.bucket)


class Estimates:
    """Corrects the theory by its own record: the window's maximum, after a few samples.

    Until `samples` observations, theory stands as it is given. Peaks: the largest of observed /
    theory in the window, times `margin`, within [0.25, 8]: an allocator that kept freed memory
    makes a session look smaller than it is. Durations: the 0.9 quantile of the window, where it
    is longer than the theory.
    """

    def __init__(self, *, samples: int = 5, window: int = 50, margin: float = 1.05) -> None:
        self._samples = samples
        self._window = window
        self._margin = margin
        self._ratios: dict[tuple[Kind, int], collections.deque[float]] = {}
        self._seconds: dict[Kind, collections.deque[float]] = {}

    def peaks(self, item: work.Item) -> tuple[int, ...]:
        """The item's peaks in bytes, corrected; one for each number of members up to its cap."""
        given = item.peaks or (0,)
        theory = given + (given[-1],) * (item.cap - len(given))
        kind = Kind.of(item)
        return tuple(
            math.ceil(peak * self._factor(kind, members)) for members, peak in enumerate(theory, 1)
        )

    def together(self, items: Sequence[work.Item]) -> tuple[int, ...]:
        """Peaks of a batch of these: the largest of theirs for each number of members."""
        each = [self.peaks(item) for item in items]
        size = max(len(peaks) for peaks in each)
        return tuple(max(peaks[min(n, len(peaks) - 1)] for peaks in each) for n in range(size))

    def seconds(self, item: work.Item) -> float:
        """Expected duration: the theory, or the learned quantile where that is longer."""
        seen = self._seconds.get(Kind.of(item))
        if seen is None or len(seen) < self._samples:
            return item.seconds
        ordered = sorted(seen)
        return max(item.seconds, ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))])

    def observe(self, item: work.Item, *, seconds: float, peak: int, members: int) -> None:
        """Learn from one that was done."""
        kind = Kind.of(item)
        self._deque(self._seconds, kind).append(seconds)
        theory = item.peaks[min(members, len(item.peaks)) - 1] if item.peaks else 0
        if theory > 0:
            self._deque(self._ratios, (kind, members)).append(peak / theory)

    def _factor(self, kind: Kind, members: int) -> float:
        ratios = self._ratios.get((kind, members))
        if ratios is None or len(ratios) < self._samples:
            return 1.0
        return min(8.0, max(0.25, max(ratios) * self._margin))

    def _deque(
        self, table: dict[_K, collections.deque[float]], key: _K
    ) -> collections.deque[float]:
        return table.setdefault(key, collections.deque(maxlen=self._window))
