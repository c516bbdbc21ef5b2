"""Postgres and a broker where no URL names one: a detached keeper owns both for its clients.

`join(settings)` makes this process a client until the context ends; `services(settings)` only
reads where the services are.
"""

from __future__ import annotations

from mangen.services import Services
from mangen.services import read as services
from mangen.stack.clients import join

__all__ = ["Services", "join", "services"]
