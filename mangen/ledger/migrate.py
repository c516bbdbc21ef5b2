"""Bring a database to this version's schema, with alembic and without an ini file."""

from __future__ import annotations

import pathlib

import alembic.command
import alembic.config
import alembic.script
import sqlalchemy as sa
from alembic.runtime import migration

from mangen import errors
from mangen.ledger import door

#: `migrations/` beside the package
SCRIPTS = pathlib.Path(__file__).parents[2] / "migrations"

#: advisory lock of whoever migrates, so that upgrades wait for each other; not the leader's
LOCK = 0x6D616E67_6D6967


def upgrade(url: str) -> None:
    """Create or mend the schema; does nothing where it is current. Safe to call at once.

    Raises ServiceError where the database can't be reached, LedgerError where it was made by a
    newer mangen.
    """
    config = _config()
    engine = door.engine_of(url)
    try:
        with door.connected(engine) as conn, conn.begin():
            conn.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
            _check_known(conn, config)
            config.attributes["connection"] = conn
            alembic.command.upgrade(config, "head")
    finally:
        engine.dispose()


def current(url: str) -> str | None:
    """The revision of a database; None where it is empty."""
    engine = door.engine_of(url)
    try:
        with door.connected(engine) as conn:
            return migration.MigrationContext.configure(conn).get_current_revision()
    finally:
        engine.dispose()


def head() -> str:
    """The revision this version wants."""
    revision = alembic.script.ScriptDirectory.from_config(_config()).get_current_head()
    assert revision is not None, f"no migrations in {SCRIPTS}"
    return revision


def _config() -> alembic.config.Config:
    if not (SCRIPTS / "env.py").is_file():
        raise errors.LedgerError(
            f"the migrations are missing: {SCRIPTS} is no folder of this checkout; "
            "clone the repository whole"
        )
    config = alembic.config.Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    return config


def _check_known(conn: sa.Connection, config: alembic.config.Config) -> None:
    revision = migration.MigrationContext.configure(conn).get_current_revision()
    known = {
        script.revision
        for script in alembic.script.ScriptDirectory.from_config(config).walk_revisions()
    }
    if revision is not None and revision not in known:
        raise errors.LedgerError(
            f"the database is at revision {revision}, which this mangen does not know: "
            "update mangen, or point MANGEN_DATABASE_URL at another database"
        )
