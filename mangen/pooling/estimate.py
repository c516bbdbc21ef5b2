"""What work will need, learned from what it needed: peaks, durations, loads. Pure.

The rule for peaks is the window's maximum of observed / theory, with a margin. Of the rules that
were compared on a synthetic record (averages with deviations, quantiles, one maximum for all) it
is the one that stays below 1 % of under-estimates and below 50 % of over-reservation. A window of
50 gives 0.7 % and 26 % there; one of 256 keeps every out-of-memory too long, and reserves 44 %.
"""

from __future__ import annotations

import collections
import dataclasses
import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeAlias, TypeVar

from mangen.pooling import events, work

_K = TypeVar("_K")
_V = TypeVar("_V")

OOM_FACTOR = 1.25
LOWEST, HIGHEST = 0.25, 8.0
_OOMS = 16  #: of a kind, that are remembered
_LOADS = 9
_DURATIONS = 50


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """What must be equal for two observations to speak of the same thing.

    Not the work's name: what shares batches has its bytes and seconds in common. `device` is the
    device's kind, so that a small card never learns from a large one.
    """

    model: str
    bucket: str
    device: str

    @classmethod
    def of(cls, item: work.Item, device: str) -> Kind:
        return cls(item.model, item.bucket, device)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Peaks:
    """`nbytes[i]` with i + 1 members, over the weights; where `cold[i]`, nothing was observed yet.

    What is cold is theory, and wants its model's cold factor: only the child knows the model.
    """

    nbytes: tuple[int, ...]
    cold: tuple[bool, ...]


class Recent(Generic[_K, _V]):
    """A table that forgets what was not used for longest when it holds more than `limit`."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rows: collections.OrderedDict[_K, _V] = collections.OrderedDict()

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, key: _K) -> _V | None:
        row = self._rows.get(key)
        if row is not None:
            self._rows.move_to_end(key)
        return row

    def of(self, key: _K, make: Callable[[], _V]) -> _V:
        """Answer the row, a new one when there is none."""
        row = self.get(key)
        if row is None:
            row = self._rows[key] = make()
            if len(self._rows) > self._limit:
                self._rows.popitem(last=False)
        return row


class Highest:
    """The maximum of the last `window` values; keeps only those that may still become it."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._pushed = 0
        self._falling: collections.deque[tuple[int, float]] = collections.deque()

    def __len__(self) -> int:
        return min(self._pushed, self._window)

    @property
    def value(self) -> float:
        """The maximum; 0 when there is none."""
        return self._falling[0][1] if self._falling else 0.0

    def push(self, value: float) -> None:
        while self._falling and self._falling[-1][1] <= value:
            self._falling.pop()
        self._falling.append((self._pushed, value))
        self._pushed += 1
        if self._falling[0][0] < self._pushed - self._window:
            self._falling.popleft()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Oom:
    """Memory ran out under so many members: `ratio` is what they are given from then on.

    `whole`: it is a share of theory as it stands; else the cold factor still goes on top.
    """

    at: int
    members: int
    ratio: float
    whole: bool


class _Record:
    """What is known of one kind."""

    def __init__(self) -> None:
        self.seen = 0
        self.ratios: dict[int, Highest] = {}
        self.ooms: collections.deque[_Oom] = collections.deque(maxlen=_OOMS)
        self.seconds: collections.deque[float] = collections.deque(maxlen=_DURATIONS)


_Load: TypeAlias = collections.deque[tuple[int, float]]


class Estimates:
    """Corrects the theory by its own record.

    Until `samples` observations, theory stands as it is given, and is called cold. From then on a
    peak is theory times the largest ratio in the window, times `margin`, within [0.25, 8]: an
    allocator that kept freed memory makes a session look smaller than it is. A number of members
    with too few samples of its own borrows the largest ratio of its kind, since peaks are linear
    in members. Durations: the 0.9 quantile, where it is longer than the theory, because they end
    in a limit, and a limit that is too short kills work.

    At most `kinds` are kept, the last used: buckets may be without number.
    """

    def __init__(
        self, *, samples: int = 5, window: int = 50, margin: float = 1.05, kinds: int = 4096
    ) -> None:
        self._samples = samples
        self._window = window
        self._margin = margin
        self._records: Recent[Kind, _Record] = Recent(kinds)
        self._loads: Recent[tuple[str, str], _Load] = Recent(kinds)

    def __len__(self) -> int:
        """How many kinds of work are known."""
        return len(self._records)

    def peaks(self, item: work.Item, device: str) -> Peaks:
        """The item's peaks in bytes, corrected; one for each number of members up to its cap."""
        record = self._records.get(Kind.of(item, device))
        nbytes, cold = [], []
        for members in range(1, max(item.cap, len(item.peaks), 1) + 1):
            factor, is_cold = self._factor(record, members)
            nbytes.append(math.ceil(_theory(item, members) * factor))
            cold.append(is_cold)
        return Peaks(nbytes=tuple(nbytes), cold=tuple(cold))

    def peak_of_one(self, kind: Kind, theory: int) -> int:
        """The peak in bytes of one member alone, for which theory gives so many."""
        return math.ceil(theory * self._factor(self._records.get(kind), 1)[0])

    def together(self, items: Sequence[work.Item], device: str) -> Peaks:
        """Peaks of a batch of these: the largest of theirs for each number of members.

        Cold where one of them is: the factor may make the smaller theory the larger peak.
        """
        each = [self.peaks(item, device) for item in items]
        sizes = range(max((len(peaks.nbytes) for peaks in each), default=0))
        return Peaks(
            nbytes=tuple(max(_at(peaks.nbytes, n) for peaks in each) for n in sizes),
            cold=tuple(any(_at(peaks.cold, n) for peaks in each) for n in sizes),
        )

    def seconds(self, item: work.Item, device: str) -> float:
        """Expected duration: the theory, or the learned quantile where that is longer."""
        record = self._records.get(Kind.of(item, device))
        if record is None or len(record.seconds) < self._samples:
            return item.seconds
        ordered = sorted(record.seconds)
        return max(item.seconds, ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))])

    def load_s(self, model: str, device: str) -> float:
        """Seconds that loading the model takes; 0 when none was seen.

        The median of the last few: a load from a cold disk is no measure of the next one.
        """
        seen = self._loads.get((model, device))
        return statistics.median_high(seconds for _, seconds in seen) if seen else 0.0

    def weights(self, model: str, device: str) -> int:
        """Bytes of the model while it is resident; 0 when none was seen. A median, as above."""
        seen = self._loads.get((model, device))
        return statistics.median_high(nbytes for nbytes, _ in seen) if seen else 0

    def observe(
        self,
        item: work.Item,
        device: str,
        *,
        seconds: float,
        peak: int,
        members: int,
        theory: int | None = None,
    ) -> None:
        """Learn from one that was done.

        `theory` is what theory gave its batch, by default its own; 0: the peak says nothing.
        """
        given = _theory(item, members) if theory is None else theory
        self._see(Kind.of(item, device), seconds, peak, members, given)

    def observe_load(self, model: str, device: str, nbytes: int, seconds: float) -> None:
        """Learn from a model that was loaded."""
        seen = self._loads.of((model, device), lambda: collections.deque(maxlen=_LOADS))
        seen.append((nbytes, seconds))

    def oom(self, item: work.Item, device: str, members: int, reserved: int = 0) -> None:
        """Raise the peaks of so many members, and of more, by a quarter over what was estimated.

        With `reserved`, the bytes that were not enough, over those: they held the cold factor too.
        """
        record = self._records.of(Kind.of(item, device), _Record)
        theory = _theory(item, members)
        ratio, cold = self._factor(record, members)
        if reserved > 0 and theory > 0:
            ratio, cold = max(reserved / theory, 0.0 if cold else ratio), False
        record.ooms.append(
            _Oom(at=record.seen, members=members, ratio=ratio * OOM_FACTOR, whole=not cold)
        )

    def learn(self, rows: Iterable[events.Seen]) -> None:
        """Take in what a listener kept, the oldest first, so that a new worker starts wise."""
        for row in rows:
            if row.name:
                kind = Kind(row.model, row.bucket, row.device)
                self._see(kind, row.seconds, row.peak, row.members, row.theory)
            else:
                self.observe_load(row.model, row.device, row.peak, row.seconds)

    def _see(self, kind: Kind, seconds: float, peak: int, members: int, theory: int) -> None:
        record = self._records.of(kind, _Record)
        record.seen += 1
        record.seconds.append(seconds)
        if theory > 0:
            record.ratios.setdefault(members, Highest(self._window)).push(peak / theory)

    def _factor(self, record: _Record | None, members: int) -> tuple[float, bool]:
        """What theory is multiplied by, and whether it is cold."""
        if record is None:
            return 1.0, True
        factor = self._observed(record, members)
        ooms = [
            oom
            for oom in record.ooms
            if oom.members <= members and record.seen - oom.at < self._window
        ]
        cold = factor is None and not any(oom.whole for oom in ooms)
        if factor is None:
            ooms = [oom for oom in ooms if oom.whole is not cold]
        raised = max((oom.ratio for oom in ooms), default=1.0 if factor is None else 0.0)
        return min(HIGHEST, max(LOWEST, factor or 0.0, raised)), cold

    def _observed(self, record: _Record, members: int) -> float | None:
        own = record.ratios.get(members)
        if own is not None and len(own) >= self._samples:
            return own.value * self._margin
        every = record.ratios.values()
        if sum(len(seen) for seen in every) >= self._samples:
            return max(seen.value for seen in every) * self._margin
        return None


def _theory(item: work.Item, members: int) -> int:
    """Theory's peak with so many members; beyond what is given it goes on as steeply."""
    given = item.peaks or (0,)
    if members <= len(given):
        return given[max(members, 1) - 1]
    before = given[-2] if len(given) > 1 else 0
    return given[-1] + max(0, given[-1] - before) * (members - len(given))


def _at(row: Sequence[int], n: int) -> int:
    return row[min(n, len(row) - 1)]
