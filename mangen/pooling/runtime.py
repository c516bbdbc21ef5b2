"""What a session may ask of its child: models, cache, and a word on its progress."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from mangen.pooling import cache, device, events, gate, models, residents, wire, work

_PROGRESS_EVERY_S = 0.5


class ChildRuntime:
    """The Runtime of a child; it also gives bytes back when the gate asks (a gate.Reclaimer).

    `poll` reads the pipe and raises Dropped when nothing is left to be done; `send` writes to it.
    """

    def __init__(
        self,
        hello: wire.Hello,
        *,
        send: Callable[[wire.ToParent], None],
        poll: Callable[[], None],
    ) -> None:
        self.owner = hello.owner
        self.device = hello.device
        self._memory = cache.MemoryCache(hello.nbytes // 4)
        self.cache: work.FeatureCache = self._memory
        self.residents = residents.Residents(self._make_room, self._loaded)
        self.gate = gate.Gate(hello.nbytes, device.used_bytes, self)
        self._send = send
        self._poll = poll
        self._thread = threading.get_ident()
        self._told: dict[work.Key, float] = {}

    def use(self, spec: models.ModelSpec) -> AbstractContextManager[Any]:
        return self.residents.use(spec)

    def progress(self, key: work.Key, done: int, of: int) -> None:
        """Report steps, and poll for aborts; from other threads than the child's main: nothing."""
        if threading.get_ident() != self._thread:
            return
        now = time.monotonic()
        if done >= of or now - self._told.get(key, float("-inf")) >= _PROGRESS_EVERY_S:
            self._told[key] = now
            self._send(wire.Progress(key=key, done=done, of=of))
        self._poll()

    def forget(self, key: work.Key) -> None:
        """The key was settled."""
        self._told.pop(key, None)

    def report(self) -> wire.Report:
        return wire.Report(
            residents=self.residents.sizes(),
            cache={"bytes": self._memory.nbytes, **self._memory.counters},
            used=device.used_bytes(),
            usable=self.gate.usable(),
            reserved=self.gate.reserved,
        )

    def compress_cache(self, wanted: int) -> int:
        return self._memory.shrink(max(0, self._memory.nbytes - wanted)) if wanted > 0 else 0

    def evict(self, wanted: int, keep: str) -> int:
        return self.residents.evict(wanted, keep)

    def trim(self) -> None:
        device.trim()

    def known(self) -> int:
        return self.residents.nbytes + self._memory.nbytes

    def _make_room(self, wanted: int, keep: str) -> bool:
        return self.gate.make_room(wanted, keep)

    def _loaded(self, spec: models.ModelSpec, seconds: float) -> None:
        event = events.Loaded(
            owner=self.owner, model=spec.key, seconds=seconds, nbytes=spec.weight_bytes
        )
        self._send(wire.Note(event=event))


@dataclasses.dataclass(kw_only=True, slots=True)
class Running:
    """One session in a child: its members by key, each with the time it was taken."""

    offer: wire.Offer
    session: work.Session
    admitted: gate.Admitted
    peaks: tuple[int, ...]
    began: float
    weights: int = 0
    loads: dict[work.Key, wire.Load] = dataclasses.field(default_factory=dict)
    taken: dict[work.Key, float] = dataclasses.field(default_factory=dict)
    members: int = 0
    stepping: bool = False
