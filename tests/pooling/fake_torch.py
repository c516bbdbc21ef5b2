"""The parts of torch and pynvml that `Cuda` calls, over a card that is not there."""

from __future__ import annotations

import os
import sys
import threading
import types
import weakref

from mangen.pooling.devices import cuda, nvml

MIB, GIB = 2**20, 2**30
UUID = "aaaaaaaa-0000-0000-0000-000000000000"


class Tensor:
    """What a test holds, and the device counts until it is dropped."""


class Torch:
    """The part of torch that Cuda calls, over card 1 of 2, with half a GiB of another process."""

    class OutOfMemoryError(RuntimeError):
        pass

    def __init__(self, name="NVIDIA L4", kernel=300 * MIB):
        self.version = types.SimpleNamespace(cuda="13.0")
        self.cuda = types.SimpleNamespace(
            is_available=lambda: True,
            device_count=lambda: 2,
            get_device_properties=self.properties,
            set_device=self.of,
            mem_get_info=lambda index: (self.free, self.of(index).total),
            memory_stats=self.stats,
            memory_summary=lambda index: f"summary of {self.of(index).name}",
            reset_peak_memory_stats=self.reset,
            max_memory_allocated=lambda index: self.of(index).peak[0],
            max_memory_reserved=lambda index: self.of(index).peak[1],
            synchronize=self.of,
            empty_cache=self.empty,
            memory=types.SimpleNamespace(_record_memory_history=self.record, _dump_snapshot=dump),
        )
        self.name = name
        self.total, self.foreign = 22 * GIB, GIB // 2
        self.kernel, self.context = kernel, 0
        self.allocated = self.reserved = self.ooms = 0
        self.peak = (0, 0)
        self.recorded = []
        self.lock = threading.RLock()

    def of(self, index):
        assert index == 1, "a call for the wrong card"
        return self

    @property
    def free(self):
        return self.total - self.foreign - self.context - self.reserved

    def properties(self, index):
        return types.SimpleNamespace(name=self.of(index).name, uuid=UUID)

    def zeros(self, count, device):
        """Make a float tensor; the first one makes the context."""
        assert device == "cuda:1"
        size = -(-count * 4 // 512) * 512
        with self.lock:
            self.context = self.kernel
            grown = max(0, -(-(self.allocated + size - self.reserved) // (2 * MIB))) * 2 * MIB
            if grown > self.free:
                self.ooms += 1
                raise self.OutOfMemoryError("CUDA out of memory. Tried to allocate much.")
            self.count(size, grown)
        tensor = Tensor()
        weakref.finalize(tensor, self.count, -size, 0).atexit = False
        return tensor

    def count(self, allocated, reserved):
        with self.lock:
            self.allocated += allocated
            self.reserved += reserved
            self.peak = max(self.peak[0], self.allocated), max(self.peak[1], self.reserved)

    def empty(self):
        with self.lock:
            self.reserved = -(-self.allocated // (2 * MIB)) * 2 * MIB

    def reset(self, index):
        with self.lock:
            self.peak = self.of(index).allocated, self.reserved

    def stats(self, index):
        with self.lock:
            return {
                "allocated_bytes.all.current": self.of(index).allocated,
                "reserved_bytes.all.current": self.reserved,
                "inactive_split_bytes.all.current": 0,
                "num_ooms": self.ooms,
                "num_alloc_retries": 0,
            }

    def record(self, enabled="all", *, stacks="all", max_entries=sys.maxsize):
        self.recorded.append((enabled, stacks, max_entries))


def dump(filename="dump_snapshot.pickle"):
    with open(filename, "wb") as file:  # noqa: PTH123 - as torch does
        file.write(b"pickle")


def pynvml_of(torch, processes=None):
    """Make a pynvml that sees the fake torch's card as the second of two like ones."""

    def running(handle):
        held = torch.context + torch.reserved
        found = [(os.getpid(), held)] if processes is None else processes
        return [
            types.SimpleNamespace(pid=pid, usedGpuMemory=used)
            for pid, used in (found if handle else ())
        ]

    return types.SimpleNamespace(
        nvmlInit=lambda: None,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetCount=lambda: 2,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetUUID=lambda handle: f"GPU-{UUID}" if handle else "GPU-other",
        nvmlDeviceGetName=lambda _: "NVIDIA L4",
        nvmlDeviceGetMemoryInfo=lambda _: types.SimpleNamespace(total=torch.total, free=torch.free),
        nvmlDeviceGetComputeRunningProcesses=running,
    )


def put(monkeypatch, torch, driver=None):
    """Let Cuda find this torch, and a driver that sees its card."""
    monkeypatch.setattr(cuda, "_torch", lambda: torch)
    monkeypatch.setattr(nvml, "_pynvml", lambda: driver or pynvml_of(torch))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("PYTORCH_ALLOC_CONF", "backend:native")
