"""A model of torch's caching allocator on one stream: what it reserves, splits, keeps and refuses.

It follows c10/cuda/CUDACachingAllocator.cpp with its defaults (no max_split_size, no garbage
collection). Bytes come from a driver: `grow(n)` answers whether n more could be had.

Segments of the default kind come from the driver one by one and return when wholly free. An
expandable segment is a range of addresses, larger than the card, of which whole handles (2 MiB for
small blocks, 20 MiB for large ones) are mapped as they are needed; trimming unmaps every handle
that lies wholly in a free block, wherever in the range it is.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

MIB = 2**20
MIN_BLOCK = 512
#: requests up to here live in the small pool
SMALL = MIB
SMALL_SEGMENT = 2 * MIB
LARGE_SEGMENT = 20 * MIB
#: larger requests get a segment of their own size
OWN_SEGMENT = 10 * MIB
ROUND_SEGMENT = 2 * MIB


class Exhausted(Exception):
    """The driver has no `nbytes` more, even after everything unused was returned."""

    def __init__(self, nbytes: int) -> None:
        super().__init__(nbytes)
        self.nbytes = nbytes


class Block:
    """A run of addresses; its neighbours are those of the same segment."""

    __slots__ = ("after", "before", "live", "mapped", "place", "pool", "size")

    def __init__(self, pool: _Pool, place: int, size: int, *, mapped: bool = True) -> None:
        self.pool = pool
        self.place = place
        self.size = size
        self.mapped = mapped
        self.live = False
        self.before: Block | None = None
        self.after: Block | None = None

    @property
    def split(self) -> bool:
        return self.before is not None or self.after is not None


class _Pool:
    """Free blocks of small or of large requests, ordered by size, then place."""

    def __init__(self, *, small: bool) -> None:
        self.small = small
        self.handle = SMALL_SEGMENT if small else LARGE_SEGMENT
        self.order: list[tuple[int, int]] = []
        self.free: dict[int, Block] = {}
        #: places of what an expandable segment could still map
        self.unmapped: list[int] = []
        self.ranges: dict[int, Block] = {}

    def put(self, block: Block) -> None:
        if block.mapped:
            bisect.insort(self.order, (block.size, block.place))
            self.free[block.place] = block
        else:
            bisect.insort(self.unmapped, block.place)
            self.ranges[block.place] = block

    def take(self, block: Block) -> None:
        if block.mapped:
            del self.order[bisect.bisect_left(self.order, (block.size, block.place))]
            del self.free[block.place]
        else:
            del self.unmapped[bisect.bisect_left(self.unmapped, block.place)]
            del self.ranges[block.place]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Stats:
    """Bytes and counts; `inactive` leaves expandable segments out, as torch's inactive_split."""

    allocated: int
    reserved: int
    inactive: int
    peak_allocated: int
    peak_reserved: int
    ooms: int
    retries: int


class Allocator:
    """One process' allocator on one card. Not safe for threads: its owner holds a lock.

    `span`: addresses of an expandable segment; torch takes 9/8 of the card.
    """

    def __init__(
        self,
        grow: Callable[[int], bool],
        shrink: Callable[[int], None],
        *,
        expandable: bool = True,
        span: int = 2**38,
    ) -> None:
        self.expandable = expandable
        self.allocated = 0
        self.reserved = 0
        self.peak_allocated = 0
        self.peak_reserved = 0
        self.ooms = 0
        self.retries = 0
        #: changes whenever the layout may have changed
        self.version = 0
        self._grow = grow
        self._shrink = shrink
        self._span = -(-span // LARGE_SEGMENT) * LARGE_SEGMENT
        self._edge = 0  # where the next segment's addresses begin
        self._small = _Pool(small=True)
        self._large = _Pool(small=False)
        self._live: dict[int, Block] = {}

    def alloc(self, nbytes: int) -> Block:
        """Answer a live block of at least `nbytes`; raises Exhausted after a trim."""
        size = max(MIN_BLOCK, -(-nbytes // MIN_BLOCK) * MIN_BLOCK)
        pool = self._small if size <= SMALL else self._large
        block = self._fit(pool, size) or self._obtain(pool, size)
        if block is None:
            self.trim()
            self.retries += 1
            block = self._obtain(pool, size)
            if block is None:
                self.ooms += 1
                raise Exhausted(nbytes)
        self._cut(block, size)
        block.live = True
        self._live[block.place] = block
        self.version += 1
        self.allocated += block.size
        self.peak_allocated = max(self.peak_allocated, self.allocated)
        return block

    def free(self, block: Block) -> None:
        """Give a live block back to its pool, joined with its free neighbours."""
        del self._live[block.place]
        block.live = False
        self.version += 1
        self.allocated -= block.size
        self._settle(block)

    def trim(self) -> None:
        """Return to the driver what is wholly free: empty_cache."""
        self.version += 1
        for pool in (self._large, self._small):
            for block in [pool.free[place] for _, place in pool.order]:
                if self.expandable:
                    self._unmap(block)
                elif not block.split:
                    pool.take(block)
                    self._return(block.size)

    def watch(self) -> None:
        """Begin new peaks."""
        self.peak_allocated = self.allocated
        self.peak_reserved = self.reserved

    def touch(self, nbytes: int) -> None:
        """Count a peak of `nbytes` over what is live, that fits in what is reserved."""
        self.peak_allocated = max(self.peak_allocated, self.allocated + nbytes)

    def stats(self) -> Stats:
        return Stats(
            allocated=self.allocated,
            reserved=self.reserved,
            inactive=0
            if self.expandable
            else sum(block.size for block in self._unused() if block.split),
            peak_allocated=self.peak_allocated,
            peak_reserved=self.peak_reserved,
            ooms=self.ooms,
            retries=self.retries,
        )

    def blocks(self) -> list[dict[str, Any]]:
        """All mapped blocks by their place, for people and for tests."""
        found = [*self._live.values(), *self._unused()]
        return [
            {"place": b.place, "size": b.size, "live": b.live, "small": b.pool.small}
            for b in sorted(found, key=lambda block: block.place)
        ]

    def _unused(self) -> Iterator[Block]:
        yield from self._small.free.values()
        yield from self._large.free.values()

    def _fit(self, pool: _Pool, size: int) -> Block | None:
        """Best fit; a block that could be extended counts as large as it could become."""
        order = pool.order
        at = bisect.bisect_left(order, (size, -1))
        if at == len(order):
            return None
        block = pool.free[order[at][1]]
        if self.expandable:
            for further in range(at + 1, len(order)):
                other = pool.free[order[further][1]]
                if _extent(other) >= _extent(block):
                    break
                block = other
        pool.take(block)
        return block

    def _obtain(self, pool: _Pool, size: int) -> Block | None:
        """Answer a free block of at least `size`, out of its pool, with bytes of the driver's."""
        if self.expandable:
            return self._extend(pool, size)
        need = pool.handle
        if size >= OWN_SEGMENT:
            need = -(-size // ROUND_SEGMENT) * ROUND_SEGMENT
        if not self._reserve(need):
            return None
        return Block(pool, self._addresses(need), need)

    def _extend(self, pool: _Pool, size: int) -> Block | None:
        block = self._candidate(pool, size)
        if not block.mapped:
            mapped = self._map(block, min(block.size, size))
            if mapped is None:
                return None
            block = mapped
        while block.size < size:
            further = block.after
            assert further is not None
            mapped = self._map(further, min(size - block.size, further.size))
            if mapped is None:
                return None
            block = mapped
        pool.take(block)
        return block

    def _candidate(self, pool: _Pool, size: int) -> Block:
        """Answer the lowest run of free and unmapped blocks with room, or a new segment."""
        for place in pool.unmapped:
            first = pool.ranges[place]
            if first.before is not None and not first.before.live:
                first = first.before
            room, block = 0, first
            while room < size:
                room += block.size
                if block.after is None or block.after.live:
                    break
                block = block.after
            if room >= size:
                return first
        span = max(self._span, -(-size // pool.handle) * pool.handle)
        fresh = Block(pool, self._addresses(span), span, mapped=False)
        pool.put(fresh)
        return fresh

    def _map(self, block: Block, nbytes: int) -> Block | None:
        """Back the beginning of an unmapped block by handles; all that are needed, or none."""
        pool = block.pool
        need = -(-nbytes // pool.handle) * pool.handle
        if not self._reserve(need):
            return None
        pool.take(block)
        block.mapped = True
        if need < block.size:
            self._insert_after(block, need, mapped=False)
        return self._settle(block)

    def _unmap(self, block: Block) -> None:
        """Return the handles that lie wholly in a free block; its ends stay mapped."""
        pool, handle = block.pool, block.pool.handle
        low = -(-block.place // handle) * handle
        high = (block.place + block.size) // handle * handle
        if low >= high:
            return
        pool.take(block)
        if low > block.place:
            rest = self._insert_after(block, low - block.place, mapped=True)
            pool.put(block)
            pool.take(rest)
            block = rest
        if block.size > high - low:
            self._insert_after(block, high - low, mapped=True)
        block.mapped = False
        self._return(high - low)
        block = self._settle(block)
        if not block.split:
            pool.take(block)  # the whole segment is unmapped: its addresses are forgotten

    def _cut(self, block: Block, size: int) -> None:
        """Split off what a request does not need, where torch would."""
        rest = block.size - size
        if rest >= MIN_BLOCK if (block.pool.small or self.expandable) else rest > SMALL:
            self._insert_after(block, size, mapped=True)

    def _insert_after(self, block: Block, size: int, *, mapped: bool) -> Block:
        """Cut a block that is in no list to `size`; the rest goes into its list."""
        rest = Block(block.pool, block.place + size, block.size - size, mapped=mapped)
        rest.before, rest.after = block, block.after
        if rest.after is not None:
            rest.after.before = rest
        block.after = rest
        block.size = size
        block.pool.put(rest)
        return rest

    def _settle(self, block: Block) -> Block:
        """Join a block that is in no list with its like neighbours, and put it into its list."""
        pool = block.pool
        before, after = block.before, block.after
        if after is not None and not after.live and after.mapped == block.mapped:
            pool.take(after)
            _absorb(block, after)
        if before is not None and not before.live and before.mapped == block.mapped:
            pool.take(before)
            _absorb(before, block)
            block = before
        pool.put(block)
        return block

    def _addresses(self, size: int) -> int:
        place = self._edge
        step = LARGE_SEGMENT  # aligned for either pool's handles
        self._edge += (-(-size // step) + 1) * step
        return place

    def _reserve(self, nbytes: int) -> bool:
        if not self._grow(nbytes):
            return False
        self.reserved += nbytes
        self.peak_reserved = max(self.peak_reserved, self.reserved)
        return True

    def _return(self, nbytes: int) -> None:
        self.reserved -= nbytes
        self._shrink(nbytes)


def _extent(block: Block) -> int:
    after = block.after
    return block.size + (after.size if after is not None and not after.mapped else 0)


def _absorb(block: Block, after: Block) -> None:
    block.size += after.size
    block.after = after.after
    if block.after is not None:
        block.after.before = block
