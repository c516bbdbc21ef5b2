from __future__ import annotations

import mmap
import os
import pathlib
import subprocess
import sys

import pytest

from mangen.pooling.devices import cpu

MIB = 2**20


@pytest.fixture
def refuse(monkeypatch):
    """Make files under /proc what they are in some sandboxes: `refuse(name, ...)`: not there."""

    def make(*names):
        for kind in ("write_text", "read_bytes"):
            real = getattr(pathlib.Path, kind)

            def call(path, *arguments, _real=real):
                if path.name in names:
                    raise FileNotFoundError(path)
                return _real(path, *arguments)

            monkeypatch.setattr(pathlib.Path, kind, call)

    return make


def test_the_budget_is_all_that_there_is():
    opened = cpu.Cpu(2**40)
    now = opened.memory()
    assert (now.total, now.reach, now.fragmentation) == (2**40, 2**40, 0.0)
    assert cpu.CpuCard(2**40).total == 2**40


def test_what_is_held_is_the_resident_set():
    before = cpu.resident_bytes()
    with mmap.mmap(-1, 512 * MIB) as asked_for_and_never_touched:
        held = b"\1" * (64 * MIB)
        grown = cpu.resident_bytes() - before
        assert 60 * MIB <= grown <= 128 * MIB
        assert len(asked_for_and_never_touched) + len(held) == 576 * MIB


def test_the_kernel_sees_a_peak_between_two_looks():
    opened = cpu.Cpu(2**40)
    opened.watch()
    if not opened._kept_by_kernel:
        pytest.skip("this kernel lets no process reset its highest resident set")
    floor = opened.memory().allocated
    held = b"\1" * (64 * MIB)
    del held
    opened.trim()
    assert opened.memory().allocated <= floor + 16 * MIB
    assert opened.peak().allocated >= floor + 48 * MIB


def test_a_trim_frees_what_only_refers_to_itself():
    opened = cpu.Cpu(2**40)
    opened.trim()
    held = [b"\1" * (64 * MIB)]
    held.append(held)
    high = opened.memory().allocated
    del held
    opened.trim()
    assert opened.memory().allocated <= high - 48 * MIB


def test_looks_stand_in_where_the_kernel_keeps_no_peak(refuse):
    refuse("clear_refs")
    opened = cpu.Cpu(2**40)
    opened.watch()
    floor = opened.peak().allocated
    held = b"\1" * (64 * MIB)
    high = opened.peak()
    del held
    assert high.allocated >= floor + 48 * MIB
    assert opened.peak() == high
    opened.watch()
    assert opened.peak().allocated <= floor + 16 * MIB


def test_a_kernel_that_sums_nothing_up_still_gives_a_snapshot(refuse, tmp_path):
    refuse("smaps_rollup")
    cpu.Cpu(2**40).snapshot(tmp_path / "snapshot")
    assert "VmRSS:" in (tmp_path / "snapshot").read_text()


def test_the_hosts_memory_is_nobodys_alone():
    card = cpu.CpuCard(2**40)
    assert card.exclusive is False
    assert (card.free(), card.processes()) == (None, {})


def test_children_share_the_processors(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    assert cpu.threads_each(["cpu"]) == 8
    assert cpu.threads_each(["cpu", "cuda:0", "cpu", "cpu"]) == 2
    assert cpu.threads_each(["cuda:0"]) == 8
    assert cpu.threads_each(["cpu"] * 9) == 1


def test_devices_load_no_torch_and_no_pynvml_before_they_are_opened():
    code = (
        "import sys\n"
        "from mangen.pooling.devices import cpu, cuda, device, lock, nvml\n"
        "device.make('cpu', device.Options()); device.card('cpu', device.Options())\n"
        "print(sorted({'torch', 'pynvml', 'celery', 'sqlalchemy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
