from __future__ import annotations

import numpy as np
import pytest

from mangen.pooling import cache


def make(tmp_path=None) -> cache.Cache:
    folder = str(tmp_path) if tmp_path else ""
    return cache.Cache(cache.Options(kinds={"text": cache.Policy()}, folder=folder))


def block(nbytes: int, fill: int = 1) -> np.ndarray:
    return np.full(nbytes, fill, np.uint8)


def kept(one: cache.Cache, *signatures: str) -> list[str]:
    return [name for name in signatures if one.get("text", name) is not None]


def test_what_a_failed_member_put_in_is_rolled_back_from_everywhere(tmp_path):
    one = make(tmp_path)
    one.put("text", "bad", block(10), seconds=1.0, by="k1")
    one.put("text", "good", block(20), seconds=1.0, by="k2")
    one.settle("k1", done=False)
    one.settle("k2", done=True)
    assert kept(one, "bad", "good") == ["good"]
    assert one.nbytes == 20
    assert one.counters()["text"]["rollbacks"] == 1
    fresh = make(tmp_path)
    assert kept(fresh, "bad", "good") == ["good"]


def test_a_rollback_leaves_what_was_there_before():
    one = make()
    one.put("text", "a", block(10, 1), seconds=1.0, by="k1")
    one.settle("k1", done=True)
    one.put("text", "a", block(10, 2), seconds=1.0, by="k2")
    one.settle("k2", done=False)
    np.testing.assert_array_equal(one.get("text", "a"), block(10, 1))


def test_a_rollback_leaves_what_lay_on_disk_before(tmp_path):
    one = make(tmp_path)
    one.put("text", "a", block(10, 1), seconds=1.0, by="k1")
    one.settle("k1", done=True)
    one.compress(10)
    one.put("text", "a", block(10, 2), seconds=1.0, by="k2")
    one.settle("k2", done=False)
    np.testing.assert_array_equal(one.get("text", "a"), block(10, 1))


def test_a_product_is_rolled_back_though_another_member_used_it():
    one = make()
    one.put("text", "a", block(10), seconds=1.0, by="k1")
    assert one.get("text", "a") is not None  # k2
    one.settle("k2", done=True)
    one.settle("k1", done=False)
    assert one.get("text", "a") is None


def test_what_is_not_proved_never_reaches_the_disk(tmp_path):
    one = make(tmp_path)
    one.put("text", "a", block(10), seconds=1.0, by="k")
    one.put("text", "b", block(10), seconds=1.0)
    one.compress(20)
    assert one.nbytes == 0
    assert list(tmp_path.glob("*.safetensors")) == []
    one.settle("k", done=True)
    one.close_session()
    assert one.get("text", "a") is None
    assert one.counters()["text"]["evictions"] == 2


@pytest.mark.parametrize(("first", "second"), [(False, True), (True, False)])
def test_the_last_maker_answers_for_a_product_that_two_made(first, second):
    one = make()
    one.put("text", "a", block(10, 1), seconds=1.0, by="k1")
    one.put("text", "a", block(10, 2), seconds=1.0, by="k2")
    one.settle("k1", done=first)
    one.settle("k2", done=second)
    found = one.get("text", "a")
    assert (found is not None) == second
    assert found is None or found[0] == 2
    assert one.nbytes == (10 if second else 0)


def test_what_was_made_for_all_stays_when_no_member_failed(tmp_path):
    one = make(tmp_path)
    one.put("text", "a", block(10), seconds=1.0)
    assert list(tmp_path.glob("*.safetensors")) == []
    one.settle("k1", done=True)
    one.close_session()
    assert kept(make(tmp_path), "a") == ["a"]


def test_what_was_made_for_all_goes_when_a_member_failed_but_not_with_the_next_session():
    one = make()
    one.put("text", "a", block(10), seconds=1.0)
    one.settle("k1", done=False)
    assert one.get("text", "a") is not None
    one.close_session()
    assert one.get("text", "a") is None
    one.put("text", "a", block(10), seconds=1.0)
    one.close_session()
    assert one.get("text", "a") is not None


def test_members_that_ended_nowhere_proved_nothing():
    one = make()
    one.put("text", "a", block(10), seconds=1.0, by="given back")
    one.close_session()
    assert one.get("text", "a") is None
