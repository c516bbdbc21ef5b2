"""Settings: one frozen object, made from `MANGEN_*` and an optional `mangen.toml`.

This module is the only reader of the environment. The environment wins over the file, the file
over the default; every field below is one setting, described by its metadata.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from mangen import errors

PREFIX = "MANGEN_"


def _setting(default: Any, doc: str) -> Any:
    return dataclasses.field(default=default, metadata={"doc": doc})


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """What a deployment may choose. Handed to children as it is."""

    home: pathlib.Path = _setting(
        pathlib.Path("var"), "folder of data, servers and artifacts; relative to the working folder"
    )
    database_url: str = _setting(
        "", "Postgres, as postgresql+psycopg://...; empty: an embedded server under home"
    )
    broker_url: str = _setting(
        "", "RabbitMQ, Redis or Valkey; empty: an embedded Valkey under home"
    )
    result_url: str = _setting(
        "",
        "Celery's result backend, which counts the anchors' chord; empty: the broker where it is "
        "Redis or Valkey, else none and no chord",
    )
    artifacts: str = _setting("", "folder of the artifact store; empty: artifacts under home")
    devices: str = _setting(
        "auto", "devices of a worker, as cpu*2 or cuda:0,cpu; auto: one cpu device a core"
    )
    cpu_memory_gib: float = _setting(
        0.0, "memory budget of one cpu device in GiB; 0: its share of 70 % of the machine's"
    )
    window: int = _setting(4, "un-acked requests a worker holds for each device")
    lease_s: float = _setting(
        30.0, "seconds without a heartbeat after which a worker's jobs are released"
    )
    pass_s: float = _setting(5.0, "seconds between two passes when nothing wakes the scheduler")
    lost_bell_s: float = _setting(
        5.0, "seconds after which a published job that no worker holds is published again"
    )
    patience_s: float = _setting(
        20.0, "longest departure from rank order for the sake of placement"
    )
    restart_after: int = _setting(
        200, "tasks after which a worker's child process is replaced; 0: never"
    )
    hard_limit_factor: float = _setting(
        10.0, "a job is stopped after this many times its expected duration"
    )
    hard_limit_min_s: float = _setting(600.0, "no job is stopped before so many seconds")
    image_engine: str = _setting(
        "mangen.engines.animatic.engine:Animatic", "dotted path of the engine for pictures"
    )
    voice_engine: str = _setting(
        "mangen.engines.voice.kokoro:Kokoro", "dotted path of the engine for voices"
    )
    width: int = _setting(720, "width of new videos in pixels, even")
    height: int = _setting(1280, "height of new videos in pixels, even")
    rank_weights: str = _setting(
        "0.5,0.3,0.2,0.1", "rank: shortness, smallness, age per hour, jobs freed"
    )
    max_text_mb: float = _setting(20.0, "largest source text that is taken, in MB")
    flower_port: int = _setting(5555, "port of Flower on this machine; 0: no Flower")
    log_level: str = _setting("info", "level of the workers' logs")

    def __post_init__(self) -> None:
        for name in ("width", "height"):
            if getattr(self, name) < 64 or getattr(self, name) % 2:
                raise errors.SettingsError(f"{PREFIX}{name.upper()} must be even and at least 64")
        if self.lease_s < 1:
            raise errors.SettingsError(f"{PREFIX}LEASE_S must be at least 1 second")

    @property
    def root(self) -> pathlib.Path:
        """The data folder, absolute."""
        return self.home.expanduser().absolute()

    @property
    def artifact_root(self) -> pathlib.Path:
        """The artifact store's folder, absolute."""
        return (
            pathlib.Path(self.artifacts).expanduser().absolute()
            if self.artifacts
            else (self.root / "artifacts")
        )


_CASTS: dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "pathlib.Path": pathlib.Path,
}


def load(
    environment: Mapping[str, str] | None = None, file: pathlib.Path | None = None
) -> Settings:
    """Read the settings; raises SettingsError that names the setting and where it stands."""
    env = os.environ if environment is None else environment
    path = file or pathlib.Path(env.get(PREFIX + "CONFIG", "mangen.toml"))
    values = _from_file(path)
    fields = {field.name: field for field in dataclasses.fields(Settings)}
    for name in fields:
        text = env.get(PREFIX + name.upper())
        if text is not None:
            values[name] = (text, f"the environment variable {PREFIX}{name.upper()}")
    chosen: dict[str, Any] = {}
    for name, (value, where) in values.items():
        if name not in fields:
            raise errors.SettingsError(f"{where} names an unknown setting: {name}")
        try:
            chosen[name] = _CASTS[str(fields[name].type)](value)
        except ValueError as error:
            raise errors.SettingsError(
                f"{where}: {value!r} is no {fields[name].type} for {name}"
            ) from error
    return Settings(**chosen)


def _from_file(path: pathlib.Path) -> dict[str, tuple[Any, str]]:
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise errors.SettingsError(f"can't read the settings file {path}: {error}") from error
    return {name: (value, f"the settings file {path}") for name, value in data.items()}


def environment_of(settings: Settings) -> dict[str, str]:
    """The variables that make a child process read exactly these settings."""
    return {
        PREFIX + field.name.upper(): str(getattr(settings, field.name))
        for field in dataclasses.fields(settings)
    }
