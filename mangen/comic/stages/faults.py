"""How an exception counts against a job."""

from __future__ import annotations

import errno

import sqlalchemy.exc as sa_exc

from mangen import errors, storage
from mangen.ledger.states import ErrorKind

_ROOM = storage.FULL | {errno.ENOMEM}
#: a person mends them, and no work is at fault
_WAIT = (errors.StorageUnwritable, errors.EngineMissing, errors.ModelError, MemoryError)


def kind_of(error: BaseException) -> ErrorKind:
    """Answer whether it fails again, may pass, or waits for room; looks through causes."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, _WAIT):
            return ErrorKind.RESOURCE
        if isinstance(seen, OSError) and seen.errno in _ROOM:
            return ErrorKind.RESOURCE
        if is_unreachable(seen):  # a stage read the ledger while that was away: not its fault
            return ErrorKind.RESOURCE
        seen = seen.__cause__ or seen.__context__
    if isinstance(error, errors.EngineError):
        return ErrorKind.PERMANENT if error.permanent else ErrorKind.TRANSIENT
    if isinstance(error, errors.UsageError):
        return ErrorKind.PERMANENT
    return ErrorKind.TRANSIENT


#: the server's own time limits: asking again would only meet them again
_LIMITS = {"25P03", "25P04", "57014"}


def is_unreachable(error: BaseException) -> bool:
    """Answer whether the ledger itself could not be reached."""
    if getattr(getattr(error, "orig", None), "sqlstate", None) in _LIMITS:
        return False
    return isinstance(
        error, (errors.ServiceError, sa_exc.OperationalError, sa_exc.InterfaceError)
    ) or (isinstance(error, sa_exc.DBAPIError) and error.connection_invalidated)


def sentence(error: BaseException) -> str:
    """Say what happened in one line, with the error's type where its text says little."""
    text = " ".join(str(error).split())
    if isinstance(error, errors.MangenError) and text:
        return text[:2000]
    return f"{type(error).__name__}: {text}"[:2000]
