"""Products that repeat, kept in memory: the least worth a byte goes first."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any


@dataclasses.dataclass(slots=True)
class _Entry:
    value: Any
    nbytes: int
    worth: float  # the clock at its last use + seconds a hit saves per MiB


class MemoryCache:
    """A FeatureCache under a byte limit.

    Greedy-dual: an entry's worth is the clock plus the seconds it saves per MiB; the least worthy
    is evicted and the clock moves up to it, so that what isn't used any more ages.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.counters: collections.Counter[str] = collections.Counter()
        self._entries: dict[str, _Entry] = {}
        self._seconds: dict[str, float] = {}
        self._clock = 0.0
        self._bytes = 0

    @property
    def nbytes(self) -> int:
        return self._bytes

    def get(self, signature: str) -> Any | None:
        entry = self._entries.get(signature)
        if entry is None:
            self.counters["miss"] += 1
            return None
        self.counters["hit"] += 1
        entry.worth = self._clock + self._density(signature, entry.nbytes)
        return entry.value

    def put(self, signature: str, value: Any, *, nbytes: int, seconds: float) -> None:
        """Keep a value of `nbytes` that took `seconds` to make; too large a one passes by."""
        self.drop(signature)
        if nbytes > self.limit:
            self.counters["bypass"] += 1
            return
        self.shrink(self.limit - nbytes)
        self._seconds[signature] = seconds
        worth = self._clock + self._density(signature, nbytes)
        self._entries[signature] = _Entry(value, nbytes, worth)
        self._bytes += nbytes

    def drop(self, signature: str) -> None:
        """Forget one entry, as a session does with what its failed members put in."""
        entry = self._entries.pop(signature, None)
        self._seconds.pop(signature, None)
        if entry is not None:
            self._bytes -= entry.nbytes

    def shrink(self, to: int) -> int:
        """Evict until at most `to` bytes are held; answers the bytes given back."""
        before = self._bytes
        while self._bytes > to and self._entries:
            signature = min(self._entries, key=lambda one: self._entries[one].worth)
            self._clock = self._entries[signature].worth
            self.drop(signature)
            self.counters["evicted"] += 1
        return before - self._bytes

    def _density(self, signature: str, nbytes: int) -> float:
        return self._seconds.get(signature, 0.0) / max(nbytes / 2**20, 1 / 1024)
