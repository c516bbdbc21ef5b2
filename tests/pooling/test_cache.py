from __future__ import annotations

import io
import logging
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from mangen.pooling import cache, cache_disk, errors

KINDS = {
    "text": cache.Policy(),
    "face": cache.Policy(worth=4.0),
    "panel": cache.Policy(worth=0.01, only_while=("repaint", "upscale")),
}


def make(tmp_path=None, **given) -> cache.Cache:
    folder = str(tmp_path) if tmp_path else ""
    return cache.Cache(cache.Options(kinds=KINDS, folder=folder, **given))


def block(nbytes: int, fill: int = 1) -> np.ndarray:
    return np.full(nbytes, fill, np.uint8)


def kept(one: cache.Cache, *signatures: str, kind: str = "text") -> list[str]:
    return [name for name in signatures if one.get(kind, name) is not None]


def test_hits_misses_bytes_and_saved_seconds_are_counted_by_kind():
    one = make(host_bytes=1000)
    assert one.get("text", "a") is None
    one.put("text", "a", block(10), seconds=1.5)
    one.put("face", "a", block(20), seconds=2.0)
    np.testing.assert_array_equal(one.get("text", "a"), block(10))
    one.get("face", "a")
    one.get("face", "a")
    counters = one.counters()
    assert counters["text"] == {
        **dict.fromkeys(("disk_hit", "bypass", "evictions", "rollbacks"), 0),
        "hit": 1,
        "miss": 1,
        "bytes": 10,
        "seconds_saved": 1.5,
    }
    assert counters["total"]["hit"] == 3
    assert counters["total"]["bytes"] == one.nbytes == one.device_bytes == 30
    assert counters["total"]["seconds_saved"] == 5.5


def test_each_event_is_noted_once_with_its_seconds():
    heard: list[cache.Noted] = []
    one = cache.Cache(cache.Options(kinds=KINDS, host_bytes=100), note=heard.append)
    one.get("text", "a")
    one.put("text", "a", block(60), seconds=2.0)
    one.get("text", "a")
    one.put("text", "b", block(60), seconds=9.0)
    one.put("text", "c", block(101), seconds=1.0)
    assert [(noted.what, noted.seconds, noted.nbytes) for noted in heard] == [
        (cache.What.MISS, 0.0, 0),
        (cache.What.HIT, 2.0, 60),
        (cache.What.EVICTION, 2.0, 60),
        (cache.What.BYPASS, 1.0, 101),
    ]


def test_what_saves_the_fewest_seconds_a_byte_goes_first():
    one = make(host_bytes=100_000)
    one.put("text", "cheap", block(40_000), seconds=0.1)
    one.put("text", "dear", block(40_000), seconds=9.0)
    one.put("text", "new", block(40_000), seconds=1.0)
    assert kept(one, "cheap", "dear", "new") == ["dear", "new"]
    assert one.nbytes == 80_000


def test_a_kind_of_more_weight_stays_longer():
    one = make(host_bytes=100_000)
    one.put("face", "a", block(40_000), seconds=1.0)
    one.put("text", "a", block(40_000), seconds=1.0)
    one.put("text", "b", block(40_000), seconds=1.0)
    assert kept(one, "a", kind="face") == ["a"]
    assert kept(one, "a", "b") == ["b"]


def test_what_was_reused_stays_longer_than_what_was_not():
    one = make(host_bytes=100_000)
    one.put("text", "reused", block(40_000), seconds=1.0)
    one.put("text", "once", block(40_000), seconds=1.5)
    one.get("text", "reused")
    one.put("text", "new", block(40_000), seconds=3.0)
    assert kept(one, "reused", "once", "new") == ["reused", "new"]


def test_what_is_not_used_any_more_ages():
    one = make(host_bytes=1 << 20)
    one.put("text", "old", block(1 << 19), seconds=3.0)
    for n in range(20):
        one.put("text", f"new {n}", block(1 << 19), seconds=1.0)
    assert one.get("text", "old") is None


def test_what_is_worth_less_than_all_that_is_kept_passes_by():
    one = make(host_bytes=100_000)
    one.put("text", "dear", block(90_000), seconds=9.0)
    one.put("text", "cheap", block(20_000), seconds=0.01)
    assert kept(one, "dear", "cheap") == ["dear"]
    assert (one.counters()["text"]["bypass"], one.counters()["text"]["evictions"]) == (1, 0)


def test_too_large_a_value_passes_by_and_evicts_nothing():
    one = make(host_bytes=100)
    one.put("text", "a", block(90), seconds=1.0)
    one.put("text", "huge", block(101), seconds=99.0)
    assert kept(one, "a", "huge") == ["a"]
    assert one.counters()["text"]["bypass"] == 1


def test_compressing_answers_the_bytes_and_takes_the_least_worth_first():
    one = make(host_bytes=1000)
    for name, seconds in (("a", 3.0), ("b", 1.0), ("c", 2.0)):
        one.put("text", name, block(100), seconds=seconds)
    assert one.compress(0) == 0
    assert one.compress(150) == 200
    assert kept(one, "a", "b", "c") == ["a"]
    assert one.compress(10_000) == 100
    assert one.nbytes == one.compress(1) == 0


def test_the_watermark_moves_what_a_cpu_device_may_keep():
    one = make(host_bytes=1000)
    for name in "abc":
        one.put("text", name, block(100), seconds=1.0)
    assert one.limit_device(250) == 100
    assert (one.device_limit, one.nbytes) == (250, 200)
    one.limit_device(5000)
    assert one.device_limit == 1000
    one.limit_device(-7)
    assert (one.device_limit, one.nbytes) == (0, 0)


@pytest.mark.parametrize("verb", ["get", "put"])
@pytest.mark.parametrize("kind", ["voice", "video"])
def test_a_kind_that_is_not_configured_is_refused_with_the_known_ones(verb, kind):
    one = make()
    with pytest.raises(errors.CacheRefused, match=rf"no '{kind}'.* face, panel, text"):
        one.get(kind, "a") if verb == "get" else one.put(kind, "a", 1, seconds=1.0)


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (pathlib.Path("a.png"), "a path"),
        (io.BytesIO(b"x"), "an open file"),
        (b"RIFF\x24\x08\0\0WAVEfmt ", "a WAV recording"),
        (b"RIFF\x24\x08\0\0AVI LIST", "AVI film"),
        (b"ID3\x04\0\0\0\0\0\0", "an MP3 recording"),
        (b"OggS\0\2\0\0", "an Ogg recording"),
        (b"fLaC\0\0\0\x22", "a FLAC recording"),
        (b"\0\0\0\x20ftypisom\0\0\2\0", "an MP4 recording or film"),
        (b"\x1a\x45\xdf\xa3\x9f\x42\x86", "a WebM"),
        (np.frombuffer(b"fLaC\0\0\0\x22", np.uint8), "a FLAC recording"),
        ({"deep": [1, (bytearray(b"OggS\0\2"),)]}, "an Ogg recording"),
    ],
)
def test_files_recordings_and_films_are_refused_by_type(value, what):
    one = make()
    with pytest.raises(errors.CacheRefused, match=what):
        one.put("text", "a", value, seconds=1.0)
    assert one.nbytes == 0


@pytest.mark.parametrize(
    "value",
    [
        b"RIFF\x24\x08\0\0WEBPVP8 ",
        b"\0\0\0\x1cftypavif\0\0\0\0",
        b"\x89PNG\r\n\x1a\n",
        "a.wav says the text",
        b"",
    ],
)
def test_pictures_and_texts_are_no_recordings(value):
    one = make()
    one.put("text", "a", value, seconds=1.0)
    assert one.get("text", "a") == value


def test_panels_enter_only_while_their_work_waits_and_go_when_none_does():
    one = make()
    one.put("panel", "a", block(10), seconds=1.0)
    assert one.counters()["panel"]["bypass"] == 1
    one.waiting({"repaint": 2, "draw": 1})
    one.put("panel", "a", block(10), seconds=1.0)
    one.put("text", "a", block(10), seconds=1.0)
    one.waiting({"upscale": 1})
    assert kept(one, "a", kind="panel") == ["a"]
    one.waiting({"repaint": 0, "draw": 5})
    assert kept(one, "a", kind="panel") == []
    assert kept(one, "a") == ["a"]
    assert one.nbytes == 10


def test_panels_never_reach_the_disk(tmp_path):
    one = make(tmp_path)
    one.waiting({"repaint": 1})
    one.put("panel", "a", block(10), seconds=1.0, by="k")
    one.settle("k", done=True)
    one.compress(10)
    assert list(tmp_path.glob("*.safetensors")) == []
    assert one.get("panel", "a") is None


def test_what_was_evicted_comes_back_bit_exact_with_its_seconds(tmp_path):
    value = {
        "half": np.arange(6, dtype=np.float16).reshape(2, 3).T,
        "deep": [np.float32([np.nan, -0.0, 1e-42]), (1, 2.5, None, "text", True)],
    }
    one = make(tmp_path, host_bytes=1000)
    one.put("text", "a", value, seconds=2.5, by="k")
    one.settle("k", done=True)
    assert one.compress(1) > 0
    back = one.get("text", "a")
    assert back["half"].dtype == np.float16
    np.testing.assert_array_equal(back["half"], value["half"])
    assert back["deep"][0].tobytes() == value["deep"][0].tobytes()
    assert back["deep"][1] == (1, 2.5, None, "text", True)
    counters = one.counters()["text"]
    assert (counters["disk_hit"], counters["hit"], counters["miss"]) == (1, 0, 0)
    assert counters["seconds_saved"] == 2.5
    one.get("text", "a")
    assert one.counters()["text"]["hit"] == 1


def test_what_lies_on_disk_is_not_written_again(tmp_path):
    one = make(tmp_path)
    one.put("text", "a", block(10), seconds=1.0)
    one.close_session()
    (path,) = tmp_path.glob("*.safetensors")
    before = path.stat().st_ino
    one.compress(10)
    assert path.stat().st_ino == before


def test_what_the_disk_lost_is_written_again_when_memory_lets_it_go(tmp_path):
    one = make(tmp_path)
    one.put("text", "a", block(10), seconds=1.0)
    one.close_session()
    cache_disk.Disk(tmp_path, 2**20).drop("text", "a")
    one.compress(10)
    assert kept(one, "a") == ["a"]


def test_what_is_too_large_for_memory_is_still_answered_from_disk(tmp_path):
    one = make(tmp_path)
    one.put("text", "a", block(100), seconds=1.0)
    one.close_session()
    small = make(tmp_path, host_bytes=50)
    assert small.get("text", "a").nbytes == 100
    assert small.nbytes == 0
    assert small.counters()["text"]["disk_hit"] == 1


def test_what_nobody_can_measure_passes_by_with_one_word(caplog):
    one = make()
    with caplog.at_level(logging.WARNING):
        one.put("text", "a", {"x": object()}, seconds=1.0)
        one.put("text", "b", object(), seconds=1.0)
        one.put("text", "c", np.array([object()]), seconds=1.0)
    assert [record.message.rpartition(" of ")[2] for record in caplog.records] == [
        "builtins.object",
        "objects",
    ]
    assert one.counters()["text"]["bypass"] == 3


def test_nothing_is_no_product():
    one = make()
    one.put("text", "a", None, seconds=1.0)
    assert one.counters()["text"]["bypass"] == 1


def test_a_slice_does_not_keep_its_batch_nor_change_with_it():
    batch = np.ones((8, 100), np.uint8)
    one = make()
    one.put("text", "a", batch[2], seconds=1.0)
    batch[:] = 7
    assert one.nbytes == 100
    assert one.get("text", "a").base is None
    np.testing.assert_array_equal(one.get("text", "a"), block(100))


def test_a_mapped_file_is_copied_before_it_can_change(tmp_path):
    mapped = np.memmap(tmp_path / "file", np.uint8, "w+", shape=(10,))
    mapped[:] = 1
    one = make()
    one.put("text", "a", {"whole": mapped, "part": mapped[:5]}, seconds=1.0)
    mapped[:] = 2
    assert one.get("text", "a")["whole"].tolist() == [1] * 10
    assert one.get("text", "a")["part"].tolist() == [1] * 5


def test_a_kind_named_like_the_sum_is_refused():
    with pytest.raises(errors.ConfigError, match="total"):
        cache.Cache(cache.Options(kinds={"total": cache.Policy()}))


def test_hits_leave_nothing_behind_that_grows():
    one = make()
    one.put("text", "a", block(10), seconds=1.0)
    for _ in range(1000):
        one.get("text", "a")
    assert len(one._host._heap) < 100


def test_importing_it_loads_no_array_library():
    code = (
        "import sys, mangen.pooling.cache\n"
        "print(sorted({'numpy', 'torch', 'safetensors'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert out.stdout.strip() == "[]"
