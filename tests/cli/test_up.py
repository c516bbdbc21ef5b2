import json
import signal

import pytest

from mangen.stack import clients, place

pytestmark = pytest.mark.slow

#: `up` with workers that only sleep: what is tested is the care for processes, not the processes
UP = """
import sys
from mangen.cli import crew, main
def command(chosen, name):
    if {stubborn}:
        return ["/bin/sh", "-c", "trap '' TERM QUIT; while :; do sleep 0.1; done"]
    return ["/bin/sleep", "600"]
crew.worker_command = command
sys.exit(main.main(["up", "--json", *sys.argv[1:]]))
"""


def events_of(process):
    for line in process.stdout:
        yield json.loads(line)


def start(background, living, *, workers=2, stubborn=False):
    """An `up` whose workers have started; answers it, its lines to come, and its workers."""
    process = background(UP.format(stubborn=stubborn), "--workers", str(workers))
    events = events_of(process)
    assert next(events)["event"] == "services"
    for _ in range(workers):
        assert next(events)["event"] == "started"
    return process, events, living(process.pid).children()


def test_up_ends_cleanly_and_takes_its_workers_along(background, living):
    process, events, workers = start(background, living)
    assert len(workers) == 2
    process.send_signal(signal.SIGTERM)
    assert [event["event"] for event in events] == ["ending", "ended"]
    assert process.wait(30) == 0
    assert not any(living(worker.pid) for worker in workers)


def test_a_second_up_says_so_and_does_nothing(background, shell, living, home):
    process, _, workers = start(background, living)
    code, out, err = shell("up")
    assert (code, out) == (4, "")
    assert err == (
        f"error: `up` already runs for {home / 'var'} (process {process.pid}): use it, "
        "or end it first, or set MANGEN_HOME to another folder\n"
    )
    assert all(living(worker.pid) for worker in workers)


def test_a_worker_that_dies_is_brought_back(background, living):
    process, events, workers = start(background, living, workers=1)
    workers[0].kill()
    assert next(events) | {"log": ""} == {"event": "ended", "name": "w1", "exit": -9, "log": ""}
    assert next(events) == {"event": "started", "name": "w1", "again": 1}
    assert [child.pid for child in living(process.pid).children()] != [workers[0].pid]


def test_a_killed_up_leaves_no_worker_behind(background, living, until):
    process, _, workers = start(background, living)
    process.kill()
    until(lambda: not any(living(worker.pid) for worker in workers))


def test_asking_again_is_colder_each_time(background, living, until):
    process, events, workers = start(background, living, workers=1, stubborn=True)
    process.send_signal(signal.SIGINT)
    assert next(events)["event"] == "ending"
    process.send_signal(signal.SIGINT)
    until(lambda: living(workers[0].pid))
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
    assert not living(workers[0].pid)


def test_up_and_commands_share_one_keeper(background, living, home, shell):
    process, _, _ = start(background, living, workers=1)
    assert clients.keeper_lives(place.Place(home / "var"))
    code, found = shell.json("doctor")
    assert code == 0
    assert {check["name"]: check["detail"] for check in found}["up"] == "runs here"
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
