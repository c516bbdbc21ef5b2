"""The pool without Celery: submit an item, get a future. For products with a queue of their own."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from concurrent import futures
from typing import Any, Self

from mangen.pooling import config, engine, errors, events, work


class Pool:
    """Children on their devices, and one window before them.

    `work` names the factory `module:function` that makes the product in each child; `more` are
    fields of config.Config. A future answers the work.Outcome; what died with its child, or ran
    out of time, fails with PoolError.
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
        settings = config.Config.of({"app": ":", "child": "mangen.pooling.alone_child",
                                     "work": work, **more})  # fmt: skip
        self._engine = engine.Engine(name, settings, capacity)
        if listener is not None:
            self._engine.listener = listener
        self.control: events.Control = self._engine
        self._requests: set[_Request] = set()
        self._closed = False
        self._engine.start()

    def submit(self, item: work.Item) -> futures.Future[work.Outcome]:
        """Let an item wait for its turn; its key must be new here.

        Raises PoolError when the pool is closed.
        """
        if self._closed:
            raise errors.PoolError(f"the pool is closed: {item.key} can't be served")
        request = _Request(item=item)
        # not weakly: what waits when the pool closes is nobody's but ours
        self._requests.add(request)
        request.future.add_done_callback(lambda _future: self._requests.discard(request))
        self._engine.add(request)
        return request.future

    def report(self) -> Mapping[str, Any]:
        return self._engine.report()

    def close(self, *, cold: bool = False) -> None:
        """End after the running sessions, or cold, after aborting them; what waits is cancelled."""
        self._closed = True
        self._engine.stop(cold=cold)
        self._engine.join()
        for request in list(self._requests):
            request.future.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclasses.dataclass(eq=False, slots=True)
class _Request:
    """Implements requests.Request over a future."""

    item: work.Item
    payload: Any = None
    limit: float | None = None
    future: futures.Future[work.Outcome] = dataclasses.field(default_factory=futures.Future)
    times: list[float] = dataclasses.field(default_factory=lambda: [time.monotonic()])

    def withdrawn(self) -> bool:
        return self.future.cancelled()

    def taken(self, _pid: int, at: float) -> None:
        self.times.append(at)
        self.future.set_running_or_notify_cancel()

    def settled(self, outcome: work.Outcome, _reply: Any) -> None:
        self._end(outcome)

    def revoked(self) -> None:
        self.future.cancel()

    def terminated(self, why: str) -> None:
        self._end(work.Outcome.aborted(why))

    def timed_out(self, seconds: float) -> None:
        self._fail(f"{self.item.key} ran for {seconds:.1f} s and was killed")

    def lost(self, why: str) -> None:
        self._fail(why)

    def _end(self, outcome: work.Outcome) -> None:
        self.times.append(time.monotonic())
        if not self.future.done():
            self.future.set_result(outcome)

    def _fail(self, why: str) -> None:
        if not self.future.done():
            self.future.set_exception(errors.PoolError(why))
