"""The driver of a simulated card: who holds how many of its bytes, over all processes.

One file per card, mapped by all; each change is made under its file lock. A row belongs to one
process, known by its id and start time, so that a recycled id is no confusion. The row of a process
that is gone, or a zombie, is freed at the next look, unless it was made to stick.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import pathlib
import struct
import threading
import weakref
from collections.abc import Iterator
from typing import Self

from mangen.pooling import errors
from mangen.pooling.devices import device, profile

#: process id, its start in clock ticks since boot, bytes, whether they stay when it is dead
_ROW = struct.Struct("<qqqq")
_ROWS = 128


def started(pid: int) -> int | None:
    """When a process began, in clock ticks since boot; None when it is gone or a zombie."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text("utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in {"Z", "X"} else int(fields[19])


class Driver:
    """The ledger of one card, opened in this process. Safe for threads; not over a fork."""

    def __init__(self, path: pathlib.Path, total: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.total = total
        self._within = threading.Lock()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        self._closed = weakref.finalize(self, os.close, self._file)
        with self._lock():
            if os.fstat(self._file).st_size < _ROWS * _ROW.size:
                os.ftruncate(self._file, _ROWS * _ROW.size)
            self._map = mmap.mmap(self._file, _ROWS * _ROW.size)

    def enter(self) -> int:
        """Answer an empty row of this process; raises RuntimeError when all are taken."""
        pid = os.getpid()
        with self._lock():
            self._reap()
            for row in range(_ROWS):
                if not self._get(row)[0]:
                    self._put(row, pid, started(pid) or 0, 0, 0)
                    return row
        raise RuntimeError(f"{_ROWS} processes are on one simulated card: it takes no more")

    def leave(self, row: int) -> None:
        with self._lock():
            self._put(row, 0, 0, 0, 0)

    def grow(self, row: int, nbytes: int) -> bool:
        """Whether the row could have so many bytes more, and now has them."""
        with self._lock():
            if self._used() + nbytes > self.total:
                self._reap()
                if self._used() + nbytes > self.total:
                    return False
            self._add(row, nbytes)
            return True

    def shrink(self, row: int, nbytes: int) -> None:
        with self._lock():
            self._add(row, -nbytes)

    def free(self) -> int:
        """Bytes that nobody holds."""
        with self._lock():
            self._reap()
            return self.total - self._used()

    def processes(self) -> dict[int, int]:
        """Bytes of each living process; what sticks to dead ones is nobody's, as on a card."""
        found: dict[int, int] = {}
        with self._lock():
            self._reap()
            for row in range(_ROWS):
                pid, start, nbytes, _ = self._get(row)
                if pid and started(pid) == start:
                    found[pid] = found.get(pid, 0) + nbytes
        return found

    def stick(self, pid: int, *, stuck: bool) -> bool:
        """Let what a process holds stay when it dies, or not any more; False: it has no row."""
        found = False
        with self._lock():
            for row in range(_ROWS):
                owner, start, nbytes, _ = self._get(row)
                if owner == pid:
                    self._put(row, owner, start, nbytes, int(stuck))
                    found = True
        return found

    def close(self) -> None:
        if self._closed.alive:
            self._map.close()
            self._closed()

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        with self._within:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def _get(self, row: int) -> tuple[int, int, int, int]:
        pid, start, nbytes, stuck = _ROW.unpack_from(self._map, row * _ROW.size)
        return pid, start, nbytes, stuck

    def _put(self, row: int, pid: int, start: int, nbytes: int, stuck: int) -> None:
        _ROW.pack_into(self._map, row * _ROW.size, pid, start, nbytes, stuck)

    def _add(self, row: int, nbytes: int) -> None:
        pid, start, held, stuck = self._get(row)
        self._put(row, pid, start, held + nbytes, stuck)

    def _used(self) -> int:
        return sum(nbytes for _, _, nbytes, _ in _ROW.iter_unpack(self._map[:]))

    def _reap(self) -> None:
        for row in range(_ROWS):
            pid, start, _, stuck = self._get(row)
            if pid and not stuck and started(pid) != start:
                self._put(row, 0, 0, 0, 0)


class Tenant:
    """Somebody else on the card, who takes bytes and gives them back; gone with its process."""

    def __init__(self, name: str, options: device.Options) -> None:
        found, path = locate(name, options)
        self._driver = Driver(path, found.total)
        self._row = self._driver.enter()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._driver.leave(self._row)
        self._driver.close()

    def grow(self, nbytes: int) -> None:
        """Raises MemoryError when the card has not so much left."""
        if not self._driver.grow(self._row, nbytes):
            raise MemoryError(f"the card has no {nbytes} bytes left")

    def shrink(self, nbytes: int) -> None:
        self._driver.shrink(self._row, nbytes)


def stick(name: str, options: device.Options, pid: int) -> None:
    """Let the bytes of a process not come back when it dies; raises LookupError: it holds none."""
    _stuck(name, options, pid, stuck=True)


def unstick(name: str, options: device.Options, pid: int) -> None:
    """Let them come back after all."""
    _stuck(name, options, pid, stuck=False)


def _stuck(name: str, options: device.Options, pid: int, *, stuck: bool) -> None:
    found, path = locate(name, options)
    opened = Driver(path, found.total)
    try:
        if not opened.stick(pid, stuck=stuck):
            raise LookupError(f"process {pid} holds nothing on {name}")
    finally:
        opened.close()


def parse(name: str) -> tuple[str, int]:
    """Read `sim:PROFILE[/N]`; the card's number is 0 where none is given."""
    kind, _, number = name.removeprefix("sim:").partition("/")
    return kind, int(number or 0)


def identity(name: str) -> str:
    """One name for one card, however it was written."""
    kind, number = parse(name)
    return f"sim:{kind}/{number}"


def locate(name: str, options: device.Options) -> tuple[profile.Profile, pathlib.Path]:
    """Answer the card's profile and its driver's file; raises ConfigError."""
    kind, number = parse(name)
    if not options.folder:
        raise errors.ConfigError("simulated cards need a folder for their drivers' ledgers")
    found = profile.find(kind, options.folder)
    return found, pathlib.Path(options.folder) / f"sim-{kind}-{number}.card"
