"""Ctrl-C, SIGTERM and a hangup: one end for all commands, or a count for those with steps."""

from __future__ import annotations

import contextlib
import signal
import threading
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

    with _handled(note):
        yield lambda: count


@contextlib.contextmanager
def raised() -> Iterator[None]:
    """Let SIGTERM and a hangup end a command as Ctrl-C does, so that it can clean up."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    with _handled(interrupt):
        yield


@contextlib.contextmanager
def _handled(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Handle the signals by it meanwhile; one that is ignored stays so: `nohup` asked for it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may, and gets them anyhow
        return
    numbers = [number for number in _NUMBERS if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
