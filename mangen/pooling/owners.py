"""Names of children: an owner is one child's life, and its name is never given again."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

_PIDS = 1000


class Generations:
    """Owner names `worker/slot/generation`, strictly increasing over restarts of the worker.

    A generation is the epoch's milliseconds and, in its last digits, those of the process: two
    workers of one name that start at once have no owner in common.
    """

    def __init__(
        self, clock: Callable[[], float] = time.time, pid: Callable[[], int] = os.getpid
    ) -> None:
        self._clock = clock
        self._pid = pid
        self._lock = threading.Lock()
        self._last = 0

    def next(self, worker: str, slot: int) -> str:
        """Answer a name that was never given before; from any thread."""
        with self._lock:
            self._last = max(self._last + 1, int(self._clock() * 1000))
            return f"{worker}/{slot}/{self._last * _PIDS + self._pid() % _PIDS}"
