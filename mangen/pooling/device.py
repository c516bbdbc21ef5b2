"""The devices a pool has, and how memory is measured on them. One kind so far: `cpu`."""

from __future__ import annotations

import ctypes
import gc
import os
import pathlib
from collections.abc import Sequence

from mangen.pooling import errors

_PAGE = os.sysconf("SC_PAGE_SIZE")


def check(names: Sequence[str]) -> tuple[str, ...]:
    """Answer the devices as they are; raises ConfigError for none, or one that isn't known."""
    if not names:
        raise errors.ConfigError("the pool has no devices: name at least one, as cpu")
    for name in names:
        if name != "cpu":
            raise errors.ConfigError(f"the pool knows no device {name!r}: write cpu")
    return tuple(names)


def used_bytes() -> int:
    """Bytes of memory this process holds now (resident set)."""
    text = pathlib.Path("/proc/self/statm").read_text("ascii")
    return int(text.split()[1]) * _PAGE


class Peak:
    """The highest resident set since `start`, in bytes.

    The kernel keeps it and lets a process reset its own; where it does not (some sandboxes), the
    samples taken between steps stand in.
    """

    def __init__(self) -> None:
        self._reset = False
        self._highest = 0

    def start(self) -> None:
        self._highest = used_bytes()
        try:
            pathlib.Path("/proc/self/clear_refs").write_text("5", "ascii")
            self._reset = True
        except OSError:
            self._reset = False

    def sample(self) -> int:
        now = _high_water() if self._reset else used_bytes()
        self._highest = max(self._highest, now)
        return self._highest


def trim() -> None:
    """Return freed memory to the system, where the C library can."""
    gc.collect()
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)


def threads_each(devices: Sequence[str]) -> int:
    """How many compute threads one cpu device's child should use."""
    return max(1, len(os.sched_getaffinity(0)) // max(1, len(devices)))


def _high_water() -> int:
    for line in pathlib.Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return used_bytes()
