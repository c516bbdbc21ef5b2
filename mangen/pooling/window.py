"""The requests that wait here un-acked, and may still be chosen among."""

from __future__ import annotations

import bisect
import collections
import dataclasses
import math
import operator
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mangen.pooling import wire, work


class Alike(NamedTuple):
    """What makes waiting items equal to estimates and gates; `peak` is theory's, for one member."""

    name: str
    model: str
    bucket: str
    peak: int


@dataclasses.dataclass(kw_only=True, slots=True)
class Waiting:
    """One waiting item: since when, its place of arrival, and since when others went first.

    `order` sorts the waiting, the first to serve first; a rank that is no number comes last.
    """

    item: work.Item
    since: float
    place: int
    passed: float | None = None
    order: tuple[int, float, int] = dataclasses.field(init=False, repr=False)
    alike: Alike = dataclasses.field(init=False, repr=False)
    #: its bucket, and whether it shares no batch
    group: tuple[str, bool] = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        item = self.item
        behind = math.inf if math.isnan(item.rank) else -item.rank
        self.order = item.klass, behind, self.place
        self.alike = Alike(item.name, item.model, item.bucket, item.peaks[0] if item.peaks else 0)
        self.group = item.bucket, item.solo or item.bucket == wire.PLAIN


_ORDER = operator.attrgetter("order")


class Window:
    """Waiting items by key; iterates in their order. Not locked: the engine thread owns it.

    `alike` counts them: thousands may wait, of few sorts, and each offer asks of all of them.
    """

    def __init__(self) -> None:
        self.alike: collections.Counter[Alike] = collections.Counter()
        self._waiting: dict[work.Key, Waiting] = {}
        self._ordered: list[Waiting] = []
        self._arrivals = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, key: object) -> bool:
        return key in self._waiting

    def __iter__(self) -> Iterator[Waiting]:
        return iter(self._ordered)

    def add(self, item: work.Item, now: float) -> None:
        """Let an item wait; the key must be new here."""
        if item.key in self._waiting:
            raise ValueError(f"{item.key} waits here already")
        waiting = Waiting(item=item, since=now, place=self._arrivals + 1)
        self._arrivals += 1
        self.put_back(waiting)

    def take(self, key: work.Key) -> Waiting:
        """Take one out, to be offered; KeyError when it does not wait."""
        waiting = self._waiting.pop(key)
        del self._ordered[bisect.bisect_left(self._ordered, waiting.order, key=_ORDER)]
        self.alike[waiting.alike] -= 1
        if not self.alike[waiting.alike]:
            del self.alike[waiting.alike]
        return waiting

    def put_back(self, waiting: Waiting) -> None:
        """Return what was offered and not taken, with its age and its place."""
        self._waiting[waiting.item.key] = waiting
        bisect.insort(self._ordered, waiting, key=_ORDER)
        self.alike[waiting.alike] += 1

    def without(self, keys: Iterable[work.Key]) -> collections.Counter[Alike]:
        """Count what waits besides these, of which each waits here."""
        return self.alike - collections.Counter(self._waiting[key].alike for key in keys)

    def mark_passed(self, keys: Iterable[work.Key], now: float) -> None:
        """Note that others went before these; the first time counts."""
        for key in keys:
            waiting = self._waiting.get(key)
            if waiting is not None and waiting.passed is None:
                waiting.passed = now

    def clear(self) -> list[Waiting]:
        """Forget all; answers what waited."""
        gone = list(self._ordered)
        self._waiting.clear()
        self._ordered.clear()
        self.alike.clear()
        return gone
