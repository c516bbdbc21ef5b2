"""What the feature cache holds in memory, by the byte, and who goes first.

Greedy-dual (Cao and Irani, "Cost-aware WWW proxy caching algorithms", 1997): an entry's rank is
the tier's clock at its last use plus its worth; the least goes first, and the clock moves up to
it, so that what isn't used any more ages. Worth = seconds a hit saves x reuse x its kind's weight,
for each MiB.
"""

from __future__ import annotations

import dataclasses
import enum
import heapq
import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from mangen.pooling import work

Name: TypeAlias = tuple[str, str]
"""Kind and signature."""

_HALF_LIFE = 1024  # lookups in the whole cache after which a use counts half
_LEAST_BYTES = 1024  # smaller ones count as this: nothing is worth endlessly much a byte


class What(enum.StrEnum):
    """What can happen to a product."""

    HIT = "hit"
    DISK_HIT = "disk_hit"
    MISS = "miss"
    BYPASS = "bypass"  # offered and not taken in
    EVICTION = "evictions"  # out of memory; it may lie on disk
    ROLLBACK = "rollbacks"  # its maker failed


@dataclasses.dataclass(slots=True, eq=False)
class Entry:
    """A product in memory; not `proved` until `by`, the member that made it, is done."""

    name: Name
    value: Any
    nbytes: int
    seconds: float
    weight: float
    by: work.Key | None = None
    proved: bool = False
    _reuse: float = 1.0
    _used: int = 0

    def used(self, lookup: int) -> None:
        """Count a hit at the cache's so-manieth lookup."""
        self._reuse = 1.0 + self._reuse * 0.5 ** ((lookup - self._used) / _HALF_LIFE)
        self._used = lookup

    @property
    def worth(self) -> float:
        size = max(self.nbytes, _LEAST_BYTES) / 2**20
        return self.seconds * self._reuse * self.weight / size


class Tier:
    """Entries under a byte limit, which the caller keeps: see `over`."""

    def __init__(self, limit: int = sys.maxsize) -> None:
        self.limit = limit
        self._bytes = 0
        self._clock = 0.0
        self._turns = itertools.count()
        self._entries: dict[Name, tuple[int, Entry]] = {}
        # names, not entries: a forgotten entry's tensors must go at once
        self._heap: list[tuple[float, int, Name]] = []

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter([entry for _, entry in self._entries.values()])

    @property
    def nbytes(self) -> int:
        return self._bytes

    @property
    def over(self) -> bool:
        return self._bytes > self.limit

    def get(self, name: Name) -> Entry | None:
        found = self._entries.get(name)
        return found[1] if found else None

    def add(self, entry: Entry) -> None:
        assert entry.name not in self._entries
        self._bytes += entry.nbytes
        self.rank(entry)

    def rank(self, entry: Entry) -> None:
        """Place an entry anew: it was used."""
        turn = next(self._turns)
        self._entries[entry.name] = (turn, entry)
        heapq.heappush(self._heap, (self._clock + entry.worth, turn, entry.name))
        if len(self._heap) > 2 * len(self._entries) + 64:
            self._heap = [one for one in self._heap if self._current(one)]
            heapq.heapify(self._heap)

    def remove(self, entry: Entry) -> None:
        del self._entries[entry.name]
        self._bytes -= entry.nbytes

    def pop(self) -> Entry | None:
        """Take the least worthy entry out and move the clock up to it; None: it is empty."""
        while self._heap:
            least = heapq.heappop(self._heap)
            if self._current(least):
                self._clock = least[0]
                entry = self._entries[least[2]][1]
                self.remove(entry)
                return entry
        return None

    def _current(self, ranked: tuple[float, int, Name]) -> bool:
        found = self._entries.get(ranked[2])
        return found is not None and found[0] == ranked[1]


class Counters:
    """Sums for each kind. Any thread may read them: the kinds are known from the start."""

    def __init__(self, kinds: Iterable[str]) -> None:
        self._kinds: dict[str, dict[str, float]] = {kind: _zeros() for kind in kinds}

    def count(self, what: What, kind: str, seconds: float = 0.0) -> None:
        self._kinds[kind][what] += 1
        if what in (What.HIT, What.DISK_HIT):
            self._kinds[kind]["seconds_saved"] += seconds

    def hold(self, kind: str, nbytes: int) -> None:
        """So many bytes more (or fewer, when negative) are in memory."""
        self._kinds[kind]["bytes"] += nbytes

    def read(self) -> Mapping[str, Mapping[str, float]]:
        """A copy, with the kinds' sums under `total`."""
        copied = {kind: dict(sums) for kind, sums in self._kinds.items()}
        total = _zeros()
        for sums in copied.values():
            for name, number in sums.items():
                total[name] += number
        return {**copied, "total": total}


def _zeros() -> dict[str, float]:
    return {**{what.value: 0 for what in What}, "bytes": 0, "seconds_saved": 0.0}
