"""Alembic's environment: migrates on the connection that `mangen.ledger.migrate` hands over."""

from __future__ import annotations

from alembic import context

from mangen.comic import tables

connection = context.config.attributes["connection"]
context.configure(
    connection=connection, target_metadata=tables.metadata, compare_server_default=True
)
with context.begin_transaction():
    context.run_migrations()
