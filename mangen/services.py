"""Where Postgres and the broker are: from the settings, else from the keeper's file.

The keeper (mangen.stack) writes the file; everything else only reads it.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib

from mangen import errors, settings

FILE = "services.json"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Services:
    """The URLs of one deployment."""

    database_url: str
    broker_url: str
    result_url: str


def path(chosen: settings.Settings) -> pathlib.Path:
    """Where the keeper says what it started."""
    return chosen.root / FILE


def read(chosen: settings.Settings) -> Services:
    """Answer the URLs in force; raises ServiceError where none is set and no keeper runs."""
    kept = {}
    if not (chosen.database_url and chosen.broker_url):
        try:
            kept = json.loads(path(chosen).read_text("utf-8"))
        except (OSError, ValueError):
            kept = {}
    database = chosen.database_url or kept.get("database_url")
    broker = chosen.broker_url or kept.get("broker_url")
    if not database or not broker:
        raise errors.ServiceError(
            f"no {'broker' if database else 'Postgres'} is set and none was started here "
            f"({path(chosen)}): run `python3 manage.py up`, or set MANGEN_DATABASE_URL and "
            "MANGEN_BROKER_URL"
        )
    return Services(
        database_url=database,
        broker_url=broker,
        result_url=chosen.result_url or kept.get("result_url") or _results_of(broker),
    )


def _results_of(broker: str) -> str:
    """Redis and Valkey keep results too; RabbitMQ answers over its own queues."""
    return broker if broker.startswith(("redis", "rediss", "valkey")) else "rpc://"
