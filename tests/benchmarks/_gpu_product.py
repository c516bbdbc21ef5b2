"""What the card's benchmark runs in the pool's child: the families' own batches, and a meter.

Each step of a session is a line of the log: when it began, how long it took, who was in it.
"""

from __future__ import annotations

import json
import os
import pathlib
import time
from collections.abc import Mapping, Sequence
from typing import Any

import _gpu_work
import numpy as np

from mangen.engines.diffusion import family
from mangen.pooling import models, work


class Product:
    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.bench = _gpu_work.Bench(
            folder=pathlib.Path(settings["folder"]), full=bool(settings["full"])
        )
        self.log = os.open(settings["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        if not self.bench.full:
            import torch  # noqa: PLC0415 - only in the child

            torch.set_num_threads(1)  # tiny passes gain nothing by more, and a busy machine loses

    def spec(self, key: str) -> models.ModelSpec | None:
        """A model by its resident's name: that of a clip's encoder ends otherwise than its own."""
        name, _, more = key.partition(":")
        role = "encode" if more.endswith(":encode") else "video"
        return family.of(name).spec(self.bench.model(name), role)

    def open(self, bucket: str, rt: work.Runtime) -> work.Session:
        name, _ = family.model_of(bucket)
        return Session(self, family.of(name).open(self.bench.model(name), bucket, rt))

    def give_back(self, _item: work.Item, why: work.Why) -> work.Outcome:
        return work.Outcome.aborted(why.value)

    def write(self, **said: Any) -> None:
        os.write(self.log, (json.dumps(said) + "\n").encode())


class Session:
    joinable = True

    def __init__(self, product: Product, run: family.TaskRun) -> None:
        self._product, self._run = product, run
        self._items: dict[work.Key, work.Item] = {}

    def add(self, items: Sequence[work.Item]) -> Mapping[work.Key, work.Outcome]:
        bench = self._product.bench
        for item in items:
            data = item.data or {}
            task = bench.task(bench.kinds[data["kind"]], data["number"], data["steps"])
            self._run.add({item.key: task})
            self._items[item.key] = item
        return {}

    def step(self) -> Mapping[work.Key, work.Outcome]:
        began, keys = time.monotonic(), list(self._items)
        ended = self._run.step()
        self._product.write(began=began, seconds=time.monotonic() - began, keys=keys)
        return {key: self._end(key, result) for key, result in ended.items()}

    def drop(self, key: work.Key, why: work.Why) -> work.Outcome:
        self._run.drop(key)
        self._items.pop(key, None)
        return work.Outcome.parked() if why is work.Why.OOM else work.Outcome.aborted(why.value)

    def close(self) -> None:
        self._run.close()

    def _end(self, key: work.Key, result: family.Result | Exception) -> work.Outcome:
        item = self._items.pop(key)
        if isinstance(result, Exception):
            return work.Outcome.failed(str(result))
        if (item.data or {})["keep"]:
            np.save(self._product.bench.out / f"{key}.npy", result.images)
        return work.Outcome.done(dict(result.notes))


def make(settings: Mapping[str, Any]) -> Product:
    return Product(settings)
