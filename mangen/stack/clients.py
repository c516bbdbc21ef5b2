"""Clients of the keeper: start or join it, hold it while needed, start it again if it died."""

from __future__ import annotations

import contextlib
import logging
import os
import pathlib
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import mangen
from mangen import errors, services, settings
from mangen.stack import locks, place, record, supervise

_START_S = 90.0
_RESTART_S = 30.0  #: how long a server that just died may take to come back
_SPAWNS = 3
_WATCH_S = 0.5
_POLL_S = 0.02
_log = logging.getLogger(__name__)


@contextlib.contextmanager
def join(chosen: settings.Settings, *, schema: bool = True) -> Iterator[services.Services]:
    """Be a client: the services run until this context, and that of every other client, ends.

    Starts nothing that the settings give a URL for. With `schema` the ledger's tables are made or
    brought up to date first. Raises ServiceError if a server can't be started or reached.
    """
    wanted = record.wanted(chosen)
    with contextlib.ExitStack() as stack:
        if wanted:
            home = place.Place(chosen.root)
            home.make()
            # waits for a keeper that is just ending: it holds this lock alone
            stack.enter_context(locks.holding(home.clients_lock, shared=True, wait_s=_START_S))
            ensure(home, wanted)
            stack.enter_context(_watching(home, wanted))
        found = services.read(chosen)
        if schema:
            _upgrade(found.database_url, patience_s=_RESTART_S if "postgres" in wanted else 0.0)
        yield found


def _upgrade(url: str, *, patience_s: float) -> None:
    """Bring the schema up to date; waits while the keeper restarts a server that just died."""
    from mangen.ledger import migrate  # noqa: PLC0415 - loads alembic and sqlalchemy

    deadline = time.monotonic() + patience_s
    while True:
        try:
            return migrate.upgrade(url)
        except errors.ServiceError:
            if time.monotonic() > deadline:
                raise
            time.sleep(10 * _POLL_S)


def keeper_lives(home: place.Place) -> bool:
    """Whether a keeper owns this home's servers."""
    return locks.held(home.alive_lock)


def ensure(home: place.Place, wanted: frozenset[str]) -> None:
    """Return when a living keeper has the wanted servers ready; starts it where needed.

    The caller holds `clients.lock`. Raises ServiceError with the keeper's reason.
    """
    deadline = time.monotonic() + _START_S
    spawned = 0
    with locks.holding(home.keeper / "start.lock", wait_s=_START_S):
        while True:
            lives = keeper_lives(home)
            if lives and wanted <= record.running(home):
                return
            for server in wanted:
                home.wish(server).touch()
            if not lives:
                # one that gave up says why; one that was killed, or just asked to end, does not
                if spawned and (home.error_file.exists() or spawned >= _SPAWNS):
                    raise errors.ServiceError(_reason(home))
                _spawn(home)
                spawned += 1
            if time.monotonic() > deadline:
                raise errors.ServiceError(
                    f"the services of {home.root} were not ready after {_START_S:.0f} s; "
                    f"look at {home.logs}"
                )
            time.sleep(_POLL_S)


def _spawn(home: place.Place) -> None:
    """Start a keeper and wait until it holds its lock; it detaches by itself."""
    source = str(pathlib.Path(mangen.__file__).parents[1])
    path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    with (home.logs / "keeper.log").open("ab") as log:
        code = subprocess.run(
            [sys.executable, "-m", "mangen.stack.keeper", home.root],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd="/",
            env={**os.environ, "PYTHONPATH": path},
        ).returncode
    if code not in (0, 1):
        said = supervise.tail(home.logs / "keeper.log")
        raise errors.ServiceError(f"the keeper of {home.root} could not start:\n{said}")


def _reason(home: place.Place) -> str:
    try:
        return home.error_file.read_text("utf-8")
    except FileNotFoundError:
        said = supervise.tail(home.logs / "keeper.log")
        return f"the keeper of {home.root} ended; the end of its log:\n{said}"


@contextlib.contextmanager
def _watching(home: place.Place, wanted: frozenset[str]) -> Iterator[None]:
    """Start the keeper again whenever it is found dead."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_WATCH_S):
            try:
                if not keeper_lives(home):
                    ensure(home, wanted)
            except (errors.ServiceError, OSError) as error:
                _log.warning("the keeper died and could not be started again: %s", error)

    thread = threading.Thread(target=watch, name="mangen-keeper-watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
