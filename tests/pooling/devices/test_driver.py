from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys

import pytest

from mangen.pooling.devices import driver, simulated

ROOT = pathlib.Path(__file__).parents[3]
MIB = 2**20
#: what a child does: it opens the card or is a tenant, says so, and waits to be killed
HOLD = """
import sys
from mangen.pooling.devices import device, simulated
options = device.Options(folder=sys.argv[1], speed=1e6)
if sys.argv[2] == "tenant":
    held = simulated.Tenant("sim:tiny", options)
    held.grow(int(sys.argv[3]))
else:
    held = simulated.open_here("sim:tiny", options).alloc(int(sys.argv[3]))
print("held", flush=True)
sys.stdin.read()
"""


#: many children that want bytes at the same moment
RUSH = """
import sys
from mangen.pooling.devices import device, simulated
with simulated.Tenant("sim:tiny", device.Options(folder=sys.argv[1])) as tenant:
    print("ready", flush=True)
    sys.stdin.readline()
    got = 0
    try:
        while True:
            tenant.grow(2**20)
            got += 1
    except MemoryError:
        print(got, flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def hold(options):
    """Start children that hold bytes on the card; they are killed at the end."""
    children = []

    def start(kind, nbytes):
        child = subprocess.Popen(
            [sys.executable, "-c", HOLD, options.folder, kind, str(nbytes)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        children.append(child)
        assert child.stdout.readline() == b"held\n"
        return child

    yield start
    for child in children:
        child.kill()
        child.communicate()


def test_two_processes_share_one_total(card, outside, hold):
    child = hold("device", 500 * MIB)
    assert outside.processes() == {os.getpid(): 64 * MIB, child.pid: 564 * MIB}
    assert card.memory().free == 396 * MIB
    with pytest.raises(RuntimeError, match="out of memory"):
        card.alloc(400 * MIB)
    held = card.alloc(380 * MIB)
    assert outside.free() == 16 * MIB
    held.release()


def test_processes_that_rush_get_the_total_and_not_a_byte_more(options, outside):
    children = [
        subprocess.Popen(
            [sys.executable, "-c", RUSH, options.folder],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(3)
    ]
    try:
        for child in children:
            assert child.stdout.readline() == b"ready\n"
        for child in children:
            child.stdin.write(b"go\n")
            child.stdin.flush()
        got = [int(child.stdout.readline()) for child in children]
        assert sum(got) == 1024
        assert outside.free() == 0
        assert outside.processes() == {
            child.pid: n * MIB for child, n in zip(children, got, strict=True)
        }
    finally:
        for child in children:
            child.communicate(b"end\n")
    assert outside.free() == 1024 * MIB


def test_the_bytes_of_a_killed_process_come_back(outside, hold):
    child = hold("device", 500 * MIB)
    assert outside.free() == 460 * MIB
    child.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert outside.free() == 1024 * MIB, "a zombie holds nothing"
    assert outside.processes() == {}


def test_a_request_that_needs_a_dead_process_s_bytes_gets_them(card, hold):
    child = hold("device", 800 * MIB)
    child.kill()
    child.wait()
    assert card.alloc(900 * MIB).nbytes == 900 * MIB


def test_bytes_can_be_made_to_outlive_their_process(options, outside, hold):
    child = hold("device", 500 * MIB)
    simulated.stick("sim:tiny", options, child.pid)
    child.kill()
    child.wait()
    assert outside.free() == 460 * MIB
    assert outside.processes() == {}
    simulated.unstick("sim:tiny", options, child.pid)
    assert outside.free() == 1024 * MIB
    with pytest.raises(LookupError):
        simulated.stick("sim:tiny", options, child.pid)


def test_a_tenant_takes_from_the_card_and_gives_back(options, card, outside):
    with simulated.Tenant("sim:tiny", options) as tenant:
        tenant.grow(700 * MIB)
        assert card.memory().free == 260 * MIB
        with pytest.raises(MemoryError):
            tenant.grow(300 * MIB)
        with pytest.raises(RuntimeError, match="out of memory"):
            card.alloc(300 * MIB)
        tenant.shrink(200 * MIB)
        card.alloc(300 * MIB).release()
    card.trim()
    assert outside.free() == 960 * MIB


def test_a_tenant_s_bytes_die_with_its_process(outside, hold):
    child = hold("tenant", 700 * MIB)
    assert outside.processes() == {child.pid: 700 * MIB}
    child.kill()
    child.wait()
    assert outside.free() == 1024 * MIB


def test_a_recycled_process_id_is_no_confusion(options, outside, monkeypatch):
    tenant = simulated.Tenant("sim:tiny", options)
    tenant.grow(100 * MIB)
    assert outside.free() == 924 * MIB
    born = driver.started(os.getpid())
    monkeypatch.setattr(driver, "started", lambda _: born + 1)
    assert outside.free() == 1024 * MIB


def test_a_card_takes_a_bounded_number_of_processes(tmp_path):
    opened = driver.Driver(tmp_path / "full.card", MIB)
    rows = [opened.enter() for _ in range(128)]
    assert len(set(rows)) == 128
    with pytest.raises(RuntimeError, match="no more"):
        opened.enter()
    opened.leave(rows[5])
    assert opened.enter() == rows[5]
    opened.close()


def test_no_context_fits_on_a_full_card(options, outside):
    with simulated.Tenant("sim:tiny", options) as tenant:
        tenant.grow(1000 * MIB)
        with pytest.raises(RuntimeError, match="out of memory"):
            simulated.open_here("sim:tiny", options)
        assert outside.free() == 24 * MIB
