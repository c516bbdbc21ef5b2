"""The requests that wait here un-acked, and may still be chosen among."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from mangen.pooling import work


@dataclasses.dataclass(kw_only=True, slots=True)
class Waiting:
    """One waiting item: since when, its place of arrival, and since when others went first."""

    item: work.Item
    since: float
    place: int
    passed: float | None = None

    @property
    def order(self) -> tuple[int, float, int]:
        """Sorts the waiting, the first to serve first."""
        return self.item.klass, -self.item.rank, self.place


class Window:
    """Waiting items by key. Not locked: the engine thread owns it."""

    def __init__(self) -> None:
        self._waiting: dict[work.Key, Waiting] = {}
        self._arrivals = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, key: object) -> bool:
        return key in self._waiting

    def __iter__(self) -> Iterator[Waiting]:
        return iter(self._waiting.values())

    def add(self, item: work.Item, now: float) -> None:
        """Let an item wait; the key must be new here."""
        if item.key in self._waiting:
            raise ValueError(f"{item.key} waits here already")
        self._arrivals += 1
        self._waiting[item.key] = Waiting(item=item, since=now, place=self._arrivals)

    def take(self, key: work.Key) -> Waiting:
        """Take one out, to be offered; KeyError when it does not wait."""
        return self._waiting.pop(key)

    def put_back(self, waiting: Waiting) -> None:
        """Return what was offered and not taken, with its age and its place."""
        self._waiting[waiting.item.key] = waiting

    def mark_passed(self, keys: Iterable[work.Key], now: float) -> None:
        """Note that others went before these; the first time counts."""
        for key in keys:
            waiting = self._waiting.get(key)
            if waiting is not None and waiting.passed is None:
                waiting.passed = now

    def clear(self) -> list[Waiting]:
        """Forget all; answers what waited."""
        gone = list(self._waiting.values())
        self._waiting.clear()
        return gone
