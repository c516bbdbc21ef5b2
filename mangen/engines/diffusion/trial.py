"""A trial: a registered model, loaded on a device of this machine and run once."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Iterator

from mangen import errors
from mangen.engines.diffusion import estimate, registry
from mangen.pooling import errors as pool_errors
from mangen.pooling import models
from mangen.pooling.devices import device, lock


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """Seconds, and bytes: `weights` as the pool counts them, `held` and `peak` as they were.

    Parts that are models of their own are tried in turn: seconds are of all, bytes of the largest.
    """

    device: str
    kind: str
    load_s: float
    warm_s: float
    weights: int
    held: int
    peak: int


def run(model: registry.Model, name: str, options: device.Options) -> Trial:
    """Load and warm it; raises ModelError for a changed folder, or a card too small or not ours.

    A card is locked meanwhile, as by a worker. What was loaded goes with this process.
    """
    registry.verify(model)
    with _owned(name, options) as owned:
        tried = [_one(model, name, spec, owned) for spec in estimate.specs(model)]
        return Trial(
            device=name,
            kind=owned.kind,
            load_s=sum(one.load_s for one in tried),
            warm_s=sum(one.warm_s for one in tried),
            weights=max(one.weights for one in tried),
            held=max(one.held for one in tried),
            peak=max(one.peak for one in tried),
        )


def _one(model: registry.Model, name: str, spec: models.ModelSpec, owned: device.Device) -> Trial:
    """Try one part, and give back what it took."""
    look = owned.memory()
    room = look.reach
    if spec.weight_bytes > room:
        raise errors.ModelError(
            f"{model.name}'s weights take {estimate.gib(spec.weight_bytes)} and {name} has "
            f"{estimate.gib(room)} free: `manage.py models estimate {model.name}` says what "
            "would fit"
        )
    owned.watch()
    began = time.monotonic()
    try:
        loaded = spec.load()
        owned.synchronize()
        ready = time.monotonic()
        if spec.warm is not None:
            spec.warm(loaded)
        owned.synchronize()
    except Exception as error:
        if not device.out_of_memory(error):
            raise
        raise errors.ModelError(
            f"{model.name} does not fit on {name}, which had {estimate.gib(room)} free: "
            f"`manage.py models estimate {model.name}` says what would"
        ) from error
    warm_s = time.monotonic() - ready
    fault = getattr(loaded, "fault", "")
    if fault:
        raise errors.ModelError(f"{model.name} was loaded, and could not run: {fault}")
    held = max(0, owned.memory().allocated - look.allocated)
    peak = max(0, owned.peak().allocated - look.allocated)
    del loaded
    owned.trim()
    return Trial(
        device=name, kind=owned.kind, load_s=ready - began, warm_s=warm_s,
        weights=spec.weight_bytes, held=held, peak=peak,
    )  # fmt: skip


@contextlib.contextmanager
def _owned(name: str, options: device.Options) -> Iterator[device.Device]:
    """Open a device in this process, locked where a worker would lock it."""
    try:
        device.check([name])
        if name.startswith("sim:"):
            raise errors.ModelError(f"{name} is simulated and loads no models: write cpu or cuda:0")
        with contextlib.ExitStack() as stack:
            card = device.card(name, options)
            stack.callback(card.close)
            held = lock.hold(card, options.folder, "models warm")
            if held is not None:
                stack.callback(held.close)
            owned = device.make(name, options)
            stack.callback(owned.close)
            yield owned
    except pool_errors.ConfigError as error:
        raise errors.ModelError(str(error)) from error
