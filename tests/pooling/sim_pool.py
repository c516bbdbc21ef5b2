"""Drives a real pool on simulated cards: profiles made for tests, and an ear that can be waited on.

Cards of the kind `small` have 8 GiB, and models and stages whose seconds are few.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import os
import pathlib
import signal
import threading

import sim_product

from mangen.pooling import alone, events, work
from mangen.pooling.devices import device, profile, simulated

GIB, MIB = 2**30, 2**20
SPEED = 1000.0
WAIT_S = 60.0
TIMES = int(os.environ.get("SIM_POOL_TIMES", "1"))
"""How many times more random cases to try: set it for a long run."""

#: (theory, real bytes) of one member
STAGES = {
    "s": (256 * MIB, 256 * MIB),
    "m": (512 * MIB, 512 * MIB),
    "l": (2 * GIB, 2 * GIB),
    "under": (512 * MIB, 2 * GIB),
    "over": (100 * GIB, GIB),
    "huge": (100 * GIB, 100 * GIB),
    "late": (GIB, 100 * GIB),
}
MODELS = {"a": 2 * GIB, "b": 3 * GIB, "c": 6 * GIB}


def small(*, total=8 * GIB, step_s=0.2, load_s=10.0, gain=None, **more):
    """Make a profile's data: each model has a stage of each size."""
    gains = gain or {"2": 1.6, "4": 2.6, "8": 4.0}
    stages = {}
    for model in MODELS:
        for size, (peak, actual) in STAGES.items():
            stages[f"{model}.denoise/{size}"] = {
                "step_s": step_s, "gain": gains, "peak": peak, "actual": actual,
            }  # fmt: skip
            stages[f"{model}.decode/{size}"] = {"step_s": step_s / 10, "peak": 64 * MIB}
    models = {
        name: {"weights": nbytes, "load_s": load_s, "fetch_s": load_s * 0.8}
        for name, nbytes in MODELS.items()
    }
    return {"total": total, "context": 256 * MIB, "source": "made for tests",
            "models": models, "stages": stages, **more}  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True)
class Lost:
    """A call of `child_lost`, in its order among the events."""

    owner: str
    keys: tuple[work.Key, ...]
    alone: bool


class Ear:
    """A Listener that keeps all it hears, in order, and lets tests wait for it."""

    def __init__(self):
        self.heard = []
        self._change = threading.Condition()

    def on(self, event):
        with self._change:
            self.heard.append(event)
            self._change.notify_all()

    def child_lost(self, owner, keys, alone):
        self.on(Lost(owner, tuple(keys), alone))

    def of(self, kind, match=lambda _event: True):
        """Answer all of one kind so far."""
        return [one for one in list(self.heard) if isinstance(one, kind) and match(one)]

    def wait(self, true, what):
        """Wait until `true()`; asked at each event, of which each look at a device is one."""
        with self._change:
            assert self._change.wait_for(true, WAIT_S), f"{what} did not come"

    def more(self, count):
        """Answer a function that is true once so many more events came."""
        there = len(self.heard) + count
        return lambda: len(self.heard) >= there

    def until(self, kind, match=lambda _event: True, count=1):
        """Answer the `count`th of a kind, once it was heard."""

        def there():
            return len(self.of(kind, match)) >= count

        with self._change:
            assert self._change.wait_for(there, WAIT_S), (
                f"no {kind.__name__} number {count} was heard: "
                f"{collections.Counter(type(one).__name__ for one in self.heard)}"
            )
        return self.of(kind, match)[count - 1]

    def settle(self, check):
        """Wait until a check of what was heard holds."""
        with self._change:
            assert self._change.wait_for(check, WAIT_S), "what was waited for was never heard"


class Sim:
    """One pool on simulated cards, with its ear and its product's log."""

    def __init__(self, folder, *, devices=("sim:small",), speed=SPEED, name="pool", **more):
        self.folder, self.devices = str(folder), tuple(devices)
        self.card = self.devices[0]
        self.log = pathlib.Path(folder) / f"{name}.log"
        self.options = device.Options(folder=self.folder, speed=speed)
        self.ear = Ear()
        settings = {"log": str(self.log), "card": self.card, "folder": self.folder, "speed": speed,
                    "torch": more.pop("torch", False)}  # fmt: skip
        given = {"work": "sim_product:make_work", "linger_s": 0.02, "monitor_s": 0.05,
                 "idle_trim_s": 0.05, "grace_s": 1.0, **more}  # fmt: skip
        self.pool = alone.Pool(
            name=name, devices=self.devices, folder=self.folder, speed=speed, settings=settings,
            listener=self.ear, **given,
        )  # fmt: skip
        self.control = self.pool.control

    def item(self, key, bucket="a/s/2", **more):
        return sim_product.item(key, bucket, card=self.card, folder=self.folder, **more)

    def submit(self, key, bucket="a/s/2", **more):
        return self.pool.submit(self.item(key, bucket, **more))

    def many(self, keys, bucket="a/s/2", **more):
        return {key: self.submit(key, bucket, **more) for key in keys}

    def logged(self, *whats):
        """Answer the product's log, of these kinds."""
        if not self.log.exists():
            return []
        lines = [json.loads(line) for line in self.log.read_text("utf-8").splitlines()]
        return [line for line in lines if not whats or line["what"] in whats]

    def claims(self):
        """Count how often each key was claimed."""
        return collections.Counter(key for line in self.logged("claim") for key in line["keys"])

    def child(self, slot=0):
        """Answer the report on a slot's child; None while there is none."""
        for one in self.pool.report().get("children", ()):
            if one["slot"] == slot and not one["standby"]:
                return one
        return None

    def ready(self, count=1):
        return self.ear.until(events.ChildReady, count=count)

    def claimed(self, *keys):
        """Wait until these are claimed."""
        self.ear.wait(lambda: self.claims().keys() >= set(keys), f"the claim of {keys}")

    def tenant(self, number=0):
        return simulated.Tenant(self.devices[number], self.options)

    def free(self, number=0):
        card = device.card(self.devices[number], self.options)
        try:
            return card.free()
        finally:
            card.close()


def registered(folder, **more):
    """Register the kind `small` in the folder."""
    return profile.register(str(folder), "small", small(**more))


def seen(bucket, *, ratio=1.0, members=1, count=5, folder="", card="sim:small", seconds=0.01):
    """Answer what a listener would have kept of `count` such sessions, and of the model's load."""
    recipe, found = sim_product.Recipe(bucket), sim_product.profile_of(card, folder)
    theory = recipe.peaks(found, members)[-1]
    done = events.Seen(
        name="draw", model=recipe.model, bucket=bucket, device=found.name, members=members,
        seconds=seconds, peak=int(theory * ratio), theory=theory,
    )  # fmt: skip
    load = events.Seen(
        name="", model=recipe.model, bucket="", device=found.name, members=1,
        seconds=found.model(recipe.model).load_s, peak=found.model(recipe.model).nbytes, theory=0,
    )  # fmt: skip
    return [load, *[done] * count]


def ends(futures, timeout=WAIT_S):
    """Answer how each future ended: its status, or `lost`; waits for all."""
    found = {}
    for key, future in futures.items():
        error = future.exception(timeout)
        found[key] = "lost" if error is not None else str(future.result().status)
    return found


def kill(pid):
    """Kill a child as the kernel would, when memory runs out."""
    os.kill(pid, signal.SIGKILL)
