"""Schedulers by name: how many steps, with how much guidance, and a schedule of one's own a member.

Turbo, Lightning and LCM models are the same networks taught to need few steps: what tells them from
others is their scheduler. Only making one loads torch.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import json
import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mangen import errors

if TYPE_CHECKING:
    from mangen.engines.diffusion import registry


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """A scheduler's class in diffusers, what is set in it, and what fits the models it is for."""

    kind: str
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    steps: int = 30
    guidance: float = 5.0


VARIANTS: Mapping[str, Variant] = {
    "euler": Variant(kind="EulerDiscreteScheduler"),
    "euler_a": Variant(kind="EulerAncestralDiscreteScheduler"),
    # its own defaults are those of models of pixels, whose values end at 1; latents' do not
    "ddim": Variant(
        kind="DDIMScheduler",
        options={"clip_sample": False, "set_alpha_to_one": False},
        steps=50,
    ),
    "dpmpp": Variant(kind="DPMSolverMultistepScheduler", steps=25),
    "unipc": Variant(kind="UniPCMultistepScheduler", steps=20),
    "lcm": Variant(kind="LCMScheduler", steps=6, guidance=1.0),
    "lightning": Variant(
        kind="EulerDiscreteScheduler",
        options={"timestep_spacing": "trailing"},
        steps=4,
        guidance=0.0,
    ),
    "turbo": Variant(
        kind="EulerAncestralDiscreteScheduler",
        options={"timestep_spacing": "trailing"},
        steps=4,
        guidance=0.0,
    ),
}
#: a folder's class and spacing -> the variant that its model was made for
_TOLD = {
    ("EulerDiscreteScheduler", "trailing"): "lightning",
    ("EulerAncestralDiscreteScheduler", "trailing"): "turbo",
}
#: how diffusers names the classes, which are known for sure only where it is installed
_CLASS = re.compile(r"[A-Z][A-Za-z0-9]*Scheduler")


def check(name: str, scheduler: str) -> None:
    """Raise ModelError where a word can name no scheduler, without loading anything."""
    if scheduler and scheduler not in VARIANTS and not _CLASS.fullmatch(scheduler):
        raise errors.ModelError(_unknown(name, scheduler))


def variant(model: registry.Model) -> tuple[str, Variant]:
    """A model's scheduler by name: the one it was registered with, else its folder's own."""
    if model.scheduler in VARIANTS:
        return model.scheduler, VARIANTS[model.scheduler]
    own = _configured(model.folder)
    kind = model.scheduler or str(own.get("_class_name", "EulerDiscreteScheduler"))
    name = _TOLD.get((kind, str(own.get("timestep_spacing"))), "")
    name = name or next((name for name, one in VARIANTS.items() if one.kind == kind), kind)
    return name, VARIANTS.get(name, Variant(kind=kind))


def steps(model: registry.Model, wanted: int | None) -> int:
    """How many steps a task gets: its own wish, the registration's, the scheduler's usual."""
    return next(n for n in (wanted, model.steps, variant(model)[1].steps) if n is not None)


def guidance(model: registry.Model, wanted: float | None) -> float:
    """As `steps`; up to 1 means none, and half the work."""
    usual = variant(model)[1].guidance
    return next(g for g in (wanted, model.guidance, usual) if g is not None)


def make(model: registry.Model, own: Any) -> Any:
    """The scheduler that a model runs with; `own` came with its folder."""
    import diffusers  # noqa: PLC0415 - it loads torch, which only a child does

    name, found = variant(model)
    if not model.scheduler and type(own).__name__ == found.kind:
        return own
    kind = getattr(diffusers, found.kind, None)
    if not hasattr(kind, "set_timesteps"):
        raise errors.EngineError(_unknown(model.name, name))
    assert kind is not None
    return kind.from_config(own.config, **found.options)


def schedule(template: Any, count: int, strength: float = 1.0) -> tuple[Any, Sequence[Any]]:
    """A copy for one member, and its timesteps, on the host.

    `strength` below 1 leaves the first steps out, as it is done where one begins with a picture;
    one step is left always.
    """
    if not 1 <= count <= 1000:
        raise errors.EngineError(f"{count} steps can't be done: ask for 1 to 1000")
    made = copy.deepcopy(template)
    try:
        made.set_timesteps(count, device="cpu")
    except ValueError as error:
        raise errors.EngineError(
            f"{type(made).__name__} can't do {count} steps: {error}"
        ) from error
    order = int(getattr(made, "order", 1))
    first = 0
    if strength < 1:
        first = (count - max(1, int(count * strength))) * order
    if hasattr(made, "set_begin_index"):
        made.set_begin_index(first)
    return made, list(made.timesteps[first:])


def step_options(scheduler: Any, generator: Any) -> Mapping[str, Any]:
    """What its steps take besides: those that draw noise draw it from the member's own dice."""
    known = inspect.signature(scheduler.step).parameters
    return {"generator": generator} if "generator" in known else {}


def _unknown(name: str, scheduler: str) -> str:
    return (
        f"there is no scheduler {scheduler!r} for {name}: write {', '.join(VARIANTS)}, or the "
        "name of one of diffusers' classes"
    )


@functools.lru_cache(maxsize=64)
def _configured(folder: pathlib.Path) -> Mapping[str, Any]:
    """What a folder says of its scheduler; nothing where it can't be read: loading will say it."""
    try:
        found = json.loads((folder / "scheduler" / "scheduler_config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
