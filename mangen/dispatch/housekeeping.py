"""Orphans: files of attempts that were refused, and temporary files of writers that died."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Protocol

from mangen.ledger import ledger

log = logging.getLogger(__name__)


class Store(Protocol):
    """What housekeeping needs of an artifact store."""

    def paths(self) -> Iterable[str]: ...
    def remove(self, path: str) -> None: ...
    def sweep_parts(self, *, older_than_s: float, now: float) -> int: ...
    def age_s(self, path: str, now: float) -> float: ...


def sweep(book: ledger.Ledger, store: Store, *, lease_s: float) -> int:
    """Remove files that no row names and no running attempt can still be writing.

    Files younger than a lease are left alone: their attempt may be about to finish. Answers how
    many files went.
    """
    now = time.time()
    old = [path for path in store.paths() if store.age_s(path, now) > lease_s]
    orphans = book.orphans(old)
    for path in orphans:
        store.remove(path)
    parts = store.sweep_parts(older_than_s=max(3600.0, 2 * lease_s), now=now)
    if orphans or parts:
        log.info("swept %d orphaned and %d temporary files", len(orphans), parts)
    return len(orphans) + parts
