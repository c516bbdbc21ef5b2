"""A home for commands, and a way to run them in this process or in their own."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import psutil
import pytest

from mangen import settings, stack
from mangen.cli import main
from mangen.stack import clients, place

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(name="until")
def _until():
    def until(what, *, wait_s=45.0):
        deadline = time.monotonic() + wait_s
        while not (answer := what()):
            assert time.monotonic() < deadline, f"waited {wait_s} s in vain"
            time.sleep(0.02)
        return answer

    return until


@pytest.fixture(scope="module")
def home():
    """A folder whose services run while the module's tests do."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="mc-", dir="/tmp"))
    folder.chmod(0o755)
    chosen = settings.load({"MANGEN_HOME": str(folder / "var")}, folder / "none.toml")
    with stack.join(chosen):
        yield folder
    deadline = time.monotonic() + 45
    while clients.keeper_lives(place.Place(chosen.root)) and time.monotonic() < deadline:
        time.sleep(0.05)
    shutil.rmtree(folder)


class Shell:
    """Runs command lines; answers (exit code, stdout, stderr)."""

    def __init__(self, capfd):
        self._capfd = capfd

    def __call__(self, *argv):
        self._capfd.readouterr()
        code = main.main([str(word) for word in argv])
        said = self._capfd.readouterr()
        return code, said.out, said.err

    def json(self, *argv):
        code, out, err = self(*argv, "--json")
        assert out, err
        return code, json.loads(out.splitlines()[-1])


@pytest.fixture
def shell(home, monkeypatch, capfd):
    monkeypatch.chdir(home)
    for name in [name for name in os.environ if name.startswith("MANGEN_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MANGEN_HOME", str(home / "var"))
    monkeypatch.setenv("MANGEN_FLOWER_PORT", "0")
    return Shell(capfd)


@pytest.fixture
def background(shell, home):
    """Start commands in processes of their own; those that still run are killed at the end."""
    started = []

    def start(code, *argv):
        process = subprocess.Popen(
            [sys.executable, "-c", code, *argv],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def living(pid):
    """The process, unless it is dead or only waits to be reaped."""
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process
    except psutil.NoSuchProcess:
        return None


@pytest.fixture(name="living")
def _living():
    return living
