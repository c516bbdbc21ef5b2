"""A card that is not there: bytes, refusals and seconds as a real one's, at `Options.speed`.

The allocator is torch's, modelled; the driver counts over all processes of the machine; stages
replay what full-size models were recorded to allocate. Errors are torch's own where it is
installed. As in torch the device is the process' own: `open_here` sets it, `current` answers it.

Device seconds are counted as the profile has them, and slept off at `speed`: the wall time that the
simulation itself needs is taken off the sleep, and what it is late is made up in later sleeps.
"""

from __future__ import annotations

import collections
import json
import pathlib
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence

from mangen.pooling import errors
from mangen.pooling.devices import allocator, device, driver, profile

_GIB = 2**30
_Give = Callable[[list[allocator.Block]], None]
_current: Simulated | None = None
#: what this process brought into its host memory, (folder, profile, model), and who is at it
_near: dict[tuple[str, str, str], threading.Lock] = {}
_fetched: set[tuple[str, str, str]] = set()


class OutOfMemoryError(RuntimeError):
    """What torch.OutOfMemoryError is, for where torch is not installed."""


def out_of_memory(message: str) -> RuntimeError:
    """Make torch's own error if torch can be imported, which takes its time, else its equal."""
    try:
        import torch  # noqa: PLC0415 - only now, and only in a child: it is heavy
    except ImportError:
        return OutOfMemoryError(message)
    made: RuntimeError = torch.OutOfMemoryError(message)
    return made


def fetch(name: str, options: device.Options, model: str) -> None:
    """Bring a model's weights near without touching the card; safe in a thread, once a process."""
    found = profile.find(driver.parse(name)[0], options.folder)
    wanted = found.model(model)
    key = (options.folder, found.name, model)
    with _near.setdefault(key, threading.Lock()):
        if key not in _fetched:
            time.sleep(wanted.fetch_s / options.speed)
            _fetched.add(key)


def open_here(name: str, options: device.Options) -> Simulated:
    """Open the card in this process and make it the current one.

    Raises ConfigError for an unknown profile, and out of memory where no context fits.
    """
    global _current  # noqa: PLW0603 - a process has one device, as in torch
    _current = Simulated(name, options)
    return _current


def current() -> Simulated:
    """The device of this process; raises ConfigError when none was opened."""
    if _current is None:
        raise errors.ConfigError("this process has opened no simulated card")
    return _current


class Held:
    """Bytes on the device, given back by `release` or when nobody holds this any more."""

    def __init__(self, blocks: list[allocator.Block], give: _Give) -> None:
        self.nbytes = sum(block.size for block in blocks)
        self._finish = weakref.finalize(self, give, blocks)
        self._finish.atexit = False

    def release(self) -> None:
        self._finish()


class Weights(Held):
    """A model's weights on the device."""


class Simulated:
    """The card in the process that owns it: a `device.Device`, and what engines call.

    `busy_s` and `load_s` are device seconds of stages and of loads. One thread runs and loads;
    `memory`, `snapshot` and `fetch` are for any. One lock guards the allocator, and is held over
    the driver's own.
    """

    def __init__(self, name: str, options: device.Options) -> None:
        found, path = driver.locate(name, options)
        self.name = name
        self.kind = found.name
        self.id = driver.identity(name)
        self.overhead = found.context
        self.profile = found
        self.busy_s = 0.0
        self.load_s = 0.0
        self._options = options
        self._owed = 0.0  # wall seconds that still must pass; negative: the wall is late
        self._lock = threading.Lock()
        # a finalizer may run inside the lock, in any thread: it only notes what is to be freed
        self._dropped: collections.deque[list[allocator.Block]] = collections.deque()
        self._known: dict[tuple[str, int], tuple[int, int]] = {}
        self._driver = driver.Driver(path, found.total)
        self._row = self._driver.enter()
        self._open = True
        if not self._driver.grow(self._row, found.context):
            self.close()
            raise out_of_memory("CUDA error: out of memory (no room for a context)")
        self._allocator = allocator.Allocator(
            self._grow,
            self._shrink,
            expandable=found.expandable,
            span=found.total + found.total // 8,
        )

    def memory(self) -> device.Memory:
        with self._lock:
            self._sweep()
            now = self._allocator.stats()
            return device.Memory(
                total=self.profile.total,
                free=self._driver.free() if self._open else 0,
                reserved=now.reserved,
                allocated=now.allocated,
                inactive=now.inactive,
                ooms=now.ooms,
                retries=now.retries,
            )

    def watch(self) -> None:
        with self._lock:
            self._sweep()
            self._allocator.watch()

    def peak(self) -> device.Peak:
        with self._lock:
            now = self._allocator.stats()
            return device.Peak(allocated=now.peak_allocated, reserved=now.peak_reserved)

    def synchronize(self) -> None:
        """Nothing is ever under way: `run` returns when its seconds have passed."""

    def trim(self) -> None:
        with self._lock:
            self._sweep()
            self._allocator.trim()

    def snapshot(self, path: pathlib.Path) -> None:
        with self._lock:
            self._sweep()
            now = self._allocator.stats()
            blocks = self._allocator.blocks()
        text = json.dumps(
            {
                "device": self.id,
                "total": self.profile.total,
                "stats": {key: getattr(now, key) for key in now.__slots__},
                "blocks": blocks,
            }
        )
        path.write_text(text, "utf-8")

    def close(self) -> None:
        """Give all back; a second time does nothing."""
        global _current  # noqa: PLW0603 - see open_here
        with self._lock:
            if self._open:
                self._open = False
                self._driver.leave(self._row)
                self._driver.close()
        if _current is self:
            _current = None

    def clock(self) -> float:
        """Device seconds spent so far, on stages and on loads."""
        return self.busy_s + self.load_s

    def alloc(self, nbytes: int) -> Held:
        """Take bytes; raises out of memory."""
        return Held(self._take([nbytes]), self._dropped.append)

    def fetch(self, model: str) -> None:
        """As the module's, for this card."""
        fetch(self.name, self._options, model)

    def load(self, model: str) -> Weights:
        """Move a model's weights here, tensor by tensor; out of memory leaves nothing behind.

        Takes all of the profile's load_s, or its device part when it was fetched before; a fetch
        under way is waited for, and the wait counts.
        """
        wanted = self.profile.model(model)
        key = (self._options.folder, self.kind, model)
        begun = time.perf_counter()
        weights = Weights(self._take(wanted.weights), self._dropped.append)
        begun = self._pass(0.0, begun)
        seconds = 0.0
        under_way = _near.setdefault(key, threading.Lock())
        if not under_way.acquire(blocking=False):
            under_way.acquire()
            seconds = (time.perf_counter() - begun) * self._options.speed
        under_way.release()
        seconds += wanted.load_s - (wanted.fetch_s if key in _fetched else 0.0)
        self.load_s += seconds
        self._pass(seconds, begun)
        return weights

    def run(
        self,
        stage: str,
        members: int = 1,
        steps: int | None = None,
        on_step: Callable[[int, int], None] | None = None,
    ) -> None:
        """Run a stage: allocate as recorded, then let its seconds pass, step by step.

        `on_step(done, of)` is called after each step; what it raises ends the run. Raises out of
        memory before any time is spent, with all that the stage took given back.
        """
        wanted = self.profile.stage(stage)
        count = wanted.steps if steps is None else steps
        begun = time.perf_counter()
        self._replay(stage, members)
        for done in range(1, count + 1):
            seconds = wanted.seconds(members, 1)
            self.busy_s += seconds
            begun = self._pass(seconds, begun)
            if on_step is not None:
                on_step(done, count)
                begun = time.perf_counter()  # the caller's time is not the device's

    def _grow(self, nbytes: int) -> bool:
        if not self._open:
            raise errors.ConfigError(f"{self.id} was closed")
        return self._driver.grow(self._row, nbytes)

    def _shrink(self, nbytes: int) -> None:
        if self._open:
            self._driver.shrink(self._row, nbytes)

    def _pass(self, seconds: float, begun: float) -> float:
        """Let device seconds pass, of which the wall's since `begun` are a part; answer the end."""
        now = time.perf_counter()
        self._owed += seconds / self._options.speed - (now - begun)
        if self._owed <= 0:
            return now
        time.sleep(self._owed)
        end = time.perf_counter()
        self._owed -= end - now
        return end

    def _take(self, sizes: Sequence[int]) -> list[allocator.Block]:
        """Allocate all, or nothing."""
        blocks: list[allocator.Block] = []
        with self._lock:
            self._sweep()
            try:
                for nbytes in sizes:
                    blocks.append(self._allocator.alloc(nbytes))  # noqa: PERF401 - kept on errors
            except allocator.Exhausted as error:
                message = self._says(error.nbytes)
                for block in blocks:
                    self._allocator.free(block)
            else:
                return blocks
        raise out_of_memory(message)

    def _replay(self, stage: str, members: int) -> None:
        """Allocate and free as the stage does.

        If nothing changed since it last did, the same blocks would serve again: only its peak is
        counted, so that a stage that is run step by step costs no more than one run whole.
        """
        key = (stage, members)
        with self._lock:
            self._sweep()
            version, height = self._known.get(key, (-1, 0))
            if version == self._allocator.version:
                self._allocator.touch(height)
                return
            events = self.profile.stage(stage).stream(members)
            message = ""
            born: list[allocator.Block | None] = []
            floor, height = self._allocator.allocated, 0
            try:
                for event in events:
                    if event > 0:
                        born.append(self._allocator.alloc(event))
                        height = max(height, self._allocator.allocated - floor)
                    else:
                        block = born[event]
                        assert block is not None, "a stream frees a block once"
                        self._allocator.free(block)
                        born[event] = None
            except allocator.Exhausted as error:
                message = self._says(error.nbytes)
            finally:
                for block in born:
                    if block is not None:
                        self._allocator.free(block)
            if not message:
                self._known[key] = (self._allocator.version, height)
                return
        raise out_of_memory(message)

    def _sweep(self) -> None:
        """Free what was dropped; under the lock."""
        while self._dropped:
            for block in self._dropped.popleft():
                self._allocator.free(block)

    def _says(self, nbytes: int) -> str:
        now = self._allocator.stats()
        return (
            f"CUDA out of memory. {_size(nbytes)} were asked for on {self.id}, which has "
            f"{_size(self.profile.total)}, of which {_size(self._driver.free())} are free. "
            f"This process holds {_size(now.reserved + self.overhead)}: {_size(now.allocated)} "
            f"allocated, {_size(now.reserved - now.allocated)} reserved but unallocated, "
            f"{_size(self.overhead)} context."
        )


class SimulatedCard:
    """The card from outside: a `device.Card`. It reads the driver's ledger only."""

    exclusive = True

    def __init__(self, name: str, options: device.Options) -> None:
        found, path = driver.locate(name, options)
        self.name = name
        self.kind = found.name
        self.id = driver.identity(name)
        self.total: int | None = found.total
        self._driver = driver.Driver(path, found.total)

    def free(self) -> int | None:
        try:
            return self._driver.free()
        except (OSError, ValueError):
            return None

    def processes(self) -> Mapping[int, int | None]:
        try:
            return dict(self._driver.processes())
        except (OSError, ValueError):
            return {}

    def close(self) -> None:
        self._driver.close()


#: somebody else on a card, and bytes that outlive their process: see the driver
Tenant = driver.Tenant
stick = driver.stick
unstick = driver.unstick


def _size(nbytes: int) -> str:
    return f"{nbytes / _GIB:.2f} GiB" if nbytes >= _GIB else f"{nbytes / 2**20:.2f} MiB"
