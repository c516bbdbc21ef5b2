"""What the pool knows of a device: its bytes, from inside its child and from outside.

A name is `cpu`, `cuda:N` or `sim:PROFILE[/N]` (card N of a simulated kind). `Device` is what the
child that owns it uses; `Card` is how the parent, which loads no torch, sees the same thing.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from mangen.pooling import errors

_NAME = re.compile(r"cpu|cuda:\d+|sim:[A-Za-z0-9_]+(?:/\d+)?")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """One look at a device, in bytes.

    `free` is what the driver has left for everybody; `reserved` is what this process' allocator
    holds, `allocated` the live part of it, `inactive` the part that is split and can't serve a
    large request. `ooms` and `retries` count this process' failed and nearly failed allocations.
    """

    total: int
    free: int
    reserved: int
    allocated: int
    inactive: int = 0
    ooms: int = 0
    retries: int = 0

    @property
    def reach(self) -> int:
        """All that this process could have allocated at once, now."""
        return self.free + self.reserved - self.inactive

    @property
    def fragmentation(self) -> float:
        """(reserved - allocated) / reserved: to be judged idle, right after a trim."""
        return (self.reserved - self.allocated) / self.reserved if self.reserved else 0.0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Peak:
    """The highest `allocated` and `reserved` since the watch began, in bytes."""

    allocated: int
    reserved: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """What makers need beside the name.

    `cpu_bytes`: the budget of one cpu device. `folder`: where the simulated cards' driver ledgers
    lie. `speed`: simulated seconds that pass in one of the wall's.
    """

    cpu_bytes: int = 2**31
    folder: str = ""
    speed: float = 20.0


class Device(Protocol):
    """A device in the process that owns it. `memory` may be called from any thread."""

    name: str
    #: what estimates are kept for: `cpu`, a card's product name, a profile's name
    kind: str
    #: the card's UUID, or the name where there is none
    id: str
    #: bytes this process holds outside its allocator (CUDA context); 0 on a cpu
    overhead: int

    def memory(self) -> Memory: ...
    def watch(self) -> None:
        """Begin a new peak."""
        ...

    def peak(self) -> Peak: ...
    def synchronize(self) -> None: ...
    def trim(self) -> None:
        """Return what the allocator keeps and nobody uses; waits for the device."""
        ...

    def snapshot(self, path: pathlib.Path) -> None:
        """Write down what the memory holds, for people; may be called from any thread."""
        ...

    def close(self) -> None: ...


class Card(Protocol):
    """A device seen from outside, without torch. Nothing here raises: None is *nobody knows*."""

    name: str
    kind: str
    id: str
    total: int | None
    #: whether a second worker on it must be refused
    exclusive: bool

    def free(self) -> int | None: ...
    def processes(self) -> Mapping[int, int | None]:
        """Process ids on the card and their bytes; empty where the driver does not tell."""
        ...

    def close(self) -> None: ...


def check(names: Sequence[str]) -> tuple[str, ...]:
    """Answer the devices as they are; raises ConfigError for none, a bad name, or a card twice."""
    if not names:
        raise errors.ConfigError("the pool has no devices: name at least one, as cpu")
    for name in names:
        if not _NAME.fullmatch(name):
            raise errors.ConfigError(
                f"the pool knows no device {name!r}: write cpu, cuda:0 or sim:card_24g"
            )
        if name != "cpu" and list(names).count(name) > 1:
            raise errors.ConfigError(f"the device {name} is named twice: a card has one child")
    return tuple(names)


def make(name: str, options: Options) -> Device:
    """Open the device in this process; raises ConfigError that says what is missing."""
    if name == "cpu":
        from mangen.pooling.devices import cpu  # noqa: PLC0415 - each child loads its own kind

        return cpu.Cpu(options.cpu_bytes)
    if name.startswith("sim:"):
        from mangen.pooling.devices import simulated  # noqa: PLC0415 - as above

        return simulated.open_here(name, options)
    from mangen.pooling.devices import cuda  # noqa: PLC0415 - loads torch

    return cuda.Cuda(name)


def card(name: str, options: Options) -> Card:
    """Look at the device from outside; raises ConfigError when it is not there."""
    if name == "cpu":
        from mangen.pooling.devices import cpu  # noqa: PLC0415 - as in `make`

        return cpu.CpuCard(options.cpu_bytes)
    if name.startswith("sim:"):
        from mangen.pooling.devices import simulated  # noqa: PLC0415 - as in `make`

        return simulated.SimulatedCard(name, options)
    from mangen.pooling.devices import nvml  # noqa: PLC0415 - loads pynvml where it is installed

    return nvml.NvmlCard(name)


def out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory ran out, on the host or on a device of any library.

    torch.OutOfMemoryError is a RuntimeError, and some CUDA calls raise a plain one that says so.
    """
    if isinstance(error, MemoryError):
        return True
    if any(kind.__name__ == "OutOfMemoryError" for kind in type(error).__mro__):
        return True
    return isinstance(error, RuntimeError) and "out of memory" in str(error).lower()
