"""A child's life, seen from the parent: started, spoken with, killed, buried."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import logging
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from multiprocessing import connection, reduction
from typing import TypeAlias

from mangen.pooling import wear, wire, work
from mangen.pooling.devices import cpu

_log = logging.getLogger(__name__)


class State(enum.StrEnum):
    STARTING = "starting"
    STANDBY = "standby"  # it has all it can have without its device
    IDLE = "idle"
    BUSY = "busy"
    LEAVING = "leaving"  # it was told to stop
    DEAD = "dead"


@dataclasses.dataclass(kw_only=True, slots=True)
class Batch:
    """What a child has in hand: offered and not yet taken, and taken."""

    number: int
    bucket: str
    model: str
    first: work.Item
    cap: int
    began: float
    limit: float | None
    offered: set[work.Key]
    taken: set[work.Key] = dataclasses.field(default_factory=set)
    joinable: bool = False
    ran: bool = False
    #: when members are asked to stop, when the stacks are asked for, when it is killed
    ask_at: float | None = None
    dump_at: float | None = None
    kill_at: float | None = None
    timed_out: bool = False

    @property
    def keys(self) -> set[work.Key]:
        return self.offered | self.taken


@dataclasses.dataclass(frozen=True, slots=True)
class Said:
    """A child said something."""

    child: Child
    message: wire.ToParent


@dataclasses.dataclass(frozen=True, slots=True)
class Died:
    """A child is gone; everything it said came before."""

    child: Child
    status: int


@dataclasses.dataclass(frozen=True, slots=True)
class Unsent:
    """A message can't be pickled, and never left; `guilty` are its loads that can't, if any are."""

    child: Child
    message: wire.ToChild
    guilty: frozenset[work.Key]
    error: Exception


Heard: TypeAlias = Said | Died | Unsent


class Child:
    """One child process.

    Two threads carry its pipe, so that a child that is stopped in mid-word can't stop the parent:
    one writes what `tell` queued, one reads into `hear` and buries the process in the end.
    Construct it on a thread that outlives it: the kernel kills it with that thread.
    """

    def __init__(
        self,
        hello: wire.Hello,
        module: str,
        devices: tuple[str, ...],
        hear: Callable[[Heard], None],
        record: wear.Wear,
    ) -> None:
        self.hello = hello
        self.wear = record
        self.kind = hello.device
        self.state = State.STARTING
        self.started = time.monotonic()
        self.ready_at: float | None = None
        self.tasks = 0
        self.report = wire.Report()
        self.fragmentation: float | None = None  # when it last was idle and had trimmed
        self.batch: Batch | None = None
        self.barred: dict[str, float] = {}
        self.worn = ""
        self.processes: Mapping[int, int | None] = {}
        self.replaced = False
        self.error = ""
        self.leave_by: float | None = None
        self._hear = hear
        self._outbox: queue.SimpleQueue[wire.ToChild | None] = queue.SimpleQueue()
        with contextlib.ExitStack() as opened:  # a start that fails leaves nothing open
            self._stacks = opened.enter_context(tempfile.TemporaryFile())
            ours, theirs = socket.socketpair()
            opened.callback(ours.close)
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", module,
                     str(theirs.fileno()), str(self._stacks.fileno()), str(os.getpid())],
                    stdin=subprocess.DEVNULL, env=_environment(devices), process_group=0,
                    pass_fds=(theirs.fileno(), self._stacks.fileno()),
                )  # fmt: skip
            opened.callback(_reap, self._process)
            self.pid = self._process.pid
            self._pidfd = os.pidfd_open(self.pid)
            opened.pop_all()
        self._conn = connection.Connection(ours.detach())
        self.tell(hello)
        for target, word in ((self._write, "to"), (self._read, "from")):
            threading.Thread(target=target, name=f"pool-{word}-{hello.slot}", daemon=True).start()

    @property
    def owner(self) -> str:
        return self.hello.owner

    @property
    def slot(self) -> int:
        return self.hello.slot

    def tell(self, message: wire.ToChild) -> None:
        """Queue a word to the child; words to the dead are lost."""
        self._outbox.put(message)

    def stop(self, grace_s: float) -> None:
        """Ask it to finish what it has in hand and exit."""
        self.state = State.LEAVING
        self.leave_by = time.monotonic() + grace_s if self.batch is None else None
        self.tell(wire.Stop())

    def ask_stacks(self) -> None:
        """Let it write down what its threads do; a stopped process won't."""
        self._signal(signal.SIGUSR1)

    def ask_snapshot(self) -> None:
        """Let it write down what its device's memory holds."""
        self._signal(signal.SIGUSR2)

    def stacks(self) -> str:
        """Answer what it wrote."""
        with contextlib.suppress(OSError):
            self._stacks.seek(0)
            return self._stacks.read(100_000).decode("utf-8", "replace")
        return ""

    def kill(self) -> None:
        """Kill it with all it started; it may be stopped, it dies all the same."""
        if self.state is State.DEAD:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._signal(signal.SIGKILL)

    def bury(self) -> None:
        """Release what is left of the dead."""
        self.state = State.DEAD
        self._outbox.put(None)
        self._stacks.close()
        os.close(self._pidfd)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, number)

    def _write(self) -> None:
        while (message := self._outbox.get()) is not None:
            try:
                data = reduction.ForkingPickler.dumps(message)
            except Exception as error:  # noqa: BLE001 - whatever a message raises when pickled
                self._hear(Unsent(self, message, _guilty(message), error))
                continue
            try:
                self._conn.send_bytes(data)
            except OSError:  # it is dying: the reader sees to it
                return
            except Exception:  # noqa: BLE001 - such as no memory for the copy
                _log.exception("%s can't be sent its work and is killed", self.owner)
                self.kill()
                return

    def _read(self) -> None:
        try:
            while True:
                ready = connection.wait([self._conn, self._pidfd])
                if self._conn in ready or self._conn.poll():
                    self._hear(Said(self, self._conn.recv()))
                elif self._pidfd in ready:
                    break
        except (EOFError, OSError):
            pass
        except Exception as error:  # noqa: BLE001 - whatever a message raises when it is read
            _log.exception("%s can't be understood and is killed", self.owner)
            self.error = f"it said what can't be read here: {error!r}"
            self.kill()
        try:
            os.waitid(os.P_PIDFD, self._pidfd, os.WEXITED | os.WNOWAIT)
        finally:
            self.kill()  # what it started; its own id is ours until `wait`
            status = self._process.wait()
            self._conn.close()
            self._hear(Died(self, status))


def _guilty(message: wire.ToChild) -> frozenset[work.Key]:
    """Name the loads of a message that can't be pickled."""
    match message:
        case wire.Offer(loads=loads):
            pass
        case wire.GiveBack(load=load):
            loads = (load,)
        case _:
            loads = ()
    found = set()
    for load in loads:
        try:
            reduction.ForkingPickler.dumps(load)
        except Exception:  # noqa: BLE001 - as above
            found.add(load.item.key)
    return frozenset(found)


def _reap(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def describe(status: int) -> str:
    """Say in words how a process ended."""
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return f"exit status {status}"


def _environment(devices: tuple[str, ...]) -> Mapping[str, str]:
    env = dict(os.environ)
    env["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(path or os.getcwd() for path in sys.path))  # noqa: PTH109 - sys.path speaks in strings
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        env.setdefault(name, str(cpu.threads_each(devices)))
    env.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # as NVML counts, by which the parent looks
    return env
