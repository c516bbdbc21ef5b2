"""FLUX.2 klein: pictures from words in Chinese or English, and from the pictures of whom they show.

Its text encoder has as many bytes as its denoiser, so it is a model of its own: it is loaded while
prompts are encoded and need not stay. Asked before either is loaded; no torch here.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from typing import Any

from mangen.engines.diffusion import checkpoint, configs, family, registry, schedulers
from mangen.pooling import models, work

#: of the text encoder's layers, those whose states condition the denoiser; later ones are not run
LAYERS = (9, 18, 27)
WORDS = 512  #: tokens that a prompt takes, filled up where it is shorter
SIDE = 16  #: pixels of a token's side
REFERENCE = 1024 * 1024  #: pixels of a picture that is shown to it, at most
_SIZES = family.Sizes(step=SIDE)
_CAP = 8
_STEPS, _DISTILLED_STEPS = 50, 4
_GUIDANCE = 4.0
#: numbers a token and unit of width that its denoiser holds at once, measured with fake tensors on
#: the full-size one at 512x768 to 1024x1024, with none to two references: 21.2 to 21.6
_DENOISE = 21.6
_LAYER = re.compile(r"model\.layers\.(\d+)\.")


class FluxKlein:
    """Implements family.Family. Tasks of one size share passes where their references' sizes do."""

    name = "flux_klein"
    staged = False

    def serves(self, index: checkpoint.Index) -> bool:
        needed = {"transformer", "vae", "text_encoder", "tokenizer"}
        return family.name_of(index.pipeline) == self.name and needed <= index.components.keys()

    def spec(self, model: registry.Model, role: str) -> models.ModelSpec:  # noqa: ARG002 - one for all roles
        index = checkpoint.read(model.folder, model.variant)
        return models.ModelSpec(
            key=model.key,
            weight_bytes=index.nbytes(model.precision, ["transformer", "vae"]),
            load=functools.partial(_load, model),
            warm=family.warm,
            version=model.digest[:12],
        )

    def words(self, model: registry.Model) -> models.ModelSpec:
        """The text encoder: without the layers behind those that are read, and without its head."""
        index = checkpoint.read(model.folder, model.variant)
        part = index.components["text_encoder"]
        numbers = sum(
            math.prod(shape)
            for file in part.files
            for name, shape in file.shapes.items()
            if not name.startswith("lm_head.")
            and ((layer := _LAYER.match(name)) is None or int(layer[1]) < max(LAYERS))
        )
        return models.ModelSpec(
            key=f"{model.key}:words",
            weight_bytes=numbers * family.ELEMENT[model.dtype],
            load=functools.partial(_load_words, model),
            warm=family.warm,
            version=model.digest[:12],
        )

    def legal(
        self, model: registry.Model, width: int, height: int, frames: int, *, strict: bool = False
    ) -> tuple[int, int, int]:
        sizes = family.Sizes(step=SIDE, pixels=model.limits.pixels or _SIZES.pixels)
        return sizes.legal(model.name, width, height, frames, strict=strict)

    def bucket(self, model: registry.Model, task: family.Task) -> str:
        return family.key_of(
            model,
            size=(task.width, task.height, 1),
            guided=guidance(model, task) > 1,
            scheduler=schedulers.variant(model)[0],
            pad=task.pad,
        )

    def stages(
        self, model: registry.Model, task: family.Task, members: int
    ) -> Sequence[family.Stage]:
        """Prompts and pictures are encoded one by one, all denoise at once, each decodes alone."""
        return [
            family.Stage(name=name, peak=peak, spec=self.words(model) if name == "words" else None)
            for name, peak in _peaks(model, task, members).items()
        ]

    def peak(self, model: registry.Model, task: family.Task, members: int) -> int:
        return max(_peaks(model, task, members).values())

    def steps(self, model: registry.Model) -> int:
        return steps(model, None)

    def cap(self, model: registry.Model, task: family.Task) -> int:  # noqa: ARG002 - of every task
        return model.limits.batch or _CAP

    def open(self, model: registry.Model, bucket: str, rt: work.Runtime) -> family.TaskRun:
        from mangen.engines.diffusion import flux_klein_words, prelude  # noqa: PLC0415 - load torch

        prepare = functools.partial(flux_klein_words.prepare, model)
        return prelude.Prelude(self.spec(model, ""), rt, prepare, pad=family.pad_of(bucket))


FAMILY = FluxKlein()


def distilled(model: registry.Model) -> bool:
    """Whether it was taught to need few steps, and no guidance."""
    return bool(configs.read(model.folder, checkpoint.INDEX).get("is_distilled", False))


def steps(model: registry.Model, wanted: int | None) -> int:
    """How many steps a task gets: its own wish, the registration's, what its folder is made for."""
    usual = _DISTILLED_STEPS if distilled(model) else _STEPS
    return next(n for n in (wanted, model.steps, usual) if n is not None)


def guidance(model: registry.Model, task: family.Task) -> float:
    """As `steps`; up to 1 means none. A distilled one was taught with it, and heeds no other."""
    if distilled(model):
        return 1.0
    return next(g for g in (task.guidance, model.guidance, _GUIDANCE) if g is not None)


def reference_size(high: int, wide: int) -> tuple[int, int]:
    """Height and width at which a picture is shown to it: whole tokens, REFERENCE at most."""
    if high * wide > REFERENCE:
        scale = math.sqrt(REFERENCE / (high * wide))
        high, wide = int(high * scale), int(wide * scale)
    return int(high // SIDE * SIDE), int(wide // SIDE * SIDE)


def _peaks(model: registry.Model, task: family.Task, members: int) -> dict[str, int]:
    """Bytes by stage, in their order."""
    if task.pad:
        members = -(-members // task.pad) * task.pad
    pixels, shown = _up(task.width) * _up(task.height), _shown(task)
    config = configs.read(model.folder, "transformer")
    width = config.get("num_attention_heads", 24) * config.get("attention_head_dim", 128)
    tokens = WORDS + (pixels + sum(shown)) // SIDE**2
    rows = members * (2 if guidance(model, task) > 1 else 1)
    found = {"words": _words_peak(model)}
    if shown:
        found["encode"] = family.VAE_ENCODE.bytes(model.dtype, 1, max(shown))
    found["denoise"] = int(_DENOISE * width * tokens * rows * family.ELEMENT[model.dtype])
    found["decode"] = family.VAE_DECODE.bytes(model.dtype, 1, pixels)
    return found


def _shown(task: family.Task) -> list[int]:
    """Pixels of each picture that a task shows, the one it repaints too.

    A character whose picture isn't at hand, as where bytes are asked for ahead, counts in full.
    """
    found = [
        REFERENCE if picture is None else math.prod(reference_size(*picture.shape[:2]))
        for picture in (*task.images, *(one.picture for one in task.characters))
    ]
    if task.mask is not None and task.images:
        found[0] = _up(task.height) * _up(task.width)
    return found


def _words_peak(model: registry.Model) -> int:
    """Bytes over its weights that the text encoder takes: it keeps the states of every layer."""
    config = configs.read(model.folder, "text_encoder")
    layers = min(int(config.get("num_hidden_layers", 36)), max(LAYERS))
    hidden = int(config.get("hidden_size", 2560))
    return int(WORDS * hidden * (layers + 16) * family.ELEMENT[model.dtype])


def _up(side: int) -> int:
    return -(-side // SIDE) * SIDE


def _load(model: registry.Model) -> Any:
    from mangen.engines.diffusion import flux_klein_model  # noqa: PLC0415 - it loads torch

    return flux_klein_model.load(model)


def _load_words(model: registry.Model) -> Any:
    from mangen.engines.diffusion import flux_klein_words  # noqa: PLC0415 - it loads torch

    return flux_klein_words.load(model)
