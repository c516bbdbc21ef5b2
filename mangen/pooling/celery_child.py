"""The child as a process: `python -m mangen.pooling.celery_child PIPE STACKS PARENT`.

PIPE and STACKS are inherited descriptors, PARENT is the process id that must stay its parent.
"""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import os
import pickle
import signal
import sys
from multiprocessing import connection
from typing import Any

from billiard import process as billiard_process
from celery import platforms
from celery.app import trace
from celery.concurrency import prefork
from kombu.utils import imports

from mangen.pooling import celery_errors, celery_task, child, wire, work


def main() -> None:
    """Become the child that the first message says."""
    pipe, stacks, parent = (int(word) for word in sys.argv[1:4])
    platforms.set_pdeathsig("SIGKILL")  # early: importing the product takes its time
    if os.getppid() != parent:
        sys.exit(child.EXIT_ORPHAN)
    os.set_inheritable(pipe, False)
    os.set_inheritable(stacks, False)
    conn = connection.Connection(pipe)
    try:
        hello: wire.Hello = conn.recv()
    except (EOFError, OSError):
        sys.exit(child.EXIT_ORPHAN)
    _join_celery(hello)
    # after Celery's own signals: stacks on request, and no dying by what means the parent
    with open(stacks, "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor, no path
        faulthandler.register(signal.SIGUSR1, file=file, all_threads=True)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
            # a handler, not SIG_IGN: that would pass on to what the child starts
            signal.signal(number, lambda _number, _frame: None)
        product: work.Work = imports.symbol_by_name(hello.work)(dict(hello.settings))
        child.serve(conn, product, settle, hello)
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
