"""What the leader does beside the pass, now and then; and one of these chores, orphans.

Orphans are files of attempts that were refused, and temporary files of writers that died.
"""

from __future__ import annotations

import dataclasses
import itertools
import logging
import time
from collections.abc import Callable, Iterable
from typing import Protocol

from mangen import errors
from mangen.ledger import ledger

log = logging.getLogger(__name__)


_AT_ONCE = 2_000  #: paths asked about in one query


@dataclasses.dataclass(slots=True)
class _Chore:
    name: str
    every_s: float
    do: Callable[[ledger.Ledger], object]
    due: float = 0.0


class Chores:
    """Chores by how often they are worth it. One that fails is logged and keeps no other back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._all: list[_Chore] = []

    def add(self, name: str, every_s: float, do: Callable[[ledger.Ledger], object]) -> None:
        """Do this at the first turn, and again so many seconds after its end."""
        self._all.append(_Chore(name, every_s, do, self._clock()))

    def turn(self, book: ledger.Ledger) -> None:
        """Do what is due."""
        for chore in self._all:
            if self._clock() < chore.due:
                continue
            try:
                chore.do(book)
            except errors.MangenError as error:
                log.warning("%s: %s", chore.name, error)
            except Exception:
                log.exception("%s failed", chore.name)
            chore.due = self._clock() + chore.every_s


class Store(Protocol):
    """What housekeeping needs of an artifact store."""

    def older(self, seconds: float, now: float) -> Iterable[str]: ...
    def remove(self, path: str) -> None: ...
    def sweep_parts(self, *, older_than_s: float, now: float) -> int: ...


def sweep(book: ledger.Ledger, store: Store, *, lease_s: float) -> int:
    """Remove files of ended attempts that the ledger did not take; answers how many went.

    Files younger than a lease are left alone: their attempt may be about to finish. What this
    ledger knows nothing of is a stranger's, and stays.
    """
    now = time.time()
    swept = 0
    paths = iter(store.older(lease_s, now))
    while some := list(itertools.islice(paths, _AT_ONCE)):
        for path in book.orphans(some):
            store.remove(path)
            swept += 1
    parts = store.sweep_parts(older_than_s=max(3600.0, 2 * lease_s), now=now)
    if swept or parts:
        log.info("swept %d orphaned and %d temporary files", swept, parts)
    return swept + parts
