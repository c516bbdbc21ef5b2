"""A CUDA card seen from outside: by NVML, which makes no context and loads no torch.

Cards are known by UUID, never by index: NVML counts all cards of the machine in PCI order, CUDA
counts those that CUDA_VISIBLE_DEVICES leaves, in an order of its own. NVML is nvidia-ml-py's module
`pynvml`; without it, or without what a driver does not tell (WSL and MIG know no bytes per
process), a card is its name and the answers are *nobody knows*.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mangen.pooling import errors
from mangen.pooling.devices import device

_log = logging.getLogger(__name__)

#: the kind of a card of which nobody knows the product name
UNKNOWN = "cuda"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """A card as NVML lists it, or an instance of a partitioned one (MIG)."""

    id: str
    kind: str
    handle: Any = None
    #: of an instance: the UUID of its card, and the name that CUDA 11 had for it
    parent: str = ""
    old_id: str = ""
    #: of a card: its instances, or None when it is whole
    instances: tuple[Seen, ...] | None = None


class NvmlCard:
    """Card over NVML. Free memory is device-wide: all processes' use is taken off.

    `known`: whether the driver said which card this is; if not, `id` is made of the name and the
    mask, so that two workers with cards of their own are not taken for rivals.
    `parent`: of a MIG instance, its card's UUID.
    """

    exclusive = True

    def __init__(self, name: str, uuid: str = "") -> None:
        """Find what CUDA calls by this name, or the card of that UUID in a child that knows it.

        Raises ConfigError when the driver says that no such card is visible.
        """
        self.name = name
        self._session = _Session()
        try:
            seen = _of_uuid(self._session, name, uuid) if uuid else _of_name(self._session, name)
        except BaseException:
            self._session.close()
            raise
        self.known = bool(seen and seen.id)
        self.id = (seen.id if seen else "") or uuid or _guess(name)
        self.kind = (seen.kind if seen else "") or UNKNOWN
        self.parent = seen.parent if seen else ""
        self._handle = seen.handle if seen else None
        self.total: int | None = self._total()

    def free(self) -> int | None:
        memory = self._ask("nvmlDeviceGetMemoryInfo")
        return None if memory is None else int(memory.free)

    def processes(self) -> Mapping[int, int | None]:
        """Process ids in the host's numbering, which a container may not share."""
        found: dict[int, int | None] = {}
        for what in ("Compute", "Graphics"):
            for process in self._ask(f"nvmlDeviceGet{what}RunningProcesses") or ():
                used = process.usedGpuMemory
                # pynvml gives None for what the driver does not tell, older ones its mark: 2^64 - 1
                found[int(process.pid)] = None if used is None or used >> 63 else int(used)
        return found

    def close(self) -> None:
        self._session.close()

    def _total(self) -> int | None:
        """Bytes that programs may have: the driver's own share is taken off where it is told."""
        version = self._session.constant("nvmlMemory_v2")
        if version is not None:
            memory = self._ask("nvmlDeviceGetMemoryInfo", version)
            if memory is not None:
                return int(memory.total - memory.reserved)
        memory = self._ask("nvmlDeviceGetMemoryInfo")
        return None if memory is None else int(memory.total)

    def _ask(self, function: str, *arguments: Any) -> Any | None:
        if self._handle is None:
            return None
        return self._session.ask(function, self._handle, *arguments)


def same(card: device.Card, device_id: str) -> bool:
    """Whether the device that a child opened is the card that its parent looks at.

    True also where the parent's driver does not tell: then the child's word is all there is.
    """
    if card.id.lower() == device_id.lower():
        return True
    if not isinstance(card, NvmlCard):
        return False
    if not card.known:
        return True
    # some CUDA versions give an instance its card's UUID
    return device_id.startswith("MIG-") and _bare(device_id) == _bare(card.parent)


def visible(mask: str | None, cards: Sequence[Seen]) -> list[Seen]:
    """What CUDA counts of these cards (in PCI order) under a CUDA_VISIBLE_DEVICES; None: no mask.

    As the driver reads it: indices or beginnings of UUIDs by what the first one is; the first that
    fits nothing ends the list; one named twice empties it. Partitioned cards stand for their
    instances, and hide the whole ones.
    """
    chosen = list(cards) if mask is None else _chosen(mask, cards)
    if any(seen.parent or seen.instances for seen in chosen):
        return [part for seen in chosen for part in _parts(seen) if part.parent]
    return [seen for seen in chosen if seen.instances is None]


def _chosen(mask: str, cards: Sequence[Seen]) -> list[Seen]:
    instances = [part for card in cards for part in card.instances or ()]
    found: list[Seen] = []
    for word in (each.strip() for each in mask.split(",")):
        if mask.lstrip().startswith("MIG-"):
            seen = _begins(word, "MIG-", instances)
        elif mask.lstrip().startswith("GPU-"):
            seen = _begins(word, "GPU-", cards)
        else:
            # read as C's strtol does: 1gpu is 1
            digits = re.match(r"\+?\d+", word)
            index = int(digits[0]) if digits else len(cards)
            seen = cards[index] if index < len(cards) else None
        if seen is None:
            break
        if seen in found:
            return []
        found.append(seen)
    return found


def _begins(word: str, prefix: str, among: Sequence[Seen]) -> Seen | None:
    if not word.startswith(prefix):
        return None
    fits = [each for each in among if each.id.startswith(word) or each.old_id == word]
    return fits[0] if len(fits) == 1 else None


def _parts(seen: Seen) -> Sequence[Seen]:
    return (seen,) if seen.instances is None else seen.instances


def _of_name(session: _Session, name: str) -> Seen | None:
    count = session.ask("nvmlDeviceGetCount")
    if count is None:
        return None
    cards = _listed(session, count)
    mask = os.environ.get("CUDA_VISIBLE_DEVICES")
    found = visible(mask, cards)
    index = _index(name)
    if index >= len(found):
        under = "" if mask is None else f" under CUDA_VISIBLE_DEVICES={mask}"
        raise errors.ConfigError(
            f"there is no {name}: the driver shows {len(found)} of {count} card(s){under}"
        )
    _warn_of_order(name, mask, cards)
    return found[index]


def _of_uuid(session: _Session, name: str, uuid: str) -> Seen | None:
    cards = _listed(session, session.ask("nvmlDeviceGetCount") or 0)
    for seen in [part for card in cards for part in _parts(card)]:
        if seen.id.lower() == uuid.lower():
            return seen
    found = visible(os.environ.get("CUDA_VISIBLE_DEVICES"), cards)[_index(name) :][:1]
    for seen in found:
        if uuid.startswith("MIG-") and _bare(seen.parent) == _bare(uuid):
            return seen
    return None


def _listed(session: _Session, count: int) -> list[Seen]:
    """List the cards that this process may open, in NVML's order, which is PCI's."""
    cards = []
    for index in range(count):
        handle = session.ask("nvmlDeviceGetHandleByIndex", index)
        # CUDA doesn't count a card that it may not open, either
        if handle is not None:
            uuid = session.ask("nvmlDeviceGetUUID", handle) or ""
            kind = session.ask("nvmlDeviceGetName", handle) or ""
            mode = session.ask("nvmlDeviceGetMigMode", handle)
            parts = tuple(_instances(session, handle, uuid, kind)) if mode and mode[0] else None
            cards.append(Seen(id=uuid, kind=kind, handle=handle, instances=parts))
    return cards


def _instances(session: _Session, card: Any, uuid: str, kind: str) -> Iterator[Seen]:
    for index in range(session.ask("nvmlDeviceGetMaxMigDeviceCount", card) or 0):
        handle = session.ask("nvmlDeviceGetMigDeviceHandleByIndex", card, index)
        if handle is not None:
            gpu = session.ask("nvmlDeviceGetGpuInstanceId", handle)
            compute = session.ask("nvmlDeviceGetComputeInstanceId", handle)
            yield Seen(
                id=session.ask("nvmlDeviceGetUUID", handle) or "",
                # with its profile, as NVIDIA A100-SXM4-40GB MIG 1g.5gb
                kind=session.ask("nvmlDeviceGetName", handle) or kind,
                handle=handle,
                parent=uuid,
                old_id=f"MIG-{uuid}/{gpu}/{compute}",
            )


def _warn_of_order(name: str, mask: str | None, cards: Sequence[Seen]) -> None:
    by_uuid = mask is not None and mask.lstrip().startswith(("GPU-", "MIG-"))
    by_bus = os.environ.get("CUDA_DEVICE_ORDER", "PCI_BUS_ID") == "PCI_BUS_ID"  # see lives
    if not by_uuid and not by_bus and len({card.kind for card in cards}) > 1:
        _log.warning(
            "%s may be another card than it seems: CUDA_DEVICE_ORDER counts unlike cards "
            "otherwise than the driver; set it to PCI_BUS_ID, or UUIDs in CUDA_VISIBLE_DEVICES",
            name,
        )


def _guess(name: str) -> str:
    """What the card may be called where no driver tells: its place in the mask, or its name."""
    mask = os.environ.get("CUDA_VISIBLE_DEVICES")
    words = [] if mask is None else [word.strip() for word in mask.split(",")]
    word = words[_index(name)] if _index(name) < len(words) else ""
    if word.startswith(("GPU-", "MIG-")):
        return word
    return f"cuda:{int(word)}" if word.isdecimal() else name


def _index(name: str) -> int:
    return int(name.removeprefix("cuda:"))


def _bare(uuid: str) -> str:
    return uuid.partition("-")[2].lower()


class _Session:
    """NVML, begun and ended (it counts how often); any thread may ask, one at a time.

    It has one lock, held through each call and `close`, so that none meets a driver that ended.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._nvml = _pynvml()
        if self._nvml is not None and not self._begin():
            self._nvml = None

    def _begin(self) -> bool:
        assert self._nvml is not None
        try:
            self._nvml.nvmlInit()
        except Exception as error:  # noqa: BLE001 - whatever it is, the work can do without NVML
            _log.info("NVML can't be used: %s", error)
            return False
        return True

    def ask(self, function: str, *arguments: Any) -> Any | None:
        """Call NVML; None for every error: what a driver can't tell, nobody knows."""
        with self._lock:
            if self._nvml is None:
                return None
            try:
                answer = getattr(self._nvml, function)(*arguments)
            except Exception:  # noqa: BLE001 - as above; also functions that an old NVML lacks
                return None
        return answer.decode() if isinstance(answer, bytes) else answer

    def constant(self, name: str) -> Any | None:
        return getattr(self._nvml, name, None)

    def close(self) -> None:
        self.ask("nvmlShutdown")
        with self._lock:
            self._nvml = None


def _pynvml() -> Any | None:
    try:
        import pynvml  # noqa: PLC0415 - optional, and only where there are cards
    except ImportError:
        return None
    return pynvml
