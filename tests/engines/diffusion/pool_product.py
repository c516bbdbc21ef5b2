"""A product over one family's batches, for a real pool: its device has room for one member."""

from __future__ import annotations

import os
import pathlib

import numpy as np
import torch

from mangen.engines.diffusion import family, registry, sdxl
from mangen.pooling import work

MOST = 1  #: members for which there is memory


class Session:
    joinable = True

    def __init__(self, run, folder):
        self._run, self._folder, self._left = run, folder, {}

    def add(self, items):
        for item in items:
            self._run.add({item.key: family.Task(role="image", **item.data)})
            self._left[item.key] = item
        return {}

    def step(self):
        ended = {}
        for key, result in self._run.step().items():
            if isinstance(result, Exception):
                ended[key] = work.Outcome.failed(str(result))
            else:
                np.save(self._folder / f"{key}.npy", result.images)
                ended[key] = work.Outcome.done(dict(result.notes))
            del self._left[key]
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
        self._model = registry.Model(
            name="tiny", folder=pathlib.Path(os.environ["TINY_SDXL"]), family="sdxl",
            dtype="float32",
        )  # fmt: skip

    def open(self, bucket, rt):
        with rt.use(sdxl.FAMILY.spec(self._model, "image")) as loaded:
            if not hasattr(loaded, "small"):
                loaded.small, loaded.predict = True, _limited(loaded.predict)
        return Session(sdxl.FAMILY.open(self._model, bucket, rt), self._folder)

    def spec(self, _model):
        return sdxl.FAMILY.spec(self._model, "image")

    def give_back(self, _item, why):
        return work.Outcome.aborted(why.value)


def _limited(predict):
    def limited(members):
        if len(members) > MOST:
            raise torch.OutOfMemoryError(f"no memory for {len(members)} members")
        return predict(members)

    return limited


def make(_settings):
    return Product()
