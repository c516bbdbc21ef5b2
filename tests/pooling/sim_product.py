"""A product for simulated cards: full-size diffusion by its recorded bytes and seconds, no tensors.

A bucket is `MODEL/SIZE[xFRAMES]/STEPS`, with `+join` behind it where others may join between
steps. An item's data may hold `do`: kill, fail, hang, raise or leak:MIB, done in its first step.
What happens is appended to the log file of the settings, a JSON object a line.
"""

from __future__ import annotations

import functools
import json
import os
import pathlib
import signal
import sys
import time

from mangen.pooling import models, once, work
from mangen.pooling.devices import device, profile, simulated

CAP = 8
COLD = {"sdxl": 2.86, "i2vgenxl": 1.5}  # the decoder sets SDXL's peak, the denoiser I2V's
GIB = 2**30


class Recipe:
    """The stages of a bucket."""

    def __init__(self, bucket):
        name, _, flags = bucket.partition("+")
        self.model, self.size, steps = name.split("/")
        self.steps, self.joinable = int(steps), flags == "join"
        self.denoise = f"{self.model}.denoise/{self.size}"
        self.decode = f"{self.model}.decode/{self.size}"

    def peaks(self, found, cap=CAP):
        """Theory's bytes with 1, 2, ... members: stages follow one another."""
        stages = [found.stage(self.denoise), found.stage(self.decode)]
        return tuple(max(stage.peaks(n) for stage in stages) for n in range(1, cap + 1))

    def seconds(self, found):
        """Device seconds of one member alone."""
        return found.stage(self.denoise).seconds(1, self.steps) + found.stage(self.decode).seconds(
            1
        )


@functools.cache
def profile_of(card="sim:card_24g", folder=""):
    return profile.find(card.removeprefix("sim:").partition("/")[0], folder)


def item(key, bucket, *, cap=CAP, card="sim:card_24g", folder="", do="", **more):
    """Make an item as a product's dispatcher would, its peaks and seconds by theory."""
    recipe = Recipe(bucket)
    found = profile_of(card, folder)
    return work.Item(
        key=key, bucket=bucket, model=recipe.model, cap=cap,
        peaks=recipe.peaks(found, cap), data={"key": key, "do": do},
        **{"name": "draw", "seconds": recipe.seconds(found), **more},
    )  # fmt: skip


class Product:
    def __init__(self, settings):
        if not settings.get("torch", True):
            sys.modules["torch"] = None  # the simulation raises its own error then: torch is slow
        self.log = pathlib.Path(settings["log"])
        self.card, self.folder = settings["card"], settings["folder"]
        self.options = device.Options(folder=self.folder, speed=float(settings["speed"]))
        self.found = profile_of(self.card, self.folder)
        self.kept = []

    def write(self, what, **more):
        line = json.dumps({"what": what, "at": time.monotonic(), "pid": os.getpid(), **more})
        handle = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, (line + "\n").encode())
        os.close(handle)

    def spec(self, model):
        if model not in self.found.models:
            return None
        return models.ModelSpec(
            key=model,
            weight_bytes=self.found.model(model).nbytes,
            load=lambda: simulated.current().load(model),
            fetch=lambda: simulated.fetch(self.card, self.options, model),
            cold_factor=COLD.get(model, 1.5),
        )

    def open(self, bucket, rt):
        return Session(self, Recipe(bucket), rt)

    def give_back(self, item, why):
        self.write("give_back", key=item.key, why=why)
        return work.Outcome.aborted(why)


class Session:
    """Denoises all members together, a step at a time, and decodes each when it is through."""

    def __init__(self, product, recipe, rt):
        self.product, self.recipe, self.rt = product, recipe, rt
        self.joinable = recipe.joinable
        self.left, self.items, self.fresh = {}, {}, []
        self.claimed = set()

    def add(self, items):
        again = [one.key for one in items if one.key in self.claimed]
        self.product.write(
            "again" if again else "claim", keys=[one.key for one in items], owner=self.rt.owner,
            running=len(self.left),
        )  # fmt: skip
        for one in items:
            self.claimed.add(one.key)
            self.items[one.key] = one
            self.left[one.key] = self.recipe.steps
            self.fresh.append(one.key)
        return {}

    def step(self):
        card = simulated.current()
        ended = {}
        with self.rt.use(self.product.spec(self.recipe.model)):
            while self.fresh:
                outcome = self.act(self.fresh[0])
                key = self.fresh.pop(0)
                if outcome is not None:
                    ended[key] = outcome
                    del self.left[key]
            if self.left:
                card.run(self.recipe.denoise, members=len(self.left), steps=1)
            through = [key for key in self.left if self.left[key] <= 1]
            if through:
                card.run(self.recipe.decode, members=len(through))
        for key in list(self.left):
            self.left[key] -= 1
            if key in through:
                ended[key] = work.Outcome.done({"key": key, "clock": card.clock()})
                del self.left[key]
            else:
                self.rt.progress(key, self.recipe.steps - self.left[key], self.recipe.steps)
        for key, outcome in ended.items():
            self.product.write("end", key=key, status=outcome.status)
        return ended

    def act(self, key):
        word, _, more = self.items[key].data.get("do", "").partition(":")
        if word == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif word == "hang":
            self.product.write("hang", key=key)
            while True:  # a signal, as that for its stacks, ends one pause
                signal.pause()
        elif word == "raise":
            raise RuntimeError("the toy has a fault")
        elif word == "fail":
            return work.Outcome.failed("the toy is broken")
        elif word == "leak":
            self.product.kept.append(simulated.current().alloc(int(more) << 20))
        return None

    def drop(self, key, why):
        self.left.pop(key, None)
        if key in self.fresh:
            self.fresh.remove(key)
        self.product.write("drop", key=key, why=why)
        if why is work.Why.OOM:
            return work.Outcome.parked()
        if why is work.Why.NEVER_FITS:
            return work.Outcome.failed("it does not fit this card, alone")
        return work.Outcome.aborted(why)

    def close(self):
        self.product.write("close", bucket=self.recipe.denoise)


def make_work(settings):
    return Product(settings)


class Keeper:
    """A product for cpu devices: each item keeps so many bytes in the cache, as its data says."""

    def spec(self, _model):
        return None

    def open(self, _bucket, rt):
        return once.Once(functools.partial(self.run, rt))

    def run(self, rt, items):
        for one in items:
            if one.data["keep"]:
                rt.cache.put("toy", one.key, bytes(one.data["keep"]), seconds=1.0, by=one.key)
        return {one.key: work.Outcome.done(rt.cache.get("toy", "k0") is not None) for one in items}

    def give_back(self, _item, why):
        return work.Outcome.aborted(why)


def make_keeper(_settings):
    return Keeper()
