"""One worker on a card: a lock per card, machine-wide, that dies with its process.

The lock is the kernel's (flock) on a file named by the card's id; the file's text says who holds
it, for the error's sake only. The file is never deleted: a deleted one could be locked twice.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pathlib
import urllib.parse
import weakref
from types import TracebackType
from typing import Self

from mangen.pooling import errors
from mangen.pooling.devices import device

#: Python opens nothing for the programs that it starts: O_CLOEXEC is always set (PEP 446)
_OPEN = os.O_RDWR | os.O_NOFOLLOW
_held: weakref.WeakSet[CardLock] = weakref.WeakSet()


class CardLock:
    """A card held by this process, until `close` or the process' end.

    Not for two threads at once: one owner opens it and closes it.
    """

    def __init__(self, card: device.Card, folder: str | os.PathLike[str], worker: str) -> None:
        """Take the card; raises ConfigError when another worker has it or the folder is unfit."""
        self.path = path_of(card, folder)
        self._file: int | None = None
        try:
            _make_folder(self.path.parent)
            self._file = _locked(self.path)
        except BlockingIOError:
            raise errors.ConfigError(_refusal(card, self.path)) from None
        except OSError as error:
            raise errors.ConfigError(
                f"the lock of {card.name} can't be taken at {self.path}: {error.strerror}: "
                "name another folder"
            ) from error
        _held.add(self)
        _write(self._file, worker)

    @property
    def held(self) -> bool:
        return self._file is not None

    def close(self) -> None:
        """Give the card back; a second time does nothing."""
        file, self._file = self._file, None
        if file is None:
            return
        # said outright: a copy of the file in some other process would keep the lock
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)
        os.close(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def forget(self) -> None:
        """Close a forked child's copy of the file, and leave the lock to the parent."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)


def hold(card: device.Card, folder: str | os.PathLike[str], worker: str) -> CardLock | None:
    """Lock an exclusive card for this worker; None for one that may be shared, as a cpu.

    Raises ConfigError that names the card, the worker that has it, and what to do.
    """
    return CardLock(card, folder, worker) if card.exclusive else None


def path_of(card: device.Card, folder: str | os.PathLike[str]) -> pathlib.Path:
    """Where the card's lock lies: no two ids share a file."""
    return pathlib.Path(folder) / f"{urllib.parse.quote(card.id, safe='')}.lock"


def _make_folder(folder: pathlib.Path) -> None:
    """Make the folder one in which every user may lock, as in /tmp; leave an existing one be."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        folder.mkdir()
    except FileExistsError:
        return
    folder.chmod(0o1777)


def _locked(path: pathlib.Path) -> int:
    """Open and lock the file; raises BlockingIOError when it is locked."""
    while True:
        file = _opened(path)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(file, path):
                return file
        except BaseException:
            os.close(file)
            raise
        # a cleaner of temporary files took it away between the two: lock the new one
        os.close(file)


def _opened(path: pathlib.Path) -> int:
    # O_CREAT only where there is none: in a sticky folder the kernel refuses it for another user's
    # file (fs.protected_regular), though a plain open is allowed
    while True:
        try:
            return os.open(path, _OPEN)
        except FileNotFoundError:
            pass
        with contextlib.suppress(FileExistsError):
            file = os.open(path, _OPEN | os.O_CREAT | os.O_EXCL, 0o666)
            os.fchmod(file, 0o666)  # whatever the umask: others must be able to lock it
            return file


def _is_at(file: int, path: pathlib.Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _write(file: int, worker: str) -> None:
    # a full disk costs the name in an error, not the lock
    with contextlib.suppress(OSError):
        text = json.dumps({"worker": worker, "pid": os.getpid()}) + "\n"
        os.ftruncate(file, 0)
        os.pwrite(file, text.encode(), 0)


def _refusal(card: device.Card, path: pathlib.Path) -> str:
    try:
        holder = json.loads(path.read_text("utf-8"))
        who = f"the worker {holder['worker']} (pid {holder['pid']})"
    except (OSError, ValueError, KeyError, TypeError):
        who = "another worker"
    name = card.name if card.id == card.name else f"{card.name} ({card.id})"
    return f"{name} is held by {who}: stop it, or give this worker another device"


def _forget_all() -> None:
    for lock in list(_held):
        lock.forget()


os.register_at_fork(after_in_child=_forget_all)
