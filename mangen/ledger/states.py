"""The states of a job and the transitions that are legal, as one table.

::

            ready_jobs          publish_jobs            claim_jobs          finish_job
    blocked ---------> ready ---------------> published -----------> running -------> done
       |               ^  ^ '-------------- claim_jobs ------------> ^ |
       | skip_jobs     |  '---- unpublish_jobs ----'                   | fail_job, release_owner
       v               '---- hand_back, a failed attempt, a release <--'--> failed, cancelled
    skipped             any open state --> cancelled
                        ready -- promote_jobs --> ready, a class higher
                        failed, skipped, cancelled -- revive_jobs --> blocked
"""

from __future__ import annotations

import enum


class State(enum.StrEnum):
    """Where a job stands."""

    BLOCKED = "blocked"  # waits for what it needs
    READY = "ready"  # may run, not yet published
    PUBLISHED = "published"  # a message rings for it
    RUNNING = "running"  # claimed by an owner
    DONE = "done"  # final
    FAILED = "failed"
    SKIPPED = "skipped"  # a hard need settled without done
    CANCELLED = "cancelled"


OPEN = frozenset({State.BLOCKED, State.READY, State.PUBLISHED, State.RUNNING})
SETTLED = frozenset(State) - OPEN


class ErrorKind(enum.StrEnum):
    """How a failure counts."""

    PERMANENT = "permanent"  # fails again: failed at once
    TRANSIENT = "transient"  # failures + 1, backoff; failed at the third
    RESOURCE = "resource"  # store or memory full, ledger away: waits, uncharged


_B, _R, _P, _RUN = State.BLOCKED, State.READY, State.PUBLISHED, State.RUNNING
_END = (State.READY, State.FAILED, State.CANCELLED)

#: query name -> the (from, to) pairs it may write; `None` is "no row yet"
TRANSITIONS: dict[str, frozenset[tuple[State | None, State]]] = {
    "insert_jobs": frozenset({(None, _B)}),
    "redo_jobs": frozenset({(None, _B)}),  # in place of a done row whose file is lost
    "ready_jobs": frozenset({(_B, _R)}),
    "skip_jobs": frozenset({(_B, State.SKIPPED)}),
    "promote_jobs": frozenset({(_R, _R)}),  # to the next higher class and queue
    "publish_jobs": frozenset({(_R, _P)}),
    "unpublish_jobs": frozenset({(_P, _R)}),
    "claim_jobs": frozenset({(_P, _RUN), (_R, _RUN)}),
    "hand_back": frozenset((frm, to) for frm in (_P, _R) for to in _END),
    "finish_job": frozenset({(_RUN, State.DONE), (_RUN, State.CANCELLED)}),
    "fail_job": frozenset((_RUN, to) for to in _END),
    "release_owner": frozenset((_RUN, to) for to in _END),
    "cancel_jobs": frozenset((frm, State.CANCELLED) for frm in (_B, _R, _P)),
    "expire_jobs": frozenset((frm, State.CANCELLED) for frm in (_B, _R, _P)),
    "supersede_jobs": frozenset((frm, State.CANCELLED) for frm in (_B, _R, _P)),
    "revive_jobs": frozenset((frm, _B) for frm in (State.FAILED, State.SKIPPED, State.CANCELLED)),
}
