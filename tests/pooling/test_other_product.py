"""A stranger's product on the pool: nothing of comics, of Celery or of the ledger is needed."""

from __future__ import annotations

import collections
import importlib
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from mangen.pooling import alone, events

FOLDER = pathlib.Path(__file__).parent / "other_product"
DISTINCT = [f"text number {n} of those that are made for this test" for n in range(40)]


class Recorder(events.Silent):
    def __init__(self):
        self.heard = []

    def on(self, event):
        self.heard.append(event)

    def of(self, kind):
        return [event for event in self.heard if isinstance(event, kind)]


@pytest.fixture(scope="module")
def embedding():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        yield importlib.import_module("embedding")
        del sys.modules["embedding"]


@pytest.fixture(scope="module")
def pooled(embedding, tmp_path_factory):
    """Yield the vectors of each of four rounds over the same texts on two devices, and the events.

    A round begins when the last one is over, so that no text is twice in a batch.
    """
    recorder = Recorder()
    with alone.Pool(
        "embedding:Embedding", devices=("cpu", "cpu"), cache_kinds={"text": {}},
        folder=str(tmp_path_factory.mktemp("pool")), listener=recorder,
    ) as pool:  # fmt: skip
        rounds = []
        for turn in range(4):
            futures = [pool.submit(embedding.item(f"{turn} {text}", text)) for text in DISTINCT]
            rounds.append([one.result(timeout=60).value for one in futures])
    return rounds, recorder


def test_the_pool_makes_what_the_plain_computation_makes(embedding, pooled):
    plain = embedding.embed(embedding.MODEL.load(), DISTINCT)
    for vectors in pooled[0]:  # the order of sums differs with the batch: the last bit may too
        np.testing.assert_allclose(vectors, plain, rtol=0, atol=1e-12)


def test_requests_run_in_batches_of_one_bucket(pooled):
    ended = pooled[1].of(events.Batched)
    assert sum(one.members for one in ended) == 4 * len(DISTINCT)
    assert max(one.members for one in ended) > 1


def test_the_model_is_loaded_once_for_each_device_that_needs_it(embedding, pooled):
    loads = collections.Counter(one.owner for one in pooled[1].of(events.Loaded))
    assert {one.model for one in pooled[1].of(events.Loaded)} == {embedding.MODEL.key}
    assert loads
    assert set(loads.values()) == {1}


def test_what_repeats_comes_from_the_cache(pooled):
    hits, misses = pooled[1].of(events.Hit), pooled[1].of(events.Miss)
    assert len(hits) + len(misses) == 4 * len(DISTINCT)
    # each of the two children makes a text at most once
    assert len(misses) <= 2 * len(DISTINCT)
    assert {one.kind for one in [*hits, *misses]} == {"text"}


def test_the_example_prints_the_nearest_pair():
    done = subprocess.run(
        [sys.executable, FOLDER / "embedding.py"], check=True, capture_output=True, text=True,
        cwd=FOLDER.parents[2],
    )  # fmt: skip
    _, *pair = done.stdout.splitlines()
    assert pair == ["The cat sat on the mat.", "A cat sat on a mat."]


def test_the_example_is_short_and_needs_nothing_but_the_pool():
    lines = (FOLDER / "embedding.py").read_text("utf-8").splitlines()
    assert sum(bool(line.strip()) for line in lines) < 60
    code = "import embedding, sys; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True,
        env={"PYTHONPATH": f"{FOLDER}:{FOLDER.parents[2]}"},
    )  # fmt: skip
    loaded = set(done.stdout.split())
    assert not loaded & {"celery", "kombu", "torch", "sqlalchemy"}
    rooms = {name.split(".")[1] for name in loaded if name.startswith("mangen.")}
    assert rooms == {"pooling"}
