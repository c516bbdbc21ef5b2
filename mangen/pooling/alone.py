"""The pool without Celery: submit an item, get a future. For products with a queue of their own."""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Callable, Mapping
from concurrent import futures
from typing import Any, Self

from mangen.pooling import config, engine, errors, events, items, work

_log = logging.getLogger(__name__)


class Pool:
    """Children on their devices, and one window before them.

    `work` names the factory `module:function` that makes the product in each child; `more` are
    fields of config.Config. A future answers the work.Outcome; what died with its child, or ran
    out of time, fails with PoolError. Callbacks run on the engine's thread: let them be short.

    `capacity` bounds nothing: `report()["room"]` counts down from it, so that who keeps a queue
    knows when the pool has enough to choose among. `submit` never blocks and refuses nobody.
    """

    def __init__(
        self,
        work: str,
        *,
        name: str = "pool",
        capacity: int = 64,
        listener: events.Listener | None = None,
        **more: Any,
    ) -> None:
        if isinstance(listener, str):
            raise errors.ConfigError(f"listener is {listener!r}: without Celery it is an object")
        if work.startswith("__main__:"):
            raise errors.ConfigError(f"{work} is nothing a child can import: use a module's name")
        settings = config.Config.of({"app": ":", "child": "mangen.pooling.alone_child",
                                     "work": work, **more})  # fmt: skip
        self._lock = threading.RLock()  # a signal's handler may close the pool
        # not weakly: what waits when the pool closes is nobody's but ours
        self._requests: set[_Request] = set()
        self._over = ""  # why nothing is taken any more
        self._engine = engine.Engine(name, settings, capacity, on_fault=self._fail)
        if listener is not None:
            self._engine.listener = listener
        self.control: events.Control = self._engine
        self._engine.start()

    def submit(self, item: work.Item) -> futures.Future[work.Outcome]:
        """Let an item wait for its turn; its key must be new here.

        Raises PoolError when the item is wrong (see items.check) or can't be pickled, and when the
        pool is closed or its engine has failed.
        """
        items.check(item)
        items.check_sendable(item)
        request = _Request(item=item)
        with self._lock:
            if self._over:
                raise errors.PoolError(f"{self._over}: {item.key} can't be served")
            self._requests.add(request)
        request.future.add_done_callback(lambda _future: self._forget(request))
        self._engine.add(request)
        return request.future

    def report(self) -> Mapping[str, Any]:
        return self._engine.report()

    def close(self, *, cold: bool = False) -> None:
        """End after the running sessions, or cold, after aborting them; what waits is cancelled.

        Called from a callback of a future it does not wait for the end of what runs.
        """
        with self._lock:
            self._over = self._over or "the pool is closed"
        self._engine.stop(cold=cold)
        self._engine.join()
        for request in self._left():
            request.revoked()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _fail(self) -> None:
        """End all that is left: the engine died, and nobody else will."""
        with self._lock:
            self._over = "the pool's engine failed, as its log says"
        for request in self._left():
            request.lost(self._over)

    def _forget(self, request: _Request) -> None:
        with self._lock:
            self._requests.discard(request)

    def _left(self) -> list[_Request]:
        with self._lock:
            return list(self._requests)


@dataclasses.dataclass(eq=False, slots=True)
class _Request:
    """Implements requests.Request over a future."""

    item: work.Item
    payload: Any = None
    limit: float | None = None
    future: futures.Future[work.Outcome] = dataclasses.field(default_factory=futures.Future)
    begun: threading.Lock = dataclasses.field(default_factory=threading.Lock)  # for good
    gone: bool = False  # asked of all that wait at every tick: the future would take a lock

    def __post_init__(self) -> None:
        self.future.add_done_callback(self._on_done)

    def withdrawn(self) -> bool:
        return self.gone

    def taken(self, _pid: int, _at: float) -> None:
        self._begin()

    def settled(self, _outcome: work.Outcome, reply: Any) -> None:
        self._end(self.future.set_result, reply)  # the outcome, or why there is none

    def revoked(self) -> None:
        self._end(self.future.cancel)

    def terminated(self, why: str) -> None:
        self._end(self.future.set_result, work.Outcome.aborted(why))

    def timed_out(self, seconds: float) -> None:
        self._fail(f"{self.item.key} ran for {seconds:.1f} s and was killed")

    def lost(self, why: str) -> None:
        self._fail(why)

    def _fail(self, why: str) -> None:
        self._end(self.future.set_exception, errors.PoolError(why))

    def _end(self, end: Callable[..., object], *args: Any) -> None:
        """End the future; what a callback of it raises must not keep others from their ends."""
        try:
            end(*args)
        except futures.InvalidStateError:  # it was cancelled, or failed with the engine
            pass
        except BaseException:  # noqa: BLE001 - logged; futures see to no more than Exception
            _log.exception("a callback of %s's future failed", self.item.key)

    def _on_done(self, future: futures.Future[work.Outcome]) -> None:
        if future.cancelled():  # who waits for many at once hears of it only so
            self.gone = True
            self._begin()

    def _begin(self) -> None:
        """Let it run, or let a cancelled one be done: a future takes this once."""
        if self.begun.acquire(blocking=False):
            self.future.set_running_or_notify_cancel()
