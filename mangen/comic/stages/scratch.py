"""A child's scratch folder: its own while it lives, swept by the next child once it is dead."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import shutil
import tempfile

_LOCK = ".lock"


def make(root: pathlib.Path) -> tuple[int, pathlib.Path]:
    """Make a scratch folder below `root`; answers the lock that holds it (a descriptor) and it.

    The kernel drops the lock with the process, however that dies; folders that nobody holds are
    removed here.
    """
    root.mkdir(parents=True, exist_ok=True)
    for folder in root.iterdir():
        _sweep(folder)
    while True:
        folder = pathlib.Path(tempfile.mkdtemp(dir=root))
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (folder / _LOCK).exists():
            return lock, folder
        os.close(lock)  # a sweeper was faster: it found the lock before it was taken


def clear(folder: pathlib.Path, stem: str) -> None:
    """Remove what an attempt left in a scratch folder; `stem` begins all its names."""
    for left in folder.glob(f"{stem}*"):
        if left.name.removeprefix(stem)[:1].isdigit():
            continue  # another attempt's, whose number only begins alike
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def _sweep(folder: pathlib.Path) -> None:
    with contextlib.suppress(OSError):
        lock = os.open(folder / _LOCK, os.O_RDWR)  # one without a lock file is just being made
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
        finally:
            os.close(lock)
