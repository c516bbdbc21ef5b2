from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from mangen.pooling import cache


@dataclasses.dataclass(frozen=True)
class Slab:
    """Stands for a tensor of a simulated card; comes down as an array."""

    nbytes: int
    fill: int = 1

    def down(self) -> np.ndarray:
        return np.full(self.nbytes, self.fill, np.uint8)


class SlabMover:
    """`full`: the host has no memory for copies."""

    def __init__(self) -> None:
        self.full: Exception | None = None

    def on_device(self, leaf) -> bool:
        return isinstance(leaf, Slab)

    def to_host(self, leaf):
        if self.full:
            raise self.full
        return leaf.down() if isinstance(leaf, Slab) else leaf


def make(tmp_path=None, mover=None, **given) -> cache.Cache:
    options = cache.Options(
        kinds={"text": cache.Policy()},
        host_is_device=False,
        folder=str(tmp_path) if tmp_path else "",
        **given,
    )
    return cache.Cache(options, mover=mover or SlabMover())


def test_the_gate_counts_the_device_tier_alone():
    one = make()
    one.put("text", "there", {"a": Slab(100), "scale": 1.0}, seconds=1.0)
    one.put("text", "here", np.ones(10, np.uint8), seconds=1.0)
    assert one.device_bytes == 100 + len("a") + len("scale") + 8
    assert one.nbytes == one.device_bytes + 10
    assert one.get("text", "there") == {"a": Slab(100), "scale": 1.0}


def test_compressing_brings_the_least_worth_down_into_host_memory():
    one = make()
    one.put("text", "cheap", Slab(100, 1), seconds=1.0)
    one.put("text", "dear", Slab(100, 2), seconds=2.0)
    assert one.compress(1) == 100
    assert one.get("text", "dear") == Slab(100, 2)
    np.testing.assert_array_equal(one.get("text", "cheap"), Slab(100, 1).down())
    assert (one.device_bytes, one.nbytes) == (100, 200)
    assert one.counters()["text"]["evictions"] == 0
    assert one.compress(1000) == 100
    assert one.compress(1000) == 0


def test_the_watermark_brings_down_what_is_over_it():
    one = make()
    for n in range(3):
        one.put("text", str(n), Slab(100), seconds=1.0)
    assert one.limit_device(150) == 200
    assert (one.device_limit, one.device_bytes, one.nbytes) == (150, 100, 300)
    one.put("text", "larger than all", Slab(151), seconds=1.0)
    assert one.device_bytes == 100
    assert isinstance(one.get("text", "larger than all"), np.ndarray)


def test_what_host_memory_lets_go_comes_back_from_disk(tmp_path):
    one = make(tmp_path, host_bytes=150)
    for n in range(3):
        one.put("text", str(n), Slab(100, n), seconds=1.0)
    one.close_session()
    assert one.compress(300) == 300
    assert one.nbytes == 100
    assert one.counters()["text"]["evictions"] == 2
    for n in range(3):
        np.testing.assert_array_equal(one.get("text", str(n)), Slab(100, n).down())
    assert one.counters()["text"]["disk_hit"] >= 2


def test_a_rollback_reaches_what_was_brought_down_since():
    one = make()
    one.put("text", "a", Slab(100), seconds=1.0, by="k")
    one.compress(100)
    one.settle("k", done=False)
    assert one.get("text", "a") is None
    assert one.nbytes == one.counters()["total"]["bytes"] == 0


@pytest.mark.parametrize("full", [MemoryError(), RuntimeError("CUDA error: out of memory")])
def test_what_finds_no_host_memory_is_given_up_and_the_device_gets_its_bytes(full):
    mover = SlabMover()
    one = make(mover=mover)
    one.put("text", "a", Slab(100), seconds=1.0, by="k")
    mover.full = full
    assert one.compress(100) == 100
    assert one.nbytes == 0
    one.settle("k", done=True)
    assert one.get("text", "a") is None


def test_an_error_that_is_not_memory_is_not_hidden():
    mover = SlabMover()
    one = make(mover=mover)
    one.put("text", "a", Slab(100), seconds=1.0)
    mover.full = RuntimeError("an illegal memory access was encountered")
    with pytest.raises(RuntimeError, match="illegal"):
        one.compress(100)


def test_what_was_made_on_the_device_is_proved_onto_the_disk(tmp_path):
    one = make(tmp_path)
    one.put("text", "a", {"x": Slab(100)}, seconds=1.0, by="k")
    one.settle("k", done=True)
    assert one.get("text", "a") == {"x": Slab(100)}
    np.testing.assert_array_equal(make(tmp_path).get("text", "a")["x"], Slab(100).down())
