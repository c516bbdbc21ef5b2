"""Stable Diffusion XL and what was taught from it: Turbo, Lightning and LCM models too.

What is asked before a model is loaded: bytes, sizes, buckets. No torch here.
"""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Sequence
from typing import Any

from mangen import errors
from mangen.engines.diffusion import (
    checkpoint,
    configs,
    family,
    registry,
    schedulers,
    slices,
    weights,
)
from mangen.pooling import models, work

#: a batch larger than this gains nothing on any card that was measured
_CAP = 16
_COLD = 1.5  #: times theory is asked until peaks were measured
SCENE_STEPS = 8  #: of a picture that others begin with
_TAUGHT_GUIDANCE = 8.0  #: of models that were taught guidance itself


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
            warm=family.warm,
            cold_factor=_COLD,
            version=model.digest[:12],
        )

    def legal(
        self, model: registry.Model, width: int, height: int, frames: int, *, strict: bool = False
    ) -> tuple[int, int, int]:
        sizes = family.Sizes(pixels=model.limits.pixels or 2048 * 2048)
        return sizes.legal(model.name, width, height, frames, strict=strict)

    def bucket(self, model: registry.Model, task: family.Task) -> str:
        return family.key_of(
            model,
            size=(task.width, task.height, 1),
            guided=guided(model, task),
            scheduler=schedulers.variant(model)[0],
            adapters=pathlib.Path(model.adapter).stem if model.adapter else "",
            pad=task.pad,
        )

    def stages(
        self, model: registry.Model, task: family.Task, members: int
    ) -> Sequence[family.Stage]:
        """All denoise at once, each encodes and decodes alone: whole, or in tiles."""
        pixels = _up(task.width) * _up(task.height)
        rows = 2 if guided(model, task) else 1
        if task.pad:
            members = task.pad  # one pass after another
        denoise = family.SDXL_DENOISE.bytes(model.dtype, members, pixels) * rows // 2
        encode = _coding(model, family.VAE_ENCODE, task.width, task.height)
        decode = _coding(model, family.VAE_DECODE, task.width, task.height)
        return (
            *([family.Stage(name="encode", peak=encode)] if task.images else []),
            family.Stage(name="denoise", peak=denoise),
            family.Stage(name="decode", peak=decode),
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


@functools.lru_cache(maxsize=64)
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
    forced = bool(configs.read(model.folder, "vae").get("force_upcast", True))
    return "float32" if forced and model.dtype == "float16" else model.dtype


def guidance(model: registry.Model, wanted: float | None) -> float:
    """How much words count; models that were taught guidance itself (LCM) have a usual one."""
    if wanted is None and model.guidance is None and taught(model):
        return _TAUGHT_GUIDANCE
    return schedulers.guidance(model, wanted)


def taught(model: registry.Model) -> bool:
    """Whether the denoiser is told the guidance, and needs no second pass for it."""
    return configs.read(model.folder, "unet").get("time_cond_proj_dim") is not None


def guided(model: registry.Model, task: family.Task) -> bool:
    """Whether a task's passes have a second row, without its words."""
    return guidance(model, task.guidance) > 1 and not taught(model)


def tile(model: registry.Model, law: family.Law, width: int, height: int) -> slices.Tile | None:
    """What of a picture passes the VAE at once, in its usual precision; None: all of it."""
    return slices.tile(law, vae_dtype(model), _up(width), _up(height), _room(model))


def safe_tile(
    model: registry.Model, law: family.Law, width: int, height: int
) -> slices.Tile | None:
    """As `tile`, in single precision for once, which has no more room than the usual one."""
    wide, high = _up(width), _up(height)
    usual = slices.nbytes(law, vae_dtype(model), wide, high, tile(model, law, width, height))
    return slices.tile(law, "float32", wide, high, usual - _grown(model))


def _coding(model: registry.Model, law: family.Law, width: int, height: int) -> int:
    """Bytes over the weights that a picture takes in the VAE, by the safe way too."""
    wide, high, dtype = _up(width), _up(height), vae_dtype(model)
    usual = slices.nbytes(law, dtype, wide, high, tile(model, law, width, height))
    if dtype == "float32":
        return usual
    safe = slices.nbytes(law, "float32", wide, high, safe_tile(model, law, width, height))
    return max(usual, safe + _grown(model))


@functools.lru_cache(maxsize=64)
def _room(model: registry.Model) -> int:
    try:
        held = weight_bytes(model)
    except errors.ModelError:
        held = 0  # loading will say what is missing
    return slices.room(model, held, _COLD)


@functools.lru_cache(maxsize=64)
def _grown(model: registry.Model) -> int:
    """Bytes by which the VAE grows in single precision."""
    try:
        index = checkpoint.read(model.folder, model.variant)
    except errors.ModelError:
        return 0
    return index.nbytes("float32", ["vae"]) - index.nbytes(vae_dtype(model), ["vae"])


def _up(side: int) -> int:
    return -(-side // 8) * 8


def _load(model: registry.Model) -> Any:
    from mangen.engines.diffusion import sdxl_model  # noqa: PLC0415 - it loads torch

    return sdxl_model.load(model)
