"""Models that are loaded and stay: pinned while used, evicted when their room is wanted."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from mangen.pooling import errors, models

_log = logging.getLogger(__name__)


class House(Protocol):
    """What surrounds the residents: whoever finds them room, and hears of them."""

    def make_room(self, wanted: int, keep: str) -> bool: ...
    def fits(self, wanted: int) -> bool:
        """Whether so many bytes are usable without evicting anything."""
        ...

    def loading(self) -> None: ...
    def loaded(self, spec: models.ModelSpec, seconds: float, *, ahead: bool) -> None: ...
    def warmed(self, spec: models.ModelSpec, seconds: float) -> None: ...
    def evicted(self, spec: models.ModelSpec) -> None: ...


@dataclasses.dataclass(slots=True)
class _Resident:
    spec: models.ModelSpec
    value: Any
    pins: int = 0
    used: int = 0


class Residents:
    """Loaded models by key. One thread loads, uses and evicts; others may look.

    `expected` names models that are wanted next: they are evicted last.
    """

    def __init__(self, house: House) -> None:
        self._house = house
        self._held: dict[str, _Resident] = {}
        self._uses = 0
        self._fetched: set[str] = set()
        self._fetching: threading.Thread | None = None
        self.expected: Sequence[str] = ()
        #: seconds that went into loading and warming, ever
        self.seconds = 0.0

    @property
    def nbytes(self) -> int:
        return sum(one.spec.weight_bytes for one in list(self._held.values()))

    def sizes(self) -> dict[str, int]:
        """Weight bytes by model key."""
        return {one.spec.key: one.spec.weight_bytes for one in list(self._held.values())}

    @contextlib.contextmanager
    def use(self, spec: models.ModelSpec) -> Iterator[Any]:
        """Pin the model and yield it; loads and warms it at the first use.

        Raises NoRoom when its weights don't fit beside what is pinned and reserved.
        """
        held = self._held.get(spec.key) or self._load(spec)
        self._uses += 1
        held.used = self._uses
        held.pins += 1
        try:
            yield held.value
        finally:
            held.pins -= 1

    def evict(self, wanted: int, keep: str = "") -> int:
        """Drop unpinned models until `wanted` bytes are free.

        Those that nothing expected wants go first, the longest unused before the others.
        """
        freed = 0
        order = sorted(
            self._held.values(), key=lambda one: (one.spec.key in self.expected, one.used)
        )
        for one in order:
            if freed >= wanted:
                break
            if one.pins == 0 and one.spec.key != keep:
                del self._held[one.spec.key]
                one.value = None
                freed += one.spec.weight_bytes
                self._house.evicted(one.spec)
        return freed

    def fetch(self, spec: models.ModelSpec) -> None:
        """Bring a model near in a thread of its own, unless it is here, near, or one is coming."""
        if self._fetching is not None and self._fetching.is_alive():
            return
        if spec.fetch is None or spec.key in self._held or spec.key in self._fetched:
            return
        self._fetched.add(spec.key)
        self._fetching = threading.Thread(
            target=_fetch, args=(spec,), name=f"fetch-{spec.key}", daemon=True
        )
        self._fetching.start()

    def load_ahead(self, spec: models.ModelSpec) -> bool:
        """Load a model nobody waits for yet, if it fits without evicting; answers whether."""
        if spec.key in self._held or not self._house.fits(spec.weight_bytes):
            return False
        self._load(spec, ahead=True)
        return True

    def _load(self, spec: models.ModelSpec, *, ahead: bool = False) -> _Resident:
        if not ahead and not self._house.make_room(spec.weight_bytes, spec.key):
            raise errors.NoRoom(
                f"the model {spec.key} needs {spec.weight_bytes} bytes, which this device does not "
                "have beside what it uses: give it more memory or fewer models"
            )
        self._fetched.discard(spec.key)  # once evicted, it must come near again
        self._house.loading()
        began = time.monotonic()
        value = spec.load()
        held = self._held[spec.key] = _Resident(spec, value)
        loaded = time.monotonic() - began
        self.seconds += loaded
        self._house.loaded(spec, loaded, ahead=ahead)
        if spec.warm is not None:
            self._warm(held)
        return held

    def _warm(self, held: _Resident) -> None:
        assert held.spec.warm is not None
        began = time.monotonic()
        held.pins += 1
        try:
            held.spec.warm(held.value)
        except BaseException:
            self._held.pop(held.spec.key, None)  # half a model helps nobody
            raise
        finally:
            held.pins -= 1
            self.seconds += time.monotonic() - began
        self._house.warmed(held.spec, time.monotonic() - began)


def _fetch(spec: models.ModelSpec) -> None:
    assert spec.fetch is not None
    try:
        spec.fetch()
    except Exception:  # noqa: BLE001 - logged; loading says it again, aloud
        _log.warning("the model %s could not be fetched ahead", spec.key, exc_info=True)
