"""Run a command that dies with its parent: `guard.py PARENT SIGNAL UID:GID|- COMMAND...`.

Run as a script by path, with nothing but the standard library. On Linux the kernel sends the
signal when the parent ends, however it ends, and the command takes this process's place. Elsewhere
this process stays, looks whether it still has its parent, and passes signals on.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time

_PR_SET_PDEATHSIG = 1


def _become(user: str) -> None:
    if user != "-":
        uid, gid = map(int, user.split(":"))
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)


def _bind(parent: int, number: int) -> None:
    # after the change of user, which clears it
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl refused PR_SET_PDEATHSIG")
    if os.getppid() != parent:
        sys.exit(0)


def _stay(parent: int, number: int, command: list[str]) -> int:
    child = os.fork()
    if child == 0:
        os.execv(command[0], command)  # noqa: S606 - a fixed argument list, without a shell
    os.closerange(3, 256)  # a lock that was handed down is the command's alone
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(each, lambda got, _frame: os.kill(child, got))
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) & 0xFF
        if os.getppid() != parent:
            os.kill(child, number)
        time.sleep(0.25)


def main(argv: list[str]) -> int:
    parent, number, user, command = int(argv[0]), int(argv[1]), argv[2], argv[3:]
    _become(user)
    if sys.platform == "linux":
        _bind(parent, number)
        os.execv(command[0], command)  # noqa: S606 - a fixed argument list, without a shell
    return _stay(parent, number, command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
