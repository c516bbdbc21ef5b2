"""I2VGen-XL: a clip of a first frame, in stages that may run on different devices.

`encode` makes what the model needs of the first frame, `video` does the steps and decodes. What is
asked before a model is loaded: bytes, sizes, buckets. No torch here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from mangen.engines.diffusion import checkpoint, family, registry, schedulers
from mangen.pooling import models, work

#: a clip keeps a card as busy as pictures do by the dozen: more of them gain little
_CAP = 8
#: of the frames that it was taught with, and of its pictures
_FRAMES, _MOST, _PIXELS = 16, 1280, 1280 * 720
#: what its pipeline is run with, unless another scheduler is registered
_STEPS, _GUIDANCE = 50, 9.0
#: bytes over its weights that the encoder of pictures takes: always of 224 x 224 pixels
_LOOK = 9 * 2**20
#: tensors of the VAE that only one of the stages needs
_ENCODING = ("encoder.", "quant_conv.")
_DECODING = ("decoder.", "post_quant_conv.")


class I2vGen:
    """Implements family.Family. Clips of one size share their passes, whatever they begin with."""

    name = "i2vgen"
    staged = True

    def serves(self, index: checkpoint.Index) -> bool:
        needed = {"unet", "vae", "text_encoder", "image_encoder"}
        return family.name_of(index.pipeline) == self.name and needed <= index.components.keys()

    def spec(self, model: registry.Model, role: str) -> models.ModelSpec:
        encodes = role == "encode"
        return models.ModelSpec(
            key=f"{model.key}{':encode' * encodes}",
            weight_bytes=weight_bytes(model, role),
            load=functools.partial(_load_encoder if encodes else _load, model),
            warm=family.warm,
            version=model.digest[:12],
        )

    def legal(
        self, model: registry.Model, width: int, height: int, frames: int, *, strict: bool = False
    ) -> tuple[int, int, int]:
        sizes = family.Sizes(
            most=_MOST,
            pixels=model.limits.pixels or _PIXELS,
            most_frames=model.limits.frames or _FRAMES,
        )
        return sizes.legal(model.name, width, height, frames, strict=strict)

    def bucket(self, model: registry.Model, task: family.Task) -> str:
        if task.role == "encode":
            size = f"{task.width}x{task.height}x1"
            return f"{model.name}|{model.mark}|{task.role}|{size}|{model.dtype}"
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
        """All denoise at once, each encodes and decodes alone; who encodes need not stay."""
        encoder = self.spec(model, "encode") if task.role != "encode" else None
        return tuple(
            family.Stage(name=name, peak=peak, spec=encoder if name == "encode" else None)
            for name, peak in _peaks(model, task, members).items()
        )

    def peak(self, model: registry.Model, task: family.Task, members: int) -> int:
        return max(_peaks(model, task, members).values())

    def steps(self, model: registry.Model) -> int:
        return steps(model, None)

    def cap(self, model: registry.Model, task: family.Task) -> int:  # noqa: ARG002 - of every task
        return model.limits.batch or _CAP

    def open(self, model: registry.Model, bucket: str, rt: work.Runtime) -> family.TaskRun:
        from mangen.engines.diffusion import i2vgen_encode, prelude  # noqa: PLC0415 - load torch

        if bucket.split("|")[2] == "encode":
            return i2vgen_encode.Encodes(model, rt)
        prepare = functools.partial(i2vgen_encode.prepare, model)
        return prelude.Prelude(self.spec(model, "video"), rt, prepare, pad=family.pad_of(bucket))


FAMILY = I2vGen()


@functools.lru_cache(maxsize=64)
def weight_bytes(model: registry.Model, role: str) -> int:
    """Bytes of what a stage keeps on its device: one half of the VAE, and the others' own."""
    index = checkpoint.read(model.folder, model.variant)
    encodes = role == "encode"
    strangers = _DECODING if encodes else _ENCODING
    numbers = sum(
        math.prod(shape)
        for file in index.components["vae"].files
        for name, shape in file.shapes.items()
        if not name.startswith(strangers)
    )
    heavy = ["image_encoder"] if encodes else ["unet", "text_encoder"]
    return index.nbytes(model.precision, heavy) + numbers * family.ELEMENT[model.dtype]


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


def denoising(model: registry.Model, task: family.Task, members: int) -> int:
    """Bytes over the weights that a pass for so many members takes."""
    rows = 2 if guidance(model, task.guidance) > 1 else 1
    pixels = _up(task.width) * _up(task.height)
    return family.I2V_DENOISE.bytes(model.dtype, members, pixels, task.frames) * rows // 2


def chunk(model: registry.Model, task: family.Task) -> int:
    """How many frames are decoded at once: what takes no more than the passes for one member."""
    room, pixels = denoising(model, task, 1), _up(task.width) * _up(task.height)
    return family.VAE_DECODE.at_once(room, model.dtype, pixels, task.frames)


def safe_chunk(model: registry.Model, task: family.Task) -> int:
    """As `chunk`, in single precision: twice the bytes a number, so half of the frames."""
    return chunk(model, task) * family.ELEMENT[model.dtype] // 4 or 1


def _peaks(model: registry.Model, task: family.Task, members: int) -> Mapping[str, int]:
    """Bytes over the weights by stage."""
    pixels = _up(task.width) * _up(task.height)
    encoding = {"encode": max(_LOOK, family.VAE_ENCODE.bytes(model.dtype, 1, pixels))}
    if task.role == "encode":
        return encoding
    if task.pad:
        members = -(-members // task.pad) * task.pad
    return {
        **({} if task.encoded else encoding),
        "denoise": denoising(model, task, members),
        "decode": max(
            family.VAE_DECODE.bytes(model.dtype, 1, pixels, chunk(model, task)),
            family.VAE_DECODE.bytes("float32", 1, pixels, safe_chunk(model, task)),
        ),
    }


def _up(side: int) -> int:
    return -(-side // 8) * 8


def _load(model: registry.Model) -> Any:
    from mangen.engines.diffusion import i2vgen_model  # noqa: PLC0415 - it loads torch

    return i2vgen_model.load(model)


def _load_encoder(model: registry.Model) -> Any:
    from mangen.engines.diffusion import i2vgen_encode  # noqa: PLC0415 - it loads torch

    return i2vgen_encode.load(model)
