"""What can go wrong in the pool itself."""

from __future__ import annotations

from mangen.pooling import work


class PoolError(Exception):
    """The pool can't do what was asked."""


class ConfigError(PoolError):
    """The pool's configuration is wrong."""


class WorkFailed(PoolError):
    """A piece of work failed: its message is the outcome's error, one sentence.

    It has one string as argument, so that it survives pickle and JSON.
    """


class NoRoom(PoolError, MemoryError):
    """A model does not fit beside what is pinned and reserved.

    A MemoryError, because whoever can handle the one can handle the other.
    """


class CacheRefused(PoolError, ValueError):
    """A product of a kind that the feature cache does not take."""


class Dropped(BaseException):
    """Raised out of `Runtime.progress` when every member of the session is to be dropped.

    A BaseException like asyncio's CancelledError: no `except Exception` on its way may take it for
    a failure of the work. The child's loop catches it and calls `Session.drop` for each member.
    """

    def __init__(self, key: work.Key, why: work.Why) -> None:
        super().__init__(f"{key} was dropped: {why}")
        self.key = key
        self.why = why
