"""What the pool learned of its work: estimates and batch sizes, fed from what children say."""

from __future__ import annotations

from collections.abc import Sequence

from mangen.pooling import estimate, events, lives, sizes, window, wire, work

MARGIN = 1.08
"""Of peaks. What fragments cost of one stage's peak differed by 7 % from one layout of the memory
to another (bench pool): with a margin of 5 %, 1 to 2 % of sessions were under-estimated."""


class Learned:
    """Owned by the engine thread; `device` is always a kind of device, not a name."""

    def __init__(self, *, measure_sizes: bool = True) -> None:
        self._measure_sizes = measure_sizes
        self.estimates = estimate.Estimates(margin=MARGIN)
        self.sizes = sizes.Sizes()
        self._heard: dict[int, tuple[int, int, int]] = {}  # by slot: batch, members, peak

    def cap(self, item: work.Item, device: str, waiting: int) -> int:
        """The largest batch to form now of such items, of which so many wait."""
        kind = estimate.Kind.of(item, device)
        if not self._measure_sizes:
            return self.sizes.ceiling(kind, item.cap)
        return self.sizes.cap(kind, item.cap, waiting)

    def hopeless(self, one: work.Item | window.Alike, device: str) -> bool:
        """Whether such work was probed on this kind of device, and did not fit."""
        return self.sizes.hopeless(_kind(one, device))

    def need(self, one: window.Alike, device: str) -> int:
        """The peak in bytes of one of these, alone."""
        return self.estimates.peak_of_one(_kind(one, device), one.peak)

    def hear(self, child: lives.Child, event: events.Event) -> None:
        """Learn from an event that happened in a child."""
        match event:
            case events.Loaded():
                self.estimates.observe_load(event.model, event.device, event.nbytes, event.seconds)
            case events.Admitted() if child.batch is not None:
                self._fitted(child, child.batch, event.members)
            case events.OutOfMemory() if child.batch is not None:
                kind = estimate.Kind.of(child.batch.first, child.kind)
                self.estimates.oom(child.batch.first, child.kind, event.members, event.reserved)
                if event.members > 1:
                    self.sizes.oom(kind, event.members)
                elif event.proved:
                    self.sizes.proved_hopeless(kind)
            case events.Batched() if event.whole and child.batch is not None:
                self.sizes.observe(
                    estimate.Kind.of(child.batch.first, child.kind),
                    event.members,
                    max(0.0, event.seconds - event.loading),
                )
            case _:
                pass

    def _fitted(self, child: lives.Child, batch: lives.Batch, members: int) -> None:
        """Don't ask again at once for what had no room, unless only theory said so."""
        if members < len(batch.offered):
            cold = self.estimates.peaks(batch.first, child.kind).cold
            if not cold[min(members, len(cold) - 1)]:
                self.sizes.admitted(estimate.Kind.of(batch.first, child.kind), members)

    def settled(self, child: lives.Child, item: work.Item, message: wire.Settled) -> int:
        """Learn from one that was done; answers the peak that theory gave for its batch.

        Members that end together tell of one peak, which counts once: a window of sessions is
        meant, and five of them, not five members.
        """
        theory = theory_of(item, message.members)
        batch = child.batch.number if child.batch is not None else 0
        told = batch, message.members, message.peak
        new, self._heard[child.slot] = self._heard.get(child.slot) != told, told
        if message.outcome.status is work.Status.DONE and item.data is not None:
            self.estimates.observe(
                item,
                child.kind,
                seconds=max(0.0, message.seconds - message.loading),
                peak=message.peak,
                members=message.members,
                theory=theory if new else 0,
            )
        return theory

    def recall(self, seen: Sequence[events.Seen]) -> None:
        """Take in what was kept of workers before this one."""
        self.estimates.learn(seen)


def _kind(one: work.Item | window.Alike, device: str) -> estimate.Kind:
    return estimate.Kind(one.name, one.model, one.bucket, device)


def theory_of(item: work.Item, members: int) -> int:
    """The peak in bytes that theory gives for so many members like this one."""
    return item.peaks[min(members, len(item.peaks)) - 1] if item.peaks else 0
