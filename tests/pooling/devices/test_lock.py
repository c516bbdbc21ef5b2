from __future__ import annotations

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import types

import pytest

from mangen.pooling import errors
from mangen.pooling.devices import cpu, lock

#: takes the lock of `card` in `folder`, starts a process that outlives it, says so, and waits
HOLDER = """
import subprocess, sys, types
from mangen.pooling.devices import lock
card = types.SimpleNamespace(name="cuda:0", id="GPU-1", exclusive=True)
held = lock.hold(card, sys.argv[1], "first")
child = subprocess.Popen(["sleep", "600"], close_fds=False, stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
sys.stdin.read()
"""


def _card(name="cuda:0", uuid="GPU-1", *, exclusive=True):
    return types.SimpleNamespace(name=name, id=uuid, exclusive=exclusive)


@pytest.fixture
def holder(tmp_path):
    """Run another worker that holds the card; yield it and the pid of its own child."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        child = int(process.stdout.readline())
        yield process, child
        os.kill(child, signal.SIGKILL)
        process.kill()


def test_a_second_worker_is_told_who_has_the_card(tmp_path, holder):
    process, _ = holder
    with pytest.raises(errors.ConfigError) as refused:
        lock.hold(_card(), tmp_path, "second")
    said = str(refused.value)
    assert "cuda:0 (GPU-1)" in said
    assert f"the worker first (pid {process.pid})" in said
    assert "another device" in said


def test_a_killed_workers_card_is_free_though_its_children_live(tmp_path, holder):
    process, child = holder
    process.kill()
    process.wait()
    os.kill(child, 0)  # it outlives its parent
    with lock.hold(_card(), tmp_path, "second") as held:
        assert held.held


def test_a_forked_child_does_not_keep_the_card(tmp_path):
    held = lock.hold(_card(), tmp_path, "first")
    file = held._file
    says, told = os.pipe()
    child = os.fork()
    if not child:  # only system calls from here: it is a copy of the whole test run
        try:
            os.fstat(file)
            os.write(told, b"open")
        except OSError:
            os.write(told, b"shut")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert os.read(says, 4) == b"shut"
    os.close(says)
    os.close(told)
    with pytest.raises(errors.ConfigError):
        lock.hold(_card(), tmp_path, "second")
    held.close()


def test_a_card_that_was_closed_can_be_held_again(tmp_path):
    held = lock.hold(_card(), tmp_path, "one with a longer name")
    held.close()
    held.close()
    assert not held.held
    with lock.hold(_card(), tmp_path, "second"):
        assert json.loads(lock.path_of(_card(), tmp_path).read_text()) == {
            "worker": "second",
            "pid": os.getpid(),
        }


def test_a_copy_of_the_file_does_not_keep_a_closed_lock(tmp_path):
    held = lock.hold(_card(), tmp_path, "first")
    copy = os.dup(held._file)  # as a process has it that was forked by foreign code
    held.close()
    with lock.hold(_card(), tmp_path, "second") as other:
        assert other.held
    os.close(copy)


def test_an_exception_frees_the_card(tmp_path):
    with pytest.raises(ZeroDivisionError), lock.hold(_card(), tmp_path, "first"):
        raise ZeroDivisionError
    with lock.hold(_card(), tmp_path, "second") as held:
        assert held.held


def test_cards_do_not_hinder_each_other(tmp_path):
    with (
        lock.hold(_card("sim:a_1", "sim:a_1"), tmp_path, "first") as one,
        lock.hold(_card("sim:a/1", "sim:a/1"), tmp_path, "second") as other,
    ):
        assert one.path != other.path
        assert {one.path.parent, other.path.parent} == {tmp_path}


def test_an_id_can_not_leave_the_folder(tmp_path):
    assert lock.path_of(_card(uuid="../../etc/x"), tmp_path).parent == tmp_path


def test_a_cpu_is_shared(tmp_path):
    assert lock.hold(cpu.CpuCard(2**20), tmp_path, "first") is None
    assert lock.hold(cpu.CpuCard(2**20), tmp_path, "second") is None


def test_all_users_may_lock_in_the_folder(tmp_path):
    before = os.umask(0o077)
    try:
        with lock.hold(_card(), tmp_path / "deep" / "locks", "first") as held:
            assert stat.S_IMODE(held.path.parent.stat().st_mode) == 0o1777
            assert stat.S_IMODE(held.path.stat().st_mode) == 0o666
    finally:
        os.umask(before)


def test_a_folder_that_is_there_keeps_its_mode(tmp_path):
    tmp_path.chmod(0o700)
    with lock.hold(_card(), tmp_path, "first"):
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


def test_a_lock_without_a_name_is_refused_all_the_same(tmp_path):
    path = lock.path_of(_card(), tmp_path)
    with path.open("w") as foreign:
        fcntl.flock(foreign, fcntl.LOCK_EX)
        for text in ("", "junk", "[]", "{}"):
            path.write_text(text)
            with pytest.raises(errors.ConfigError, match="another worker"):
                lock.hold(_card(), tmp_path, "second")


def test_a_link_in_the_folder_is_not_followed(tmp_path):
    target = tmp_path / "precious"
    target.write_text("keep")
    lock.path_of(_card(), tmp_path).symlink_to(target)
    with pytest.raises(errors.ConfigError, match="name another folder"):
        lock.hold(_card(), tmp_path, "first")
    assert target.read_text() == "keep"


def test_a_folder_that_can_not_be_made_is_a_wrong_configuration(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(errors.ConfigError, match="cuda:0"):
        lock.hold(_card(), tmp_path / "file" / "locks", "first")


def test_a_file_that_was_swept_away_is_locked_anew(tmp_path, monkeypatch):
    path = lock.path_of(_card(), tmp_path)
    opened = lock._opened
    swept = []

    def sweep(path):
        file = opened(path)
        if not swept:
            swept.append(file)
            path.unlink()
        return file

    monkeypatch.setattr(lock, "_opened", sweep)
    with lock.hold(_card(), tmp_path, "first"):
        assert swept
        with path.open() as other, pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
