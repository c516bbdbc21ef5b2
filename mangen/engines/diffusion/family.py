"""The seam between the diffusion engine and a family of models: tasks in, results out.

No torch here, nor in what a family answers before it is opened: bytes, sizes and buckets are asked
in processes that never load it.
"""

from __future__ import annotations

import dataclasses
import importlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from mangen import errors
from mangen.pooling import models, work

if TYPE_CHECKING:
    import numpy as np

    from mangen.engines.diffusion import checkpoint, registry

    Image: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]
    Array: TypeAlias = np.ndarray[Any, Any]

#: what a model is asked for; `encode` is what a staged video model wants of the first frame
Role: TypeAlias = Literal["image", "anchor", "inpaint", "upscale", "video", "encode"]
Region: TypeAlias = tuple[float, float, float, float]  #: left, top, right, bottom, 0..1


class SizeError(errors.EngineError):
    """A model can't make this size."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CharacterFeatures:
    """Whom a picture shows: features of its anchor, or the anchor's picture to make them from.

    `region` is where in the picture it stands; None is everywhere, where weights alone share.
    """

    name: str
    features: Array | None = None
    picture: Image | None = None
    weight: float = 0.7
    region: Region | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Base:
    """A picture of these words that several tasks of one size begin with: drawn once, and kept.

    `steps` None is a few, as the family has it: what it lacks, its tasks add.
    """

    prompt: str
    negative: str = ""
    seed: int = 0
    steps: int | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Task:
    """One picture or clip to be made. None leaves a number to the model's own registration.

    An empty `negative` is none at all, as the pipelines have it: not the embedding of no words.
    `images` are the base of a repaint or the first frame of a clip, or references; `mask` is 255
    where to paint. `strength` is how far a base may be left, 0..1.
    """

    role: Role
    prompt: str
    negative: str = ""
    width: int
    height: int
    frames: int = 1
    fps: int = 24
    seed: int = 0
    steps: int | None = None
    guidance: float | None = None
    strength: float = 1.0
    images: tuple[Image, ...] = ()
    mask: Image | None = None
    characters: tuple[CharacterFeatures, ...] = ()
    motion: str = ""
    base: Base | None = None  #: where there are no images: what it begins with, by `strength`
    #: what `encode` made of the first frame (a Result's features); empty: it is made here
    encoded: Mapping[str, Array] = dataclasses.field(default_factory=dict)
    #: passes of exactly so many members, copies beside too few: one seed gives the same bits then,
    #: whoever runs beside it; 0: as many as there are
    pad: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Result:
    """What a task made: `images` is (frames, height, width, 3), exactly as was asked.

    `features` keep a character the same (role anchor); `notes` are JSON data on how it was made:
    seed, steps, scheduler, whether the safe VAE had to help, how many tokens were left out.
    """

    images: Image
    features: Mapping[str, Array] = dataclasses.field(default_factory=dict)  #: also of `encode`
    notes: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """A part of a task's work: `peak` bytes over the weights, by theory.

    `spec` is the model of its own that it runs, which need not stay beside the family's; None:
    the family's.
    """

    name: str
    peak: int
    spec: models.ModelSpec | None = None


class TaskRun(Protocol):
    """A batch of one bucket; results (or the error of that member) come when they are whole."""

    joinable: bool

    def add(self, tasks: Mapping[str, Task]) -> None: ...
    def step(self) -> Mapping[str, Result | Exception]: ...
    def drop(self, key: str) -> None: ...
    def close(self) -> None: ...


class Family(Protocol):
    """Models that are run alike."""

    name: str
    staged: bool  #: whether it takes `Task.encoded`, and so answers the role `encode`

    def serves(self, index: checkpoint.Index) -> bool: ...

    def spec(self, model: registry.Model, role: str) -> models.ModelSpec: ...

    def legal(
        self, model: registry.Model, width: int, height: int, frames: int, *, strict: bool = False
    ) -> tuple[int, int, int]:
        """Answer the nearest legal width, height and frames; strict: raise SizeError naming it."""
        ...

    def bucket(self, model: registry.Model, task: Task) -> str:
        """What must be equal for two tasks to run in one batch."""
        ...

    def stages(self, model: registry.Model, task: Task, members: int) -> Sequence[Stage]:
        """What a task's work consists of, in its order."""
        ...

    def peak(self, model: registry.Model, task: Task, members: int) -> int:
        """Bytes over the weights, by theory: the largest stage's."""
        ...

    def steps(self, model: registry.Model) -> int:
        """How many steps a task gets that leaves them to the model."""
        ...

    def cap(self, model: registry.Model, task: Task) -> int:
        """The largest batch worth trying; 1 where the family can't batch."""
        ...

    def open(self, model: registry.Model, bucket: str, rt: work.Runtime) -> TaskRun: ...


def warm(loaded: Any) -> None:
    """Let a loaded model run once, as models.ModelSpec wants it."""
    loaded.warm()


#: a pipeline's class in model_index.json -> its family; any other is run by `generic`
TABLE: Mapping[str, str] = {
    "StableDiffusionXLPipeline": "sdxl",
    "StableDiffusionXLImg2ImgPipeline": "sdxl",
    "StableDiffusionXLInpaintPipeline": "sdxl",
    "I2VGenXLPipeline": "i2vgen",
    "Flux2KleinPipeline": "flux_klein",
    "WanImageToVideoPipeline": "wan",
    "WanPipeline": "wan",
}


def name_of(pipeline: str) -> str:
    """The family that runs a pipeline's class."""
    return TABLE.get(pipeline, "generic")


def of(name: str) -> Family:
    """The family of that name: its module's FAMILY."""
    if name not in {*TABLE.values(), "generic"}:
        known = ", ".join(sorted({*TABLE.values(), "generic"}))
        raise errors.EngineError(f"there is no family {name!r} of diffusion models: write {known}")
    found: Family = importlib.import_module(f"mangen.engines.diffusion.{name}").FAMILY
    return found


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Sizes:
    """The sizes a family can make: multiples of `step`, and `frames_step` n + 1 frames."""

    step: int = 8
    least: int = 64
    most: int = 2048
    pixels: int = 2048 * 2048
    frames_step: int = 1
    most_frames: int = 1

    def nearest(self, width: int, height: int, frames: int = 1) -> tuple[int, int, int]:
        """Answer the legal size nearest to this one; a shape too large keeps its proportions."""
        wide, high = float(max(1, width)), float(max(1, height))
        shrunk = min(1.0, self.most / wide, self.most / high, (self.pixels / (wide * high)) ** 0.5)
        wide, high = self._side(wide * shrunk), self._side(high * shrunk)
        while wide * high > self.pixels and max(wide, high) > self.least:
            if wide >= high:
                wide -= self.step
            else:
                high -= self.step
        whole = round((min(max(frames, 1), self.most_frames) - 1) / self.frames_step)
        count = whole * self.frames_step + 1
        return int(wide), int(high), count - (self.frames_step if count > self.most_frames else 0)

    def legal(
        self, name: str, width: int, height: int, frames: int, *, strict: bool
    ) -> tuple[int, int, int]:
        """Answer what Family.legal does of a model of that name."""
        if strict:
            self.check(name, width, height, frames)
        return self.nearest(width, height, frames)

    def check(self, name: str, width: int, height: int, frames: int = 1) -> None:
        """Raise SizeError that names the nearest legal size, unless this one is legal."""
        wide, high, count = self.nearest(width, height, frames)
        if (wide, high, count) == (width, height, frames):
            return
        length = f" x {frames} frames" if frames > 1 or count > 1 else ""
        legal = f" x {count} frames" if frames > 1 or count > 1 else ""
        raise SizeError(
            f"the model {name} can't make {width}x{height}{length}: the nearest size it can make"
            f" is {wide}x{high}{legal}"
        )

    def _side(self, side: float) -> int:
        least = -(-self.least // self.step) * self.step
        most = self.most // self.step * self.step
        return int(min(max(round(side / self.step) * self.step, least), most))


#: bytes of one element
ELEMENT: Mapping[str, int] = {"float32": 4, "float16": 2, "bfloat16": 2}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Law:
    """A stage's activation peak: so many elements a member, pixel and frame; linear in all three.

    Measured on full-size models with fake tensors; runs on a CPU used 1.04 to 1.44 x of it.
    """

    elements: float

    def bytes(self, dtype: str, members: int, pixels: int, frames: int = 1) -> int:
        element = ELEMENT[dtype]
        return int(self.elements * element * members * pixels * frames)

    def at_once(self, room: int, dtype: str, pixels: int, frames: int) -> int:
        """How many of a clip's frames are done at once in so many bytes; at least one."""
        return max(1, min(frames, room // self.bytes(dtype, 1, pixels)))


SDXL_DENOISE = Law(elements=158)  # with guidance; 79 without
I2V_DENOISE = Law(elements=331.5)  # with guidance
VAE_DECODE = Law(elements=768)  # a frame; as many frames as are decoded at once
VAE_ENCODE = Law(elements=643)
# Wan2.2-TI2V-5B and its VAE, which decodes its frames one after another and holds all it made
WAN_DENOISE = Law(elements=98)  # a row, of which guidance takes two, and a frame of latents
WAN_DECODE = Law(elements=5385)  # whatever the length
WAN_HELD = Law(elements=3)  # a decoded frame
WAN_ENCODE = Law(elements=491)


def key_of(
    model: registry.Model,
    *,
    size: tuple[int, int, int],
    guided: bool,
    scheduler: str,
    adapters: str = "",
    pad: int = 0,
) -> str:
    """A bucket's name: model, adapter set, width, height, frames, CFG, scheduler, dtype, pad."""
    width, height, frames = size
    return "|".join(
        (
            model.name, model.mark, adapters or "plain", f"{width}x{height}x{frames}",
            "cfg" if guided else "free", scheduler, model.precision, f"pad{pad}" if pad else "any",
        )
    )  # fmt: skip


def pad_of(bucket: str) -> int:
    """What its last word says of the passes' size."""
    last = bucket.rpartition("|")[2]
    return int(last.removeprefix("pad")) if last.startswith("pad") else 0


def model_of(bucket: str) -> tuple[str, str]:
    """The name of the model that a bucket is for, and its mark: see registry.Model."""
    name, mark, *_ = [*bucket.split("|"), "", ""]
    return name, mark


def size_of(bucket: str) -> tuple[int, int, int] | None:
    """The width, height and frames that a bucket is for; None where its name tells none."""
    found = re.search(r"\|(\d+)x(\d+)x(\d+)\|", bucket)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None
