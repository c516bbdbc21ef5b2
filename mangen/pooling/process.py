"""A child as a process: `python -m MODULE PIPE STACKS PARENT`.

PIPE and STACKS are inherited descriptors, PARENT is the process id that must stay its parent.
SIGUSR1 writes all threads' stacks, SIGUSR2 what the device's memory holds; both work while the
main thread is deep inside a library, as far as that lets go of the interpreter.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import importlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from multiprocessing import connection
from typing import Any

from mangen.pooling import child, wire, work

_PR_SET_PDEATHSIG = 1


def run(prepare: Callable[[wire.Hello], None], settle: child.Settle) -> None:
    """Become the child that the first message says, until the parent says stop."""
    pipe, stacks, parent = (int(word) for word in sys.argv[1:4])
    # early: importing the product takes its time
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(child.EXIT_ORPHAN)
    os.set_inheritable(pipe, False)
    os.set_inheritable(stacks, False)
    conn = connection.Connection(pipe)
    try:
        hello: wire.Hello = conn.recv()
    except (EOFError, OSError):
        sys.exit(child.EXIT_ORPHAN)
    prepare(hello)
    # after the product's own signals: stacks on request, and no dying by what means the parent
    with open(stacks, "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor, no path
        faulthandler.register(signal.SIGUSR1, file=file, all_threads=True)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
            # a handler, not SIG_IGN: that would pass on to what the child starts
            signal.signal(number, lambda _number, _frame: None)
        product: work.Work = named(hello.work)(dict(hello.settings))
        served = child.Child(conn, product, settle, hello)
        _snapshot_on_request(served)
        served.run()


def named(path: str) -> Callable[[Mapping[str, Any]], Any]:
    """Import `module:attribute`."""
    module, _, name = path.partition(":")
    found: Callable[[Mapping[str, Any]], Any] = getattr(importlib.import_module(module), name)
    return found


def _snapshot_on_request(served: child.Child) -> None:
    """Answer SIGUSR2 in a thread: its byte comes through though the main thread is busy in C."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    signal.set_wakeup_fd(theirs.detach(), warn_on_full_buffer=False)
    signal.signal(signal.SIGUSR2, lambda _number, _frame: None)

    def listen() -> None:
        while numbers := ours.recv(64):
            if signal.SIGUSR2 in numbers:
                with contextlib.suppress(Exception):  # it is about to be killed anyhow
                    served.snapshot()

    threading.Thread(target=listen, name="snapshots", daemon=True).start()
