"""What a healthy program may meet at a database, and its mend."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import sqlalchemy as sa

from mangen import errors

#: by SQLSTATE. Source: PostgreSQL manual, appendix A
_MENDS = {
    "57014": "gave no answer in time: someone may hold a lock on a table (see pg_stat_activity); "
    "ask again later",
    "40P01": "ended this for another's sake, again and again: ask again later",
    "53100": "has no room on its disk: make room and ask again",
    "53200": "has no memory left: give it more, or run fewer workers, and ask again",
    "57P01": "is being shut down: ask again when it is back",
}


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Raise ServiceError, with the mend, for what is no fault of the asker's or of mangen's."""
    try:
        yield
    except sa.exc.DBAPIError as error:
        mend = _MENDS.get(str(getattr(error.orig, "sqlstate", "")))
        if mend is None:
            raise
        raise errors.ServiceError(f"Postgres {mend}") from error
