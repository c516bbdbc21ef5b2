"""Homes for the stack's tests, and clients in processes of their own."""

from __future__ import annotations

import json
import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import tempfile
import time

import psutil
import pytest

from mangen import settings
from mangen.stack import clients, place, record, servers

ROOT = pathlib.Path(__file__).parents[2]
CLIENT = """
import contextlib, json, os, pathlib, sys
from mangen import errors, settings, stack
chosen = settings.load(dict(os.environ), pathlib.Path("no such file"))
try:
    with stack.join(chosen, schema=False) as found:
        print(json.dumps({"database": found.database_url, "broker": found.broker_url}), flush=True)
        sys.stdin.read()
except errors.ServiceError as error:
    print(json.dumps({"error": str(error)}), flush=True)
"""


class Home:
    """A data folder and what may be asked of it."""

    def __init__(self, folder):
        self.folder = folder
        self.place = place.Place(folder)

    def settings(self, **urls):
        values = {f"MANGEN_{name.upper()}": value for name, value in urls.items()}
        return settings.load({"MANGEN_HOME": str(self.folder), **values}, self.folder / "none")

    def server(self, name):
        return servers.noted(servers.lock_of(self.place, name))

    def keeper(self):
        pid = record.keeper_pid(self.place)
        try:
            return pid and psutil.Process(pid)
        except psutil.NoSuchProcess:
            return None  # it died since it was named

    def quiet(self):
        """No keeper, no server, no file that says otherwise."""
        return (
            not clients.keeper_lives(self.place)
            and not self.server("postgres")
            and not self.server("valkey")
            and not self.place.services_file.exists()
            and not self.place.sockets.exists()
        )


def until(what, *, wait_s=45.0):
    """Answer the first true value; the deadline is generous as the machine may be busy."""
    deadline = time.monotonic() + wait_s
    while not (answer := what()):
        assert time.monotonic() < deadline, f"waited {wait_s} s in vain"
        time.sleep(0.02)
    return answer


@pytest.fixture(name="until")
def _until():
    return until


@pytest.fixture
def home():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="mh-", dir="/tmp"))
    folder.chmod(0o755)
    here = Home(folder / "var")
    yield here
    until(here.quiet)  # every test ends with nothing left running
    shutil.rmtree(folder)


@pytest.fixture
def client(home):
    """Start a client in its own process, as any user; answers it and what it said."""
    started = []

    def start(*, uid=None, python=sys.executable, **more):
        become = {} if uid is None else {"user": uid, "group": 65534, "extra_groups": []}
        process = subprocess.Popen(
            [python, "-c", CLIENT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd="/",
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path[1:]]),
                "MANGEN_HOME": str(home.folder),
                **more,
            },
            **become,
        )
        started.append(process)
        return process, json.loads(process.stdout.readline())

    yield start
    for process in started:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


@pytest.fixture
def nobody():
    """The user nobody and a Python it can run; only root may become it."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    user = place.User(pwd.getpwnam("nobody").pw_uid, pwd.getpwnam("nobody").pw_gid)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for python in filter(None, (sys.executable, shutil.which(version), f"/usr/bin/{version}")):
        if place.can_run([python, "-c", "import ssl"], user):
            return user.uid, python
    pytest.skip("the user nobody can run no Python of this version here")
