"""Keep processes alive: start, notice death, start again after a growing pause."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from mangen import errors
from mangen.stack import guard, place

_LOG_MAX = 16 << 20


@dataclasses.dataclass(slots=True)
class Backoff:
    """The pause before the next start: doubles from death to death, forgotten after health."""

    first_s: float = 0.5
    most_s: float = 30.0
    healthy_s: float = 60.0
    deaths: int = 0

    def died(self, *, lived_s: float) -> float:
        """Note a death; answers the seconds to wait."""
        self.deaths = 1 if lived_s >= self.healthy_s else self.deaths + 1
        return min(self.most_s, self.first_s * 2.0 ** min(self.deaths - 1, 16))


class Supervised:
    """One process under care, to be looked at often by `tick`.

    Only one thread may use it: the kernel binds a guarded child to the thread that started it.
    """

    def __init__(
        self,
        name: str,
        start: Callable[[], subprocess.Popen[bytes]],
        *,
        stop_signal: int = signal.SIGTERM,
        backoff: Backoff | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.process: subprocess.Popen[bytes] | None = None
        self.starts = 0
        self.last_exit: int | None = None
        self.error: errors.MangenError | None = None
        self.backoff = backoff or Backoff()
        self._start = start
        self._stop_signal = stop_signal
        self._clock = clock
        self._started = 0.0
        self._due = 0.0
        self._retired = False

    @property
    def alive(self) -> bool:
        """Whether the process ran at the last look."""
        return self.process is not None

    def tick(self) -> bool:
        """Look once; answers whether something changed (a death, or a start)."""
        now = self._clock()
        if self.process is not None:
            code = self.process.poll()
            if code is None:
                return False
            self.process, self.last_exit = None, code
            self._due = now + self.backoff.died(lived_s=now - self._started)
            return True
        if self._retired or now < self._due:
            return False
        try:
            self.process = self._start()
        except errors.MangenError as error:
            self.error = error
            self._due = self._clock() + self.backoff.died(lived_s=0)
            return True
        self.error = None
        self.starts += 1
        self._started = self._clock()
        return True

    def retire(self) -> None:
        """Don't start it again."""
        self._retired = True

    def signal(self, number: int | None = None) -> None:
        """Send a signal (by default the one that asks for the end) to a living process."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(number or self._stop_signal)

    def stop(self, *, wait_s: float) -> None:
        """Ask for the end, wait, then kill; returns when the process is gone."""
        if self.process is None:
            return
        self.signal()
        try:
            self.process.wait(wait_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.last_exit, self.process = self.process.returncode, None


def launch(
    command: Sequence[str | pathlib.Path],
    *,
    log: pathlib.Path,
    death_signal: int = signal.SIGKILL,
    user: place.User | None = None,
    environment: Mapping[str, str] | None = None,
    hand_down: Sequence[int] = (),
    cwd: pathlib.Path | str | None = None,
) -> subprocess.Popen[bytes]:
    """Start a command that dies with this process; its output is appended to a log.

    On Linux the answer's pid is the command's own. Raises ServiceError if it can't be started.
    """
    who = f"{user.uid}:{user.gid}" if user else "-"
    wrapped = [sys.executable, "-I", "-S", guard.__file__, str(os.getpid()), str(death_signal), who]
    if log.exists() and log.stat().st_size > _LOG_MAX:
        log.replace(log.with_suffix(".old.log"))
    try:
        with log.open("ab") as out:
            return subprocess.Popen(
                [*wrapped, *map(str, command)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=tuple(hand_down),
                env=None if environment is None else dict(environment),
                cwd=cwd,
            )
    except OSError as error:
        raise errors.ServiceError(f"can't start {command[0]}: {error.strerror}") from error


def tail(log: pathlib.Path, lines: int = 8) -> str:
    """The last lines of a log, for an error message."""
    try:
        text = log.read_text("utf-8", errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])
