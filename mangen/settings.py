"""Settings: one frozen object, made from `MANGEN_*` and an optional `mangen.toml`.

This module is the only reader of the environment. The environment wins over the file, the file
over the default; every field below is one setting, described by its metadata.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import pathlib
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from mangen import errors

PREFIX = "MANGEN_"


#: variables of this prefix that are no settings: read by manage.py, by the commands, by the tests
_OTHERS = ("CONFIG", "DEBUG", "ENV")
_TESTS = "TEST_"
#: what has no bound of its own: beyond these, times leave the calendar and the pass would end
_MOST, _MOST_DAYS = 1e9, 36_500
_ENCODE_QUEUES = ("gpu.low", "cpu")


def _setting(
    default: Any, doc: str, *, least: float | None = None, most: float | None = None
) -> Any:
    return dataclasses.field(default=default, metadata={"doc": doc, "least": least, "most": most})


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
        "auto",
        "devices of a worker, as cpu*2, cuda:0,cpu or sim:card_24g; auto: one cpu device a core",
    )
    cpu_memory_gib: float = _setting(
        0.0,
        "memory budget of one cpu device in GiB; 0: its share of 70 % of the machine's",
        least=0,
    )
    cache_memory_gib: float = _setting(
        0.0,
        "host memory of each device's feature cache in GiB; 0: a quarter of a cpu device, 2 beside "
        "a card",
        least=0,
    )
    cache_disk_gib: float = _setting(
        8.0, "disk of the feature cache in GiB, under home; 0: none", least=0
    )
    window: int = _setting(
        4, "un-acked requests a worker holds for each device", least=1, most=1000
    )
    lease_s: float = _setting(
        30.0, "seconds without a heartbeat after which a worker's jobs are released", least=1
    )
    pass_s: float = _setting(
        5.0, "seconds between two passes when nothing wakes the scheduler", least=0.1
    )
    lost_bell_s: float = _setting(
        5.0,
        "seconds after which a published job that no worker holds is published again",
        least=0.1,
    )
    clip_expiry_s: float = _setting(
        86400.0, "seconds after which an ad-hoc clip that nobody began expires", least=1
    )
    patience_s: float = _setting(
        20.0, "longest departure from rank order for the sake of placement", least=0
    )
    restart_after: int = _setting(
        200, "tasks after which a worker's child process is replaced; 0: never", least=0
    )
    hard_limit_factor: float = _setting(
        10.0, "a job is stopped after this many times its expected duration", least=1
    )
    hard_limit_min_s: float = _setting(600.0, "no job is stopped before so many seconds", least=1)
    image_engine: str = _setting(
        "mangen.engines.animatic.engine:Animatic",
        "engine for pictures: animatic, diffusion or a dotted path",
    )
    encode_queue: str = _setting(
        "gpu.low",
        "queue of the encoding that a staged video model wants of its panels: gpu.low or cpu",
    )
    voice_engine: str = _setting(
        "mangen.engines.voice.kokoro:Kokoro", "dotted path of the engine for voices"
    )
    width: int = _setting(720, "width of new videos in pixels, even", least=64, most=4096)
    height: int = _setting(1280, "height of new videos in pixels, even", least=64, most=4096)
    music: float = _setting(
        1.0,
        "volume of music and places under the voices of new projects; 0: none",
        least=0,
        most=1,
    )
    rank_weights: str = _setting(
        "0.5,0.3,0.2,0.1", "rank: shortness, smallness, age per hour, jobs freed"
    )
    fair_quantum_s: float = _setting(
        60.0,
        "predicted seconds of work within which projects count as equally served, so that rank "
        "decides between them",
        least=0.1,
    )
    horizon_s: float = _setting(
        60.0,
        "predicted seconds of work published ahead for each device, beyond a batch and one more",
        least=0,
    )
    mid_limit_s: float = _setting(
        7200.0,
        "seconds without a turn after which a project's waiting work of class mid moves up to "
        "high; 0: never",
        least=0,
    )
    low_limit_s: float = _setting(
        21600.0,
        "seconds without a turn after which a project's waiting work of class low moves up to "
        "mid; 0: never",
        least=0,
    )
    quiet_hours: str = _setting(
        "",
        "spans of the day in which nothing begins but urgent projects' work, as "
        "09:00-18:00,22:30-06:00; empty: none",
    )
    time_zone: str = _setting(
        "UTC", "time zone of quiet hours and of the days of budgets, as Asia/Shanghai"
    )
    gpu_budget_s: float = _setting(
        0.0,
        "seconds a day on the gpu queues that a new project may use; 0: no limit",
        least=0,
    )
    keep_takes_days: float = _setting(
        30.0, "days that replaced takes are kept, with their files; 0: for ever", least=0
    )
    keep_events_days: float = _setting(
        0.0,
        "days after which the events of a project that came to rest are pruned, and `trace` no "
        "longer tells how long its jobs waited; at least 1; 0: never",
        least=0,
    )
    keep_observations: int = _setting(
        100_000, "observations of devices that are kept, the latest; 0: all", least=0
    )
    max_text_mb: float = _setting(20.0, "largest source text that is taken, in MB", least=0.001)
    flower_port: int = _setting(
        5555, "port of Flower on this machine; 0: no Flower", least=0, most=65535
    )
    log_level: str = _setting("info", "level of the workers' logs")

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            least, most = field.metadata["least"], field.metadata["most"]
            if most is None and isinstance(value, (int, float)):
                most = _MOST_DAYS if field.name.endswith("_days") else _MOST
            # asked this way round, so that NaN is refused too
            if not (least is None or value >= least) or not (most is None or value <= most):
                bounds = f"at least {least:g}" + (f" and at most {most:g}" if most else "")
                raise errors.SettingsError(f"{_named(field.name)} is {value}; it must be {bounds}")
        if 0 < self.keep_events_days < 1:
            raise errors.SettingsError(
                f"{_named('keep_events_days')} is {self.keep_events_days}; it must be 0 or at "
                "least 1"
            )
        if self.encode_queue not in _ENCODE_QUEUES:
            raise errors.SettingsError(
                f"{_named('encode_queue')} is {self.encode_queue!r}; it must be "
                f"{' or '.join(_ENCODE_QUEUES)}"
            )
        for name in ("width", "height"):
            if getattr(self, name) % 2:
                raise errors.SettingsError(
                    f"{_named(name)} is {getattr(self, name)}; it must be even"
                )

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


def _named(name: str) -> str:
    """How people know a setting: by its name and its variable."""
    return f"the {name} ({PREFIX}{name.upper()})"


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
    named = env.get(PREFIX + "CONFIG")
    path = file or pathlib.Path(named or "mangen.toml")
    if named and file is None and not path.exists():
        raise errors.SettingsError(f"{PREFIX}CONFIG names {path}, which is not there")
    values = _from_file(path)
    fields = {field.name: field for field in dataclasses.fields(Settings)}
    _refuse_unknown(env, fields)
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
        except (TypeError, ValueError) as error:
            raise errors.SettingsError(
                f"{where}: {value!r} is no {fields[name].type} for {name}"
            ) from error
    return Settings(**chosen)


def _refuse_unknown(env: Mapping[str, str], fields: Mapping[str, object]) -> None:
    """Raise SettingsError for a variable that looks like a setting and is none."""
    known = [name.upper() for name in fields]
    for variable in env:
        name = variable.removeprefix(PREFIX)
        if name == variable or name in (*known, *_OTHERS) or name.startswith(_TESTS):
            continue
        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {PREFIX}{near[0]}?" if near else "docs/settings.md lists them"
        raise errors.SettingsError(f"there is no setting {variable}; {hint}")


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
