"""A cpu device: a memory budget, and this process' resident set measured against it."""

from __future__ import annotations

import ctypes
import gc
import os
import pathlib
from collections.abc import Mapping, Sequence

from mangen.pooling.devices import device

_PAGE = os.sysconf("SC_PAGE_SIZE")


class Cpu:
    """Device over the host's memory: `budget` bytes of it are this process'.

    The kernel keeps the highest resident set and lets a process reset its own; where it does not
    (some sandboxes), the samples taken by `peak` stand in.
    """

    name = kind = id = "cpu"
    overhead = 0

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._highest = 0
        self._kept_by_kernel = False

    def memory(self) -> device.Memory:
        used = resident_bytes()
        return device.Memory(
            total=self._budget, free=self._budget - used, reserved=used, allocated=used
        )

    def watch(self) -> None:
        self._highest = resident_bytes()
        try:
            pathlib.Path("/proc/self/clear_refs").write_text("5", "ascii")
            self._kept_by_kernel = True
        except OSError:
            self._kept_by_kernel = False

    def peak(self) -> device.Peak:
        # the two files count a little apart, and a peak is never less than what is held
        kept = _high_water() if self._kept_by_kernel else 0
        self._highest = max(self._highest, kept, resident_bytes())
        return device.Peak(allocated=self._highest, reserved=self._highest)

    def synchronize(self) -> None:
        pass

    def trim(self) -> None:
        """Return freed memory to the system, where the C library can."""
        gc.collect()
        malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if malloc_trim is not None:
            malloc_trim(0)

    def snapshot(self, path: pathlib.Path) -> None:
        try:
            found = pathlib.Path("/proc/self/smaps_rollup").read_bytes()
        except OSError:  # where the kernel does not sum up: see the class
            found = pathlib.Path("/proc/self/status").read_bytes()
        path.write_bytes(found)

    def close(self) -> None:
        pass


class CpuCard:
    """The host's memory from outside: nobody's alone, and always returned by the kernel."""

    name = kind = id = "cpu"
    exclusive = False

    def __init__(self, budget: int) -> None:
        self.total: int | None = budget

    def free(self) -> int | None:
        return None

    def processes(self) -> Mapping[int, int | None]:
        return {}

    def close(self) -> None:
        pass


def resident_bytes() -> int:
    """Bytes of memory this process holds now (resident set)."""
    text = pathlib.Path("/proc/self/statm").read_text("ascii")
    return int(text.split()[1]) * _PAGE


def threads_each(devices: Sequence[str]) -> int:
    """How many compute threads one cpu device's child should use."""
    return max(1, len(os.sched_getaffinity(0)) // max(1, list(devices).count("cpu")))


def _high_water() -> int:
    for line in pathlib.Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return resident_bytes()
