"""The pool's configuration: what app.conf's dict `resident_pool` may hold."""

from __future__ import annotations

import dataclasses
import importlib.util
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

from mangen.pooling import cache, choose, errors
from mangen.pooling.devices import device


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
    #: the module that a child runs as: see celery_child and alone
    child: str = "mangen.pooling.celery_child"
    #: share of a card that is never promised
    margin: float = 0.0
    #: host memory for each child's feature cache; 0: a quarter of a cpu device, 2 GiB beside a card
    cache_bytes: int = 0
    #: its disk tier, shared by processes and restarts; empty: none
    cache_folder: str = ""
    cache_disk_bytes: int = 2**33
    #: kinds of products that it takes: {"worth": 1.0, "only_while": [task names that wait]}
    cache_kinds: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    #: folder of locks and of simulated cards' ledgers, one for all workers of this machine;
    #: empty: under the system's folder of temporary files
    folder: str = ""
    #: folder of what was collected of children that were killed; empty: none is written
    reports: str = ""
    #: simulated devices run so many times faster than the wall's clock
    speed: float = 20.0
    #: looks at the devices, and the pause after which an idle child trims
    monitor_s: float = 10.0
    idle_trim_s: float = 1.0
    #: a device that idles so long though fitting work waits is an alarm
    idle_alarm_s: float = 5.0
    #: how long the memory of a killed child may take to come back
    reclaim_s: float = 20.0
    #: tasks after which a child is replaced; 0: never
    restart_after: int = 0
    patience_s: float = 20.0
    linger_s: float = 0.15
    #: find the size at which a batch costs the least per item; else batches are as large as the
    #: work's own cap
    measure_sizes: bool = True
    #: rank that a second of loading must gain
    swap_rank_per_s: float = 0.01
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
        cuda = next((name for name in devices if name.startswith("cuda:")), None)
        if cuda is not None and importlib.util.find_spec("torch") is None:
            raise errors.ConfigError(
                f"{cuda} needs torch, which is not installed: install the gpu extra, as "
                "python -m pip install -e '.[gpu]'"
            )
        return cls(**{**given, "devices": devices})

    @property
    def policy(self) -> choose.Policy:
        return choose.Policy(
            patience_s=self.patience_s,
            linger_s=self.linger_s,
            swap_rank_per_s=self.swap_rank_per_s,
        )

    @property
    def options(self) -> device.Options:
        return device.Options(cpu_bytes=self.cpu_bytes, folder=self.place, speed=self.speed)

    @property
    def place(self) -> str:
        return self.folder or str(pathlib.Path(tempfile.gettempdir()) / "resident-pool")

    def cache_of(self, name: str) -> cache.Options:
        """The feature cache of one device's child."""
        own = self.cpu_bytes // 4 if name == "cpu" else 2**31
        return cache.Options(
            host_bytes=self.cache_bytes or own,
            host_is_device=name == "cpu",
            folder=self.cache_folder,
            disk_bytes=self.cache_disk_bytes,
            kinds={kind: cache.Policy.of(kind, given) for kind, given in self.cache_kinds.items()},
        )
