"""Both stages of a clip in a real pool: encoded in one batch, made in another, and in smaller ones
where memory runs out.
"""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the gpu extra is not installed")
pytest.importorskip("diffusers", reason="the gpu extra is not installed")

from mangen.engines.diffusion import i2vgen  # noqa: E402 - after what may skip it
from mangen.pooling import alone, events, work  # noqa: E402 - as above
from tests.engines.diffusion import conftest, drive, pool_clips  # noqa: E402 - as above

WAIT_S = 120.0
DATA = {"width": 64, "height": 64, "frames": 2, "steps": 2}


class _Told:
    """A pool's listener."""

    def __init__(self):
        self.events, self.lost = [], []

    def on(self, event):
        self.events.append(event)

    def child_lost(self, _owner, keys, _alone):
        self.lost.extend(keys)


def item(model, key, role, seed, **more):
    data = {**DATA, "role": role, "seed": seed}
    task = pool_clips.task(work.Item(key=key, name=role, bucket="", data=data), None)
    return work.Item(
        key=key, name=role, bucket=i2vgen.FAMILY.bucket(model, task), model=role, cap=8,
        peaks=tuple(i2vgen.FAMILY.peak(model, task, n + 1) for n in range(8)),
        data={**data, **more},
    )  # fmt: skip


def test_clips_come_out_of_a_pool_as_they_do_alone(i2vgen_model, rt, tmp_path, monkeypatch):
    monkeypatch.setenv("TINY_I2VGEN", str(i2vgen_model.folder))
    monkeypatch.setenv("TINY_OUT", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(pathlib.Path(__file__).parents[3]))
    model, told = pool_clips.model(i2vgen_model.folder), _Told()
    with alone.Pool(
        "tests.engines.diffusion.pool_clips:make", listener=told, folder=str(tmp_path / "pool"),
        cache_kinds={kind: {} for kind in conftest.KINDS}, linger_s=0.5,
    ) as pool:  # fmt: skip
        encoded = [pool.submit(item(model, f"e{n}", "encode", n)) for n in range(5)]
        assert {one.result(WAIT_S).status for one in encoded} == {work.Status.DONE}
        made = {
            f"v{n}": pool.submit(item(model, f"v{n}", "video", n, split=n < 5)) for n in range(6)
        }
        outcomes = {key: one.result(WAIT_S) for key, one in made.items()}
    assert {one.status for one in outcomes.values()} == {work.Status.DONE}
    assert told.lost == []
    for key, outcome in outcomes.items():
        asked = item(model, key, "video", outcome.value["seed"])
        single, _ = drive.run(i2vgen.FAMILY, model, rt, {key: pool_clips.task(asked, tmp_path)})
        found = np.load(tmp_path / f"{key}.npy")
        assert found.shape == (2, 64, 64, 3)
        assert np.abs(found.astype(int) - single[key].images.astype(int)).max() <= 1
    loaded = [one.model for one in told.events if isinstance(one, events.Loaded)]
    assert loaded[:2] == [f"{model.key}:encode", model.key]
    assert loaded.count(model.key) == 1
    (out,) = [one for one in told.events if isinstance(one, events.OutOfMemory)]
    assert out.members > pool_clips.MOST  # once: that size is never tried again
