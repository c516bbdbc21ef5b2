"""The keeper's file, `services.json`: what runs for this home, and where."""

from __future__ import annotations

import json
import os
from typing import Any

from mangen import errors, settings
from mangen.stack import place

#: server -> the key under which readers find its URL
KEYS = {"postgres": "database_url", "valkey": "broker_url"}


def wanted(chosen: settings.Settings) -> frozenset[str]:
    """Which servers must be embedded: none where the settings name one."""
    return frozenset(server for server, key in KEYS.items() if not getattr(chosen, key))


def running(home: place.Place) -> frozenset[str]:
    """The servers the file names."""
    found = _load(home)
    return frozenset(server for server, key in KEYS.items() if key in found)


def keeper_pid(home: place.Place) -> int | None:
    """The process id of the keeper that wrote the file, if there is one."""
    pid = _load(home).get("keeper")
    return pid if isinstance(pid, int) else None


def write(home: place.Place, urls: dict[str, str]) -> None:
    """Replace the file, whole. `urls`: server -> URL."""
    record: dict[str, Any] = {"keeper": os.getpid()}
    record |= {KEYS[server]: url for server, url in urls.items()}
    temporary = home.services_file.with_suffix(".part")
    temporary.write_text(json.dumps(record, indent=1), "utf-8")
    temporary.replace(home.services_file)


def forget(home: place.Place) -> None:
    """Remove the file: nothing runs any more."""
    home.services_file.unlink(missing_ok=True)


def _load(home: place.Place) -> dict[str, Any]:
    try:
        data = json.loads(home.services_file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise errors.ServiceError(
            f"can't read {home.services_file}: {error}; remove it and run the command again"
        ) from error
    return dict(data)
