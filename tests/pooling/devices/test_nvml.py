from __future__ import annotations

import logging
import threading
import types

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mangen.pooling import errors
from mangen.pooling.devices import cpu, nvml

GIB = 2**30
A, B, C = (f"GPU-{letter * 8}-0000-0000-0000-000000000000" for letter in "abc")
M1, M2 = (f"MIG-{letter * 8}-0000-0000-0000-000000000000" for letter in "de")


class NVMLError(Exception):
    """As the real one, known by its number."""

    def __init__(self, value):
        super().__init__(value)
        self.value = value


class Fake:
    """nvidia-ml-py's module pynvml over a list of cards, spelled as it is."""

    NVMLError = NVMLError
    nvmlMemory_v2 = 0x02000028  # noqa: N815 - the real module's name

    def __init__(self, *cards, refuse=None):
        self.cards = cards
        self.begun = 0
        #: function name -> NVML_ERROR_* number
        self.refuse = refuse or {}

    def __getattr__(self, name):
        if name not in {*DRIVERS, *CARDS}:
            raise AttributeError(name)  # as for what an old version lacks

        def call(*arguments):
            if name in self.refuse:
                raise NVMLError(self.refuse[name])
            if not self.begun and name != "nvmlInit":
                raise NVMLError(1)  # UNINITIALIZED
            return DRIVERS[name](self, *arguments) if name in DRIVERS else CARDS[name](*arguments)

        return call

    def count(self, step):
        self.begun += step


def _opened(fake, index):
    if fake.cards[index].get("closed"):
        raise NVMLError(4)  # NO_PERMISSION
    return fake.cards[index]


def _mode(card):
    if "parts" not in card:
        raise NVMLError(3)  # NOT_SUPPORTED
    return [1, 1]


def _part(card, index):
    if index >= len(card["parts"]):
        raise NVMLError(6)  # NOT_FOUND
    return card["parts"][index]


def _memory(card, version=None):
    if "while_looking" in card:
        card["while_looking"]()
    plain = {"total": card.get("total", 24 * GIB), "free": card.get("free", 20 * GIB)}
    reserved = {} if version is None else {"reserved": GIB // 2}
    return types.SimpleNamespace(**plain, **reserved)


DRIVERS = {
    "nvmlInit": lambda fake: fake.count(1),
    "nvmlShutdown": lambda fake: fake.count(-1),
    "nvmlDeviceGetCount": lambda fake: len(fake.cards),
    "nvmlDeviceGetHandleByIndex": _opened,
}
CARDS = {
    "nvmlDeviceGetUUID": lambda card: card["uuid"],
    "nvmlDeviceGetName": lambda card: card.get("name", "NVIDIA L4"),
    "nvmlDeviceGetMigMode": _mode,
    "nvmlDeviceGetMaxMigDeviceCount": lambda _: 7,
    "nvmlDeviceGetMigDeviceHandleByIndex": _part,
    "nvmlDeviceGetGpuInstanceId": lambda part: part["gi"],
    "nvmlDeviceGetComputeInstanceId": lambda _: 0,
    "nvmlDeviceGetMemoryInfo": _memory,
    "nvmlDeviceGetComputeRunningProcesses": lambda card: _processes(card, "compute"),
    "nvmlDeviceGetGraphicsRunningProcesses": lambda card: _processes(card, "graphics"),
}


def _processes(card, what):
    return [types.SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in card.get(what, ())]


def _mig(uuid=A):
    name = "NVIDIA A100-SXM4-40GB"
    parts = [
        {"uuid": M1, "name": f"{name} MIG 3g.20gb", "gi": 1, "total": 20 * GIB, "free": 19 * GIB},
        {"uuid": M2, "name": f"{name} MIG 1g.5gb", "gi": 9, "total": 5 * GIB, "free": 4 * GIB},
    ]
    return {"uuid": uuid, "name": name, "parts": parts}


@pytest.fixture(autouse=True)
def no_mask(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)


@pytest.fixture
def machine(monkeypatch):
    """Put cards into this machine: `machine(card, ...)`, each a dict."""

    def put(*cards, **options):
        fake = Fake(*cards, **options)
        monkeypatch.setattr(nvml, "_pynvml", lambda: fake)
        return fake

    return put


def test_a_card_is_known_by_its_uuid(machine):
    machine({"uuid": A}, {"uuid": B, "free": 7 * GIB, "compute": [(12, GIB)]})
    card = nvml.NvmlCard("cuda:1")
    assert (card.name, card.id, card.kind, card.known) == ("cuda:1", B, "NVIDIA L4", True)
    assert card.exclusive
    assert card.total == 24 * GIB - GIB // 2  # what the driver keeps is nobody's
    assert card.free() == 7 * GIB
    assert card.processes() == {12: GIB}
    card.close()


def test_old_versions_answer_bytes_and_know_no_reserved_memory(machine, monkeypatch):
    machine({"uuid": A.encode(), "name": b"Tesla T4"})
    monkeypatch.delattr(Fake, "nvmlMemory_v2")
    card = nvml.NvmlCard("cuda:0")
    assert (card.id, card.kind, card.total) == (A, "Tesla T4", 24 * GIB)
    card.close()


def test_windows_tells_processes_without_their_bytes(machine):
    machine({"uuid": A, "compute": [(1, None), (2, 2**64 - 1)], "graphics": [(3, 5)]})
    card = nvml.NvmlCard("cuda:0")
    assert card.processes() == {1: None, 2: None, 3: 5}
    card.close()


@pytest.mark.parametrize("error", [3, 4, 15, 999])
def test_what_the_driver_does_not_tell_nobody_knows(machine, error):
    names = ("MemoryInfo", "ComputeRunningProcesses", "GraphicsRunningProcesses", "Name")
    machine({"uuid": A}, refuse={f"nvmlDeviceGet{name}": error for name in names})
    card = nvml.NvmlCard("cuda:0")
    assert (card.id, card.kind, card.total, card.free()) == (A, nvml.UNKNOWN, None, None)
    assert card.processes() == {}
    card.close()


@pytest.mark.parametrize("function", ["nvmlInit", "nvmlDeviceGetCount"])
def test_without_a_driver_a_card_is_its_name(machine, function):
    machine({"uuid": A}, refuse={function: 9})
    card = nvml.NvmlCard("cuda:5")
    assert (card.id, card.kind, card.known, card.total) == ("cuda:5", nvml.UNKNOWN, False, None)
    assert card.free() is None
    assert card.processes() == {}
    card.close()


def test_without_pynvml_a_card_is_its_name(monkeypatch):
    monkeypatch.setattr(nvml, "_pynvml", lambda: None)
    card = nvml.NvmlCard("cuda:0")
    assert (card.id, card.free(), card.processes()) == ("cuda:0", None, {})
    card.close()
    card.close()


@pytest.mark.parametrize(
    ("mask", "name", "called"),
    [
        ("3", "cuda:0", "cuda:3"),
        (A, "cuda:0", A),
        ("1,2", "cuda:1", "cuda:2"),
        ("", "cuda:0", "cuda:0"),
    ],
)
def test_workers_with_cards_of_their_own_are_no_rivals_though_no_driver_tells(
    monkeypatch, mask, name, called
):
    monkeypatch.setattr(nvml, "_pynvml", lambda: None)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", mask)
    assert nvml.NvmlCard(name).id == called


@pytest.mark.parametrize(
    ("mask", "found"),
    [
        (None, [A, B, C]),
        ("", []),
        ("2,0", [C, A]),
        (" 1 , 2", [B, C]),
        ("0,-1,2", [A]),
        ("0,7,1", [A]),
        ("-1", []),
        ("1gpu,2", [B, C]),
        ("none", []),
        ("0,0", []),
        (B, [B]),
        ("GPU-c,GPU-a", [C, A]),
        ("GPU-", []),  # begins them all
        ("GPU-c,GPU-x,GPU-a", [C]),
        ("GPU-c,0", [C]),
        ("GPU-c,GPU-cc", []),
        ("0,GPU-c", [A]),
        (M1, []),
    ],
)
def test_the_mask_is_read_as_cuda_reads_it(mask, found):
    cards = [nvml.Seen(id=uuid, kind="NVIDIA L4") for uuid in (A, B, C)]
    assert [seen.id for seen in nvml.visible(mask, cards)] == found


@given(st.lists(st.integers(-2, 4), max_size=5))
def test_no_mask_shows_a_card_twice_or_one_that_is_not_there(indices):
    cards = [nvml.Seen(id=uuid, kind="NVIDIA L4") for uuid in (A, B, C)]
    found = nvml.visible(",".join(map(str, indices)), cards)
    assert len({seen.id for seen in found}) == len(found)
    if len(set(indices)) == len(indices) and all(0 <= index < 3 for index in indices):
        assert found == [cards[index] for index in indices]


def test_a_masked_card_is_found_by_its_place_in_the_mask(machine, monkeypatch):
    machine({"uuid": A}, {"uuid": B}, {"uuid": C})
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,0")
    assert [nvml.NvmlCard(f"cuda:{n}").id for n in (0, 1)] == [C, A]
    with pytest.raises(errors.ConfigError, match=r"no cuda:2: .* 2 of 3 .* CUDA_VISIBLE_DEVICES=2"):
        nvml.NvmlCard("cuda:2")


@pytest.mark.parametrize("cards", [(), ({"uuid": A},)])
def test_a_card_that_is_not_there_is_refused_and_nvml_ended(machine, cards):
    fake = machine(*cards)
    with pytest.raises(errors.ConfigError, match="no cuda:1"):
        nvml.NvmlCard("cuda:1")
    assert fake.begun == 0


def test_a_card_that_may_not_be_opened_is_not_counted(machine):
    machine({"uuid": A, "closed": True}, {"uuid": B})
    assert nvml.NvmlCard("cuda:0").id == B


def test_an_instance_stands_for_its_partitioned_card(machine, monkeypatch):
    machine({"uuid": B}, _mig())
    card = nvml.NvmlCard("cuda:0")  # CUDA shows no whole card beside an instance
    assert (card.id, card.parent, card.kind) == (M1, A, "NVIDIA A100-SXM4-40GB MIG 3g.20gb")
    assert card.free() == 19 * GIB
    for mask, uuid in ((M2, M2), ("MIG-e", M2), (f"MIG-{A}/9/0", M2), ("1", M1), (A, M1)):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", mask)
        assert nvml.NvmlCard("cuda:0").id == uuid
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert nvml.NvmlCard("cuda:0").id == B


def test_a_partitioned_card_without_instances_is_not_counted(machine):
    machine({"uuid": A, "parts": []}, {"uuid": B})
    assert nvml.NvmlCard("cuda:0").id == B


@pytest.mark.parametrize(
    ("said", "other", "warned"),
    [
        ({}, "NVIDIA H200", False),  # children are told to count by the bus
        ({"CUDA_DEVICE_ORDER": "FASTEST_FIRST"}, "NVIDIA H200", True),
        ({"CUDA_DEVICE_ORDER": "FASTEST_FIRST", "CUDA_VISIBLE_DEVICES": "1"}, "NVIDIA H200", True),
        ({"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, "NVIDIA H200", False),
        ({"CUDA_VISIBLE_DEVICES": B}, "NVIDIA H200", False),
        ({}, "NVIDIA L4", False),
    ],
)
def test_an_order_that_nobody_knows_is_said(  # noqa: PLR0917 - fixtures and cases
    machine, monkeypatch, caplog, said, other, warned
):
    machine({"uuid": A}, {"uuid": B, "name": other})
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    with caplog.at_level(logging.WARNING):
        nvml.NvmlCard("cuda:0").close()
    assert ("another card" in caplog.text) is warned


def test_a_child_finds_its_card_whatever_the_order(machine):
    machine({"uuid": A}, {"uuid": B, "free": GIB})
    card = nvml.NvmlCard("cuda:0", B.upper().replace("GPU", "gpu"))
    assert (card.id, card.free()) == (B, GIB)
    lost = nvml.NvmlCard("cuda:0", C)
    assert (lost.id, lost.known, lost.free()) == (C, False, None)


def test_a_childs_instance_is_found_by_its_cards_uuid(machine):
    machine({"uuid": B}, _mig())
    assert nvml.NvmlCard("cuda:0", M2).id == M2
    assert nvml.NvmlCard("cuda:0", A.replace("GPU", "MIG")).id == M1


def test_a_child_on_another_card_is_noticed(machine):
    machine({"uuid": A}, {"uuid": B})
    card = nvml.NvmlCard("cuda:0")
    assert nvml.same(card, A)
    assert nvml.same(card, A.upper())
    assert not nvml.same(card, B)
    assert not nvml.same(card, A.replace("GPU", "MIG"))


def test_an_instance_may_be_told_by_its_card(machine):
    machine(_mig())
    card = nvml.NvmlCard("cuda:0")
    assert nvml.same(card, M1)
    assert nvml.same(card, A.replace("GPU", "MIG"))
    assert not nvml.same(card, M2)
    assert not nvml.same(card, A)


def test_where_the_parent_knows_nothing_the_child_is_believed(monkeypatch):
    monkeypatch.setattr(nvml, "_pynvml", lambda: None)
    assert nvml.same(nvml.NvmlCard("cuda:0"), A)
    assert nvml.same(cpu.CpuCard(1), "cpu")
    assert not nvml.same(cpu.CpuCard(1), A)


def test_nvml_is_ended_as_often_as_begun(machine):
    fake = machine({"uuid": A}, {"uuid": B})
    first, second = nvml.NvmlCard("cuda:0"), nvml.NvmlCard("cuda:1")
    assert fake.begun == 2
    first.close()
    first.close()
    assert fake.begun == 1
    assert first.free() is None
    assert second.free() == 20 * GIB
    second.close()
    assert fake.begun == 0


def test_no_thread_meets_a_driver_that_ended(machine):
    card_of = {"uuid": A}
    fake = machine(card_of)
    card = nvml.NvmlCard("cuda:0")
    inside, leave = threading.Event(), threading.Event()
    seen = []

    def look():
        inside.set()
        leave.wait()
        seen.append(fake.begun)

    card_of["while_looking"] = look
    asks = threading.Thread(target=lambda: seen.append(card.free()))
    asks.start()
    inside.wait()
    ends = threading.Thread(target=card.close)
    ends.start()
    ends.join(0.1)  # it must wait for the other: there is nothing else to wait for
    leave.set()
    asks.join()
    ends.join()
    assert seen == [1, 20 * GIB]
    assert fake.begun == 0
    assert card.free() is None


def test_the_fake_is_spelled_as_the_real_module():
    real = pytest.importorskip("pynvml", reason="nvidia-ml-py is not installed")
    assert [name for name in (*DRIVERS, *CARDS) if not callable(getattr(real, name, None))] == []
    assert real.nvmlMemory_v2 == Fake.nvmlMemory_v2
    assert issubclass(real.NVMLError, Exception)
    numbers = {"UNINITIALIZED": 1, "NOT_SUPPORTED": 3, "NO_PERMISSION": 4, "NOT_FOUND": 6}
    assert {name: getattr(real, f"NVML_ERROR_{name}") for name in numbers} == numbers
