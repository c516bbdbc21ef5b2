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
            except Exception:
                _log.exception("a listener failed at %s", type(event).__name__)

    def child_lost(self, owner: str, keys: Sequence[work.Key], alone: bool) -> None:  # noqa: FBT001 - contracts.md spells it so
        for one in self._listeners:
            try:
                one.child_lost(owner, keys, alone)
            except Exception:
                _log.exception("a listener failed at the loss of %s", owner)


def line(event: events.Event) -> tuple[int, str]:  # noqa: C901, PLR0912 - one case an event
    """Answer the level and the sentence of an event."""
    match event:
        case events.PoolStarted():
            said = logging.INFO, f"the pool of {event.worker} starts on {', '.join(event.devices)}"
        case events.PoolStopped():
            said = logging.INFO, f"the pool of {event.worker} stopped{' cold' * event.cold}"
        case events.ChildReady():
            said = logging.INFO, f"{event.owner} is ready after {event.seconds:.1f} s"
        case events.Loaded():
            ahead = " ahead" if event.ahead else ""
            said = (
                logging.INFO,
                f"{event.owner} loaded {event.model}{ahead}: {_size(event.nbytes)}, "
                f"{event.seconds:.1f} s",
            )
        case events.LoadFailed():
            said = logging.WARNING, f"{event.owner} could not load {event.model}: {event.error}"
        case events.Evicted():
            said = logging.INFO, f"{event.owner} evicted {event.model}: {_size(event.nbytes)}"
        case events.Compressed():
            said = (
                logging.DEBUG,
                f"{event.owner} compressed its cache by {_size(event.nbytes)}, "
                f"watermark {_size(event.watermark)}",
            )
        case events.Refused():
            often = "for good" if event.never else "for now"
            said = (
                logging.WARNING if event.never else logging.INFO,
                f"{event.owner} refused {event.bucket} {often}: it needs {_size(event.need)}, "
                f"usable are {_size(event.usable)}",
            )
        case events.OutOfMemory():
            goes = f"goes on with {event.then}" if event.then else "gives up"
            said = (
                logging.WARNING,
                f"{event.owner} ran out of memory in {event.bucket} with {event.members} "
                f"member(s), and {goes}: {event.error}",
            )
        case events.Restarted():
            said = (
                logging.INFO,
                f"{event.new} follows {event.old} on {event.device} after {event.tasks} tasks: "
                f"{event.why}; the device served nobody for {event.seconds:.1f} s",
            )
        case events.TimedOut():
            where = f"; see {event.report}" if event.report else f":\n{event.stacks}"
            said = (
                logging.ERROR,
                f"{event.owner} was killed after {event.seconds:.1f} s with "
                f"{', '.join(event.keys)}{where}",
            )
        case events.ChildLost():
            said = logging.ERROR, f"{event.owner} is lost with {len(event.keys)} in hand: {event.why}"
        case events.Quarantined():
            said = (
                logging.ERROR,
                f"{event.device} rests for {event.retry_s:.0f} s after {event.deaths} death(s): "
                f"{event.why}",
            )
        case events.Idling():
            said = (
                logging.WARNING,
                f"{event.device} has idled for {event.seconds:.0f} s though {event.waiting} "
                "request(s) wait that it has room for",
            )
        case events.Batched():
            said = (
                logging.DEBUG,
                f"{event.owner} ended {event.members} of {event.bucket} in {event.seconds:.2f} s, "
                f"peak {_size(event.peak)} of {_size(event.reserved)}",
            )
        case events.Sampled():
            said = (
                logging.DEBUG,
                f"{event.owner}: used {_size(event.used)}, known {_size(event.known)}, "
                f"difference {_size(event.difference)}, busy {event.busy:.1f} of "
                f"{event.wanted:.1f} s",
            )
        case _:
            said = logging.DEBUG, str(event)
    return said


def _size(nbytes: int) -> str:
    return f"{nbytes / _GIB:.2f} GiB"
