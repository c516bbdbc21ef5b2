"""What a model's work takes on a card, by theory, before anything was measured. No torch here."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

from mangen.engines.diffusion import family, float8, registry, slices, weights
from mangen.pooling import models
from mangen.pooling.devices import cuda

#: stage of the ledger that each role's work belongs to
STAGES = {
    "image": "illustrate", "anchor": "anchor", "inpaint": "repaint", "upscale": "upscale",
    "video": "animate", "encode": "encode",
}  # fmt: skip
GIB = 2**30
CARD = slices.CARD
_FRAMES = 16  #: of a clip where nobody says how many


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A part of the work: `peak` bytes over the weights.

    `weights` are those of a model of its own, which needs no place beside the others; 0: it runs
    the model itself.
    """

    name: str
    peak: int
    weights: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """Bytes of `batch` members of one role, and how many a card holds.

    `largest` is by theory, which is what the pool comes to when it has measured; `first` is what
    it admits until then, as theory times the model's cold factor. `instead` names what would fit
    where not even one does.
    """

    role: str
    stage: str
    width: int
    height: int
    frames: int
    batch: int
    weights: int
    peak: int  #: of the batch, over the weights
    parts: tuple[Part, ...]  #: of the batch's work, in their order
    reserved: int  #: what the gate asks for it until peaks were measured
    largest: int
    first: int
    cap: int  #: the largest batch that the family runs, whatever the card
    instead: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        return self.batch <= self.largest


def of(
    model: registry.Model,
    role: str,
    *,
    width: int,
    height: int,
    frames: int | None = None,
    batch: int = 1,
    references: int = 0,
    card: int = CARD,
) -> Estimate:
    """Estimate one role's work on a card of so many bytes; a picture shows so many references.

    Raises SizeError that names the nearest size which the model can make.
    """
    owner = family_of(model)
    length = 1 if role != "video" else frames or owner.legal(model, width, height, _FRAMES)[2]
    owner.legal(model, width, height, length, strict=True)
    task = _task(role, width, height, length, references)
    spec = owner.spec(model, role)
    room = card - cuda.CONTEXT_GUESS - _weights(owner, model, task)
    cap = owner.cap(model, task)
    peaks = [owner.peak(model, task, members) for members in range(1, cap + 1)]
    largest = sum(peak <= room for peak in peaks)
    peak = owner.peak(model, task, batch)
    return Estimate(
        role=role,
        stage=STAGES[role],
        width=width,
        height=height,
        frames=length,
        batch=batch,
        weights=spec.weight_bytes,
        peak=peak,
        parts=tuple(
            Part(
                name=one.name,
                peak=one.peak,
                weights=one.spec.weight_bytes if one.spec is not None else 0,
            )
            for one in owner.stages(model, task, batch)
        ),
        reserved=int(peak * spec.cold_factor),
        largest=largest,
        first=sum(peak * spec.cold_factor <= room for peak in peaks),
        cap=cap,
        instead=() if largest else tuple(_instead(owner, model, task, card)),
    )


def roles(model: registry.Model) -> tuple[str, ...]:
    """What there is to estimate: the roles it can play, and the encoding that stands apart."""
    encodes = family_of(model).staged and "video" in model.roles
    return (*model.roles, *(["encode"] if encodes else []))


def specs(model: registry.Model) -> tuple[models.ModelSpec, ...]:
    """All that is loaded to play its roles: the model itself, and parts that are models too."""
    owner, found = family_of(model), {}
    for role in roles(model) or registry.ROLES[:1]:
        size = owner.legal(model, 512, 512, 1)
        for spec in (
            owner.spec(model, role),
            *(one.spec for one in owner.stages(model, _task(role, *size), 1)),
        ):
            if spec is not None:
                found[spec.key] = spec
    return tuple(found.values())


def family_of(model: registry.Model) -> family.Family:
    """The family that runs a model."""
    return family.of(model.family)


def _instead(
    owner: family.Family, model: registry.Model, task: family.Task, card: int
) -> Iterator[str]:
    """Name what would fit: a smaller precision, a smaller picture, a larger card."""
    whole = _whole(owner, model, task)
    for dtype in ("bfloat16", "float16"):
        other = dataclasses.replace(model, dtype=dtype)
        bytes_ = _whole(owner, other, task)
        if weights.RUN_IN[model.dtype] > weights.RUN_IN[dtype] and bytes_ <= card:
            yield f"--dtype {dtype} when it is added takes {gib(bytes_)}"
            break
    if not model.quantise:
        bytes_ = _whole(owner, dataclasses.replace(model, quantise=float8.NAME), task)
        if bytes_ <= card:
            yield f"--quantise {float8.NAME} when it is added takes {gib(bytes_)}"
    if not model.limits.card:  # it is taken for one that runs on larger cards
        limits = dataclasses.replace(model.limits, card=card)
        bytes_ = _whole(owner, dataclasses.replace(model, limits=limits), task)
        if bytes_ <= card:
            yield f"--vram {card / GIB:g} when it is added takes {gib(bytes_)}, in tiles"
    smaller = _smaller(owner, model, task, card)
    if smaller is not None:
        size = f"{smaller.width}x{smaller.height}"
        length = f" x {smaller.frames} frames" if smaller.frames > 1 else ""
        yield f"{size}{length} takes {gib(_whole(owner, model, smaller))}"
    yield f"a card that has {math.ceil(whole / GIB)} GiB"


def _smaller(
    owner: family.Family, model: registry.Model, task: family.Task, card: int
) -> family.Task | None:
    """The largest task of the same shape that fits; None where the weights alone don't."""
    for percent in range(95, 0, -5):
        scale = percent / 100
        width, height, frames = owner.legal(
            model, round(task.width * scale), round(task.height * scale), task.frames
        )
        other = dataclasses.replace(task, width=width, height=height, frames=frames)
        if width * height < task.width * task.height and _whole(owner, model, other) <= card:
            return other
    return None


def _whole(owner: family.Family, model: registry.Model, task: family.Task) -> int:
    """Bytes of a card that one member fills, with the weights and the process' own."""
    return cuda.CONTEXT_GUESS + _weights(owner, model, task) + owner.peak(model, task, 1)


def _weights(owner: family.Family, model: registry.Model, task: family.Task) -> int:
    """Weights that have to have room at once: the largest of those that may take turns."""
    own = [one.spec.weight_bytes for one in owner.stages(model, task, 1) if one.spec is not None]
    return max([owner.spec(model, task.role).weight_bytes, *own])


def _task(role: str, width: int, height: int, frames: int, references: int = 0) -> family.Task:
    """A task of that shape; what it would draw has no part in its bytes."""
    import numpy as np  # noqa: PLC0415 - the seam needs none

    if role not in STAGES:
        registry.check_role(role)
    picture = np.zeros((8, 8, 3), np.uint8)
    return family.Task(
        role=role,  # type: ignore[arg-type]  # checked above, against the same words
        prompt="words",
        width=width,
        height=height,
        frames=frames,
        images=(picture,) if role in ("inpaint", "upscale", "video", "encode") else (),
        mask=picture[..., 0] if role == "inpaint" else None,
        characters=(family.CharacterFeatures(name="somebody"),) * references,
    )


def gib(count: float) -> str:
    """Bytes for people."""
    return f"{count / GIB:.2f} GiB" if count >= GIB / 100 else f"{count / 2**20:.2f} MiB"
