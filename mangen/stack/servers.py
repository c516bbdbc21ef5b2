"""What the two servers share: one life at a time on one folder of data."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import time
from collections.abc import Sequence
from typing import Protocol

import psutil

from mangen import errors
from mangen.stack import locks, place, supervise

_ASK_S = 5.0
_KILL_S = 10.0


class Server(Protocol):
    """A server the keeper runs."""

    name: str
    url: str
    stop_signal: int

    def start(self) -> subprocess.Popen[bytes]:
        """Prepare the data and start; raises ServiceError where that can't work."""
        ...

    def ready(self) -> bool:
        """Whether it answers and may be used."""
        ...

    def reachable(self) -> bool:
        """Whether its socket is still there."""
        ...

    def repair(self) -> bool:
        """Do what may help after several deaths in a row; answers whether there was anything."""
        ...


def start_alone(
    home: place.Place,
    name: str,
    command: list[str | pathlib.Path],
    *,
    stop_signal: int,
    leftovers: Sequence[pathlib.Path] = (),
    user: place.User | None = None,
) -> subprocess.Popen[bytes]:
    """Start a server that holds the lock of its data for its whole life.

    The lock is handed down: it is free only when the last process of an earlier life is gone, so
    that leftovers (pid files, sockets) never need to be believed: they are removed.
    """
    fd = _alone(home, name, stop_signal=stop_signal)
    try:
        for path in leftovers:
            path.unlink(missing_ok=True)
        process = supervise.launch(
            command,
            log=home.logs / f"{name}.log",
            death_signal=stop_signal,
            user=user,
            hand_down=[fd],
            cwd="/",
        )
        note = {"pid": process.pid, "born": psutil.Process(process.pid).create_time()}
        os.ftruncate(fd, 0)
        os.pwrite(fd, json.dumps(note).encode(), 0)
    except psutil.NoSuchProcess as error:
        raise errors.ServiceError(f"{name} ended as it started") from error
    finally:
        os.close(fd)
    return process


def _alone(home: place.Place, name: str, *, stop_signal: int) -> int:
    """Take the lock of a server's data, ending an earlier life that outlived its keeper."""
    path = lock_of(home, name)
    fd = locks.take(path)
    for number, wait_s in ((stop_signal, _ASK_S), (signal.SIGQUIT, _ASK_S), (9, _KILL_S)):
        if fd is not None:
            return fd
        _signal_noted(path, number)
        fd = locks.take(path, wait_s=wait_s)
    if fd is None:
        raise errors.ServiceError(
            f"an earlier {name} of {home.root} won't end; look at {home.logs / name}.log"
        )
    return fd


def lock_of(home: place.Place, name: str) -> pathlib.Path:
    """The file whose lock a living server holds, and which names its process."""
    return home.keeper / f"{name}.lock"


def noted(path: pathlib.Path) -> psutil.Process | None:
    """The living process a lock's file names; never a stranger that got its number."""
    try:
        note = json.loads(path.read_text("utf-8"))
        process = psutil.Process(note["pid"])
        if process.create_time() == note["born"] and process.status() != psutil.STATUS_ZOMBIE:
            return process
    except (OSError, ValueError, KeyError, psutil.Error):
        pass
    return None


def _signal_noted(path: pathlib.Path, number: int) -> None:
    process = noted(path)
    if process is not None:
        try:
            process.send_signal(number)
        except psutil.NoSuchProcess:
            return
        except psutil.AccessDenied as error:
            raise errors.ServiceError(
                f"process {process.pid} holds {path} and belongs to another user: end it first"
            ) from error


def unused_name(path: pathlib.Path) -> pathlib.Path:
    """A name beside a path for what is set aside."""
    return path.with_name(f"{path.name}.broken-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}")
