"""The processes `up` and `demo` bring along: workers and Flower, kept alive, ended in order."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping

import mangen
from mangen import errors, settings
from mangen.stack import place, supervise

FLOWER_USER = "mangen"
#: deaths in a row after which a process is called broken
BROKEN_AFTER = 5
_KILL_AFTER_S = 15.0
_LOOK_S = 0.2


def worker_command(chosen: settings.Settings, name: str) -> list[str]:
    """The command line of a worker; everything else it reads from settings."""
    return [
        sys.executable, "-m", "celery", "-A", "mangen.app", "worker",
        "--hostname", f"{name}@%h", "--loglevel", chosen.log_level,
        "--without-gossip", "--without-mingle",
    ]  # fmt: skip


def flower_command(chosen: settings.Settings) -> list[str]:
    """The command line of Flower, on this machine only; its password comes by environment."""
    return [
        sys.executable, "-m", "celery", "-A", "mangen.app", "flower",
        "--address=127.0.0.1", f"--port={chosen.flower_port}",
    ]  # fmt: skip


def flower_password(home: place.Place) -> str:
    """The password of this home, made at the first call."""
    file = password_file(home)
    try:
        return file.read_text("ascii").strip()
    except FileNotFoundError:
        word = secrets.token_urlsafe(12)
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:  # noqa: PTH123 - its mode from the first byte
            out.write(word + "\n")
        return word


def password_file(home: place.Place) -> pathlib.Path:
    """Where this home keeps it, readable by its user alone."""
    return home.root / "flower_password"


def port_taken(port: int) -> bool:
    """Whether something on this machine listens there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


class Crew:
    """Processes under care. Use it from one thread; `tick` often."""

    def __init__(self, chosen: settings.Settings, say: Callable[..., None]) -> None:
        self._chosen = dataclasses.replace(chosen, home=chosen.root)
        self._home = place.Place(chosen.root)
        self._say = say
        self._members: list[supervise.Supervised] = []

    def add_worker(self, label: str) -> None:
        """Bring a worker; its name on the broker is unique to this home."""
        name = f"{label}.{self._home.key[:6]}"
        self._add(label, worker_command(self._chosen, name))

    def add_flower(self) -> None:
        """Bring Flower, behind a password."""
        password = flower_password(self._home)
        secret = {"FLOWER_BASIC_AUTH": f"{FLOWER_USER}:{password}"}
        self._add("flower", flower_command(self._chosen), secret)

    def tick(self) -> None:
        """Look once: start again what died and is due."""
        for member in self._members:
            if not member.tick():
                continue
            if member.alive:
                self._say("started", name=member.name, again=member.starts - 1)
            else:
                log = self._log(member.name)
                self._say("ended", name=member.name, exit=member.last_exit, log=str(log))

    def broken(self) -> str | None:
        """Why the crew can't work: a member that dies again and again, with its last words."""
        for member in self._members:
            if member.backoff.deaths >= BROKEN_AFTER and not member.alive:
                log = self._log(member.name)
                said = str(member.error or supervise.tail(log))
                return f"{member.name} ended {BROKEN_AFTER} times in a row; see {log}:\n{said}"
        return None

    def end(self, *, hurry: Callable[[], int]) -> None:
        """End all: warm first, cold once `hurry` answers 1, at once from 2 on."""
        told = 0
        for member in self._members:
            member.retire()
            member.signal(signal.SIGTERM)
        cold_since: float | None = None
        while any(member.alive for member in self._members):
            for member in self._members:
                member.tick()
            wish = hurry()
            if wish > told:
                told = wish
                cold_since = cold_since or time.monotonic()
                for member in self._members:
                    member.signal(signal.SIGKILL if wish > 1 else signal.SIGQUIT)
            if cold_since and time.monotonic() - cold_since > _KILL_AFTER_S:
                for member in self._members:
                    member.signal(signal.SIGKILL)
            time.sleep(_LOOK_S)

    def _log(self, label: str) -> pathlib.Path:
        return self._home.logs / f"{label}.log"

    def _add(self, label: str, command: list[str], more: Mapping[str, str] | None = None) -> None:
        source = str(pathlib.Path(mangen.__file__).parents[1])
        environment = {
            **os.environ,
            **settings.environment_of(self._chosen),
            **(more or {}),
            "PYTHONPATH": os.pathsep.join(
                filter(None, [source, os.environ.get("PYTHONPATH")])
            ),
        }  # fmt: skip

        def start() -> subprocess.Popen[bytes]:
            self._home.make()
            return supervise.launch(command, log=self._log(label), environment=environment)

        self._members.append(supervise.Supervised(label, start))


def already(lock: pathlib.Path) -> errors.AlreadyRunning:
    """The error of a second `up`; the lock file names the first."""
    try:
        pid = f" (process {int(lock.read_text('ascii'))})"
    except (OSError, ValueError):
        pid = ""
    return errors.AlreadyRunning(
        f"`up` already runs for {lock.parent}{pid}: use it, or end it first, "
        "or set MANGEN_HOME to another folder"
    )
