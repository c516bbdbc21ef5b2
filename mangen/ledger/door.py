"""The way to the database: engine, transactions, notifications.

Everything here also works behind a pooler in transaction mode: there no statement is prepared, and
the time limits are set anew in each transaction, by its BEGIN. Without a pooler a connection has
its limits from the start and plans hot statements once.

Round trips are what a claim costs, so there are few: a connection that was used a moment ago is
looked at, not asked, whether it lives.
"""

from __future__ import annotations

import contextlib
import functools
import select
import time
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import psycopg as dialect
from sqlalchemy.engine import result

from mangen import errors
from mangen.ledger import hours, queries

#: no transaction is ever open across engine work, so these only catch what hangs
LIMITS = {
    "idle_in_transaction_session_timeout": "10s",
    "statement_timeout": "30s",
    "transaction_timeout": "60s",
}
_TRANSACTION_TIMEOUT_SINCE = 17
#: how a server, or a pooler before it, says that it takes no more connections
_FULL = (
    "too many clients",
    "too many connections",
    "remaining connection slots",
    "no more connections",
)
#: seconds after which a connection that rests is asked whether it lives
_REST_S = 1.0
#: uses after which a statement is prepared that was not asked to be
_NEVER = 2**31
#: what `statement` marks its connection with: no transaction is begun on it
_SINGLE = "mangen_single"
_DIALECT: sa.Dialect = dialect.dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy leaves it untyped
#: does nothing for a limit that this server does not know
_LIFT = sa.text("SELECT set_config(name, :value, true) FROM pg_settings WHERE name = :name")


def engine_of(
    url: str, *, application: str = "mangen", pool_size: int = 1, timeouts: bool = False
) -> sa.Engine:
    """An engine whose connections are checked before use and never exceed `pool_size`.

    `url` is postgresql+psycopg://... ; raises ServiceError where it is no such URL.
    """
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError as error:
        raise errors.ServiceError(
            "MANGEN_DATABASE_URL is no URL; write postgresql+psycopg://user@host/database"
        ) from error
    if parsed.get_backend_name() != "postgresql":
        raise errors.ServiceError(
            f"mangen's ledger needs Postgres, not {parsed.get_backend_name()}: "
            "MANGEN_DATABASE_URL must start with postgresql+psycopg://"
        )
    engine = sa.create_engine(
        parsed.set(drivername="postgresql+psycopg"),
        pool_size=pool_size,
        max_overflow=0,
        connect_args={
            "autocommit": True,  # each BEGIN is ours: see `_begin`
            "prepare_threshold": None,  # see `_meet`
            "application_name": application,
            "connect_timeout": 10,
            # a server that vanished from the network is noticed within half a minute
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": 20_000,
        },
    )
    sa.event.listen(engine, "connect", functools.partial(_meet, timeouts=timeouts))
    sa.event.listen(engine, "checkin", _rest)
    sa.event.listen(engine, "checkout", _look)
    sa.event.listen(engine, "begin", functools.partial(_begin, timeouts=timeouts))
    return engine


@contextlib.contextmanager
def connected(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A connection of the engine; raises ServiceError where the server can't be reached."""
    try:
        conn = engine.connect()
    except sa.exc.OperationalError as error:
        said = str(error.orig).strip()
        if any(words in said for words in _FULL):
            said += (
                "; every connection it allows is taken: raise its max_connections, or run fewer "
                "workers or devices (`manage.py doctor` counts what they open)"
            )
        raise errors.ServiceError(
            f"can't reach Postgres at {engine.url.render_as_string(hide_password=True)}: {said}"
        ) from error
    with conn:
        yield conn


def _meet(raw: psycopg.Connection[Any], record: Any, *, timeouts: bool) -> None:
    """Find out whether a pooler is in between: it hands out process numbers of its own making."""
    row = raw.execute("SELECT pg_backend_pid()").fetchone()
    direct = row is not None and row[0] == raw.info.backend_pid
    record.info["direct"] = direct
    record.info["limited"] = direct and timeouts
    if direct:
        raw.prepare_threshold = _NEVER
    if direct and timeouts:
        raw.execute(_limits(raw.info.server_version // 10_000, local=False))


def _rest(_raw: object, record: Any) -> None:
    record.info["rests_since"] = time.monotonic()


def _look(raw: psycopg.Connection[Any], record: Any, _proxy: object) -> None:
    """Refuse a connection that died while it rested; a server that ends one says so unasked."""
    rested = time.monotonic() - record.info.get("rests_since", float("inf"))
    try:
        if rested < _REST_S:
            told = select.poll()
            told.register(raw.fileno(), select.POLLIN)
            if not told.poll(0):
                return
        raw.autocommit = True
        raw.execute("SELECT 1")
    except psycopg.Error as error:
        raise sa.exc.InvalidatePoolError from error


def _begin(conn: sa.Connection, *, timeouts: bool) -> None:
    """Begin a transaction and set its limits, in one round trip."""
    options = conn.get_execution_options()
    if options.get(_SINGLE) or options.get("isolation_level") == "AUTOCOMMIT":
        return
    raw = conn.connection.driver_connection
    assert raw is not None
    if not raw.autocommit:  # SQLAlchemy's reset of an isolation level left it so
        raw.autocommit = True
    begin = "BEGIN"
    if timeouts and not conn.info.get("limited"):
        begin += "; " + _limits(raw.info.server_version // 10_000, local=True)
    _execute(conn, raw, begin)


@functools.cache
def _limits(version: int, *, local: bool) -> str:
    names = [
        name
        for name in LIMITS
        if version >= _TRANSACTION_TIMEOUT_SINCE or name != "transaction_timeout"
    ]
    return "SELECT " + ", ".join(
        f"set_config('{name}', '{LIMITS[name]}', {str(local).lower()})" for name in names
    )


def _execute(
    conn: sa.Connection,
    raw: psycopg.Connection[Any],
    text: str,
    values: Mapping[str, Any] | None = None,
) -> psycopg.Cursor[Any]:
    """Run a statement on the driver's connection; fails as SQLAlchemy's own would."""
    try:
        return raw.execute(text, values, prepare=values is not None)
    except psycopg.Error as error:
        if raw.closed:
            conn.invalidate(error)
        raise sa.exc.DBAPIError.instance(
            text, values, error, psycopg.Error, connection_invalidated=raw.closed,
            dialect=conn.dialect,
        ) from error  # fmt: skip


class Door:
    """One process's way to the ledger. Threads may share it; a fork may not."""

    #: channel of "something settled, look again"; payload: the project's id
    WAKE = "mangen_wake"
    #: channel of "something must stop"; payload: the worker's owner, or empty
    STOP = "mangen_stop"
    #: when only urgent work may begin, and where days begin: the deployment's settings
    times: hours.Hours = hours.Hours()

    def __init__(
        self, url: str, *, application: str = "mangen", pool_size: int = 2, timeouts: bool = True
    ) -> None:
        self.url = url
        self._engine = engine_of(
            url, application=application, pool_size=pool_size, timeouts=timeouts
        )

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sa.Connection]:
        """One transaction: committed at the end, rolled back by any exception."""
        with connected(self._engine) as conn, conn.begin():
            yield conn

    @contextlib.contextmanager
    def statement(self) -> Iterator[sa.Connection]:
        """A connection on which each statement is its own transaction: half the round trips."""
        with connected(self._engine) as conn:
            yield conn.execution_options(**{_SINGLE: True})

    def lift_limits(self, conn: sa.Connection) -> None:
        """Let this one transaction take as long as its statements do; it must not idle a minute."""
        for name in LIMITS:
            patience = "60s" if name.startswith("idle") else "0"
            conn.execute(_LIFT, {"name": name, "value": patience})

    def notify(self, conn: sa.Connection | None, channel: str, payload: str = "") -> None:
        """Ring a channel, within the transaction of `conn`, or at once with None."""
        if conn is None:
            with self.statement() as own:
                run(own, "ring", channel=channel, payload=payload)
            return
        run(conn, "notify", channel=channel, payload=payload)

    def settled(self, project: int) -> None:
        """Wake the pass for a project: once a settling step, after the commit."""
        self.notify(None, self.WAKE, str(project))

    def dispose(self) -> None:
        """Drop the pooled connections: after the server went away, the next call starts anew."""
        self._engine.dispose()

    def close(self) -> None:
        """Close every connection, for good."""
        self._engine.dispose()


def run(conn: sa.Connection, name: str, **values: Any) -> sa.Result[Any]:
    """Run a named query; a hot one is planned once a connection, where no pooler is in between."""
    if name in queries.HOT and conn.info.get("direct"):
        single = conn.get_execution_options().get(_SINGLE)
        if single or conn.in_transaction():
            return _run_hot(conn, name, values)
    return conn.execute(queries.QUERIES[name], values)


def _run_hot(conn: sa.Connection, name: str, values: Mapping[str, Any]) -> sa.Result[Any]:
    """Past SQLAlchemy's own ways, which cost a hot query as much as the server does."""
    raw = conn.connection.driver_connection
    assert raw is not None
    cursor = _execute(conn, raw, _driver_text(name), values)
    if cursor.description is None:
        return result.IteratorResult(_keys(()), iter(()))
    keys = _keys(tuple(column.name for column in cursor.description))
    return result.IteratorResult(keys, iter(cursor.fetchall()))


@functools.cache
def _driver_text(name: str) -> str:
    """A query as the driver spells it, on one line: its parameters are looked for each time."""
    return " ".join(str(queries.QUERIES[name].compile(dialect=_DIALECT)).split())


@functools.cache
def _keys(names: tuple[str, ...]) -> result.SimpleResultMetaData:
    return result.SimpleResultMetaData(names)


def rows(conn: sa.Connection, name: str, **values: Any) -> list[Mapping[str, Any]]:
    """The rows of a named query, as mappings."""
    return [dict(row) for row in run(conn, name, **values).mappings()]
