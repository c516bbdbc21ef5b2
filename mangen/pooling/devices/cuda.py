"""A CUDA card in the process that owns it, by torch's caching allocator.

torch is loaded here and nowhere else: one child has one card, and is spawned, since CUDA can't be
begun in a forked one. Only calls that torch has had for years are used.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import pathlib
import sys
from typing import Any

from mangen.pooling import errors
from mangen.pooling.devices import device, nvml

_log = logging.getLogger(__name__)

#: bytes of a context where nobody tells: contexts of torch 2 were measured at 300 to 450 MB
CONTEXT_GUESS = 450 * 2**20

#: how much of what the allocator did is kept for snapshots: up to some KB of host memory each
HISTORY = 100_000

#: the allocator's settings, by their name and by the one they had until torch 2.9
_SETTINGS = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")


class Cuda:
    """Device over `cuda:N`, the N-th of the visible ones, from now on this process' own.

    `overhead` is the context as it is at the start: kernels that are loaded later add to it.
    """

    def __init__(self, name: str) -> None:
        """Make the context; raises ConfigError that says what is missing."""
        self.name = name
        self._index = int(name.removeprefix("cuda:"))
        self._torch = _loaded(name)
        _check(self._torch, name, self._index)
        self._card: nvml.NvmlCard | None = None
        self._recording = False
        try:
            self._open()
        except RuntimeError as error:
            self.close()
            # another process may fill the card just now: that is no wrong configuration
            if device.out_of_memory(error):
                raise
            raise errors.ConfigError(f"{name} can't be used: {error}") from error
        except BaseException:
            self.close()
            raise

    def memory(self) -> device.Memory:
        """Look at the driver between two looks at the allocator, and take the lower of those.

        So bytes that change hands meanwhile are left out, never counted twice.
        """
        before, free, after = self._stats(), self._free(), self._stats()
        stats = min(before, after, key=_reserved)
        return device.Memory(
            total=self._total,
            free=min(free, self._total),
            reserved=_reserved(stats),
            allocated=stats["allocated_bytes.all.current"],
            inactive=stats.get("inactive_split_bytes.all.current", 0),
            ooms=stats.get("num_ooms", 0),
            retries=stats.get("num_alloc_retries", 0),
        )

    def watch(self) -> None:
        self._torch.cuda.reset_peak_memory_stats(self._index)

    def peak(self) -> device.Peak:
        return device.Peak(
            allocated=self._torch.cuda.max_memory_allocated(self._index),
            reserved=self._torch.cuda.max_memory_reserved(self._index),
        )

    def synchronize(self) -> None:
        self._torch.cuda.synchronize(self._index)

    def trim(self) -> None:
        self.synchronize()
        gc.collect()
        self._torch.cuda.empty_cache()

    def snapshot(self, path: pathlib.Path) -> None:
        """Write a pickle for torch's viewer (pytorch.org/memory_viz); where it fails, a table."""
        try:
            self._torch.cuda.memory._dump_snapshot(str(path))  # noqa: SLF001 - torch documents it
        except Exception as error:  # noqa: BLE001 - it is asked for when things go wrong already
            _log.warning("%s: torch can't dump its memory: %s", self.name, error)
            path.write_text(self._summary(error), "utf-8")

    def close(self) -> None:
        """Give back what nobody uses; the context ends with the process."""
        card, self._card = self._card, None
        if card is not None:
            card.close()
        if self._recording:
            self._recording = False
            # after a fault in a kernel every call fails, and the process is about to end
            with contextlib.suppress(RuntimeError):
                self._record(None)
                self._torch.cuda.empty_cache()

    def _open(self) -> None:
        cuda = self._torch.cuda
        properties = cuda.get_device_properties(self._index)
        self.kind = str(properties.name)
        # torch gives the bare UUID; an instance of a partitioned card tells its profile in the name
        prefix = "MIG" if " MIG " in self.kind else "GPU"
        self.id = f"{prefix}-{properties.uuid}"
        self._card = nvml.NvmlCard(self.name, self.id)
        if self._card.known:
            self.id = self._card.id
        cuda.set_device(self._index)
        self._torch.zeros(1, device=self.name)  # makes the context, and loads a first kernel
        self.trim()
        self._total = int(cuda.mem_get_info(self._index)[1])
        self.overhead = self._measured()
        self._recording = True
        try:
            self._record("all")
        except Exception as error:  # noqa: BLE001 - a private call, and only snapshots need it
            _log.warning("%s: torch can't record its allocations: %s", self.name, error)

    def _measured(self) -> int:
        """Bytes of the context: this process' by NVML, or all that is used where it is alone."""
        assert self._card is not None
        reserved = _reserved(self._stats())
        processes = self._card.processes()
        own = processes.get(os.getpid())
        if own is None and len(processes) == 1:
            # whatever its number is outside of this container, it is this process
            free, total = self._torch.cuda.mem_get_info(self._index)
            own = total - free
        return CONTEXT_GUESS if own is None else max(0, int(own) - reserved)

    def _free(self) -> int:
        """Bytes left to all processes, by NVML; else by the driver, which counts them alike."""
        free = self._card.free() if self._card is not None else None
        return int(self._torch.cuda.mem_get_info(self._index)[0]) if free is None else free

    def _stats(self) -> dict[str, int]:
        stats: dict[str, int] = self._torch.cuda.memory_stats(self._index)
        return stats

    def _record(self, what: str | None) -> None:
        self._torch.cuda.memory._record_memory_history(  # noqa: SLF001 - torch documents it
            what, max_entries=HISTORY, stacks="python"
        )

    def _summary(self, why: Exception) -> str:
        try:
            return str(self._torch.cuda.memory_summary(self._index))
        except Exception as error:  # noqa: BLE001 - the file is to say at least what failed
            return f"no snapshot: {why}\nno summary: {error}\n"


def _reserved(stats: dict[str, int]) -> int:
    return stats["reserved_bytes.all.current"]


def _check(torch: Any, name: str, index: int) -> None:
    if torch.version.cuda is None:
        raise errors.ConfigError(f"{name} needs a torch with CUDA: this one was built without")
    mask = os.environ.get("CUDA_VISIBLE_DEVICES")
    under = "" if mask is None else f" under CUDA_VISIBLE_DEVICES={mask}"
    if not torch.cuda.is_available():
        raise errors.ConfigError(
            f"{name} can't be used: torch finds no CUDA card{under}; see what nvidia-smi says"
        )
    count = torch.cuda.device_count()
    if index >= count:
        raise errors.ConfigError(f"there is no {name}: torch counts {count} card(s){under}")


def _loaded(name: str) -> Any:
    """Load torch with expandable segments, without which big and small requests strand memory.

    Not under WSL, whose driver may fail at a first allocation in them (pytorch #192330).
    """
    wsl = "microsoft" in os.uname().release.lower()
    if not wsl and not any(each in os.environ for each in _SETTINGS):
        if "torch" in sys.modules:
            _log.warning("torch was loaded before %s could set its allocator up", name)
        os.environ[_SETTINGS[0]] = "expandable_segments:True"
    try:
        return _torch()
    except (ImportError, OSError) as error:  # OSError: a library that torch itself needs
        raise errors.ConfigError(
            f"{name} needs torch: pip install -e '.[gpu]' ({error})"
        ) from error


def _torch() -> Any:
    import torch  # noqa: PLC0415 - only a child that owns a card pays for it

    return torch
