"""Errors in the shape in which Celery and billiard hand them about."""

from __future__ import annotations

from typing import Any

from billiard.einfo import ExceptionInfo

_LETHAL = (MemoryError, SystemExit, KeyboardInterrupt)


def info(error: BaseException) -> ExceptionInfo:
    """Wrap an error; one that Celery would raise again in the worker's main process is tamed."""
    if isinstance(error, _LETHAL):
        error = RuntimeError(f"the task raised {error!r}")
    try:
        raise error  # noqa: TRY301 - billiard wants a traceback
    except BaseException:  # noqa: BLE001 - it was raised to be caught
        return ExceptionInfo()


def tame(traced: Any) -> Any:
    """Do the same to the ExceptionInfo that Celery's tracer answers for a failed task."""
    inner = getattr(traced.exception, "exc", traced.exception)
    if isinstance(inner, _LETHAL):
        traced.exception = RuntimeError(f"the task raised {inner!r}")
    return traced
