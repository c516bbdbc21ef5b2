"""File locks (flock): the kernel frees them whatever a process dies of."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import time
from collections.abc import Iterator

from mangen import errors

_POLL_S = 0.02


def take(path: pathlib.Path, *, shared: bool = False, wait_s: float = 0.0) -> int | None:
    """Lock a file and answer its descriptor, whose closing frees it; None if it stayed taken.

    Raises ServiceError where the file can't be opened or its disk knows no locks.
    """
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise errors.ServiceError(
            f"can't open {path}: {error.strerror}; a home serves the user who made it: "
            "set MANGEN_HOME to a folder of your own"
        ) from error
    deadline = time.monotonic() + wait_s
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    while True:
        try:
            fcntl.flock(fd, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                os.close(fd)
                return None
            time.sleep(_POLL_S)
        except OSError as error:
            os.close(fd)
            raise errors.ServiceError(
                f"can't lock {path}: {error.strerror}; set MANGEN_HOME to a local disk"
            ) from error
        else:
            return fd


def held(path: pathlib.Path) -> bool:
    """Whether someone holds the lock alone."""
    if not path.exists():
        return False
    fd = take(path, shared=True)
    if fd is None:
        return True
    os.close(fd)
    return False


@contextlib.contextmanager
def holding(path: pathlib.Path, *, shared: bool = False, wait_s: float) -> Iterator[int]:
    """Hold a lock for the context; raises ServiceError if it stays taken."""
    fd = take(path, shared=shared, wait_s=wait_s)
    if fd is None:
        raise errors.ServiceError(f"{path} stayed locked by another mangen for {wait_s:.0f} s")
    try:
        yield fd
    finally:
        os.close(fd)
