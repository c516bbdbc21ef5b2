"""The pool's configuration: what app.conf's dict `resident_pool` may hold."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import pathlib
import pickle
import tempfile
from collections.abc import Mapping
from typing import Any

from mangen.pooling import cache, cache_policy, choose, errors
from mangen.pooling.devices import device

_ABOVE_ZERO = frozenset(("cpu_bytes", "speed", "monitor_s"))
_DOTTED = frozenset(("app", "work", "listener"))
_FOLDERS = frozenset(("cache_folder", "folder", "reports"))
_MOST = 2**60  #: of any number: what is larger is a slip


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
    #: beginnings of buckets, one word or two -> "card" or "cpu": left to such devices, as far as
    #: there are some
    places: Mapping[str, str] = dataclasses.field(default_factory=dict)
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
        kinds = {field.name: str(field.type) for field in dataclasses.fields(cls)}
        unknown = sorted(str(name) for name in given if name not in kinds)
        if unknown:
            raise errors.ConfigError(f"app.conf.resident_pool has unknown keys: {unknown}")
        for name in ("app", "work"):
            if name not in given:
                raise _wrong(name, "", "written as module:attribute")
        read = {name: _checked(name, kinds[name], value) for name, value in given.items()}
        devices = device.check(read.get("devices", ("cpu",)))
        cuda = next((name for name in devices if name.startswith("cuda:")), None)
        if cuda is not None and importlib.util.find_spec("torch") is None:
            raise errors.ConfigError(
                f"{cuda} needs torch, which is not installed: install the gpu extra, as "
                "python -m pip install -e '.[gpu]'"
            )
        if set(read.get("places", {}).values()) - {"card", "cpu"}:
            raise _wrong("places", read["places"], "a dict of card and cpu, as {'render': 'card'}")
        made = cls(**{**read, "devices": devices})
        for name in devices:
            made.cache_of(name)
        return made

    def strange(self, device: str, bucket: str) -> bool:
        """Whether work belongs on the other sort of device, and this pool has one of that."""
        first, *second = bucket.split("/", 2)[:2]
        wanted = self.places.get("/".join((first, *second)), self.places.get(first))
        return wanted not in {None, _sort(device)} and wanted in map(_sort, self.devices)

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
        """The feature cache of one device's child; raises ConfigError for a wrong kind."""
        own = self.cpu_bytes // 4 if name == "cpu" else 2**31
        return cache.Options(
            host_bytes=self.cache_bytes or own,
            host_is_device=name == "cpu",
            folder=self.cache_folder,
            disk_bytes=self.cache_disk_bytes,
            kinds=cache_policy.policies(self.cache_kinds),
        )


def _sort(device: str) -> str:
    return "cpu" if device == "cpu" else "card"


def _checked(name: str, kind: str, given: Any) -> Any:
    """Answer one field's value as it is kept; raises ConfigError that names the field."""
    if kind == "str":
        return _text(name, given)
    if kind == "bool":
        if not isinstance(given, bool):
            raise _wrong(name, given, "True or False")
    elif kind in ("int", "float"):
        _number(name, kind, given)
    elif name == "devices":
        if not isinstance(given, list | tuple) or not all(isinstance(one, str) for one in given):
            raise _wrong(name, given, "a list of names, as ['cpu']")
    elif not isinstance(given, Mapping):
        raise _wrong(name, given, "a dict")
    if name == "settings":
        try:
            pickle.dumps(given)
        except Exception as error:
            raise _wrong(name, given, f"data that can be sent to a child: {error!r}") from error
    return given


def _text(name: str, given: Any) -> str:
    if name in _FOLDERS and isinstance(given, os.PathLike):
        given = os.fspath(given)
    if not isinstance(given, str) or "\0" in given:
        raise _wrong(name, given, "a text")
    if name in _DOTTED and ":" not in given and not (name == "listener" and not given):
        raise _wrong(name, given, "written as module:attribute")
    if name == "child" and not given:
        raise _wrong(name, given, "the name of a module")
    return given


def _number(name: str, kind: str, given: Any) -> None:
    if not isinstance(given, int if kind == "int" else int | float) or isinstance(given, bool):
        raise _wrong(name, given, "a whole number" if kind == "int" else "a number")
    least = "above 0" if name in _ABOVE_ZERO else "0 or more"
    if not 0 <= given <= _MOST:  # NaN is nowhere between
        raise _wrong(name, given, f"a finite number, {least}")
    if name in _ABOVE_ZERO and given == 0:
        raise _wrong(name, given, least)
    if name == "margin" and given >= 1:
        raise _wrong(name, given, "a share below 1")


def _wrong(name: str, given: Any, wanted: str) -> errors.ConfigError:
    try:
        said = repr(given)[:100]
    except Exception:  # noqa: BLE001 - an object of its own
        said = f"a {type(given).__qualname__}"
    return errors.ConfigError(f"app.conf.resident_pool[{name!r}] must be {wanted}, not {said}")
