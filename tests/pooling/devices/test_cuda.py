"""`Cuda` over a torch that is not there: what it measures, and what it says."""

from __future__ import annotations

import os
import sys
import types

import fake_torch
import pytest
from fake_torch import GIB, MIB, UUID, Torch, pynvml_of

from mangen.pooling import errors
from mangen.pooling.devices import cuda, device


@pytest.fixture
def faked(tmp_path, monkeypatch):
    """Make Cuda over a fake torch: `faked(torch, driver)`."""
    made = []

    def make(torch, driver=None):
        fake_torch.put(monkeypatch, torch, driver)
        options = device.Options(folder=str(tmp_path))
        made.extend([device.make("cuda:1", options), device.card("cuda:1", options)])
        return made[-2]

    yield make
    for each in made:
        each.close()


def test_a_context_is_measured_where_its_process_is_told(faked):
    torch = Torch()
    torch.cuda.empty_cache = lambda: None  # the allocator's own bytes are none of the context's
    opened = faked(torch)
    assert torch.reserved
    assert opened.overhead == 300 * MIB
    assert opened.id == f"GPU-{UUID}"


def test_free_is_what_nvml_tells_of_the_uuid(faked):
    torch = Torch()
    driver = pynvml_of(torch)
    driver.nvmlDeviceGetMemoryInfo = lambda handle: types.SimpleNamespace(
        total=torch.total, free=(7 + handle) * GIB
    )
    assert faked(torch, driver).memory().free == 8 * GIB
    driver.nvmlDeviceGetMemoryInfo = lambda _: types.SimpleNamespace(total=0, free=80 * GIB)
    assert faked(torch, driver).memory().free == 22 * GIB  # never more than there is


def test_both_peaks_are_the_allocators(faked):
    torch = Torch()
    opened = faked(torch)
    opened.watch()
    torch.zeros(5 * MIB // 4, device="cuda:1")
    assert opened.peak() == device.Peak(allocated=5 * MIB, reserved=6 * MIB)


def test_a_context_is_what_is_used_where_it_is_alone(faked):
    torch = Torch()
    torch.foreign = 0
    in_a_container = [(4711, None)]
    assert faked(torch, pynvml_of(torch, in_a_container)).overhead == 300 * MIB


@pytest.mark.parametrize("processes", [[], [(4711, None), (4712, 5)]])
def test_a_context_is_guessed_where_nobody_can_tell(faked, processes):
    torch = Torch()
    assert faked(torch, pynvml_of(torch, processes)).overhead == cuda.CONTEXT_GUESS


def test_without_nvml_the_driver_is_asked(faked):
    torch = Torch()
    opened = faked(torch, types.SimpleNamespace())
    assert opened.id == f"GPU-{UUID}"
    assert opened.memory().free == torch.free


def test_an_instance_is_told_by_its_name(faked):
    torch = Torch(name="NVIDIA A100-SXM4-40GB MIG 1g.5gb")
    opened = faked(torch, types.SimpleNamespace())
    assert (opened.kind, opened.id) == (torch.name, f"MIG-{UUID}")


@pytest.mark.parametrize("step", [2 * MIB, -2 * MIB])
def test_bytes_that_change_hands_are_not_counted_twice(faked, step):
    torch = Torch()
    opened = faked(torch)
    torch.reserved += 64 * MIB
    reach = opened.memory().reach
    asked = opened._free
    opened._free = lambda: torch.count(0, step) or asked()
    assert opened.memory().reach <= reach
    opened._free = lambda: [asked(), torch.count(0, step)][0]
    assert opened.memory().reach <= reach


def test_history_is_kept_from_the_start_to_the_close(faked):
    torch = Torch()
    opened = faked(torch)
    assert torch.recorded == [("all", "python", cuda.HISTORY)]
    opened.close()
    opened.close()
    assert torch.recorded[1:] == [(None, "python", cuda.HISTORY)]


def test_a_snapshot_falls_back_on_what_can_be_said(faked, tmp_path):
    def fails(*arguments, **options):
        raise RuntimeError("no such call")

    torch = Torch()
    torch.cuda.memory._record_memory_history = torch.cuda.memory._dump_snapshot = fails
    opened = faked(torch)
    opened.snapshot(tmp_path / "one")
    assert (tmp_path / "one").read_text() == "summary of NVIDIA L4"
    torch.cuda.memory_summary = fails
    opened.snapshot(tmp_path / "two")
    assert "no such call" in (tmp_path / "two").read_text()


def _missing():
    raise ImportError("No module named 'torch'")


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("cuda:2", {}, "no cuda:2: torch counts 2"),
        ("cuda:1", {"is_available": lambda: False}, "no CUDA card.*nvidia-smi"),
        ("cuda:1", {"version": None}, "built without"),
        ("cuda:1", {"torch": None}, "pip install"),
    ],
)
def test_what_is_missing_is_said(monkeypatch, name, change, says):
    torch = Torch()
    torch.cuda.is_available = change.get("is_available", torch.cuda.is_available)
    torch.version.cuda = change.get("version", "13.0")
    monkeypatch.setattr(cuda, "_torch", _missing if "torch" in change else lambda: torch)
    monkeypatch.setenv("PYTORCH_ALLOC_CONF", "backend:native")
    with pytest.raises(errors.ConfigError, match=says):
        cuda.Cuda(name)


def test_a_card_that_others_fill_is_no_wrong_configuration(faked):
    with pytest.raises(Torch.OutOfMemoryError):
        faked(Torch(kernel=22 * GIB))
    busy = Torch()

    def refuse(index):
        raise RuntimeError("CUDA-capable device(s) is/are busy or unavailable")

    busy.cuda.set_device = refuse
    with pytest.raises(errors.ConfigError, match=r"cuda:1 can't be used: .*busy"):
        faked(busy)


def test_segments_do_not_expand_under_wsl(monkeypatch):
    monkeypatch.setenv("PYTORCH_ALLOC_CONF", "backend:native")  # so that what is set is undone
    monkeypatch.delenv("PYTORCH_ALLOC_CONF")
    monkeypatch.delenv("PYTORCH_CUDA_ALLOC_CONF", raising=False)
    release = "5.15.167.4-microsoft-standard-WSL2"
    monkeypatch.setattr(os, "uname", lambda: types.SimpleNamespace(release=release))
    monkeypatch.setattr(cuda, "_torch", Torch)
    cuda._loaded("cuda:0")
    assert "PYTORCH_ALLOC_CONF" not in os.environ


@pytest.mark.parametrize("given", [None, "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"])
def test_segments_expand_unless_the_user_says_otherwise(monkeypatch, caplog, given):
    for name in ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"):
        monkeypatch.setenv(name, "backend:native")  # so that what is set is undone
        if name != given:
            monkeypatch.delenv(name)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace())
    monkeypatch.setattr(os, "uname", lambda: types.SimpleNamespace(release="6.8.0-generic"))
    cuda._loaded("cuda:0")
    set_now = {name: os.environ.get(name) for name in cuda._SETTINGS}
    if given is None:
        assert set_now["PYTORCH_ALLOC_CONF"] == "expandable_segments:True"
        assert "before cuda:0 could set its allocator up" in caplog.text
    else:
        assert {name for name, value in set_now.items() if value} == {given}
        assert not caplog.text
