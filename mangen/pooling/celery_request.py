"""A Celery request as the engine sees it, and how its end gets back to Celery."""

from __future__ import annotations

import collections
import datetime as dt
import pickle
from collections.abc import Callable, Mapping
from typing import Any

from billiard.exceptions import Terminated, WorkerLostError
from celery.utils import log
from celery.worker import state

from mangen.pooling import celery_errors, items, wire, work

_log = log.get_logger(__name__)

Abort = Callable[[work.Key, work.Why], None]


class Callbacks:
    """Runs request callbacks in order, on the thread that owns the broker's channel.

    The hub keeps its ready callbacks in a set, hence a queue of our own. Without a hub they run
    on the engine's thread.
    """

    def __init__(self, hub: Any | None) -> None:
        self._hub = hub
        self._queue: collections.deque[tuple[Callable[..., object], tuple[Any, ...]]] = (
            collections.deque()
        )

    def post(self, function: Callable[..., object], *args: Any) -> None:
        self._queue.append((function, args))
        if self._hub is None:
            self.drain()
        else:
            self._hub.call_soon(self.drain)

    def drain(self) -> None:
        while self._queue:
            try:
                function, args = self._queue.popleft()
            except IndexError:
                return
            try:
                function(*args)
            except Exception:  # noqa: BLE001 - it must not end the worker's loop
                _log.exception("the request callback %r failed", function)


class CeleryRequest:
    """Implements requests.Request. Celery keeps only a weak reference to it, the engine keeps it.

    Celery passes bound methods of its own Request: that is how the request is reached.
    """

    def __init__(
        self, args: tuple[Any, ...], callbacks: Callbacks, abort: Abort, options: Mapping[str, Any]
    ) -> None:
        self.payload = args
        self.item = item_of(args[0], args[1], args[2])
        self.limit: float | None = options.get("timeout")
        self._callbacks = callbacks
        self._abort = abort
        self._options = options
        self._celery = options["accept_callback"].__self__

    def terminate(self, _signum: int | None = None) -> None:
        """Celery's revoke with terminate: it takes the way of every other abort.

        A cold shutdown comes here too, having cancelled the request.
        """
        cancelled = self._celery._already_cancelled  # noqa: SLF001 - nothing else tells the two apart
        self._abort(self.item.key, work.Why.SHUTDOWN if cancelled else work.Why.REVOKED)

    def withdrawn(self) -> bool:
        request = self._celery
        if request.id in state.revoked:
            return True
        if state.revoked_stamps and request.stamped_headers:
            return any(
                stamp in state.revoked_stamps
                and request.stamps.get(stamp) in state.revoked_stamps[stamp]
                for stamp in request.stamped_headers
            )
        # not `maybe_expire`, which writes to what the worker's main thread owns
        expires = request.expires
        zone = dt.UTC if expires and expires.tzinfo else None
        return bool(expires and dt.datetime.now(zone) > expires)

    def taken(self, pid: int, at: float) -> None:
        self._callbacks.post(self._options["accept_callback"], pid, at)

    def settled(self, outcome: work.Outcome, reply: Any) -> None:
        if outcome.status is work.Status.ABORTED:
            # Ignore, which the child's tracer got, would leave it as started in every monitor
            self.terminated(outcome.error)
            return
        try:
            ok, result = pickle.loads(reply)  # noqa: S301 - from our own child
        except Exception as error:  # noqa: BLE001 - a task's own result, its own errors
            self.lost(f"its result can't be read: {error!r}")
            return
        name = "callback" if ok else "error_callback"
        self._callbacks.post(self._options[name], result)

    def revoked(self) -> None:
        self._callbacks.post(self._revoke)

    def _revoke(self) -> None:
        state.revoked.add(self._celery.id)
        self._celery.revoked()

    def terminated(self, why: str) -> None:
        self._callbacks.post(self._terminate, why)

    def _terminate(self, why: str) -> None:
        # a cold shutdown announced a retry, which an acked message won't have
        self._celery._already_cancelled = False  # noqa: SLF001 - see above
        self._options["error_callback"](celery_errors.info(Terminated(why)))

    def timed_out(self, seconds: float) -> None:
        self._callbacks.post(self._options["timeout_callback"], False, round(seconds, 1))

    def lost(self, why: str) -> None:
        self._callbacks.post(
            self._options["error_callback"], celery_errors.info(WorkerLostError(why))
        )


def item_of(name: str, key: str, request: Mapping[str, Any]) -> work.Item:
    """Read the header `work`; without one, or with a wrong one, it's a plain task."""
    data = request.get("work")
    if data is None:
        return plain(name, key)
    try:
        item = work.Item(
            key=key,
            name=name,
            bucket=data["bucket"],
            klass=int(data["class"]),
            rank=float(data["rank"]),
            model=str(data.get("model") or ""),
            peaks=tuple(int(peak) for peak in data.get("peaks") or (0,)),
            seconds=float(data.get("seconds") or 0.0),
            cap=int(data.get("cap") or 1),
            solo=bool(data.get("solo")),
            data=dict(data),
        )
        items.check(item)
    except Exception as error:  # noqa: BLE001 - what strangers send must not end the worker
        _log.error(
            "the header `work` of %s[%s] can't be read, it runs as a plain task: %.300r: %s",
            name, key, error, items.shown(data, 300),
        )  # fmt: skip
        return plain(name, key)
    return item


def plain(name: str, key: str) -> work.Item:
    """A task without a job: alone, unclaimed, and first."""
    return work.Item(key=key, name=name, bucket=wire.PLAIN, klass=0, rank=float("inf"))
