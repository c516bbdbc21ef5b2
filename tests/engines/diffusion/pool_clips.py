"""A product over I2VGen-XL's two stages, for a real pool: encoded frames lie in a folder between.

Its device has room for one clip's steps at a time.
"""

from __future__ import annotations

import os
import pathlib

import numpy as np
import torch

from mangen.engines.diffusion import family, i2vgen, registry
from mangen.pooling import work
from tests.engines.diffusion import clips

MOST = 1  #: members for which there is memory


class Session:
    joinable = True

    def __init__(self, run, folder):
        self._run, self._folder, self._left = run, folder, {}

    def add(self, items):
        for item in items:
            self._run.add({item.key: task(item, self._folder)})
            self._left[item.key] = item
        return {}

    def step(self):
        ended = {}
        for key, result in self._run.step().items():
            item = self._left.pop(key)
            if isinstance(result, Exception):
                ended[key] = work.Outcome.failed(str(result))
                continue
            if item.data["role"] == "encode":
                np.savez(self._folder / f"{item.data['seed']}.npz", **result.features)
            else:
                np.save(self._folder / f"{key}.npy", result.images)
            ended[key] = work.Outcome.done(dict(result.notes))
        return ended

    def drop(self, key, why):
        self._run.drop(key)
        self._left.pop(key, None)
        if why is work.Why.OOM:
            return work.Outcome.parked()
        return work.Outcome.aborted(why.value)

    def close(self):
        self._run.close()


class Product:
    def __init__(self):
        torch.set_num_threads(1)
        self._folder = pathlib.Path(os.environ["TINY_OUT"])
        self._model = model(pathlib.Path(os.environ["TINY_I2VGEN"]))

    def open(self, bucket, rt):
        if "|encode|" not in bucket:
            with rt.use(i2vgen.FAMILY.spec(self._model, "video")) as loaded:
                if not hasattr(loaded, "small"):
                    loaded.small, loaded.predict = True, _limited(loaded.predict)
        return Session(i2vgen.FAMILY.open(self._model, bucket, rt), self._folder)

    def spec(self, name):
        return i2vgen.FAMILY.spec(self._model, name)

    def give_back(self, _item, why):
        return work.Outcome.aborted(why.value)


def model(folder):
    return registry.Model(name="clips", folder=folder, family="i2vgen", dtype="float32")


def task(item, folder):
    """What an item asks for: the seed is the picture's, too; `split`: another stage encoded it."""
    data = dict(item.data)
    data["images"] = (clips.picture(data["width"], data["height"], data["seed"]),)
    if data.pop("split", False):
        data["encoded"] = dict(np.load(folder / f"{data['seed']}.npz"))
        del data["images"]
    return family.Task(prompt="the cat", guidance=5.0, fps=16, **data)


def _limited(predict):
    def limited(members):
        if len(members) > MOST:
            raise torch.OutOfMemoryError(f"no memory for {len(members)} members")
        return predict(members)

    return limited


def make(_settings):
    return Product()
