"""Any other pipeline of pictures or clips, run as its own call has it: one task at a time.

What is asked before a model is loaded: bytes, sizes, buckets. No torch here.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from mangen.engines.diffusion import checkpoint, family, generic_laws, registry, schedulers
from mangen.pooling import models, work

#: nobody measured these models: until the pool has, it asks for that much of the theory
_COLD_FACTOR = 2.5


class Generic:
    """Implements family.Family."""

    name = "generic"
    staged = False

    def serves(self, index: checkpoint.Index) -> bool:  # noqa: ARG002 - what others don't serve
        return True

    def spec(self, model: registry.Model, role: str) -> models.ModelSpec:  # noqa: ARG002 - one for all roles
        index = checkpoint.read(model.folder, model.variant)
        return models.ModelSpec(
            key=model.key,
            weight_bytes=index.nbytes(model.precision),
            load=functools.partial(_load, model),
            warm=family.warm,
            cold_factor=_COLD_FACTOR,
            version=model.digest[:12],
        )

    def legal(
        self, model: registry.Model, width: int, height: int, frames: int, *, strict: bool = False
    ) -> tuple[int, int, int]:
        return sizes(model).legal(model.name, width, height, frames, strict=strict)

    def bucket(self, model: registry.Model, task: family.Task) -> str:
        return family.key_of(
            model,
            size=(task.width, task.height, task.frames),
            guided=_guided(model, task),
            scheduler=schedulers.variant(model)[0],
        )

    def stages(
        self, model: registry.Model, task: family.Task, members: int
    ) -> Sequence[family.Stage]:
        """By laws that are rather too large: see `generic_laws`. Members run one after another."""
        del members
        element = family.ELEMENT[model.dtype]
        pixels, rows = task.width * task.height, 2 if _guided(model, task) else 1
        encode = family.VAE_ENCODE.bytes(model.dtype, 1, pixels)
        denoise = generic_laws.denoise(model, pixels, task.frames, rows)
        decode = generic_laws.decode(model, pixels, task.frames)
        return (
            *([family.Stage(name="encode", peak=encode)] if task.images else []),
            family.Stage(name="denoise", peak=int(denoise * element)),
            family.Stage(name="decode", peak=int(decode * element)),
        )

    def peak(self, model: registry.Model, task: family.Task, members: int) -> int:
        return max(stage.peak for stage in self.stages(model, task, members))

    def steps(self, model: registry.Model) -> int:
        """As its scheduler usually takes: what its own call would, is known when it is loaded."""
        return schedulers.steps(model, None)

    def cap(self, model: registry.Model, task: family.Task) -> int:  # noqa: ARG002 - of every task
        return 1

    def open(self, model: registry.Model, bucket: str, rt: work.Runtime) -> family.TaskRun:  # noqa: ARG002 - one for all
        from mangen.engines.diffusion import single  # noqa: PLC0415 - it loads torch

        return single.Single(self.spec(model, ""), rt)


FAMILY = Generic()


def sizes(model: registry.Model) -> family.Sizes:
    clips = "video" in model.roles
    return family.Sizes(
        step=generic_laws.side(model),
        pixels=model.limits.pixels or 2048 * 2048,
        frames_step=generic_laws.frames_step(model) if clips else 1,
        most_frames=(model.limits.frames or generic_laws.most_frames(model)) if clips else 1,
    )


def _guided(model: registry.Model, task: family.Task) -> bool:
    """Whether there are two passes a step, as far as anybody said; most pipelines do two."""
    said = task.guidance if task.guidance is not None else model.guidance
    return said is None or said > 1


def _load(model: registry.Model) -> Any:
    from mangen.engines.diffusion import generic_model  # noqa: PLC0415 - it loads torch

    return generic_model.load(model)
