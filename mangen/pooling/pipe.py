"""The child's end of the pipe: what came and waits, and who is to be stopped."""

from __future__ import annotations

import collections
import os
import threading

from mangen.pooling import wire, work

EXIT_ORPHAN = 77
"""Exit status of a child whose parent is gone."""


class Pipe:
    """Any thread may send; the child's main thread alone receives.

    `flagged` are keys to be stopped, `later` what came between steps and is not done yet.
    """

    def __init__(self, conn: wire.Conn) -> None:
        self._conn = conn
        self._lock = threading.Lock()
        self.flagged: dict[work.Key, work.Why] = {}
        self.later: collections.deque[wire.ToChild] = collections.deque()

    def send(self, message: wire.ToParent) -> None:
        with self._lock:
            self._conn.send(message)

    def receive(self) -> wire.ToChild:
        """Answer the next message; ends the process when the parent is gone."""
        if self.later:
            return self.later.popleft()
        return self._recv()

    def waits(self, timeout: float) -> bool:
        """Whether a message comes within so many seconds."""
        try:
            return bool(self.later) or self._conn.poll(timeout)
        except OSError:
            os._exit(EXIT_ORPHAN)

    def poll(self) -> None:
        """Take in what came, without waiting."""
        while self._conn.poll():
            message = self._recv()
            if isinstance(message, wire.Abort):
                self.flagged[message.key] = message.why
            else:
                self.later.append(message)

    def _recv(self) -> wire.ToChild:
        try:
            message: wire.ToChild = self._conn.recv()
        except (EOFError, OSError):
            os._exit(EXIT_ORPHAN)
        return message
