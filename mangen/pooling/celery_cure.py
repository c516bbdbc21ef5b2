"""A cure for kombu 5.7.0: a Redis broker that dies while messages are un-acked kills the worker.

Celery's consumer closes the broken connection, kombu then asks a channel without a client for its
host name, and the AttributeError of that is nobody's. A redis ConnectionError there is handled.
tests/contract tells when upstream has mended it; then this module goes.
"""

from __future__ import annotations

from typing import Any

import redis
from kombu.transport import redis as transport

_original = transport.Channel._connparams  # noqa: SLF001 - what is ill is inside


def _connparams(self: Any, *args: Any, **kwargs: Any) -> Any:
    if self.connection is None or self.connection.client is None:
        raise redis.ConnectionError("the channel is closed already")
    return _original(self, *args, **kwargs)


def apply() -> None:
    """Put the cure in place, once."""
    transport.Channel._connparams = _connparams  # noqa: SLF001 - see above
