"""What the pool must know of a model: its name, its bytes, and how to load it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ModelSpec:
    """A model that can be resident.

    `load` runs in the child and returns whatever the engine needs; `warm` is called once with it.
    `fetch` brings the weights near (host memory, page cache) without touching the device, in a
    thread beside running work or in a standby child; `load` must not need it, only be quicker
    after it. `weight_bytes` are what it holds while resident; `cold_factor` multiplies theory
    peaks until peaks were observed.
    """

    key: str
    weight_bytes: int
    load: Callable[[], Any]
    warm: Callable[[Any], None] | None = None
    fetch: Callable[[], None] | None = None
    cold_factor: float = 1.5
    #: what tells it from others of its name, a revision say; it is only told, never compared
    version: str = ""
