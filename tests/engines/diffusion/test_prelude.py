"""Batches that need two models on a device that holds one at a time."""

from __future__ import annotations

import contextlib
import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the gpu extra is not installed")
pytest.importorskip("diffusers", reason="the gpu extra is not installed")

from mangen.engines.diffusion import family, i2vgen  # noqa: E402 - after what may skip it
from mangen.pooling import cache_policy  # noqa: E402 - as above
from mangen.pooling import errors as pool_errors  # noqa: E402 - as above
from tests.engines.diffusion import clips, conftest, drive  # noqa: E402 - as above

WIDTH, HEIGHT = 64, 64
TASK = family.Task(role="video", prompt="the cat", width=WIDTH, height=HEIGHT, frames=2, fps=16,
                   steps=3, guidance=5.0, images=(clips.picture(WIDTH, HEIGHT),))  # fmt: skip
KINDS = {kind: cache_policy.Policy() for kind in conftest.KINDS}


def task(seed, **more):
    return dataclasses.replace(
        TASK, seed=seed, images=(clips.picture(WIDTH, HEIGHT, seed),), **more
    )


@pytest.fixture
def sizes(i2vgen_model):
    return {
        role: i2vgen.FAMILY.spec(i2vgen_model, role).weight_bytes for role in ("video", "encode")
    }


@contextlib.contextmanager
def opened(model, limit):
    rt, house = clips.tight(limit, KINDS)
    batch = i2vgen.FAMILY.open(model, i2vgen.FAMILY.bucket(model, TASK), rt)
    with contextlib.closing(batch):
        yield batch, house


def names(house):
    return ["encode" if one == "encode" else "video" for one in house.told]


def same(result, model, rt, seed):
    single, _ = drive.run(i2vgen.FAMILY, model, rt, {"one": task(seed)})
    difference = np.abs(single["one"].images.astype(int) - result.images.astype(int))
    return difference.max() <= 1


def test_where_both_fit_both_stay(i2vgen_model, rt, sizes):
    with opened(i2vgen_model, sum(sizes.values())) as (batch, house):
        batch.add({"1": task(1)})
        batch.step()
        batch.add({"2": task(2)})
        ended = {}
        for _ in range(4):
            ended.update(batch.step())
        assert names(house) == ["encode", "video"]
    assert all(same(ended[key], i2vgen_model, rt, int(key)) for key in ("1", "2"))


def test_where_they_do_not_each_comes_in_turn_and_newcomers_wait(i2vgen_model, rt, sizes):
    with opened(i2vgen_model, max(sizes.values())) as (batch, house):
        batch.add({"1": task(1), "2": task(2)})
        batch.step()
        assert names(house) == ["encode", "video"]  # both were encoded before the steps
        known = {"encoded": {"first_latent": np.zeros((1, 4, 8, 8), np.float32),
                             "image_embedding": np.zeros((1, 1, 32), np.float32)}}  # fmt: skip
        batch.add({"3": task(3), "4": dataclasses.replace(TASK, **known)})
        assert batch.step() == {}
        assert batch.step().keys() == {"1", "2"}
        batch.add({"5": task(5)})
        batch.drop("5")
        ended = {}
        for _ in range(3):
            ended.update(batch.step())
        # the fourth needs no encoder, but never overtakes: the third would wait for ever
        assert ended.keys() == {"3", "4"}
        assert names(house) == ["encode", "video", "encode", "video"]
        assert batch.step() == {}
    assert same(ended["3"], i2vgen_model, rt, 3)


def test_a_device_that_holds_neither_is_told_of_after_who_failed(i2vgen_model, sizes):
    with opened(i2vgen_model, min(sizes.values()) - 1) as (batch, _):
        batch.add({"bad": dataclasses.replace(TASK, images=()), "1": task(1)})
        assert batch.step().keys() == {"bad"}
        with pytest.raises(pool_errors.NoRoom):
            batch.step()
        batch.drop("1")  # parked
        batch.close()
        assert batch._unready == {}
