"""Purges end here: files first, then rows in batches, when nothing of a project runs any more.

Each step may be done again: a purge that was interrupted goes on with the next call, of the command
or of the housekeeping.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from typing import Protocol

from mangen import errors
from mangen.ledger import ledger, purging

log = logging.getLogger(__name__)

_NAME = re.compile(r"[0-9]+/([0-9]{1,18})-")


class Store(Protocol):
    """What a purge needs of an artifact store."""

    def names(self, project: int) -> Iterable[str]: ...
    def remove(self, path: str) -> None: ...


def finish(book: ledger.Ledger, store: Store, project: int) -> purging.Leftover:
    """Remove what is left of a purged project; answers what still stands in the way."""
    left = book.purge_leftover(project)
    if left.running:
        return left
    ids = book.purge_ids(project)
    for path in store.names(project) if ids else ():
        named = _NAME.match(path)
        if named is not None and int(named[1]) in ids:  # a stranger's file stays
            store.remove(path)
    while book.purge_jobs(project):
        pass
    if book.purge_project(project):
        log.info("project %d was removed with %d jobs", project, left.jobs)
    return book.purge_leftover(project)


def finish_all(book: ledger.Ledger, store: Store) -> int:
    """Go on with every purge that was begun; answers how many projects are gone."""
    gone = 0
    for project in book.purging():
        try:
            left = finish(book, store, project)
        except errors.StorageError as error:
            log.warning("project %d can't be removed yet: %s", project, error)
            continue
        gone += not left.jobs
    return gone
