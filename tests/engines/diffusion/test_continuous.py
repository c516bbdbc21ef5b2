"""Batches that members join and leave: whatever ends one, or all, leaves the others whole."""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the gpu extra is not installed")
pytest.importorskip("diffusers", reason="the gpu extra is not installed")

from mangen import errors  # noqa: E402 - after what may skip it
from mangen.engines.diffusion import family, sdxl  # noqa: E402 - as above
from mangen.pooling import alone, events, work  # noqa: E402 - as above
from mangen.pooling import errors as pool_errors  # noqa: E402 - as above
from tests.engines.diffusion import drive, pool_product  # noqa: E402 - as above

WAIT_S = 120.0
DATA = {"prompt": "the cat", "width": 64, "height": 64, "steps": 3}
TASK = family.Task(role="image", **DATA)


@pytest.fixture
def batch(sdxl_model, rt):
    rt.told.clear()
    made = sdxl.FAMILY.open(sdxl_model, sdxl.FAMILY.bucket(sdxl_model, TASK), rt)
    with contextlib.closing(made):
        yield made


def seeds(*numbers):
    return {str(n): dataclasses.replace(TASK, seed=n) for n in numbers}


def to_the_end(batch, ended=()):
    ended = dict(ended)
    for _ in range(20):
        ended.update(batch.step())
    return ended


def same(result, model, rt):
    """Whether it is what its task makes alone."""
    single, _ = drive.run(sdxl.FAMILY, model, rt, seeds(result.notes["seed"]))
    (one,) = single.values()
    difference = np.abs(one.images.astype(int) - result.images.astype(int))
    return difference.max() <= 1  # a rounding of the bytes


def test_memory_that_runs_out_moves_nobody_and_is_told_to_the_pool(
    batch, sdxl_model, rt, monkeypatch
):
    """In a pass for several groups, of which the second fails."""
    batch.add({**seeds(1), "long": dataclasses.replace(TASK, prompt="the cat " * 60, seed=2)})
    batch.step()
    with rt.use(sdxl.FAMILY.spec(sdxl_model, "image")) as loaded:
        predict, calls = loaded.predict, []

        def full(members):
            calls.append(len(members))
            if len(calls) > 1:
                raise torch.OutOfMemoryError("full")
            return predict(members)

        monkeypatch.setattr(loaded, "predict", full)
        with pytest.raises(torch.OutOfMemoryError):
            batch.step()
        monkeypatch.undo()
    assert calls == [1, 1]
    batch.drop("long")  # parked
    ended = to_the_end(batch)
    assert ended.keys() == {"1"}
    assert same(ended["1"], sdxl_model, rt)
    batch.add({"long": dataclasses.replace(TASK, seed=2)})
    assert same(to_the_end(batch)["long"], sdxl_model, rt)


def test_memory_that_runs_out_in_decoding_loses_nothing(batch, sdxl_model, rt, monkeypatch):
    batch.add(seeds(1, 2))
    with rt.use(sdxl.FAMILY.spec(sdxl_model, "image")) as loaded:
        finish, calls = loaded.finish, []

        def full(member):
            calls.append(member.key)
            if len(calls) in (2, 3):
                raise torch.OutOfMemoryError("full")
            return finish(member)

        monkeypatch.setattr(loaded, "finish", full)
        batch.step(), batch.step()
        ended = dict(batch.step())
        assert ended.keys() == {"1"}  # it is told before the pool hears of the other
        with pytest.raises(torch.OutOfMemoryError):
            batch.step()
        ended = to_the_end(batch, ended)
    assert calls == ["1", "2", "2", "2"]
    assert all(same(one, sdxl_model, rt) for one in ended.values())


def test_an_abort_between_steps_leaves_who_is_ready_ready(batch, sdxl_model, rt):
    batch.add(seeds(1, 2))
    batch.step(), batch.step()
    rt.stop("2")
    with pytest.raises(pool_errors.Dropped):
        batch.step()  # the last one: both are ready to be decoded
    batch.drop(rt.stopped.popitem()[0])
    ended = batch.step()
    assert ended.keys() == {"1"}
    assert same(ended["1"], sdxl_model, rt)
    assert rt.told[-1] == ("1", 3, 3)


def test_a_key_runs_once_and_a_closed_batch_holds_nobody(batch):
    batch.add(seeds(1))
    with pytest.raises(errors.EngineError, match="1 runs in this batch"):
        batch.add(seeds(1))
    batch.step()
    with pytest.raises(errors.EngineError, match="1 runs in this batch"):
        batch.add(seeds(1))
    batch.drop("nobody")
    batch.close()
    assert batch.step() == {}


class _Told:
    """A pool's listener."""

    def __init__(self):
        self.events, self.lost = [], []

    def on(self, event):
        self.events.append(event)

    def child_lost(self, _owner, keys, _alone):
        self.lost.extend(keys)


def test_a_pool_halves_a_batch_that_is_too_large_and_draws_the_same(
    sdxl_model, rt, tmp_path, monkeypatch
):
    """In a real child: parked, added again with the same seeds, and no member pays for it."""
    monkeypatch.setenv("TINY_SDXL", str(sdxl_model.folder))
    monkeypatch.setenv("TINY_OUT", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(pathlib.Path(__file__).parents[3]))
    tasks, told = seeds(*range(6)), _Told()
    bucket = sdxl.FAMILY.bucket(sdxl_model, TASK)
    with alone.Pool(
        "tests.engines.diffusion.pool_product:make", listener=told, folder=str(tmp_path / "pool"),
        cache_kinds={"text": {}}, linger_s=0.5,
    ) as pool:  # fmt: skip
        given = {
            key: pool.submit(
                work.Item(
                    key=key, name="draw", bucket=bucket, model="tiny", cap=8,
                    peaks=tuple(sdxl.FAMILY.peak(sdxl_model, task, n + 1) for n in range(8)),
                    data={**DATA, "seed": task.seed},
                )
            )
            for key, task in tasks.items()
        }  # fmt: skip
        outcomes = {key: one.result(WAIT_S) for key, one in given.items()}
    assert {one.status for one in outcomes.values()} == {work.Status.DONE}
    single, _ = drive.run(sdxl.FAMILY, sdxl_model, rt, tasks)
    for key, one in single.items():
        drawn = np.load(tmp_path / f"{key}.npy")
        assert np.abs(drawn.astype(int) - one.images.astype(int)).max() <= 1
        assert outcomes[key].value["seed"] == tasks[key].seed
    assert told.lost == []
    (out,) = [one for one in told.events if isinstance(one, events.OutOfMemory)]
    assert out.members > pool_product.MOST  # once: that size is never tried again
