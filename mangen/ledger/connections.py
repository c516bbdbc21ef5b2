"""How many connections a deployment opens, how many its Postgres takes, and how that one is kept.

A worker's parent has one each for heartbeats, the pass, chores and forecasts. A child has one;
while it is replaced its successor has one too. A command has two at most, and one more to lead.
"""

from __future__ import annotations

import dataclasses

import sqlalchemy as sa

from mangen.ledger import door

WORKER = 4  #: of a worker's parent
DEVICE = 2  #: of each device: its child, and the one that replaces it
COMMAND = 3

_ROOM = sa.text(
    """
    SELECT CAST(current_setting('max_connections') AS integer) AS most,
        (SELECT coalesce(sum(CAST(setting AS integer)), 0) FROM pg_settings
            WHERE name IN ('superuser_reserved_connections', 'reserved_connections')) AS reserved,
        (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
        CAST(current_setting('autovacuum') AS boolean) AS vacuumed,
        coalesce((
            SELECT CAST(max(extract(epoch FROM clock_timestamp() - xact_start)) AS float)
            FROM pg_stat_activity WHERE backend_type = 'client backend'
        ), 0) AS oldest_s
    """
)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """What a server takes and what is taken."""

    most: int  #: max_connections
    reserved: int  #: of these, for administrators
    used: int  #: by anyone
    vacuumed: bool  #: whether autovacuum runs, without which the hot tables only grow
    oldest_s: float  #: seconds of the longest open transaction: no row that died since can go

    @property
    def free(self) -> int:
        return max(0, self.most - self.reserved - self.used)


def room(url: str) -> Room:
    """Ask a server; raises ServiceError where it can't be reached, or takes no more."""
    engine = door.engine_of(url, application="mangen-doctor", timeouts=True)
    try:
        with door.connected(engine) as conn:
            return Room(**conn.execute(_ROOM).mappings().one())
    finally:
        engine.dispose()


def of_worker(devices: int) -> int:
    """The most that one worker with so many devices opens."""
    return WORKER + DEVICE * devices
