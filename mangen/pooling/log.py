"""Listeners: one that formats every log line of the pool, and one that is many."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from mangen.pooling import events, work

_log = logging.getLogger("mangen.pooling")
_GIB = 1 << 30


class Log:
    """Says what happens in sentences; the routine at debug, what needs a person as a warning."""

    def on(self, event: events.Event) -> None:
        level, text = line(event)
        _log.log(level, "%s", text)

    def child_lost(self, owner: str, keys: Sequence[work.Key], alone: bool) -> None:  # noqa: FBT001 - contracts.md spells it so
        pass  # ChildLost says it


class Many:
    """Passes everything on to several listeners, in order; a fault of one is not the others'."""

    def __init__(self, *listeners: events.Listener) -> None:
        self._listeners = listeners

    def on(self, event: events.Event) -> None:
        for one in self._listeners:
            try:
                one.on(event)
            except Exception:  # noqa: BLE001 - logged; the others must hear it
                _log.exception("a listener failed at %s", type(event).__name__)

    def child_lost(self, owner: str, keys: Sequence[work.Key], alone: bool) -> None:  # noqa: FBT001 - contracts.md spells it so
        for one in self._listeners:
            try:
                one.child_lost(owner, keys, alone)
            except Exception:  # noqa: BLE001 - as above
                _log.exception("a listener failed at the loss of %s", owner)


def line(event: events.Event) -> tuple[int, str]:
    """Answer the level and the sentence of an event."""
    return _trouble(event) or _news(event)


def _news(event: events.Event) -> tuple[int, str]:
    level = logging.INFO
    match event:
        case events.PoolStarted():
            said = f"the pool of {event.worker} starts on {', '.join(event.devices)}"
        case events.PoolStopped():
            said = f"the pool of {event.worker} stopped{' cold' * event.cold}"
        case events.ChildReady():
            said = f"{event.owner} is ready after {event.seconds:.1f} s"
        case events.Loaded():
            said = f"{event.owner} loaded {event.model}{' ahead' * event.ahead}"
            said += f": {_size(event.nbytes)}, {event.seconds:.1f} s"
        case events.Evicted():
            said = f"{event.owner} evicted {event.model}: {_size(event.nbytes)}"
        case events.Refused():
            said = f"{event.owner} refused {event.bucket} for now: {_lacking(event)}"
        case events.Restarted():
            said = f"{event.new} follows {event.old} on {event.device} after {event.tasks} tasks"
            said += f": {event.why}; the device served nobody for {event.seconds:.1f} s"
        case events.Compressed():
            level = logging.DEBUG
            said = f"{event.owner} compressed its cache by {_size(event.nbytes)}"
            said += f", watermark {_size(event.watermark)}"
        case events.Batched():
            level = logging.DEBUG
            said = f"{event.owner} ended {event.members} of {event.bucket}"
            said += f" in {event.seconds:.2f} s, peak {_size(event.peak)}"
            said += f" of {_size(event.reserved)}"
        case _:
            level, said = logging.DEBUG, str(event)
    return level, said


def _trouble(event: events.Event) -> tuple[int, str] | None:
    """What a person should see to; None for everything else."""
    level = logging.WARNING
    match event:
        case events.LoadFailed():
            said = f"{event.owner} could not load {event.model}: {event.error}"
        case events.Refused(never=True):
            said = f"{event.owner} refused {event.bucket} for good: {_lacking(event)}"
        case events.OutOfMemory():
            goes = f"goes on with {event.then}" if event.then else "gives up"
            if event.members == event.then:
                goes = "tries once more, alone on the device"
            said = f"{event.owner} ran out of memory in {event.bucket}"
            said += f" with {event.members} member(s), and {goes}: {event.error}"
        case events.Idling():
            said = f"{event.device} has idled for {event.seconds:.0f} s though {event.waiting}"
            said += " request(s) wait that it has room for"
        case events.TimedOut():
            level = logging.ERROR
            said = f"{event.owner} was killed after {event.seconds:.1f} s with "
            said += ", ".join(event.keys)
            said += f"; see {event.report}" if event.report else f":\n{event.stacks}"
        case events.ChildLost():
            level = logging.ERROR
            said = f"{event.owner} is lost with {len(event.keys)} in hand: {event.why}"
        case events.Quarantined():
            level = logging.ERROR
            said = f"{event.device} rests for {event.retry_s:.0f} s"
            said += f" after {event.deaths} death(s): {event.why}"
        case _:
            return None
    return level, said


def _lacking(event: events.Refused) -> str:
    return f"it needs {_size(event.need)}, usable are {_size(event.usable)}"


def _size(nbytes: int) -> str:
    return f"{nbytes / _GIB:.2f} GiB"
