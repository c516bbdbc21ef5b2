"""Faults that must not stop a thread: told in full now and then, counted always."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable
from typing import TypeAlias

_log = logging.getLogger(__name__)

AGAIN_S = 60.0
"""So long the same fault is counted only."""
_MOST = 256  #: different faults that are remembered

_Kind: TypeAlias = tuple[type[BaseException], str, int | None]


class Faults:
    """The same fault is of one type, and left one place."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[_Kind, tuple[float, int]] = {}  # told when, and how often since

    def note(self, error: BaseException, what: str) -> None:
        """Log it with its traceback, unless that was done within AGAIN_S."""
        frames = traceback.extract_tb(error.__traceback__)
        place = (frames[-1].filename, frames[-1].lineno) if frames else ("", None)
        kind, now = (type(error), *place), self._clock()
        told, since = self._seen.get(kind, (float("-inf"), 0))
        if now - told < AGAIN_S:
            self._seen[kind] = told, since + 1
            return
        if len(self._seen) >= _MOST:
            self._seen.clear()
        self._seen[kind] = now, 0
        more = f" ({since} times more since it was told last)" if since else ""
        _log.error("%s%s", what, more, exc_info=error)
