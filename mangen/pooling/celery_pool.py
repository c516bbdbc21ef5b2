"""The pool as Celery loads it: `worker_pool = "mangen.pooling.celery_pool:ResidentPool"`."""

from __future__ import annotations

from typing import Any

from celery.concurrency import prefork
from celery.concurrency.base import BasePool
from celery.worker import state
from kombu import asynchronous
from kombu.utils import imports

from mangen.pooling import celery_cure, celery_request, config, engine, errors, events


class ResidentPool(BasePool):  # type: ignore[misc] # celery publishes no types
    """Children that stay, a window to choose among, and a gate before each device.

    Everything is the engine's; this class is what Celery's worker calls, on its main thread.
    """

    signal_safe = True  # a cold shutdown stops the pool from inside a signal handler
    uses_semaphore = False  # so that all that is prefetched comes here, un-acked
    task_join_will_block = True
    body_can_be_buffer = False

    limit: int

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        celery_cure.apply()
        if self.app.conf.worker_disable_prefetch:
            raise errors.ConfigError(
                "worker_disable_prefetch leaves the pool nothing to choose among: set it to False"
            )
        self._config = config.Config.of(self.app.conf.get("resident_pool"))
        capacity = self.limit * self.app.conf.worker_prefetch_multiplier
        self.limit = len(self._config.devices)
        self._engine = engine.Engine(self.options["initargs"][1], self._config, capacity)

    def on_start(self) -> None:
        self._hub = None if self.options.get("threads", True) else asynchronous.get_event_loop()
        self._callbacks = celery_request.Callbacks(self._hub)
        if self._config.listener:
            make: Any = imports.symbol_by_name(self._config.listener)
            control: events.Control = self._engine
            self._engine.listener = make(control)
        self._engine.start()

    def did_start_ok(self) -> bool:
        return self._engine.alive()

    def on_apply(
        self, _target: Any, args: Any = (), _kwargs: Any = None, **options: Any
    ) -> celery_request.CeleryRequest:
        """Take a request; the child uses its own tracer, whatever target Celery names."""
        options["timeout"] = options.get("timeout") or self.options.get("timeout")
        request = celery_request.CeleryRequest(
            tuple(args), self._callbacks, self._engine.abort, options
        )
        self._engine.add(request)
        return request

    def terminate_job(self, pid: int, signal: Any = None) -> None:
        """Do nothing: a process is more than one request; Celery calls `terminate` on that too."""

    def flush(self) -> None:
        self._engine.flush()

    def on_close(self) -> None:
        self._engine.flush()

    def on_stop(self) -> None:
        self._finish(cold=bool(state.should_terminate))

    def on_terminate(self) -> None:
        self._finish(cold=True)

    def restart(self) -> None:
        self._engine.restart()

    def _finish(self, *, cold: bool) -> None:
        """Wait for the engine; the hub is dead by now, so its callbacks are run from here."""
        if not self._engine.alive():
            return
        self._engine.stop(cold=cold)
        while self._engine.alive():
            self._pump()
            self._engine.join(0.05)
        self._pump()

    def _pump(self) -> None:
        self._callbacks.drain()
        if self._hub is not None:
            self._hub.fire_timers()  # AMQP heartbeats
            prefork._run_ready_callbacks(self._hub)  # noqa: SLF001 - acks; as prefork does

    def _get_info(self) -> dict[str, Any]:
        report = dict(self._engine.report())
        children = report.pop("children", [])
        return {
            **super()._get_info(),
            "processes": [child["pid"] for child in children],
            "max-tasks-per-child": self._config.restart_after or "N/A",
            "put-guarded-by-semaphore": False,
            "timeouts": (0, self._config.hard_min_s),
            "devices": children,
            **report,
        }
