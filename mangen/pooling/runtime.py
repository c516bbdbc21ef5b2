"""What a session may ask of its child: models, cache, and a word on its progress."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from mangen.pooling import cache, events, faults, gate, models, residents, wire, work
from mangen.pooling.devices import device

_log = logging.getLogger(__name__)
_PROGRESS_EVERY_S = 0.5


class ChildRuntime:
    """The Runtime of a child.

    It also gives bytes back when the gate asks (a gate.Reclaimer), and is the house the residents
    live in. `poll` reads the pipe and raises Dropped when nothing is left to be done; `send`
    writes to it.
    """

    def __init__(
        self,
        hello: wire.Hello,
        owned: device.Device,
        product: work.Work,
        *,
        send: Callable[[wire.ToParent], None],
        poll: Callable[[], None],
    ) -> None:
        self.owner = hello.owner
        self.device = hello.device
        self.kind = owned.kind
        self.owned = owned
        self.features = cache.Cache(hello.cache, note=self._note_cache)
        self.cache: work.FeatureCache = self.features
        self.residents = residents.Residents(self)
        self.gate = gate.Gate(owned, self, margin=hello.margin)
        #: called before a model is loaded, and after it with its bytes: who measures must know
        self.before_load: Callable[[], None] = lambda: None
        self.after_load: Callable[[int], None] = lambda _nbytes: None
        #: bytes of one member of what ran last, for what is said of the device
        self.peak_one = 0
        self._watermark = 0
        self._product = product
        self._send = send
        self._poll = poll
        self._thread = threading.get_ident()
        self._told: dict[work.Key, float] = {}
        self._unknown: set[str] = set()  # models whose spec raised, each told once
        self._faults = faults.Faults()

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

    def forget(self, key: work.Key, *, done: bool) -> None:
        """The key was settled: what it put in the cache stays, or goes."""
        self._told.pop(key, None)
        self._kept(lambda: self.features.settle(key, done=done))

    def end_session(self) -> None:
        """Let the cache judge what was made for all members."""
        self._kept(self.features.close_session)

    def _kept(self, do: Callable[[], None]) -> None:
        """The cache is there to save seconds: no fault of it may cost a piece of work."""
        try:
            do()
        except Exception as error:  # noqa: BLE001 - logged
            self._faults.note(error, "the feature cache met a fault and goes on")

    def report(self, *, trimmed: bool = False) -> wire.Report:
        """Say how the device stands; `trimmed`: it is idle, and nothing more can be given back."""
        now = self.gate.balance()
        return wire.Report(
            residents=self.residents.sizes(),
            cache=self.features.counters(),
            memory=now.memory,
            used=now.memory.allocated,
            known=now.known,
            usable=now.usable,
            reserved=now.reserved,
            room=now.room,
            difference=now.difference,
            foreign=now.foreign,
            watermark=self._watermark,
            admissible=self.gate.admissible(self.peak_one),
            fragmentation=now.memory.fragmentation if trimmed else None,
            loading_s=self.residents.seconds,
        )

    def spec(self, model: str) -> models.ModelSpec | None:
        """What the product tells of a model; what it raises is told once, and counts as None."""
        if not model:
            return None
        try:
            return self._product.spec(model)
        except Exception as error:  # noqa: BLE001 - whatever a product raises
            if model not in self._unknown:
                self._unknown.add(model)
                self._note(load_failed(self.owner, model, error))
            return None

    def heated(self, offer: wire.Offer) -> tuple[int, ...]:
        """The offer's peaks, those that are theory times their model's cold factor."""
        spec = self.spec(offer.loads[0].item.model)
        factor = spec.cold_factor if spec is not None else 1.0
        cold = offer.cold or (False,) * len(offer.peaks)
        return tuple(
            int(peak * factor) if is_cold else peak
            for peak, is_cold in zip(offer.peaks, cold, strict=True)
        )

    def weights_to_load(self, offer: wire.Offer) -> int:
        """Bytes that the offer's model will take besides its peaks; 0 when it is resident.

        The product knows them best: the parent has seen none before the first load.
        """
        model = offer.loads[0].item.model
        if model in self.residents.sizes():
            return 0
        spec = self.spec(model)
        return spec.weight_bytes if spec is not None else offer.weights

    def move_watermark(self, largest: int) -> None:
        self.gate.move_watermark(largest)

    # -- gate.Reclaimer

    def compress_cache(self, wanted: int) -> int:
        return self._compressed(self.features.compress(wanted) if wanted > 0 else 0)

    def evict(self, wanted: int, keep: str) -> int:
        return self.residents.evict(wanted, keep)

    def trim(self) -> None:
        self.owned.trim()

    def free(self, keep: str = "") -> None:
        """Give back all that can be: the cache, every model that nobody uses but one, fragments."""
        self.compress_cache(self.known())
        self.evict(self.known(), keep)
        self.trim()

    def weights(self) -> int:
        return self.residents.nbytes

    def known(self) -> int:
        return self.residents.nbytes + self.features.device_bytes

    def limit_cache(self, watermark: int) -> None:
        self._watermark = watermark  # before: what goes is told with it
        self._compressed(self.features.limit_device(watermark))

    # -- residents.House

    def make_room(self, wanted: int, keep: str) -> bool:
        return self.gate.make_room(wanted, keep)

    def fits(self, wanted: int) -> bool:
        return wanted <= self.gate.usable()

    def loading(self) -> None:
        self.before_load()

    def loaded(self, spec: models.ModelSpec, seconds: float, *, ahead: bool) -> None:
        self.after_load(spec.weight_bytes)
        self._note(
            events.Loaded(
                owner=self.owner, device=self.kind, model=spec.key, seconds=seconds,
                nbytes=spec.weight_bytes, ahead=ahead,
            )
        )  # fmt: skip

    def warmed(self, spec: models.ModelSpec, seconds: float) -> None:
        self.after_load(0)
        self._note(events.Warmed(owner=self.owner, model=spec.key, seconds=seconds))

    def evicted(self, spec: models.ModelSpec) -> None:
        self.before_load()
        self.after_load(-spec.weight_bytes)
        self._note(
            events.Evicted(owner=self.owner, model=spec.key, nbytes=spec.weight_bytes, why="room")
        )

    def _compressed(self, nbytes: int) -> int:
        if nbytes:
            self._note(
                events.Compressed(owner=self.owner, nbytes=nbytes, watermark=self._watermark)
            )
        return nbytes

    def _note_cache(self, noted: cache.Noted) -> None:
        match noted.what:
            case cache.What.HIT | cache.What.DISK_HIT:
                disk = noted.what is cache.What.DISK_HIT
                self._note(
                    events.Hit(
                        owner=self.owner, kind=noted.kind, disk=disk, seconds=noted.seconds
                    )
                )  # fmt: skip
            case cache.What.MISS:
                self._note(events.Miss(owner=self.owner, kind=noted.kind))
            case _:  # bytes that go are told as Compressed, the rest is in the counters
                pass

    def _note(self, event: events.Event) -> None:
        self._send(wire.Note(event=event))


def load_failed(owner: str, model: str, error: Exception) -> events.LoadFailed:
    """What there is to tell of a model that can't be had ahead of its use."""
    return events.LoadFailed(owner=owner, model=model, error=f"{error!r}"[:500])
