"""What every device keeps to, whichever it is."""

from __future__ import annotations

import dataclasses
import importlib.util
import itertools
import os
import threading
import typing

import fake_torch
import pytest

from mangen.pooling import errors
from mangen.pooling.devices import device, nvml

MIB = 2**20


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


def a_faked(options, monkeypatch):
    torch = fake_torch.Torch()
    fake_torch.put(monkeypatch, torch)
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
        (fake_torch.Torch.OutOfMemoryError("x"), True),
        (RuntimeError("CUDA error: out of memory"), True),
        (RuntimeError("CUBLAS_STATUS_ALLOC_FAILED: Out Of Memory"), True),
        (RuntimeError("device-side assert"), False),
        (ValueError("out of memory"), False),
        (KeyError("OutOfMemoryError"), False),
    ],
)
def test_only_missing_memory_is_out_of_memory(error, is_one):
    assert device.out_of_memory(error) is is_one
