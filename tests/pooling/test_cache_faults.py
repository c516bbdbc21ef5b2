"""Values, numbers and disks that a cache can do nothing with: they cost seconds, never the work."""

from __future__ import annotations

import logging
import pathlib
import shutil

import numpy as np
import pytest

from mangen.pooling import cache, cache_disk


def made(folder="", **given):
    return cache.Cache(cache.Options(kinds={"text": cache.Policy()}, folder=str(folder), **given))


def block(nbytes=100):
    return np.full(nbytes, 1, np.uint8)


def knot():
    value = []
    value.append(value)
    return value


class Broken:
    @property
    def nbytes(self):
        raise RuntimeError("no such device")


class Unreadable:
    nbytes = 8

    @property
    def read(self):
        raise OSError("no such file")


@pytest.mark.parametrize("value", [knot(), {"a": knot()}, Broken(), [block(), Broken()]])
def test_a_value_that_cant_be_measured_goes_by_and_is_told_once(value, caplog):
    one = made()
    for signature in "ab":
        one.put("text", signature, value, seconds=1.0)
    assert one.get("text", "a") is None
    assert one.counters()["text"]["bypass"] == 2
    assert one.nbytes == 0
    assert caplog.text.count("can't tell the bytes") == 1


def test_a_value_that_cant_be_looked_into_is_no_fault():
    one = made()
    one.put("text", "a", Unreadable(), seconds=1.0)
    assert one.counters()["text"]["rollbacks"] == 0


@pytest.mark.parametrize(
    "seconds", [None, float("nan"), float("inf"), -1.0, "x", pytest.param(10**400, id="huge")]
)
def test_seconds_that_are_no_time_count_as_none(seconds, tmp_path):
    one = made(tmp_path, host_bytes=250)
    one.put("text", "a", block(), seconds=seconds, by="k")
    one.settle("k", done=True)
    for name in "bcd":
        one.put("text", name, block(), seconds=1.0)
    assert one.get("text", "a") is not None
    assert one.counters()["text"]["seconds_saved"] == 0.0
    assert one.counters()["text"]["disk_hit"] == 1  # worth nothing, it went first


def test_a_folder_that_was_removed_is_made_again(tmp_path):
    folder = tmp_path / "cache"
    disk = cache_disk.Disk(folder, 2**20)
    shutil.rmtree(folder)
    assert disk.put("text", "a", block(), seconds=1.0)
    assert disk.has("text", "a")


def test_a_disk_that_fails_at_a_look_has_nothing(tmp_path, monkeypatch):
    disk = cache_disk.Disk(tmp_path, 2**20)
    plain = pathlib.Path.exists

    def exists(path):
        if tmp_path in path.parents:  # other threads of this process look at files of theirs
            raise PermissionError("not yours")
        return plain(path)

    monkeypatch.setattr(pathlib.Path, "exists", exists)
    assert not disk.has("text", "a")


def test_a_disk_that_fails_in_any_way_leaves_the_product_in_memory(tmp_path, monkeypatch, caplog):
    def put(*_args, **_more):
        raise ValueError("unheard of")

    monkeypatch.setattr(cache_disk.Disk, "put", put)
    one = made(tmp_path)
    for name in ("a", "b"):
        one.put("text", name, block(), seconds=1.0, by="k")
    one.put("text", "c", block(), seconds=1.0)
    with caplog.at_level(logging.ERROR):
        one.settle("k", done=True)
        one.close_session()
    assert all(one.get("text", name) is not None for name in "abc")
    assert caplog.text.count("Traceback") == 1


@pytest.mark.parametrize("total", ["-99999999", "x", ""])
def test_a_broken_total_of_the_bytes_is_counted_anew(tmp_path, total):
    disk = cache_disk.Disk(tmp_path, 4000)
    (tmp_path / ".bytes").write_text(total, "ascii")
    for n in range(20):
        disk.put("text", f"{n}", block(500), seconds=1.0)
    assert 0 < disk.nbytes <= 4000
