"""Orphans: files of attempts that were refused, and temporary files of writers that died."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Iterable
from typing import Protocol

from mangen.ledger import ledger

log = logging.getLogger(__name__)


_AT_ONCE = 2_000  #: paths asked about in one query


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
