"""The feature cache's tier on disk: one file a product, shared by processes and restarts.

A file is written under a temporary name, synced, and renamed: a reader meets a whole product or
none, and two writers of one product leave one of the two. Files of this folder that the tier
didn't name are never touched.

The total of all files lies in a small ledger beside the lock, so that a write needs no look at
every file. The ledger is written before the rename: a writer that dies between the two leaves it
too large, which the next look mends, and never too small.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import os
import pathlib
import re
import secrets
import time
from collections.abc import Callable, Iterator
from typing import Any

from mangen.pooling import cache_format

PAUSE_S = 60.0
"""So long nothing is written after a write failed."""

_log = logging.getLogger(__name__)
_NAME = re.compile(r"[0-9a-f]{64}\.safetensors")
_TEMPORARY = re.compile(r"[0-9a-f]{64}\.[0-9a-f]+\.tmp")
_LEFT_OVER_S = 3600.0
_LOCK_S = 10.0  # a holder that is stopped, not killed, must not stop the others
#: a full tier is emptied so far at once, so that not each write must look at every file
_LOW_WATER = 0.9


class Disk:
    """Up to `limit` bytes in `folder`, least recently used out first.

    A disk that is full, read-only or gone costs the products' seconds, never the work: it is
    logged once, and written to again after PAUSE_S. `clock` counts seconds.
    """

    def __init__(
        self,
        folder: str | pathlib.Path,
        limit: int,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = pathlib.Path(folder)
        self._limit = limit
        self._clock = clock
        self._writes_from = float("-inf")
        self._told = False
        with self._forgiven():
            self._folder.mkdir(parents=True, exist_ok=True)
            self._sweep()
            with self._locked():
                self._make_room(0, recount=True)

    @property
    def nbytes(self) -> int:
        """Bytes of all products, counted now."""
        with contextlib.suppress(OSError):
            return sum(size for _, size, _ in self._files())
        return 0

    def has(self, kind: str, signature: str) -> bool:
        with contextlib.suppress(OSError):
            return self._path(kind, signature).exists()
        return False

    def get(self, kind: str, signature: str) -> cache_format.Stored | None:
        """Read a product and count it as used; one that is not whole is removed, and a miss."""
        path = self._path(kind, signature)
        try:
            stored = cache_format.load(kind, signature, path.read_bytes())
        except FileNotFoundError:
            return None
        except cache_format.Broken as error:
            _log.warning("feature cache: %s is removed: %s", path.name, error)
            self._remove(path)
            return None
        except (OSError, ImportError, MemoryError) as error:
            self._tell(error)
            return None
        with contextlib.suppress(OSError):  # read-only, or evicted a moment ago
            _touch(path)
        return stored

    def put(self, kind: str, signature: str, value: Any, *, seconds: float) -> bool:
        """Write a product; answers whether it lies there now."""
        if self._clock() < self._writes_from:
            return False
        try:
            data = cache_format.dump(kind, signature, value, seconds)
        except cache_format.Unstorable as error:
            _log.debug("feature cache: a %s stays in memory: %s", kind, error)
            return False
        except (MemoryError, RecursionError) as error:
            self._tell(error)
            return False
        if len(data) > self._limit:
            return False
        with self._forgiven():
            self._write(self._path(kind, signature), data)
            self._told = False
            return True
        return False

    def drop(self, kind: str, signature: str) -> None:
        self._remove(self._path(kind, signature))

    def _write(self, path: pathlib.Path, data: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)  # somebody may have removed it
        temporary = path.with_name(f"{path.stem}.{secrets.token_hex(8)}.tmp")
        try:
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            _touch(temporary)  # the kernel's own stamps are too coarse to tell who is older
            with self._locked():
                # one that is replaced counts twice until the next look: too large is harmless
                self._make_room(len(data), but=path)
                temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)

    def _make_room(
        self, coming: int, *, but: pathlib.Path | None = None, recount: bool = False
    ) -> None:
        """Evict until `coming` bytes fit, and enter them; holds the lock."""
        ledger = self._folder / ".bytes"
        total = None if recount else _read_total(ledger)
        if total is None or total + coming > self._limit:
            files = sorted(self._files())
            total = sum(size for _, size, path in files if path != but)
            goal = self._limit - coming
            if total > goal:
                goal = max(0, int(self._limit * _LOW_WATER) - coming)
            for _, size, path in files:
                if total <= goal:
                    break
                if path != but:
                    path.unlink(missing_ok=True)
                    total -= size
        ledger.write_text(str(total + coming), "ascii")

    def _files(self) -> Iterator[tuple[int, int, pathlib.Path]]:
        """Time of last use, bytes, path."""
        with os.scandir(self._folder) as entries:
            for entry in entries:
                if _NAME.fullmatch(entry.name):
                    with contextlib.suppress(FileNotFoundError):
                        found = entry.stat(follow_symlinks=False)
                        yield found.st_mtime_ns, found.st_size, pathlib.Path(entry.path)

    def _sweep(self) -> None:
        """Remove what killed writers left."""
        oldest = time.time() - _LEFT_OVER_S
        for path in self._folder.glob("*.tmp"):
            with contextlib.suppress(FileNotFoundError):
                if _TEMPORARY.fullmatch(path.name) and path.stat().st_mtime < oldest:
                    path.unlink()

    def _remove(self, path: pathlib.Path) -> None:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """One process at a time; the kernel frees the lock of one that is killed."""
        with (self._folder / ".lock").open("ab") as file:
            until = time.monotonic() + _LOCK_S
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        raise TimeoutError(f"{file.name} is held for {_LOCK_S} s") from None
                    time.sleep(0.005)
            yield

    @contextlib.contextmanager
    def _forgiven(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._writes_from = self._clock() + PAUSE_S
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        if not self._told:
            _log.warning("feature cache: its disk tier can't be used for now: %s", error)
        self._told = True

    def _path(self, kind: str, signature: str) -> pathlib.Path:
        name = hashlib.sha256(f"{kind}\0{signature}".encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / f"{name}.safetensors"


def _touch(path: pathlib.Path) -> None:
    now = time.time_ns()
    os.utime(path, ns=(now, now))


def _read_total(path: pathlib.Path) -> int | None:
    try:
        total = int(path.read_text("ascii"))
    except (FileNotFoundError, ValueError):
        return None
    return total if total >= 0 else None
