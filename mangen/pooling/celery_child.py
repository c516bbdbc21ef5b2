"""The child of Celery's worker: each of its requests ends in Celery's own tracer."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
from typing import Any

from billiard import process as billiard_process
from celery.app import trace
from celery.concurrency import prefork
from kombu.utils import imports

from mangen.pooling import celery_errors, celery_task, process, wire, work


def main() -> None:
    process.run(_join_celery, settle)
    prefork.process_destructor(os.getpid(), 0)


def _join_celery(hello: wire.Hello) -> None:
    """Set this process up as Celery's own pool does it for a spawned one."""
    name = f"Child-{hello.slot}"
    multiprocessing.current_process().name = name
    billiard_process.current_process()._name = name  # noqa: SLF001 - Celery's logs show it
    app = imports.symbol_by_name(hello.app)
    os.environ["FORKED_BY_MULTIPROCESSING"] = "1"  # only for this call: take the spawn branch
    try:
        prefork.process_initializer(app, hello.worker)
    finally:
        os.environ.pop("FORKED_BY_MULTIPROCESSING", None)


def settle(load: wire.Load, outcome: work.Outcome | None, seconds: float) -> bytes:
    """Run Celery's official tracer once for this request; answers (failed?, payload), pickled."""
    name, request_id, request, body, content_type, content_encoding = load.payload
    if outcome is not None:
        celery_task.hold(request_id, outcome)
    reply: tuple[bool, Any]
    try:
        failed, result, own = trace.fast_trace_task(
            name, request_id, request, body, content_type, content_encoding
        )
        reply = (
            True,
            (
                failed,
                celery_errors.tame(result) if failed else result,
                own if outcome is None else seconds,
            ),
        )
    except BaseException as error:  # noqa: BLE001 - Reject, MemoryError, SystemExit leave the tracer
        reply = (False, celery_errors.info(error))
    finally:
        celery_task.release(request_id)
    try:
        return pickle.dumps(reply)
    except Exception as error:  # noqa: BLE001 - whatever a task's result raises when pickled
        return pickle.dumps(
            (False, celery_errors.info(RuntimeError(f"the result can't be sent: {error!r}")))
        )


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
