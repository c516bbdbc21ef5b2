from __future__ import annotations

from mangen.pooling import cache


def test_hits_and_misses_are_counted():
    kept = cache.MemoryCache(100)
    assert kept.get("a") is None
    kept.put("a", "value", nbytes=10, seconds=1.0)
    assert kept.get("a") == "value"
    assert kept.counters == {"miss": 1, "hit": 1}


def test_what_saves_the_fewest_seconds_a_byte_goes_first():
    kept = cache.MemoryCache(100)
    kept.put("cheap", 1, nbytes=40, seconds=0.1)
    kept.put("dear", 2, nbytes=40, seconds=9.0)
    kept.put("new", 3, nbytes=40, seconds=1.0)
    assert kept.get("cheap") is None
    assert kept.get("dear") == 2
    assert kept.nbytes == 80


def test_what_is_not_used_any_more_ages():
    kept = cache.MemoryCache(1 << 20)
    kept.put("old", 0, nbytes=1 << 19, seconds=3.0)
    for n in range(20):
        kept.put(f"new {n}", n, nbytes=1 << 19, seconds=1.0)
    assert kept.get("old") is None


def test_too_large_a_value_passes_by_and_evicts_nothing():
    kept = cache.MemoryCache(100)
    kept.put("a", 1, nbytes=90, seconds=1.0)
    kept.put("huge", 2, nbytes=101, seconds=99.0)
    assert kept.get("a") == 1
    assert kept.get("huge") is None
    assert kept.counters["bypass"] == 1


def test_shrinking_answers_the_bytes_given_back_and_dropping_forgets_one():
    kept = cache.MemoryCache(100)
    for key in "ab":
        kept.put(key, key, nbytes=30, seconds=1.0)
    kept.drop("a")
    assert kept.nbytes == 30
    assert kept.shrink(10) == 30
    assert kept.nbytes == 0


def test_a_second_put_replaces_the_first():
    kept = cache.MemoryCache(100)
    kept.put("a", 1, nbytes=30, seconds=1.0)
    kept.put("a", 2, nbytes=50, seconds=1.0)
    assert (kept.get("a"), kept.nbytes) == (2, 50)
