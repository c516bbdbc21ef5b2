"""One leader at a time: a session advisory lock on the pass's own connection.

PostgreSQL keeps the leader's beat for free: `pg_stat_activity.state_change` of the backend that
holds the lock moves with each of its statements. A follower that sees it unmoved for a lease
terminates that backend, which frees the lock. Source: PostgreSQL manual, 27.2.3 and 9.28.10.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator

import sqlalchemy as sa

from mangen.ledger import door

#: the lock's name, the same in every process of a deployment ("mang" in ASCII)
LOCK = 0x6D616E67

_BURST_S = 0.02

_TAKE = sa.text("select pg_try_advisory_lock(:key)")
_TOUCH = sa.text("select 1")
_HOLDER = sa.text(
    """
    select a.pid, cast(a.state_change as text) as beat
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'advisory' and l.granted and l.objsubid = 1
      and l.classid = 0 and l.objid = :key
      and l.database = (select oid from pg_database where datname = current_database())
    """
)
_TERMINATE = sa.text("select pg_terminate_backend(:pid)")


@dataclasses.dataclass(slots=True)
class _Look:
    pid: int
    beat: str
    since: float
    last: float


class Leader:
    """Try to lead, over one connection; watch whoever does. Not for use by several threads."""

    def __init__(
        self,
        url: str,
        *,
        lease_s: float,
        application: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine = door.engine_of(url, application=application, timeouts=True)
        self._lease_s = lease_s
        self._clock = clock
        self._look: _Look | None = None
        self._conn: sa.Connection | None = None
        self.leading = False
        #: grows with each new database session: what was seen before it does not count
        self.session = 0

    @property
    def connection(self) -> sa.Connection:
        """The pass's own connection, opened where there is none."""
        if self._conn is None or self._conn.closed:
            self._conn = self._engine.connect()
            self.session += 1
            self._look = None
            for channel in ("mangen_wake", "mangen_stop"):
                self._conn.exec_driver_sql(f"listen {channel}")
            self._conn.commit()
        return self._conn

    def take(self) -> bool:
        """Lead, if nobody does. A leader that takes again only shows its beat."""
        conn = self.connection
        if self.leading:
            conn.execute(_TOUCH)
        else:
            self.leading = bool(conn.scalar(_TAKE, {"key": LOCK}))
            if not self.leading:
                self._watch(conn)
        conn.commit()
        return self.leading

    def holder(self) -> tuple[int, str] | None:
        """Answer who leads and its beat: two answers alike mean no sign of life in between."""
        conn = self.connection
        row = conn.execute(_HOLDER, {"key": LOCK}).one_or_none()
        conn.commit()
        return None if row is None else (row.pid, row.beat)

    def _watch(self, conn: sa.Connection) -> None:
        row = conn.execute(_HOLDER, {"key": LOCK}).one_or_none()
        now, seen = self._clock(), self._look
        if row is None:
            self._look = None
        elif (
            seen is None
            or (seen.pid, seen.beat) != (row.pid, row.beat)
            or now - seen.last > self._lease_s  # this looker slept: its look says nothing
        ):
            self._look = _Look(row.pid, row.beat, now, now)
        elif now - seen.since >= self._lease_s:
            conn.execute(_TERMINATE, {"pid": row.pid})
            self._look = None
        else:
            seen.last = now

    def notifications(self, timeout_s: float) -> Iterator[str]:
        """Yield the channels that ring: one burst, or none within `timeout_s`."""
        raw = self.connection.connection.driver_connection
        assert raw is not None
        came = False
        for note in raw.notifies(timeout=timeout_s, stop_after=1):
            came = True
            yield note.channel
        if came:  # a burst is one wake
            for note in raw.notifies(timeout=_BURST_S):
                yield note.channel

    def lose(self) -> None:
        """Drop the connection, and the lead with it."""
        self.leading = False
        if self._conn is not None:
            self._conn.invalidate()
            self._conn.close()
            self._conn = None

    def close(self) -> None:
        """Give the lead away and close the connection."""
        self.lose()
        self._engine.dispose()
