from __future__ import annotations

import hashlib
import resource
import signal

import pytest

from mangen import errors, storage


@pytest.fixture
def store(tmp_path):
    return storage.Store(tmp_path / "store")


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "made.bin"
    file.write_bytes(b"x" * 100_000)
    return file


def test_a_file_is_published_whole_with_its_checksum(store, source):
    stored = store.put(source, project=7, name="3-1.bin")
    assert stored.path == "7/3-1.bin"
    assert stored.sha256 == hashlib.sha256(b"x" * 100_000).hexdigest()
    assert store.locate(stored.path).read_bytes() == source.read_bytes()
    assert list(store.paths()) == ["7/3-1.bin"]


def test_a_store_without_room_says_so_and_leaves_nothing(store, source):
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(errors.StorageFull, match=r"7/3-1\.bin"):
            store.put(source, project=7, name="3-1.bin")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert [file for file in store.root.rglob("*") if file.is_file()] == []


def test_a_path_may_not_leave_the_root(store):
    with pytest.raises(errors.StorageError, match="outside"):
        store.locate("../secret")


def test_temporary_files_of_dead_writers_are_swept(store, source):
    store.put(source, project=1, name="a.bin")
    part = store.root / "1" / f".{'a' * 32}.part"
    part.write_bytes(b"half")
    strangers = [store.root / "1" / ".dead.part", store.root / "thesis" / part.name]
    strangers[1].parent.mkdir()
    for file in strangers:
        file.write_bytes(b"not ours")
    now = part.stat().st_mtime
    assert store.sweep_parts(older_than_s=60, now=now + 30) == 0
    assert store.sweep_parts(older_than_s=60, now=now + 90) == 1
    assert all(file.exists() for file in strangers)
    assert list(store.paths()) == ["1/a.bin"]
    assert list(store.older(0, now + 90)) == ["1/a.bin"]
    assert list(store.older(3600, now)) == []


def test_the_address_of_a_path_is_told_without_a_look_at_the_disk(tmp_path):
    store = storage.Store(tmp_path)
    assert store.address("7/1-1.mp4") == str(store.locate("7/1-1.mp4"))
    for path in ("../x", "7/../../x", "/etc/passwd"):
        with pytest.raises(errors.StorageError, match="outside"):
            store.address(path)
