"""The keeper: one detached process a home that owns Postgres and Valkey for all clients.

It lives while someone holds `clients.lock`, restarts what dies, and takes its servers with it.
Run as `python -m mangen.stack.keeper HOME`; answers 0 as soon as it holds its lock and has
detached, 1 if another keeper lives.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pathlib
import signal
import sys
import time
from types import FrameType

from mangen import errors
from mangen.stack import locks, place, postgres, record, servers, supervise, valkey

#: how long the servers outlive the last client: the next command then finds them warm
GRACE_S = 1.0
_LOOK_S = 0.05
_RESTED_S = 0.25
_TRIES = 5
_REPAIR_AFTER = 3
_STOP_S = 20.0

_KINDS: dict[str, type[postgres.Postgres | valkey.Valkey]] = {
    "postgres": postgres.Postgres,
    "valkey": valkey.Valkey,
}
_log = logging.getLogger("mangen.keeper")


class Kept:
    """One server under the keeper's care."""

    def __init__(self, server: servers.Server) -> None:
        self.server = server
        self.process = supervise.Supervised(
            server.name, server.start, stop_signal=server.stop_signal
        )
        self.ready = False
        self.was_ready = False

    def look(self, logs: pathlib.Path) -> None:
        """Start, restart, ask for readiness; raises ServiceError when it never comes up."""
        if self.process.tick():
            self.ready = False
            self._note_change(logs)
        if not self.process.alive:
            return
        if not self.ready:
            self.ready = self.server.ready()
            self.was_ready = self.was_ready or self.ready
        elif not self.server.reachable():
            _log.warning("%s lost its socket: it is started again", self.server.name)
            self.ready = False
            self.process.signal()

    def _note_change(self, logs: pathlib.Path) -> None:
        name, process = self.server.name, self.process
        if process.alive:
            _log.info("%s started", name)
            return
        said = supervise.tail(logs / f"{name}.log")
        _log.warning("%s ended (%s): %s", name, process.last_exit, process.error or said)
        deaths = process.backoff.deaths
        if process.error and not self.was_ready:
            raise process.error
        if deaths == _REPAIR_AFTER and self.server.repair():
            _log.warning("%s: its data could not be loaded and were set aside", name)
        if deaths >= _TRIES and not self.was_ready:
            raise errors.ServiceError(f"{name} won't start; the end of {logs / name}.log:\n{said}")


class Keeper:
    """The loop of one home."""

    def __init__(self, home: place.Place) -> None:
        self.home = home
        self.kept: dict[str, Kept] = {}
        self.stopping = False
        self._published: dict[str, str] = {}
        self._alone_since: float | None = None

    def run(self) -> None:
        """Serve until the last client has gone, or a signal asks for the end."""
        try:
            while not self.stopping and not self._deserted():
                self._look()
                busy = any(not each.ready for each in self.kept.values())
                time.sleep(_LOOK_S if busy else _RESTED_S)
        finally:
            self._end()

    def stop(self, _number: int, _frame: FrameType | None) -> None:
        """Signal handler: end in good order."""
        self.stopping = True

    def _look(self) -> None:
        for name, kind in _KINDS.items():
            if name not in self.kept and self.home.wish(name).exists():
                self.kept[name] = Kept(kind(self.home))
        for each in self.kept.values():
            each.look(self.home.logs)
        urls = {name: each.server.url for name, each in self.kept.items() if each.was_ready}
        if urls != self._published and all(each.ready for each in self.kept.values()):
            record.write(self.home, urls)
            self._published = urls

    def _deserted(self) -> bool:
        """Whether no client was seen for the grace; then the lock is kept, so none comes in."""
        fd = locks.take(self.home.clients_lock)
        if fd is None:
            self._alone_since = None
            return False
        now = time.monotonic()
        self._alone_since = now if self._alone_since is None else self._alone_since
        if now - self._alone_since < GRACE_S:
            os.close(fd)
            return False
        return True

    def _end(self) -> None:
        record.forget(self.home)
        for name in _KINDS:
            self.home.wish(name).unlink(missing_ok=True)
        for each in reversed(self.kept.values()):
            each.process.signal()
        for each in reversed(self.kept.values()):
            each.process.stop(wait_s=_STOP_S)
        with contextlib.suppress(OSError):  # not empty, or already gone
            self.home.sockets.rmdir()
        _log.info("the keeper ended")


def main(argv: list[str]) -> int:
    home = place.Place(pathlib.Path(argv[0]))
    # a client that looks whether a keeper lives holds the lock for an instant
    fd = locks.take(home.alive_lock, wait_s=5)
    if fd is None:
        return 1
    record.forget(home)
    home.error_file.unlink(missing_ok=True)
    if os.fork():
        os._exit(0)  # the client waits for this: from now on the lock is held
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    keeper = Keeper(home)
    signal.signal(signal.SIGTERM, keeper.stop)
    try:
        keeper.run()
    except (errors.MangenError, OSError) as error:
        home.error_file.write_text(str(error), "utf-8")
        _log.error("the keeper gave up: %s", error)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
