"""Ctrl-C and SIGTERM as a count, for commands that end in steps."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def counted() -> Iterator[Callable[[], int]]:
    """Yield a function that answers how often the end was asked for."""
    count = 0

    def note(_number: int, _frame: FrameType | None) -> None:
        nonlocal count
        count += 1

    before = {number: signal.signal(number, note) for number in _NUMBERS}
    try:
        yield lambda: count
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
