"""Retention: what the leader removes of the past, in batches with pauses between them.

Replaced takes go with their files some weeks after they were replaced, unless something that is
kept still needs them. Histories (events) of projects that came to rest go when the deployment
says so; their jobs, attempts and files stay. A crash at any point only delays it.
"""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

import sqlalchemy as sa

from mangen import settings
from mangen.ledger import ledger

log = logging.getLogger(__name__)

_DAY_S = 86_400.0
_PAUSE_S = 0.2  #: between two batches, so that work comes first
_TURN_S = 120.0  #: of one turn; the rest waits for the next
#: owners that are gone so long are of interest to nobody
_OWNERS_S = 30 * _DAY_S

#: of these jobs, those whose files something else names still
Pinned = Callable[[sa.Connection, Sequence[int]], Collection[int]]


class Store(Protocol):
    """What pruning needs of an artifact store."""

    def remove(self, path: str) -> None: ...


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Keep:
    """How much of the past is kept; None: all of it."""

    takes_s: float | None = None
    events_s: float | None = None
    observations: int | None = None

    @classmethod
    def of(cls, chosen: settings.Settings) -> Keep:
        """The retention of a deployment, where 0 keeps all."""
        return cls(
            takes_s=chosen.keep_takes_days * _DAY_S or None,
            events_s=chosen.keep_events_days * _DAY_S or None,
            observations=chosen.keep_observations or None,
        )


class _Turn:
    """The time of one turn, and its pauses."""

    def __init__(self, pause: Callable[[float], object]) -> None:
        self._pause, self._until = pause, time.monotonic() + _TURN_S

    def goes_on(self, went: int) -> bool:
        """Whether to do another batch after one in which so much went; pauses before it."""
        if not went or time.monotonic() > self._until:
            return False
        self._pause(_PAUSE_S)
        return True


def prune(
    book: ledger.Ledger,
    *,
    store: Store,
    keep: Keep,
    pinned: Pinned,
    pause: Callable[[float], object] = time.sleep,
) -> Mapping[str, int]:
    """Do one turn; answers how much went, by kind."""
    turn = _Turn(pause)
    gone: dict[str, int] = {}
    if keep.takes_s is not None:
        gone["takes"] = _takes(book, store, keep.takes_s, pinned, turn)
    if keep.events_s is not None:
        gone["events"] = _histories(book, keep.events_s, turn)
    if keep.observations is not None:
        most = keep.observations
        gone["observations"] = _all(lambda: book.prune_observations(most), turn)
    gone["owners"] = _all(lambda: book.prune_owners(_OWNERS_S), turn)
    gone["spent"] = _all(book.prune_spent, turn)
    if any(gone.values()):
        log.info("pruned %s", ", ".join(f"{n} {what}" for what, n in gone.items() if n))
    return gone


def _takes(
    book: ledger.Ledger, store: Store, older_than_s: float, pinned: Pinned, turn: _Turn
) -> int:
    """Remove replaced work, what needed it before what it needed."""
    gone = after = 0
    removed = False
    while True:
        found = book.find_old_takes(older_than_s, after=after)
        if not found:
            if not removed:
                return gone
            after, removed = 0, False  # what only those needed can go now
            continue
        after = max(found)
        with book.transaction() as conn:
            kept = set(pinned(conn, list(found)))
        files = book.condemn_takes([job for job in found if job not in kept])
        for paths in files.values():
            for path in paths:
                store.remove(path)
        went = book.remove_takes(list(files))
        gone, removed = gone + went, removed or went > 0
        if not turn.goes_on(len(found)):
            return gone


def _histories(book: ledger.Ledger, older_than_s: float, turn: _Turn) -> int:
    gone = after = 0
    while True:
        page = book.find_old_histories(older_than_s, after=after)
        if page.jobs:
            gone += book.forget_histories(page.jobs, older_than_s)
        if page.last is None or not page.more or not turn.goes_on(1):
            return gone
        after = page.last


def _all(batch: Callable[[], int], turn: _Turn) -> int:
    gone = went = batch()
    while turn.goes_on(went):
        went = batch()
        gone += went
    return gone
