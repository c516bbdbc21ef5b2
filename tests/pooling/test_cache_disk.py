from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mangen.pooling import cache_disk, cache_format

ROOM = 2**20
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
)
DTYPES = st.sampled_from(sorted(cache_format._NUMPY))
LEAVES = SCALARS | DTYPES.flatmap(
    lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, min_side=0, max_side=3))
)
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.sampled_from(["a", "b", "a.b", "", "__metadata__"]), inner)
    ),
    max_leaves=8,
)


def same(left, right) -> bool:
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, np.ndarray):
        return (left.dtype, left.shape, left.tobytes()) == (
            right.dtype,
            right.shape,
            right.tobytes(),
        )
    return left == right


def block(fill: int, nbytes: int = 1000) -> dict[str, np.ndarray]:
    return {"x": np.full(nbytes, fill, np.uint8)}


def files(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(folder.glob("*.safetensors"))


def stamps(folder: pathlib.Path) -> list[int]:
    """When each product was last written or used, of those that are there all the while."""
    found = []
    for path in files(folder):
        with contextlib.suppress(FileNotFoundError):
            found.append(path.stat().st_mtime_ns)
    return found


def total(folder: pathlib.Path) -> int:
    return sum(path.stat().st_size for path in files(folder))


@settings(max_examples=60, deadline=None)
@given(tree=TREES)
def test_any_tree_of_arrays_and_scalars_comes_back_as_it_was(tree):
    value = {"always": np.arange(3), "tree": tree}
    data = cache_format.dump("text", "sig", value, 0.1)
    stored = cache_format.load("text", "sig", data)
    assert same(stored.value, value)
    assert stored.seconds == 0.1


def test_one_product_is_one_file_to_the_byte():
    value = {"embedding": np.arange(3), "latent": [np.ones(2), 0.5]}
    assert len({cache_format.dump("k", "s", value, 0.0) for _ in range(20)}) == 1


def test_arrays_that_lie_oddly_in_memory_come_back_as_they_look():
    whole = np.arange(24).reshape(4, 6)
    value = {"t": whole.T, "back": whole[::-1, ::2], "wide": np.broadcast_to(whole[0], (2, 6))}
    back = cache_format.load("k", "s", cache_format.dump("k", "s", value, 1.0)).value
    assert same(back, value)
    back["t"][0] = 1  # not read-only


@pytest.mark.parametrize(
    "value",
    [
        {"only": "scalars"},
        {"x": np.ones(3), "raw": b"bytes"},
        {"x": np.ones(3), 1: "key"},
        np.array(["text"]),
        np.ones(3, ">f4"),
        np.ones(3, np.complex128),
        np.ma.masked_array(np.ones(3), [0, 1, 0]),
        {"x": np.ones(3), "scalar": np.float64(1)},
    ],
    ids=str,
)
def test_what_would_not_come_back_the_same_is_not_written(tmp_path, value):
    disk = cache_disk.Disk(tmp_path, ROOM)
    assert not disk.put("k", "s", value, seconds=1.0)
    assert disk.get("k", "s") is None
    assert files(tmp_path) == []


def test_the_file_is_a_plain_safetensors_file_that_says_what_it_is(tmp_path):
    cache_disk.Disk(tmp_path, ROOM).put("face", "anna/7", {"a": {"b": np.ones(3)}}, seconds=1.5)
    from safetensors import safe_open  # noqa: PLC0415 - another reader than ours

    with safe_open(files(tmp_path)[0], "np") as file:
        assert file.keys() == ["a.b"]
        said = file.metadata()
    assert {key: said[key] for key in ("kind", "signature", "seconds", "framework", "version")} == {
        "kind": "face",
        "signature": "anna/7",
        "seconds": "1.5",
        "framework": "numpy",
        "version": "1",
    }


def test_a_product_is_there_for_others_and_after_a_restart(tmp_path):
    ours, theirs = cache_disk.Disk(tmp_path, ROOM), cache_disk.Disk(tmp_path, ROOM)
    assert not ours.has("k", "s")
    assert ours.put("k", "s", block(3), seconds=2.0)
    assert theirs.has("k", "s")
    found = theirs.get("k", "s")
    assert same(found.value, block(3))
    assert (found.seconds, found.nbytes) == (2.0, files(tmp_path)[0].stat().st_size)
    assert theirs.nbytes == found.nbytes
    ours.drop("k", "s")
    assert theirs.get("k", "s") is None


@settings(max_examples=80, deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_no_changed_byte_anywhere_gives_another_value(place, flip):
    value = {"x": np.arange(50.0), "scale": 0.125, "name": "anna"}
    data = bytearray(cache_format.dump("k", "s", value, 2.0))
    data[int(place * len(data))] ^= flip
    try:
        stored = cache_format.load("k", "s", bytes(data))
    except cache_format.Broken:
        return
    assert same(stored.value, value)  # a blank in the header's padding
    assert stored.seconds == 2.0


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:-1],
        lambda data: data[: len(data) // 2],
        lambda data: data[:5],
        lambda _: b"",
        lambda _: b"no safetensors at all, but long enough to look like it",
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: data + b"\0",
        lambda _: cache_format.dump("k", "another", block(1), 1.0),
        lambda _: (8).to_bytes(8, "little") + b"[1,2,3] ",
        lambda _: (100_000).to_bytes(8, "little") + b"[" * 100_000,
    ],
    ids=["cut", "half", "stub", "empty", "foreign", "flip", "longer", "other", "list", "deep"],
)
def test_a_broken_file_is_removed_and_is_a_miss(tmp_path, spoil, caplog):
    disk = cache_disk.Disk(tmp_path, ROOM)
    disk.put("k", "s", block(1), seconds=1.0)
    (path,) = files(tmp_path)
    path.write_bytes(spoil(path.read_bytes()))
    with caplog.at_level(logging.WARNING):
        assert disk.get("k", "s") is None
    assert files(tmp_path) == []
    assert "is removed" in caplog.text
    assert disk.put("k", "s", block(2), seconds=1.0)
    assert same(disk.get("k", "s").value, block(2))


def test_a_file_of_another_version_is_a_miss(tmp_path, monkeypatch):
    disk = cache_disk.Disk(tmp_path, ROOM)
    disk.put("k", "s", block(1), seconds=1.0)
    monkeypatch.setattr(cache_format, "VERSION", "2")
    assert disk.get("k", "s") is None


def test_the_least_recently_used_go_when_the_cap_is_reached(tmp_path):
    one = len(cache_format.dump("k", "0", block(0), 1.0))
    disk = cache_disk.Disk(tmp_path, 4 * one + one // 2)
    for n in range(4):
        disk.put("k", str(n), block(n), seconds=1.0)
    assert disk.get("k", "0") is not None
    disk.put("k", "4", block(4), seconds=1.0)
    assert [n for n in range(5) if disk.has("k", str(n))] == [0, 2, 3, 4]
    assert total(tmp_path) == disk.nbytes <= 4 * one + one // 2


def test_one_product_written_again_and_again_evicts_no_other(tmp_path):
    one = len(cache_format.dump("k", "0", block(0), 1.0))
    disk = cache_disk.Disk(tmp_path, 3 * one)
    disk.put("k", "first", block(1), seconds=1.0)
    for n in range(10):
        disk.put("k", "again", block(n), seconds=1.0)
    assert same(disk.get("k", "first").value, block(1))
    assert same(disk.get("k", "again").value, block(9))


def test_a_product_that_grows_is_counted_once_and_rightly(tmp_path):
    one = len(cache_format.dump("k", "0", block(0), 1.0))
    disk = cache_disk.Disk(tmp_path, 3 * one + one // 2)
    for n in range(3):
        disk.put("k", str(n), block(n), seconds=1.0)
    disk.put("k", "0", block(9, 2000), seconds=1.0)
    assert same(disk.get("k", "0").value, block(9, 2000))
    assert total(tmp_path) <= int((tmp_path / ".bytes").read_text()) <= 3 * one + one // 2


def test_what_is_larger_than_the_cap_is_not_written_and_evicts_nothing(tmp_path):
    disk = cache_disk.Disk(tmp_path, 2000)
    disk.put("k", "a", block(1), seconds=1.0)
    assert not disk.put("k", "huge", block(1, 2000), seconds=1.0)
    assert disk.has("k", "a")


def test_a_smaller_cap_holds_from_the_start_and_what_is_not_ours_stays(tmp_path):
    disk = cache_disk.Disk(tmp_path, ROOM)
    for n in range(10):
        disk.put("k", str(n), block(n), seconds=1.0)
    ours = files(tmp_path)
    foreign = tmp_path / "weights.safetensors"
    foreign.write_bytes(b"x" * 9000)
    cache_disk.Disk(tmp_path, 4000)
    assert 0 < sum(path.stat().st_size for path in ours if path.exists()) <= 4000
    assert foreign.exists()


def test_a_lost_or_wrong_ledger_is_counted_anew(tmp_path):
    disk = cache_disk.Disk(tmp_path, 4000)
    for n, ledger in enumerate([None, "", "rubbish", "999999999"]):
        path = tmp_path / ".bytes"
        path.unlink() if ledger is None else path.write_text(ledger)
        disk.put("k", str(n), block(n), seconds=1.0)
        assert int(path.read_text()) >= total(tmp_path)
        assert total(tmp_path) <= 4000
    assert disk.has("k", "3")


def test_a_full_disk_pauses_the_tier_with_one_word_and_fails_nothing(tmp_path, monkeypatch, caplog):
    now = [0.0]
    disk = cache_disk.Disk(tmp_path, ROOM, clock=lambda: now[0])
    disk.put("k", "before", block(1), seconds=1.0)
    tries = []

    def full(_descriptor):
        tries.append(1)
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(os, "fsync", full)
        assert not disk.put("k", "a", block(1), seconds=1.0)
        assert not disk.put("k", "a", block(1), seconds=1.0)
        now[0] += cache_disk.PAUSE_S
        assert not disk.put("k", "a", block(1), seconds=1.0)
    assert len(tries) == 2
    assert len(caplog.records) == 1
    assert list(tmp_path.glob("*.tmp")) == []
    assert disk.get("k", "before") is not None
    now[0] += cache_disk.PAUSE_S
    assert disk.put("k", "a", block(1), seconds=1.0)


def test_a_folder_that_cannot_be_there_fails_nothing(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    disk = cache_disk.Disk(tmp_path / "file" / "below", ROOM)
    assert not disk.put("k", "a", block(1), seconds=1.0)
    assert disk.get("k", "a") is None
    assert not disk.has("k", "a")
    assert disk.nbytes == 0
    assert len(caplog.records) == 1


def test_a_read_only_folder_is_read(tmp_path, monkeypatch):
    cache_disk.Disk(tmp_path, ROOM).put("k", "a", block(1), seconds=1.0)

    def refuse(*_given, **_more):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr(pathlib.Path, "open", refuse)
    monkeypatch.setattr(pathlib.Path, "read_bytes", lambda path: os.read(os.open(path, 0), ROOM))
    assert not (disk := cache_disk.Disk(tmp_path, ROOM)).put("k", "b", block(1), seconds=1.0)
    assert same(disk.get("k", "a").value, block(1))


def test_what_killed_writers_left_is_swept_after_an_hour(tmp_path):
    names = [f"{'a' * 64}.{n:016x}.tmp" for n in range(2)] + ["other.tmp"]
    for name in names:
        (tmp_path / name).write_text("half")
    for name in names[1:]:
        os.utime(tmp_path / name, (time.time() - 4000, time.time() - 4000))
    cache_disk.Disk(tmp_path, ROOM)
    assert sorted(path.name for path in tmp_path.glob("*.tmp")) == [names[0], names[2]]


HAMMER = """
import sys, pathlib, random
import numpy as np
from mangen.pooling import cache_disk
folder, seed, rounds = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
disk, rng, wrong, hits, most = cache_disk.Disk(folder, 8000), random.Random(seed), 0, 0, 0
print("ready", flush=True)
while rounds:
    rounds -= 1
    n = rng.randrange(20)
    if rng.random() < 0.5:
        disk.put("k", str(n), {"x": np.full(1000, n, np.uint8)}, seconds=n)
    else:
        found = disk.get("k", str(n))
        if found is not None:
            hits += 1
            wrong += not (found.value["x"] == n).all() or found.seconds != n
    most = max(most, disk.nbytes)
print(wrong, hits, most)
"""


def hammer(folder: pathlib.Path, seed: int, rounds: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HAMMER, str(folder), str(seed), str(rounds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_processes_that_share_a_small_folder_read_nothing_wrong_and_keep_the_cap(tmp_path):
    running = [hammer(tmp_path, seed, 400) for seed in (1, 2)]
    for process in running:
        out, err = process.communicate(timeout=100)
        assert (process.returncode, err) == (0, "")
        wrong, hits, most = map(int, out.split()[1:])
        assert wrong == 0
        assert hits > 0
        assert most <= 8000
    assert total(tmp_path) <= int((tmp_path / ".bytes").read_text()) <= 8000
    assert list(tmp_path.glob("*.tmp")) == []


def test_writers_that_are_killed_leave_no_broken_product_and_no_lock(tmp_path):
    for seed in range(3):
        process = hammer(tmp_path, seed, -1)
        assert process.stdout.readline() == "ready\n"
        begun = time.time_ns()
        while not any(newest > begun for newest in stamps(tmp_path)):
            assert process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
    disk = cache_disk.Disk(tmp_path, 8000)
    left = [path.name for path in files(tmp_path)]
    assert left
    found = [disk.get("k", str(n)) for n in range(20)]
    assert sum(one is not None for one in found) == len(left)
    assert disk.put("k", "after", block(1), seconds=1.0)


def test_a_writer_killed_between_writing_and_renaming_is_not_seen(tmp_path):
    code = (
        "import os, signal, sys; import numpy as np; from mangen.pooling import cache_disk\n"
        "disk = cache_disk.Disk(sys.argv[1], 9000)\n"
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        "disk.put('k', 's', {'x': np.ones(9)}, seconds=1.0)"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob("*.tmp"))) == 1
    assert cache_disk.Disk(tmp_path, 9000).get("k", "s") is None


def test_the_metadata_is_under_the_checksum_too(tmp_path):
    data = cache_format.dump("k", "s", {"x": np.ones(3), "scale": 0.5}, 1.0)
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header["__metadata__"]["tree"] = header["__metadata__"]["tree"].replace("0.5", "0.6")
    text = json.dumps(header).encode()
    with pytest.raises(cache_format.Broken, match="checksum"):
        cache_format.load("k", "s", len(text).to_bytes(8, "little") + text + data[8 + length :])
