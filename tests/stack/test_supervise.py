import os
import signal
import subprocess
import sys

import psutil
import pytest

from mangen import errors
from mangen.stack import supervise

PARENT = """
import pathlib, sys, time
from mangen.stack import supervise
process = supervise.launch([sys.executable, "-c", "import time; time.sleep(600)"],
                           log=pathlib.Path(sys.argv[1]))
print(process.pid, flush=True)
time.sleep(600)
"""


def test_the_pause_doubles_up_to_its_limit_and_is_forgotten_after_health():
    backoff = supervise.Backoff()
    assert [backoff.died(lived_s=1) for _ in range(8)] == [0.5, 1, 2, 4, 8, 16, 30, 30]
    assert backoff.died(lived_s=61) == 0.5


def test_a_process_that_dies_is_started_again_after_the_pause(until):
    now = [100.0]
    kept = supervise.Supervised(
        "sleeper", lambda: subprocess.Popen(["sleep", "600"]), clock=lambda: now[0]
    )
    assert kept.tick()
    first = kept.process
    assert not kept.tick()
    first.kill()
    first.wait()
    assert kept.tick()
    assert (kept.alive, kept.last_exit) == (False, -signal.SIGKILL)
    now[0] += 0.4
    assert not kept.tick()
    now[0] += 0.2
    assert kept.tick()
    assert kept.process.pid != first.pid
    kept.stop(wait_s=10)
    assert (kept.alive, kept.last_exit) == (False, -signal.SIGTERM)


def test_one_that_cannot_be_started_waits_and_keeps_the_reason():
    def start():
        raise errors.ServiceError("no room")

    kept = supervise.Supervised("broken", start)
    assert kept.tick()
    assert str(kept.error) == "no room"
    assert not kept.tick()
    assert kept.backoff.deaths == 1


def test_one_that_will_not_end_is_killed(until):
    process = subprocess.Popen(
        ["/bin/sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 0.1; done"],
        stdout=subprocess.PIPE,
    )
    process.stdout.readline()
    process.stdout.close()
    kept = supervise.Supervised("stubborn", lambda: process)
    kept.tick()
    kept.stop(wait_s=0.1)
    assert kept.last_exit == -signal.SIGKILL


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the guard looks every 0.25 s")
def test_a_guarded_process_dies_with_its_parent(tmp_path, until):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, tmp_path / "log"],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    child = psutil.Process(int(parent.stdout.readline()))
    parent.stdout.close()
    parent.kill()
    parent.wait()
    until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)


def test_a_long_log_is_set_aside(tmp_path, monkeypatch):
    monkeypatch.setattr(supervise, "_LOG_MAX", 3)
    log = tmp_path / "x.log"
    log.write_text("long")
    supervise.launch(["/bin/echo", "new"], log=log).wait()
    assert log.read_text() == "new\n"
    assert (tmp_path / "x.old.log").read_text() == "long"
    assert supervise.tail(log) == "new"
