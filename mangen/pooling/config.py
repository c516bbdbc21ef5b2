"""The pool's configuration: what app.conf's dict `resident_pool` may hold."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from mangen.pooling import choose, device, errors


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    """Dotted names are `module:attribute`; bytes are one device's; times are seconds."""

    #: the Celery app, imported again in each child
    app: str
    #: `(settings) -> Work`, called in each child
    work: str
    #: `(control) -> Listener`, called in the parent; empty: nobody listens
    listener: str = ""
    devices: tuple[str, ...] = ("cpu",)
    cpu_bytes: int = 2**31
    #: tasks after which a child is replaced; 0: never
    restart_after: int = 0
    patience_s: float = 20.0
    linger_s: float = 0.15
    #: work is stopped after this many times its expected duration, and not before hard_min_s
    hard_factor: float = 10.0
    hard_min_s: float = 600.0
    #: between asking and killing
    grace_s: float = 5.0
    #: given to `work` as it is: JSON data
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, given: object) -> Config:
        """Read the dict; raises ConfigError that names what is wrong and where."""
        if not isinstance(given, Mapping):
            raise errors.ConfigError("app.conf.resident_pool must be a dict: see pooling/config.py")
        known = {field.name for field in dataclasses.fields(cls)}
        unknown = sorted(set(given) - known)
        if unknown:
            raise errors.ConfigError(f"app.conf.resident_pool has unknown keys: {unknown}")
        for name in ("app", "work"):
            if ":" not in str(given.get(name, "")):
                raise errors.ConfigError(
                    f"app.conf.resident_pool[{name!r}] must be written as module:attribute"
                )
        devices = device.check(given.get("devices", ("cpu",)))
        return cls(**{**given, "devices": devices})

    @property
    def policy(self) -> choose.Policy:
        return choose.Policy(patience_s=self.patience_s, linger_s=self.linger_s)
