"""Models that are loaded and stay: pinned while used, evicted when their room is wanted."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator
from typing import Any

from mangen.pooling import errors, models


@dataclasses.dataclass(slots=True)
class _Resident:
    spec: models.ModelSpec
    value: Any
    pins: int = 0
    used: int = 0


class Residents:
    """Loaded models by key. `make_room(bytes, keep)` asks the gate; `loaded` hears of each load."""

    def __init__(
        self,
        make_room: Callable[[int, str], bool],
        loaded: Callable[[models.ModelSpec, float], None] = lambda _spec, _seconds: None,
    ) -> None:
        self._make_room = make_room
        self._loaded = loaded
        self._held: dict[str, _Resident] = {}
        self._uses = 0

    @property
    def nbytes(self) -> int:
        return sum(one.spec.weight_bytes for one in self._held.values())

    def sizes(self) -> dict[str, int]:
        """Weight bytes by model key."""
        return {key: one.spec.weight_bytes for key, one in self._held.items()}

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
        """Drop unpinned models, the longest unused first, until `wanted` bytes are free."""
        freed = 0
        for key, one in sorted(self._held.items(), key=lambda pair: pair[1].used):
            if freed >= wanted:
                break
            if one.pins == 0 and key != keep:
                del self._held[key]
                freed += one.spec.weight_bytes
        return freed

    def _load(self, spec: models.ModelSpec) -> _Resident:
        if not self._make_room(spec.weight_bytes, spec.key):
            raise errors.NoRoom(
                f"the model {spec.key} needs {spec.weight_bytes} bytes, which this device does not "
                "have beside what it uses: give it more memory or fewer models"
            )
        began = time.monotonic()
        value = spec.load()
        if spec.warm is not None:
            spec.warm(value)
        held = self._held[spec.key] = _Resident(spec, value)
        self._loaded(spec, time.monotonic() - began)
        return held
