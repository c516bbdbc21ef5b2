"""A product for the simulated card: tiny models compute, and take what full-size ones would.

An item's data are those of its task at full size; the tiny model draws an eighth of its sides. Each
pass and each decoding replays on the card what the engine's own was recorded to allocate at full
size, so that memory runs out where it would.
"""

from __future__ import annotations

import functools
import pathlib

import numpy as np
import torch

from mangen.engines.diffusion import continuous, family, i2vgen_model, registry, sdxl_model
from mangen.pooling import models, work
from mangen.pooling.devices import simulated
from tests.engines.diffusion import full_size

LOADERS = {"sdxl": sdxl_model.load, "i2vgen": i2vgen_model.load}
TINY = 8  #: times smaller are its sides
TINY_FRAMES = 2


class Replayed:
    """Implements continuous.Denoiser over a tiny model, with the bytes of a full-size one."""

    def __init__(self, name, model, folder):
        self._name, self._folder = name, folder
        self._weights = simulated.current().load(name)
        self._inner = LOADERS[name](model)

    def begin(self, key, task, cache):
        return self._inner.begin(key, task, cache)

    def shape(self, member):
        return self._inner.shape(member)

    def predict(self, members):
        self._run("predict", members[0].task, len(members))
        return self._inner.predict(members)

    def finish(self, member):
        self._run("decode", member.task, 1)
        np.save(self._folder / f"{member.key}.npy", member.latents.numpy())
        return self._inner.finish(member)

    def _run(self, stage, task, members):
        size = f"{task.width * TINY}x{task.height * TINY}"
        frames = f"x{full_size.FRAMES}" if task.role == "video" else ""
        simulated.current().run(f"{self._name}.{stage}/{size}{frames}", members, steps=1)


class Session:
    joinable = False  # so that what was admitted is what ran

    def __init__(self, run):
        self._run = run

    def add(self, items):
        self._run.add({item.key: _task(item.data) for item in items})
        return {}

    def step(self):
        return {
            key: work.Outcome.failed(str(result))
            if isinstance(result, Exception)
            else work.Outcome.done(dict(result.notes))
            for key, result in self._run.step().items()
        }

    def drop(self, key, why):
        self._run.drop(key)
        return work.Outcome.parked() if why is work.Why.OOM else work.Outcome.aborted(why.value)

    def close(self):
        self._run.close()


class Product:
    def __init__(self, settings):
        torch.set_num_threads(1)
        self._folder = pathlib.Path(settings["folder"])
        self._tiny = {
            name: registry.Model(
                name=name, family=name, folder=pathlib.Path(settings[name]), dtype="float32"
            )
            for name in LOADERS
        }

    def spec(self, name):
        return models.ModelSpec(
            key=name,
            weight_bytes=simulated.current().profile.model(name).nbytes,
            load=functools.partial(Replayed, name, self._tiny[name], self._folder),
            cold_factor=family.of(name).spec(self._tiny[name], "video").cold_factor,
        )

    def open(self, bucket, rt):
        return Session(continuous.Continuous(self.spec(bucket.partition("|")[0]), rt))

    def give_back(self, _item, why):
        return work.Outcome.aborted(why.value)


def _task(data):
    sides = {"width": data["width"] // TINY, "height": data["height"] // TINY}
    shared = {"prompt": "a", "seed": data["seed"], "steps": data["steps"], **sides}
    if data["role"] != "video":
        return family.Task(role="image", **shared)
    latent = np.random.default_rng(data["seed"]).normal(
        size=(1, 4, sides["height"] // 8, sides["width"] // 8)
    )
    encoded = {"first_latent": latent, "image_embedding": np.ones((1, 1, 32))}
    return family.Task(role="video", frames=TINY_FRAMES, encoded=encoded, **shared)


def make(settings):
    return Product(settings)
