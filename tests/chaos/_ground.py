"""The ground of a chaos run: a home, servers under the product's keeper, workers that revive."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import time

import psutil

from mangen.cli import crew
from mangen.stack import place, record, servers, supervise

ROOT = pathlib.Path(__file__).resolve().parents[2]
_CHILD = "mangen.pooling.celery_child"
_PAUSE_S = 0.5  #: before a dead worker is started again


class Ground:
    """One home. Use it from one thread: its workers die with the thread that started them."""

    def __init__(self, home, *, workers, lease_s):
        self.home, self.place, self.lease_s = home, place.Place(home), lease_s
        self.environment = {
            "MANGEN_HOME": str(home),
            "MANGEN_LEASE_S": str(lease_s),
            "MANGEN_PASS_S": "1",
            "MANGEN_LOST_BELL_S": "2",
            "MANGEN_DEVICES": "cpu",
            "MANGEN_WIDTH": "72",
            "MANGEN_HEIGHT": "128",
            "MANGEN_MUSIC": "0",
            "MANGEN_VOICE_ENGINE": "_voices:Restless",
            "MANGEN_FLOWER_PORT": "0",
            "MANGEN_RESTART_AFTER": "40",
        }
        self.workers = [f"w{number}" for number in range(1, workers + 1)]
        self._members: dict[str, supervise.Supervised] = {}
        self._frozen: list[tuple[float, str, list[psutil.Process]]] = []

    def start(self, chosen):
        """Bring the workers, as `up` would."""
        here = str(pathlib.Path(__file__).parent)
        environment = {
            **os.environ,
            **self.environment,
            "PYTHONPATH": os.pathsep.join([str(ROOT), here]),
        }
        for name in self.workers:
            command = crew.worker_command(chosen, name)
            log = self.place.logs / f"{name}.log"

            def begin(command=command, log=log):
                return supervise.launch(command, log=log, environment=environment, cwd=ROOT)

            patience = supervise.Backoff(first_s=_PAUSE_S, most_s=2 * _PAUSE_S)
            self._members[name] = supervise.Supervised(name, begin, backoff=patience)

    def tick(self):
        """Start again who died, wake who was frozen long enough."""
        for member in self._members.values():
            member.tick()
        now = time.monotonic()
        for due, _, processes in self._frozen:
            if due <= now:
                _signal(processes, signal.SIGCONT)
        self._frozen = [one for one in self._frozen if one[0] > now]

    def thaw(self):
        """Wake all that are frozen, now."""
        for _, _, processes in self._frozen:
            _signal(processes, signal.SIGCONT)
        self._frozen.clear()

    def awake(self):
        """Names of workers that live and are not frozen."""
        asleep = {name for _, name, _ in self._frozen}
        return [name for name in self.workers if self._members[name].alive and name not in asleep]

    def parent(self, name):
        member = self._members[name]
        return None if member.process is None else psutil.Process(member.process.pid)

    def children(self, name):
        """The worker's children that hold devices, by their pids."""
        with contextlib.suppress(psutil.Error):
            below = self.parent(name).children(recursive=True)
            return sorted((one for one in below if _is_child(one)), key=lambda one: one.pid)
        return []

    def freeze(self, name, processes, seconds):
        """Stop processes of a worker for so long."""
        _signal(processes, signal.SIGSTOP)
        self._frozen.append((time.monotonic() + seconds, name, processes))

    def server(self, name):
        """The living server's process, or None just now."""
        return servers.noted(servers.lock_of(self.place, name))

    def keeper(self):
        pid = record.keeper_pid(self.place)
        with contextlib.suppress(psutil.Error):
            return None if pid is None else psutil.Process(pid)
        return None

    def wipe_broker(self):
        """Remove what the broker wrote to disk."""
        for file in (self.home / "valkey").rglob("*"):
            if file.is_file():
                file.unlink(missing_ok=True)

    def end(self, wait_s=40.0):
        """End the workers in good order; answers those that would not."""
        self.thaw()
        stubborn = []
        for member in self._members.values():
            member.retire()
            member.signal(signal.SIGTERM)
        deadline = time.monotonic() + wait_s
        while any(m.alive for m in self._members.values()) and time.monotonic() < deadline:
            for member in self._members.values():
                member.tick()
            time.sleep(0.05)
        for name, member in self._members.items():
            if member.alive:
                stubborn.append(name)
                member.stop(wait_s=0.1)
        return stubborn

    @property
    def deaths(self):
        """How often workers were started again."""
        return sum(max(0, member.starts - 1) for member in self._members.values())


def _is_child(process):
    try:
        return _CHILD in process.cmdline()
    except psutil.Error:
        return False


def _signal(processes, number):
    for process in processes:
        with contextlib.suppress(psutil.Error):  # whose number was given away is known by its birth
            process.send_signal(number)
