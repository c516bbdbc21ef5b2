"""What every device keeps to, whichever it is; and `Cuda` over a torch that is not there."""

from __future__ import annotations

import dataclasses
import importlib.util
import itertools
import os
import sys
import threading
import types
import typing
import weakref

import pytest

from mangen.pooling import errors
from mangen.pooling.devices import cuda, device, nvml

MIB, GIB = 2**20, 2**30
UUID = "aaaaaaaa-0000-0000-0000-000000000000"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Subject:
    """A device, its card, a way to allocate on it, and how exactly its bytes are told."""

    device: device.Device
    card: device.Card
    #: bytes -> something that holds them until it is dropped
    allocate: typing.Callable[[int], object]
    #: more than it can ever have
    all_and_more: int
    slack: int = 4 * MIB


class Tensor:
    """What a test holds, and the device counts until it is dropped."""


class Torch:
    """The part of torch that Cuda calls, over card 1 of 2, with half a GiB of another process."""

    class OutOfMemoryError(RuntimeError):
        pass

    def __init__(self, name="NVIDIA L4", kernel=300 * MIB):
        self.version = types.SimpleNamespace(cuda="13.0")
        self.cuda = types.SimpleNamespace(
            is_available=lambda: True,
            device_count=lambda: 2,
            get_device_properties=self.properties,
            set_device=self.of,
            mem_get_info=lambda index: (self.free, self.of(index).total),
            memory_stats=self.stats,
            memory_summary=lambda index: f"summary of {self.of(index).name}",
            reset_peak_memory_stats=self.reset,
            max_memory_allocated=lambda index: self.of(index).peak[0],
            max_memory_reserved=lambda index: self.of(index).peak[1],
            synchronize=self.of,
            empty_cache=self.empty,
            memory=types.SimpleNamespace(_record_memory_history=self.record, _dump_snapshot=dump),
        )
        self.name = name
        self.total, self.foreign = 22 * GIB, GIB // 2
        self.kernel, self.context = kernel, 0
        self.allocated = self.reserved = self.ooms = 0
        self.peak = (0, 0)
        self.recorded = []
        self.lock = threading.RLock()

    def of(self, index):
        assert index == 1, "a call for the wrong card"
        return self

    @property
    def free(self):
        return self.total - self.foreign - self.context - self.reserved

    def properties(self, index):
        return types.SimpleNamespace(name=self.of(index).name, uuid=UUID)

    def zeros(self, count, device):
        """Make a float tensor; the first one makes the context."""
        assert device == "cuda:1"
        size = -(-count * 4 // 512) * 512
        with self.lock:
            self.context = self.kernel
            grown = max(0, -(-(self.allocated + size - self.reserved) // (2 * MIB))) * 2 * MIB
            if grown > self.free:
                self.ooms += 1
                raise self.OutOfMemoryError("CUDA out of memory. Tried to allocate much.")
            self.count(size, grown)
        tensor = Tensor()
        weakref.finalize(tensor, self.count, -size, 0).atexit = False
        return tensor

    def count(self, allocated, reserved):
        with self.lock:
            self.allocated += allocated
            self.reserved += reserved
            self.peak = max(self.peak[0], self.allocated), max(self.peak[1], self.reserved)

    def empty(self):
        with self.lock:
            self.reserved = -(-self.allocated // (2 * MIB)) * 2 * MIB

    def reset(self, index):
        with self.lock:
            self.peak = self.of(index).allocated, self.reserved

    def stats(self, index):
        with self.lock:
            return {
                "allocated_bytes.all.current": self.of(index).allocated,
                "reserved_bytes.all.current": self.reserved,
                "inactive_split_bytes.all.current": 0,
                "num_ooms": self.ooms,
                "num_alloc_retries": 0,
            }

    def record(self, enabled="all", *, stacks="all", max_entries=sys.maxsize):
        self.recorded.append((enabled, stacks, max_entries))


def dump(filename="dump_snapshot.pickle"):
    with open(filename, "wb") as file:  # noqa: PTH123 - as torch does
        file.write(b"pickle")


def pynvml_of(torch, processes=None):
    """Make a pynvml that sees the fake torch's card as the second of two like ones."""

    def running(handle):
        held = torch.context + torch.reserved
        found = [(os.getpid(), held)] if processes is None else processes
        return [
            types.SimpleNamespace(pid=pid, usedGpuMemory=used)
            for pid, used in (found if handle else ())
        ]

    return types.SimpleNamespace(
        nvmlInit=lambda: None,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetCount=lambda: 2,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetUUID=lambda handle: f"GPU-{UUID}" if handle else "GPU-other",
        nvmlDeviceGetName=lambda _: "NVIDIA L4",
        nvmlDeviceGetMemoryInfo=lambda _: types.SimpleNamespace(total=torch.total, free=torch.free),
        nvmlDeviceGetComputeRunningProcesses=running,
    )


def a_cpu(options, monkeypatch):
    name = "cpu"
    return Subject(
        device=device.make(name, options),
        card=device.card(name, options),
        allocate=lambda nbytes: b"\1" * nbytes,  # touched, so that the pages are there
        all_and_more=2**62,
        slack=16 * MIB,
    )


def a_simulated(options, monkeypatch):
    opened = device.make("sim:card_24g", options)
    return Subject(
        device=opened,
        card=device.card("sim:card_24g", options),
        allocate=opened.alloc,
        all_and_more=opened.memory().total + 1,
    )


def a_faked(options, monkeypatch, torch=None, driver=None):
    torch = torch or Torch()
    monkeypatch.setattr(cuda, "_torch", lambda: torch)
    monkeypatch.setattr(nvml, "_pynvml", lambda: driver or pynvml_of(torch))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("PYTORCH_ALLOC_CONF", "backend:native")
    return Subject(
        device=device.make("cuda:1", options),
        card=device.card("cuda:1", options),
        allocate=lambda nbytes: torch.zeros(nbytes // 4, device="cuda:1"),
        all_and_more=torch.total + 1,
    )


def a_cuda(options, monkeypatch):
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    import torch  # noqa: PLC0415 - only where it is

    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA card")
    opened = device.make("cuda:0", options)
    return Subject(
        device=opened,
        card=device.card("cuda:0", options),
        allocate=lambda nbytes: torch.empty(nbytes, dtype=torch.uint8, device="cuda:0"),
        all_and_more=opened.memory().total + 1,
        slack=32 * MIB,
    )


@pytest.fixture(params=[a_cpu, a_simulated, a_faked, a_cuda], ids=lambda make: make.__name__[2:])
def subject(request, tmp_path, monkeypatch):
    made = request.param(device.Options(folder=str(tmp_path), speed=1e6), monkeypatch)
    yield made
    made.device.close()
    made.card.close()


@pytest.fixture
def faked(tmp_path, monkeypatch):
    """Make Cuda over a fake torch: `faked(torch, driver)`."""
    made = []

    def make(torch=None, driver=None):
        made.append(a_faked(device.Options(folder=str(tmp_path)), monkeypatch, torch, driver))
        return made[-1].device

    yield make
    for each in made:
        each.device.close()
        each.card.close()


def test_a_device_says_what_it_is(subject):
    opened = subject.device
    assert device.check([opened.name]) == (opened.name,)
    assert opened.kind
    assert opened.id
    assert opened.overhead >= 0


def test_the_bytes_of_a_look_agree(subject):
    held = subject.allocate(8 * MIB)
    now = subject.device.memory()
    assert 0 < now.allocated <= now.reserved
    assert 0 <= now.inactive <= now.reserved
    assert now.free + now.reserved + subject.device.overhead <= now.total
    assert now.allocated <= now.reach <= now.total
    assert 0 <= now.fragmentation < 1
    del held


def test_what_is_allocated_is_taken_and_comes_back(subject):
    subject.device.trim()
    before = subject.device.memory()
    held = subject.allocate(64 * MIB)
    during = subject.device.memory()
    assert during.allocated == pytest.approx(before.allocated + 64 * MIB, abs=subject.slack)
    assert during.reach == pytest.approx(before.reach, abs=subject.slack)
    del held
    after = subject.device.memory()
    assert after.allocated == pytest.approx(before.allocated, abs=subject.slack)
    assert {before.total, during.total, after.total} == {before.total}


def test_a_peak_only_rises_and_is_no_less_than_what_is_held(subject):
    subject.device.watch()
    peaks, held = [], []
    for nbytes in (8 * MIB, 32 * MIB, 0, 16 * MIB, 64 * MIB):
        held = [subject.allocate(nbytes)] if nbytes else []
        peaks.append(subject.device.peak())
        assert peaks[-1].allocated >= subject.device.memory().allocated - MIB
        assert peaks[-1].reserved >= peaks[-1].allocated
    del held
    peaks.append(subject.device.peak())
    for first, then in itertools.pairwise(peaks):
        assert then.allocated >= first.allocated
        assert then.reserved >= first.reserved


def test_a_new_watch_forgets_the_old_peak(subject):
    subject.device.watch()
    held = subject.allocate(64 * MIB)
    high = subject.device.peak()
    del held
    assert subject.device.peak().allocated >= high.allocated
    subject.device.trim()
    subject.device.watch()
    now = subject.device.memory()
    assert subject.device.peak().allocated == pytest.approx(now.allocated, abs=subject.slack)
    assert subject.device.peak().allocated <= high.allocated - 32 * MIB


def test_a_trim_gives_back_what_nobody_uses(subject):
    subject.device.trim()
    before = subject.device.memory()
    held = [subject.allocate(16 * MIB) for _ in range(4)]
    held.clear()
    subject.device.trim()
    subject.device.synchronize()
    after = subject.device.memory()
    assert after.reserved - after.allocated <= subject.slack
    assert after.free >= before.free - subject.slack


def test_any_thread_may_look_while_the_main_one_allocates(subject):
    done = threading.Event()
    begin = threading.Barrier(4)
    total = subject.device.memory().total
    looks, wrong = [], []

    def look():
        begin.wait()
        while not done.is_set():
            try:
                now = subject.device.memory()
            except Exception as error:  # noqa: BLE001 - a thread's error is told by the main one
                wrong.append(error)
                return
            looks.append(now)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    begin.wait()
    while len(looks) < 60 and not wrong:
        held = subject.allocate(16 * MIB)
        del held
        subject.device.trim()
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert {now.total for now in looks} == {total}
    assert all(0 <= now.allocated <= now.reserved and now.reach <= total for now in looks)


def test_what_the_memory_holds_can_be_written_down_by_any_thread(subject, tmp_path):
    path = tmp_path / "snapshot"
    writer = threading.Thread(target=subject.device.snapshot, args=(path,))
    writer.start()
    writer.join()
    assert path.stat().st_size


def test_a_device_that_has_too_little_says_so_and_lives_on(subject):
    before = subject.device.memory()
    with pytest.raises((MemoryError, RuntimeError)) as raised:
        subject.allocate(subject.all_and_more)
    assert device.out_of_memory(raised.value)
    after = subject.device.memory()
    assert after.allocated == pytest.approx(before.allocated, abs=subject.slack)
    assert subject.device.name == "cpu" or after.ooms == before.ooms + 1
    assert subject.allocate(MIB) is not None


def test_closing_twice_is_closing_once(subject):
    for _ in range(2):
        subject.device.close()
        subject.card.close()


def test_the_parent_sees_the_card_that_the_child_has(subject):
    opened, card = subject.device, subject.card
    held = subject.allocate(8 * MIB)
    assert (card.name, card.kind) == (opened.name, opened.kind)
    assert nvml.same(card, opened.id)
    assert card.exclusive is (opened.name != "cpu")
    now = opened.memory()
    assert card.total == pytest.approx(now.total, abs=opened.overhead)
    assert card.free() in (None, pytest.approx(now.free, abs=subject.slack))
    own = card.processes().get(os.getpid())
    assert own is None or own >= now.reserved
    del held


@pytest.mark.parametrize(
    "names",
    [["cpu"], ["cpu", "cpu"], ["cuda:0", "cuda:11"], ["sim:card_24g", "sim:card_24g/1", "cpu"]],
)
def test_good_names_are_answered(names):
    assert device.check(names) == tuple(names)


@pytest.mark.parametrize(
    "names",
    [[], ["cuda"], ["cuda:"], ["cuda:-1"], ["cuda:0 "], ["gpu:0"], ["CPU"], ["cpu:0"], ["sim:"],
     ["sim:a/b"], ["sim:../a"], [""], ["cuda:0", "cpu", "cuda:0"], ["sim:a/1", "sim:a/1"]],
)  # fmt: skip
def test_bad_names_are_refused(names):
    with pytest.raises(errors.ConfigError, match="device"):
        device.check(names)


@pytest.mark.parametrize(
    ("error", "is_one"),
    [
        (MemoryError(), True),
        (errors.NoRoom("x"), True),
        (Torch.OutOfMemoryError("x"), True),
        (RuntimeError("CUDA error: out of memory"), True),
        (RuntimeError("CUBLAS_STATUS_ALLOC_FAILED: Out Of Memory"), True),
        (RuntimeError("device-side assert"), False),
        (ValueError("out of memory"), False),
        (KeyError("OutOfMemoryError"), False),
    ],
)
def test_only_missing_memory_is_out_of_memory(error, is_one):
    assert device.out_of_memory(error) is is_one


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
