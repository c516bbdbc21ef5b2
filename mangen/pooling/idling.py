"""How busy each device is, and the alarm of one that idles though it has room for what waits."""

from __future__ import annotations

from collections.abc import Iterator

from mangen.pooling import config, events, held, learned, lives, slots, wire, work


class Idling:
    """Moves each slot's meter on, and raises one alarm for each time a device idles too long."""

    def __init__(
        self,
        settings: config.Config,
        devices: slots.Slots,
        table: held.Table,
        lore: learned.Learned,
    ) -> None:
        self._settings = settings
        self._slots = devices
        self._table = table
        self._lore = lore

    def look(self, now: float) -> Iterator[events.Idling]:
        """Note what each device does now; yields the alarms that are due."""
        for slot in self._slots:
            child = slot.child
            running = child is not None and child.batch is not None and child.batch.ran
            fitting = 0 if running or child is None else self._fitting(child, now)
            ready = child is not None and child.state is lives.State.IDLE
            slot.meter.note(now, running=running, wanted=fitting > 0, ready=ready)
            since = slot.meter.idle_since
            if slot.meter.alarm(now) and since is not None:
                yield events.Idling(
                    slot=slot.number, device=slot.device, waiting=fitting, seconds=now - since
                )

    def _fitting(self, child: lives.Child, now: float) -> int:
        """How many wait, longer than they must linger, that the device has room for."""
        return sum(
            now - waiting.since > self._settings.linger_s
            and child.barred.get(waiting.item.bucket, 0.0) <= now  # its gate knows better
            and self._fits(child, waiting.item)
            for waiting in self._table.window
        )

    def _fits(self, child: lives.Child, item: work.Item) -> bool:
        if item.bucket == wire.PLAIN or child.ready_at is None:
            return True
        need = self._lore.estimates.peaks(item, child.kind).nbytes[0]
        if item.model not in child.report.residents:
            need += self._lore.estimates.weights(item.model, child.kind)
        return need <= child.report.room and not self._lore.hopeless(item, child.kind)
