"""Who admits bytes on one device: the only owner of them, in the device's child.

usable = reach - margin - max(allocated, known) - what running members reserved and have not filled
yet. *reach* is all that this process could have allocated at once: what the driver has left, and
what its own allocator holds in one piece; a foreign tenant lowers it. *Known* are the floor (the
process before its first work), the resident weights and the cache's share of this memory;
*allocated* is measured. So neither a leak nor a load that isn't finished can be overlooked.

It asks "does it fit", never "is it unchanged". Its lock guards the reservations alone: whoever
gives bytes back is called without it.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Sequence
from typing import Protocol

from mangen.pooling.devices import device

#: bytes of others on a device that don't spoil a probe: a desktop, a monitor
FOREIGN_SLACK = 256 << 20


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Admitted:
    """So many members may run; `reserved` bytes are theirs until they are settled.

    `used` and `known` are the device's and the ledger's bytes when they were let in. `probe`: they
    should not fit, but have the whole device, to see.
    """

    members: int
    reserved: int
    usable: int
    used: int
    known: int
    probe: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """Nobody may run: a single member needs `need`; `never` when no eviction could help."""

    need: int
    usable: int
    never: bool


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Balance:
    """The device's bytes beside the ledger's, at one moment.

    `difference` is live memory that nobody reserved, loaded or cached. `foreign` is what other
    processes hold of the device. `room`: what one session could get with everything evicted.
    """

    memory: device.Memory
    known: int
    reserved: int
    usable: int
    difference: int
    foreign: int
    room: int


class Reclaimer(Protocol):
    """Gives bytes back, in this order: compress the cache, evict unpinned residents, trim."""

    def compress_cache(self, wanted: int) -> int: ...
    def evict(self, wanted: int, keep: str) -> int: ...
    def trim(self) -> None: ...
    def weights(self) -> int:
        """Bytes of resident weights."""
        ...

    def known(self) -> int:
        """Bytes of resident weights and of the cache, on this device."""
        ...

    def limit_cache(self, watermark: int) -> None:
        """Let the cache hold no more than this on the device, and give back what is beyond it."""
        ...


class Gate:
    """`margin` is the share of the device that is never promised."""

    def __init__(self, owned: device.Device, reclaimer: Reclaimer, *, margin: float = 0.0) -> None:
        self._device = owned
        self._reclaimer = reclaimer
        self._lock = threading.Lock()
        self._admitted: list[Admitted] = []
        look = owned.memory()
        self._floor = max(0, look.allocated - reclaimer.known())
        self._margin = int(margin * look.total)

    @property
    def reserved(self) -> int:
        return sum(one.reserved for one in self._running())

    def usable(self) -> int:
        """Bytes that could be admitted now, without evicting anything; may be negative."""
        return self.balance().usable

    def balance(self) -> Balance:
        """Hold the device against the ledger of bytes; may be called from any thread."""
        look = self._device.memory()
        known = self._floor + self._reclaimer.known()
        running = self._running()
        reserved = sum(one.reserved for one in running)
        # what members have filled: growth since the first was let in, without what was loaded
        filled = 0
        if running:
            first = min(running, key=lambda one: one.used)
            filled = max(0, look.allocated - first.used - (known - first.known))
        foreign = look.total - self._device.overhead - look.reserved - look.free
        return Balance(
            memory=look,
            known=known,
            reserved=reserved,
            usable=look.reach - self._margin - max(look.allocated, known)
            - max(0, reserved - filled),
            difference=max(0, look.allocated - known - min(reserved, filled)),
            foreign=max(0, foreign),
            room=look.reach - self._margin - self._floor,
        )  # fmt: skip

    def admit(
        self, peaks: Sequence[int], keep: str = "", *, weights: int = 0, hopeless: bool = False
    ) -> Admitted | Refused:
        """Admit as many members as fit; `peaks[i]` are bytes with i + 1, `keep` is their model.

        `weights` are bytes that they will load besides. Makes room first, and takes fewer members
        only when making room did not help. What is larger than the whole device by its estimate is
        let in alone, with everything evicted, once: unless it was proved `hopeless`.
        """
        self.make_room(peaks[-1] + weights, keep)
        now = self.balance()
        for members in range(len(peaks), 0, -1):
            if peaks[members - 1] + weights <= now.usable:
                return self._let_in(members, peaks[members - 1], now)
        need = peaks[0] + weights
        empty = now.memory.total - self._device.overhead - self._margin - self._floor
        resident = self._reclaimer.known()
        if need + resident <= empty:  # it would fit, were the device ours alone and unbroken
            return Refused(need=need, usable=now.usable, never=False)
        if hopeless:
            return Refused(need=need, usable=now.usable, never=True)
        if now.foreign > FOREIGN_SLACK:  # a probe beside others proves nothing
            return Refused(need=need, usable=now.usable, never=False)
        return self._let_in(1, max(0, now.usable - weights), now, probe=True)

    def make_room(self, wanted: int, keep: str = "") -> bool:
        """Evict until `wanted` bytes are usable; answers whether they are."""
        lacking = wanted - self.usable()
        if lacking > 0 and self._reclaimer.compress_cache(lacking):
            lacking = wanted - self.usable()
        if lacking > 0 and self._reclaimer.evict(lacking, keep):
            self._reclaimer.trim()
            lacking = wanted - self.usable()
        if lacking > 0:
            self._reclaimer.trim()
            lacking = wanted - self.usable()
        return lacking <= 0

    def move_watermark(self, largest: int) -> int:
        """Let the cache have what the weights and the `largest` single peak at hand leave.

        Answers the new watermark: dynamic watermark compression, as what runs changes.
        """
        now = self.balance()
        peak = max(largest, now.reserved)
        watermark = max(0, now.room - self._reclaimer.weights() - peak)
        self._reclaimer.limit_cache(watermark)
        return watermark

    def admissible(self, peak: int) -> int:
        """Answer how many members of `peak` bytes each could run now, in all."""
        now = self.balance()
        return max(0, now.usable + now.reserved) // peak if peak > 0 else 0

    def extend(self, admitted: Admitted, peaks: Sequence[int], more: int) -> Admitted | Refused:
        """Let up to `more` members join a running session; `peaks[i]` are bytes with i + 1 in all.

        Evicts nothing: the session's own model is pinned, and joining is no reason to lose others.
        """
        usable = self.usable()
        for members in range(min(admitted.members + more, len(peaks)), admitted.members, -1):
            reserved = max(admitted.reserved, peaks[members - 1])
            if reserved - admitted.reserved <= usable:
                return self._replace(admitted, members, reserved)
        need = peaks[min(admitted.members, len(peaks) - 1)] - admitted.reserved
        return Refused(need=need, usable=usable, never=False)

    def shrink(self, admitted: Admitted, peaks: Sequence[int], members: int) -> Admitted:
        """Keep only what so many members need: the others were not granted, or ended.

        Never more than before: what a probe or a resized session has may be less than its peaks.
        """
        if members >= admitted.members:
            return admitted
        needed = peaks[members - 1] if members else 0
        return self._replace(admitted, members, min(admitted.reserved, needed))

    def resize(
        self,
        admitted: Admitted,
        peaks: Sequence[int],
        members: int,
        keep: str = "",
        *,
        weights: int = 0,
    ) -> Admitted:
        """Reserve anew for a session that ran out of memory, as much as there is of it.

        `keep` is its model; `weights` are bytes that it must load again, and are left to that.
        """
        smaller = self._replace(admitted, members, 0)
        self.make_room(peaks[members - 1] + weights, keep)
        usable = max(0, self.usable() - weights)
        return self._replace(smaller, members, min(peaks[members - 1], usable))

    def settle(self, admitted: Admitted, observed: int) -> float:
        """Free the reservation; answers observed / reserved (0 where nothing was reserved)."""
        with self._lock:
            self._admitted.remove(admitted)
        return observed / admitted.reserved if admitted.reserved else 0.0

    def _let_in(
        self, members: int, reserved: int, now: Balance, *, probe: bool = False
    ) -> Admitted:
        admitted = Admitted(
            members=members, reserved=reserved, usable=now.usable, used=now.memory.allocated,
            known=now.known, probe=probe,
        )  # fmt: skip
        with self._lock:
            self._admitted.append(admitted)
        return admitted

    def _replace(self, old: Admitted, members: int, reserved: int) -> Admitted:
        new = dataclasses.replace(old, members=members, reserved=reserved)
        with self._lock:
            self._admitted[self._admitted.index(old)] = new
        return new

    def _running(self) -> list[Admitted]:
        with self._lock:
            return list(self._admitted)
