"""How busy each device is, and the alarm of one that idles though it has room for what waits."""

from __future__ import annotations

from collections.abc import Iterator

from mangen.pooling import config, events, held, learned, lives, slots, window, wire


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
            fitting: Iterator[window.Waiting] = iter(())
            if not running and child is not None:
                fitting = self._fitting(child, slot.device, now)
            wanted = next(fitting, None) is not None
            ready = child is not None and child.state is lives.State.IDLE
            slot.meter.note(now, running=running, wanted=wanted, ready=ready)
            since = slot.meter.idle_since
            if slot.meter.alarm(now) and since is not None:
                yield events.Idling(
                    slot=slot.number,
                    device=slot.device,
                    waiting=wanted + sum(1 for _ in fitting),
                    seconds=now - since,
                )

    def _fitting(self, child: lives.Child, device: str, now: float) -> Iterator[window.Waiting]:
        """Who waits, longer than they must linger, that the device has room for."""
        fits = {
            one for one in self._table.window.alike
            if child.barred.get(one.bucket, 0.0) <= now  # its gate knows better
            and not self._settings.strange(device, one.bucket)
            and self._fits(child, one)
        }  # fmt: skip
        if fits:
            for waiting in self._table.window:
                if waiting.alike in fits and now - waiting.since > self._settings.linger_s:
                    yield waiting

    def _fits(self, child: lives.Child, one: window.Alike) -> bool:
        if one.bucket == wire.PLAIN or child.ready_at is None:
            return True
        need = self._lore.need(one, child.kind)
        if one.model not in child.report.residents:
            need += self._lore.estimates.weights(one.model, child.kind)
        return need <= child.report.room and not self._lore.hopeless(one, child.kind)
