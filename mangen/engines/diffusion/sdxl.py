"""Stable Diffusion XL and what was taught from it: Turbo, Lightning and LCM models too.

What is asked before a model is loaded: bytes, sizes, buckets. No torch here.
"""

from __future__ import annotations

import functools
import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from mangen.engines.diffusion import checkpoint, family, registry, schedulers, weights
from mangen.pooling import models, work

#: a batch larger than this gains nothing on any card that was measured
_CAP = 16


class Sdxl:
    """Implements family.Family. Pictures of one size share their passes, whatever is drawn."""

    name = "sdxl"
    staged = False

    def serves(self, index: checkpoint.Index) -> bool:
        needed = {"unet", "vae", "text_encoder", "text_encoder_2"}
        return family.name_of(index.pipeline) == self.name and needed <= index.components.keys()

    def spec(self, model: registry.Model, role: str) -> models.ModelSpec:  # noqa: ARG002 - one for all roles
        return models.ModelSpec(
            key=model.key,
            weight_bytes=weight_bytes(model),
            load=functools.partial(_load, model),
            warm=_warm,
            version=model.digest[:12],
        )

    def legal(
        self, model: registry.Model, width: int, height: int, frames: int, *, strict: bool = False
    ) -> tuple[int, int, int]:
        sizes = family.Sizes(pixels=model.limits.pixels or 2048 * 2048)
        if strict:
            sizes.check(model.name, width, height, frames)
        return sizes.nearest(width, height, frames)

    def bucket(self, model: registry.Model, task: family.Task) -> str:
        return family.key_of(
            model,
            size=(task.width, task.height, 1),
            guided=schedulers.guidance(model, task.guidance) > 1,
            scheduler=schedulers.variant(model)[0],
            adapters=pathlib.Path(model.adapter).stem if model.adapter else "",
            pad=task.pad,
        )

    def stages(
        self, model: registry.Model, task: family.Task, members: int
    ) -> Sequence[family.Stage]:
        """All denoise at once, each encodes and decodes alone."""
        pixels = _up(task.width) * _up(task.height)
        rows = 2 if schedulers.guidance(model, task.guidance) > 1 else 1
        if task.pad:
            members = -(-members // task.pad) * task.pad
        vae = vae_dtype(model)
        denoise = family.SDXL_DENOISE.bytes(model.dtype, members, pixels) * rows // 2
        encode = family.VAE_ENCODE.bytes(vae, 1, pixels)
        return (
            *([family.Stage(name="encode", peak=encode)] if task.images else []),
            family.Stage(name="denoise", peak=denoise),
            family.Stage(name="decode", peak=family.VAE_DECODE.bytes(vae, 1, pixels)),
        )

    def peak(self, model: registry.Model, task: family.Task, members: int) -> int:
        return max(stage.peak for stage in self.stages(model, task, members))

    def steps(self, model: registry.Model) -> int:
        return schedulers.steps(model, None)

    def cap(self, model: registry.Model, task: family.Task) -> int:  # noqa: ARG002 - of every task
        return model.limits.batch or _CAP

    def open(self, model: registry.Model, bucket: str, rt: work.Runtime) -> family.TaskRun:
        from mangen.engines.diffusion import continuous  # noqa: PLC0415 - it loads torch

        return continuous.Continuous(self.spec(model, ""), rt, pad=family.pad_of(bucket))


FAMILY = Sdxl()


def weight_bytes(model: registry.Model) -> int:
    """Bytes of all that is kept on the device: the VAE in its own precision, the adapter."""
    index = checkpoint.read(model.folder, model.variant)
    parts = [name for name in index.components if name not in ("vae", "image_encoder")]
    total = index.nbytes(model.precision, parts) + index.nbytes(vae_dtype(model), ["vae"])
    if model.adapter:
        numbers = sum(weights.read(pathlib.Path(model.adapter)).elements.values())
        total += numbers * family.ELEMENT[model.dtype]
        total += index.nbytes(model.dtype, ["image_encoder"])
    return total


def vae_dtype(model: registry.Model) -> str:
    """What the VAE runs in: single precision where half is known to overflow."""
    forced = bool(_vae(model.folder).get("force_upcast", True))
    return "float32" if forced and model.dtype == "float16" else model.dtype


def _up(side: int) -> int:
    return -(-side // 8) * 8


@functools.lru_cache(maxsize=64)
def _vae(folder: pathlib.Path) -> Mapping[str, Any]:
    try:
        found = json.loads((folder / "vae" / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}  # loading will say what is missing
    return found if isinstance(found, dict) else {}


def _load(model: registry.Model) -> Any:
    from mangen.engines.diffusion import sdxl_model  # noqa: PLC0415 - it loads torch

    return sdxl_model.load(model)


def _warm(loaded: Any) -> None:
    loaded.warm()
