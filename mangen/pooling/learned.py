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
        #: by slot: batch, members, peak; and what theory gave for it
        self._heard: dict[int, tuple[tuple[int, int, int], int]] = {}

    def cap(self, item: work.Item, device: str, waiting: int) -> int:
        """The largest batch to form now of such items, of which so many wait."""
        if not self._measure_sizes:
            return self.ceiling(item, device)
        return self.sizes.cap(estimate.Kind.of(item, device), item.cap, waiting)

    def ceiling(self, item: work.Item, device: str) -> int:
        """The largest batch of such items that was never too large, whatever it gains."""
        return self.sizes.ceiling(estimate.Kind.of(item, device), item.cap)

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

    def settled(
        self,
        child: lives.Child,
        item: work.Item,
        message: wire.Settled,
        beside: Sequence[work.Item] = (),
    ) -> int:
        """Learn from one that was done; answers the peak that theory gave for its batch.

        `beside` are in that still: theory's peaks may differ, and the batch's is their mean.
        Members that end together tell of one peak, which counts once: a window of sessions is
        meant, and five of them, not five members.
        """
        batch = child.batch.number if child.batch is not None else 0
        told = batch, message.members, message.peak
        before, theory = self._heard.get(child.slot, (None, 0))
        new = before != told
        if new:
            theory = _mean_theory([item, *beside], message.members)
            self._heard[child.slot] = told, theory
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
    return estimate.Kind(one.model, one.bucket, device)


def _mean_theory(items: Sequence[work.Item], members: int) -> int:
    """The peak in bytes that theory gives for so many members like these; 0 where it gives none."""
    given = [one.peaks[min(members, len(one.peaks)) - 1] for one in items if one.peaks]
    return round(sum(given) / len(given)) if given else 0
