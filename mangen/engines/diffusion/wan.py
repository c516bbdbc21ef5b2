"""Wan2.2-TI2V: a clip of a first frame and of words in Chinese or English.

Its text encoder has more bytes than its denoiser, so it is a model of its own: it is loaded while
prompts are encoded and need not stay. Asked before either is loaded; no torch here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from mangen.engines.diffusion import checkpoint, configs, family, registry, schedulers
from mangen.pooling import models, work

WORDS = 512  #: tokens that a prompt takes, filled up where it is shorter
#: tokens of latents in one pass, at most, but for one row that has more: these keep a card busy
PASS = 32_768
#: members gain little by running together; but newcomers needn't wait for others to end
_CAP = 4
_STEPS, _GUIDANCE = 50, 5.0
_MOST, _PIXELS, _FRAMES = 1280, 1280 * 704, 121
#: bytes over its weights that the text encoder takes for a full prompt in half precision
_READ = 121 * 2**20

#: layers that diffusers and transformers load in single precision, by component and precision
_SMALL = frozenset({"time_embedder", "scale_shift_table", "norm1", "norm2", "norm3"})
_SINGLE = {
    ("transformer", "float16"): _SMALL,
    ("transformer", "bfloat16"): _SMALL,
    ("text_encoder", "float16"): frozenset({"wo"}),
}


class Wan:
    """Implements family.Family. Each member has its own frame, steps and guidance."""

    name = "wan"
    staged = False

    def serves(self, index: checkpoint.Index) -> bool:
        """Of Wan's models, those that take the first frame as latents (expand_timesteps)."""
        there = index.components.keys()
        return (
            family.name_of(index.pipeline) == self.name
            and bool(index.options.get("expand_timesteps"))
            and {"transformer", "vae", "text_encoder", "tokenizer"} <= there
            and not {"transformer_2", "image_encoder"} & there
        )

    def spec(self, model: registry.Model, role: str) -> models.ModelSpec:  # noqa: ARG002 - one for all roles
        return models.ModelSpec(
            key=model.key,
            weight_bytes=_bytes(model, "transformer", "vae"),
            load=functools.partial(_load, model),
            warm=family.warm,
            version=model.digest[:12],
        )

    def words(self, model: registry.Model) -> models.ModelSpec:
        """The text encoder."""
        return models.ModelSpec(
            key=f"{model.key}:words",
            weight_bytes=_bytes(model, "text_encoder"),
            load=functools.partial(_load_words, model),
            warm=family.warm,
            version=model.digest[:12],
        )

    def legal(
        self, model: registry.Model, width: int, height: int, frames: int, *, strict: bool = False
    ) -> tuple[int, int, int]:
        side = _scale(model) * _patch(model)
        sizes = family.Sizes(
            step=side,
            most=_MOST,
            pixels=model.limits.pixels or _PIXELS,
            frames_step=_pace(model),
            most_frames=model.limits.frames or _FRAMES,
        )
        return sizes.legal(model.name, width, height, frames, strict=strict)

    def bucket(self, model: registry.Model, task: family.Task) -> str:
        return family.key_of(
            model,
            size=(task.width, task.height, task.frames),
            guided=guidance(model, task.guidance) > 1,
            scheduler=schedulers.variant(model)[0],
            pad=task.pad,
        )

    def stages(
        self, model: registry.Model, task: family.Task, members: int
    ) -> Sequence[family.Stage]:
        """Words and first frames are encoded one by one, each clip is decoded alone."""
        return tuple(
            family.Stage(name=name, peak=peak, spec=self.words(model) if name == "words" else None)
            for name, peak in _peaks(model, task, members).items()
        )

    def peak(self, model: registry.Model, task: family.Task, members: int) -> int:
        return max(_peaks(model, task, members).values())

    def steps(self, model: registry.Model) -> int:
        return steps(model, None)

    def cap(self, model: registry.Model, task: family.Task) -> int:  # noqa: ARG002 - of every task
        return model.limits.batch or _CAP

    def open(self, model: registry.Model, bucket: str, rt: work.Runtime) -> family.TaskRun:
        from mangen.engines.diffusion import prelude, wan_words  # noqa: PLC0415 - they load torch

        prepare = functools.partial(wan_words.prepare, model)
        return prelude.Prelude(self.spec(model, ""), rt, prepare, pad=family.pad_of(bucket))


FAMILY = Wan()


def steps(model: registry.Model, wanted: int | None) -> int:
    """How many steps a task gets: its own wish, the registration's, the pipeline's usual."""
    if wanted is None and model.steps is None and not model.scheduler:
        return _STEPS
    return schedulers.steps(model, wanted)


def guidance(model: registry.Model, wanted: float | None) -> float:
    """As `steps`; up to 1 means none, and half the work."""
    if wanted is None and model.guidance is None and not model.scheduler:
        return _GUIDANCE
    return schedulers.guidance(model, wanted)


def at_once(tokens: int) -> int:
    """How many rows of so many tokens share a pass."""
    return max(1, PASS // max(1, tokens))


def _peaks(model: registry.Model, task: family.Task, members: int) -> Mapping[str, int]:
    """Bytes over the weights by stage, in their order."""
    if task.pad:
        members = -(-members // task.pad) * task.pad
    side = _scale(model) * _patch(model)
    high, wide = (-(-length // side) for length in (task.height, task.width))
    pixels, length = high * wide * side**2, (task.frames - 1) // _pace(model) + 1
    rows = members * (2 if guidance(model, task.guidance) > 1 else 1)
    together = min(rows, at_once(high * wide * length))
    frames = (length - 1) * _pace(model) + 1
    return {
        "words": _READ * family.ELEMENT[model.dtype] // 2,
        "encode": family.WAN_ENCODE.bytes(model.dtype, 1, pixels),
        "denoise": family.WAN_DENOISE.bytes(model.dtype, together, pixels, length),
        "decode": family.WAN_DECODE.bytes(model.dtype, 1, pixels)
        + family.WAN_HELD.bytes(model.dtype, 1, pixels, frames),
    }


@functools.lru_cache(maxsize=64)
def _bytes(model: registry.Model, *parts: str) -> int:
    """Bytes of those components, as the libraries keep them: some layers in single precision."""
    index = checkpoint.read(model.folder, model.variant)
    single = sum(
        math.prod(shape)
        for part in parts
        for file in index.components[part].files
        for name, shape in file.shapes.items()
        if not _SINGLE.get((part, model.dtype), frozenset()).isdisjoint(name.split("."))
    )
    more = family.ELEMENT["float32"] - family.ELEMENT[model.dtype]
    return index.nbytes(model.precision, parts) + single * more


def _scale(model: registry.Model) -> int:
    """Pixels of a latent's side."""
    return int(configs.read(model.folder, "vae").get("scale_factor_spatial", 16))


def _pace(model: registry.Model) -> int:
    """Frames of a latent."""
    return int(configs.read(model.folder, "vae").get("scale_factor_temporal", 4))


def _patch(model: registry.Model) -> int:
    """Latents of a token's side."""
    return int(configs.read(model.folder, "transformer").get("patch_size", (1, 2, 2))[1])


def _load(model: registry.Model) -> Any:
    from mangen.engines.diffusion import wan_model  # noqa: PLC0415 - it loads torch

    return wan_model.load(model)


def _load_words(model: registry.Model) -> Any:
    from mangen.engines.diffusion import wan_words  # noqa: PLC0415 - it loads torch

    return wan_words.load(model)
