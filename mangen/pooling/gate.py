"""Who admits bytes on one device: the only owner of them, in the device's child.

usable = budget - max(what is measured, what is known) - what running members reserved and have not
filled yet. *Known* are the floor (the process before its first work), the resident weights and the
cache; *measured* is the resident set, which also holds what the allocator keeps. So neither a leak
nor a load that isn't finished can be overlooked.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Protocol


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Admitted:
    """So many members may run; `reserved` bytes are theirs until they are settled."""

    members: int
    reserved: int
    usable: int
    used: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """Nobody may run: a single member needs `need`; `never` when no eviction could help."""

    need: int
    usable: int
    never: bool


class Reclaimer(Protocol):
    """Gives bytes back, in this order: compress the cache, evict unpinned residents, trim."""

    def compress_cache(self, wanted: int) -> int: ...
    def evict(self, wanted: int, keep: str) -> int: ...
    def trim(self) -> None: ...
    def known(self) -> int:
        """Bytes of resident weights and cache."""
        ...


class Gate:
    """Budget in bytes; `measure` answers the bytes used now."""

    def __init__(self, budget: int, measure: Callable[[], int], reclaimer: Reclaimer) -> None:
        self._budget = budget
        self._measure = measure
        self._reclaimer = reclaimer
        self._floor = measure() - reclaimer.known()
        self._admitted: list[Admitted] = []

    @property
    def reserved(self) -> int:
        return sum(one.reserved for one in self._admitted)

    def usable(self) -> int:
        """Bytes that could be admitted now, without evicting anything; may be negative."""
        used = self._measure()
        known = self._floor + self._reclaimer.known()
        base = min((one.used for one in self._admitted), default=used)
        unfilled = max(0, self.reserved - max(0, used - base))
        return self._budget - max(used, known) - unfilled

    def admit(self, peaks: Sequence[int], keep: str = "") -> Admitted | Refused:
        """Admit as many members as fit; `peaks[i]` are bytes with i + 1, `keep` is their model.

        Makes room first, and takes fewer members only when making room did not help.
        """
        self.make_room(peaks[-1], keep)
        usable = self.usable()
        for members in range(len(peaks), 0, -1):
            if peaks[members - 1] <= usable:
                admitted = Admitted(
                    members=members,
                    reserved=peaks[members - 1],
                    usable=usable,
                    used=self._measure(),
                )
                self._admitted.append(admitted)
                return admitted
        return Refused(need=peaks[0], usable=usable, never=peaks[0] > self._budget - self._floor)

    def make_room(self, wanted: int, keep: str = "") -> bool:
        """Evict until `wanted` bytes are usable; answers whether they are."""
        if self._reclaimer.compress_cache(max(0, wanted - self.usable())):
            self._reclaimer.trim()
        if self._reclaimer.evict(max(0, wanted - self.usable()), keep):
            self._reclaimer.trim()
        if wanted > self.usable():
            self._reclaimer.trim()
        return wanted <= self.usable()

    def extend(self, admitted: Admitted, peaks: Sequence[int], more: int) -> Admitted | Refused:
        """Let up to `more` members join a running session; `peaks[i]` are bytes with i + 1 in all.

        Evicts nothing: the session's own model is pinned, and joining is no reason to lose others.
        """
        usable = self.usable()
        for members in range(min(admitted.members + more, len(peaks)), admitted.members, -1):
            reserved = max(admitted.reserved, peaks[members - 1])
            if reserved - admitted.reserved <= usable:
                self._admitted.remove(admitted)
                larger = dataclasses.replace(admitted, members=members, reserved=reserved)
                self._admitted.append(larger)
                return larger
        need = peaks[min(admitted.members, len(peaks) - 1)] - admitted.reserved
        return Refused(need=need, usable=usable, never=False)

    def shrink(self, admitted: Admitted, peaks: Sequence[int], members: int) -> Admitted:
        """Keep only what so many members need: the others were not granted, or ended."""
        if members >= admitted.members:
            return admitted
        self._admitted.remove(admitted)
        smaller = dataclasses.replace(
            admitted, members=members, reserved=peaks[members - 1] if members else 0
        )
        self._admitted.append(smaller)
        return smaller

    def settle(self, admitted: Admitted, observed: int) -> float:
        """Free the reservation; answers observed / reserved (0 where nothing was reserved)."""
        self._admitted.remove(admitted)
        return observed / admitted.reserved if admitted.reserved else 0.0
