"""What the pool's benchmark runs in the children: the simulated product with a meter, and a void.

The meter's lines lie in the log file of the settings, one after each session.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import sim_product

from mangen.pooling import work
from mangen.pooling.devices import simulated


class Metered(sim_product.Product):
    """Says after each session what the card has spent so far, in device seconds and bytes."""

    def open(self, bucket: str, rt: work.Runtime) -> work.Session:
        return _MeteredSession(self, sim_product.Recipe(bucket), rt)


class _MeteredSession(sim_product.Session):
    def close(self) -> None:
        card = simulated.current()
        self.product.write(
            "spent",
            busy=card.busy_s,
            load=card.load_s,
            peak=card.peak().reserved + card.overhead,
        )


class Void:
    """Work that is nothing but its two moments: when the child began it, and when it was over."""

    def open(self, _bucket: str, _rt: work.Runtime) -> work.Session:
        return _VoidSession()

    def spec(self, _model: str) -> None:
        return None

    def give_back(self, _item: work.Item, why: work.Why) -> work.Outcome:
        return work.Outcome.aborted(why)


class _VoidSession:
    joinable = False

    def __init__(self) -> None:
        self._began: dict[work.Key, float] = {}

    def add(self, items: Sequence[work.Item]) -> Mapping[work.Key, work.Outcome]:
        now = time.monotonic()
        self._began.update((item.key, now) for item in items)
        return {}

    def step(self) -> Mapping[work.Key, work.Outcome]:
        now = time.monotonic()
        return {
            key: work.Outcome.done({"began": began, "ended": now})
            for key, began in self._began.items()
        }

    def drop(self, key: work.Key, why: work.Why) -> work.Outcome:
        del self._began[key]
        return work.Outcome.aborted(why)

    def close(self) -> None:
        pass


def make_metered(settings: Mapping[str, Any]) -> Metered:
    return Metered(settings)


def make_void(_settings: Mapping[str, Any]) -> Void:
    return Void()
