"""Whether a worker's heartbeats still carry its work. Pure but for its clock."""

from __future__ import annotations

import time
from collections.abc import Callable


class Vigil:
    """Told of each heartbeat that the ledger took, asked whether a lease went by without one.

    One thread tells, another asks. Others may take the work over once they saw no new beat for a
    lease; they began to look after the last one began, so this side is never the later to know.
    """

    def __init__(self, lease_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._lease_s, self._clock = lease_s, clock
        self._beaten = self._looked = self._woke = clock()

    def begin(self) -> float:
        """The time at which a heartbeat sets out, for `beaten`."""
        return self._clock()

    def beaten(self, began: float) -> None:
        """The ledger took the heartbeat that set out then."""
        self._beaten = began

    def lapsed(self) -> bool:
        """Whether no heartbeat was taken for a lease; ask several times a lease.

        After a gap in the asker's own life (the process was stopped, or the machine slept) the
        heartbeat goes first: its answer says better than any clock what became of the work.
        """
        now = self._clock()
        if now - self._looked > self._lease_s / 2:
            self._woke = now
        self._looked = now
        return now - self._beaten >= self._lease_s and now - self._woke >= self._lease_s / 3
