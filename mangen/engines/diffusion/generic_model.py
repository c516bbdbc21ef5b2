"""A loaded pipeline of any kind: a task goes in by its own words, frames come out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from mangen import errors
from mangen.engines.diffusion import (
    canvas,
    family,
    generic,
    generic_call,
    guard,
    loading,
    schedulers,
)
from mangen.pooling.devices import device

if TYPE_CHECKING:
    from mangen.engines.diffusion import registry, single

#: the pipelines over the same parts that change pictures, as diffusers finds them
_SIBLINGS = {"inpaint": "AutoPipelineForInpainting", "upscale": "AutoPipelineForImage2Image"}


def load(model: registry.Model) -> GenericModel:
    """Load everything onto this process' device."""
    return GenericModel(model, loading.pipeline(model))


class GenericModel:
    """Implements single.Whole."""

    def __init__(self, model: registry.Model, pipe: Any) -> None:
        self._model = model
        if model.scheduler:
            pipe.scheduler = schedulers.make(model, pipe.scheduler)
        self._pipe = pipe.to(loading.place())
        self._siblings: dict[str, Any] = {}
        self.fault = ""

    def warm(self) -> None:
        """Two steps of a small picture: what they need once is not a task's cost.

        One that can't be drawn is no reason to refuse the model: others may be. It is kept as
        `fault`, for whoever tries the model.
        """
        if not self._model.roles:
            return
        role: Any = self._model.roles[0]
        width, height, frames = generic.sizes(self._model).nearest(256, 256, 9)
        picture = np.full((height, width, 3), 127, np.uint8)
        drawn = role in ("image", "anchor")
        task = family.Task(
            role=role, prompt="a", width=width, height=height, frames=frames, steps=2,
            images=() if drawn else (picture,),
            mask=picture[..., 0] * 2 if role == "inpaint" else None,
        )  # fmt: skip
        try:
            with torch.no_grad():
                self.draw(task, lambda _done, _of: None)
        except errors.EngineError as error:
            self.fault = str(error)

    def draw(self, task: family.Task, tell: single.Tell) -> family.Result:
        """Run the pipeline; raises EngineError that names what it can't do."""
        canvas.check(task, self._model.name)
        pipe = self._for(task)
        call = generic_call.Call(pipe, self._model, task)
        listens = _listening(pipe, call.steps, tell)
        cards = [torch.cuda.current_device()] if loading.place() == "cuda" else []
        # what a pipeline draws from the process' own dice is the same for one seed, too
        with torch.random.fork_rng(devices=cards):
            torch.manual_seed(task.seed)
            generator = torch.Generator().manual_seed(task.seed)
            dice = {"generator": generator} if _takes(pipe, "generator") else {}
            try:
                made = pipe(**call.arguments, **listens, **dice)
            except Exception as error:
                if device.out_of_memory(error):
                    raise
                raise errors.EngineError(
                    f"{self._model.name} ({type(pipe).__name__}) could not draw this: {error}"
                ) from error
        frames, notes = guard.decoded(lambda: _frames(made), None, self._model.name)
        left = _tokens_left(pipe, task.prompt)
        return family.Result(
            images=guard.exact(frames, task.width, task.height, task.frames),
            notes={
                "seed": task.seed, "steps": call.steps, "pipeline": type(pipe).__name__, **notes,
                **({"left_out": call.left} if call.left else {}),
                **({"tokens_left_out": left} if left else {}),
            },
        )  # fmt: skip

    def _for(self, task: family.Task) -> Any:
        """The pipeline itself, or the one over the same parts that changes pictures."""
        kind = _SIBLINGS.get(task.role)
        word = "mask_image" if task.role == "inpaint" else "image"
        if kind is None or _takes(self._pipe, word):
            return self._pipe
        return self._sibling(kind)

    def _sibling(self, kind: str) -> Any:
        if kind not in self._siblings:
            try:
                made = getattr(loading.diffusers(), kind).from_pipe(self._pipe)
            except (ValueError, TypeError, AttributeError) as error:
                raise errors.EngineError(
                    f"{self._model.name} ({type(self._pipe).__name__}) draws from words alone: "
                    "give the roles that change pictures to another model"
                ) from error
            made.set_progress_bar_config(disable=True)
            self._siblings[kind] = made
        return self._siblings[kind]


def _takes(pipe: Any, word: str) -> bool:
    return word in generic_call.parameters(pipe)


def _listening(pipe: Any, steps: int, tell: single.Tell) -> dict[str, Callable[..., Any]]:
    """What makes a pipeline tell of its steps, by either of the two ways there are."""

    def ended(pipe: Any, step: int, _time: Any, given: dict[str, Any]) -> dict[str, Any]:
        of = getattr(pipe, "num_timesteps", None) or steps
        tell(min(step + 1, of), of)
        return given

    if _takes(pipe, "callback_on_step_end"):
        return {"callback_on_step_end": ended}
    if _takes(pipe, "callback"):
        return {"callback": lambda step, time, _latents: ended(pipe, step, time, {}) and None}
    return {}


def _frames(made: Any) -> guard.Floats:
    """Frames (n, height, width, 3) in 0..1 of what a pipeline returns, whatever it is named."""
    for name in ("images", "frames", "video", "videos"):
        found = getattr(made, name, None)
        if found is not None:
            return _array(found)
    return _array(made[0] if isinstance(made, tuple) else made)


def _array(found: Any) -> guard.Floats:
    if isinstance(found, list | tuple):
        return np.concatenate([_array(one) for one in found])
    if isinstance(found, torch.Tensor):
        found = found.float().cpu().numpy()
        if found.shape[-1] not in (1, 3, 4):  # channels come before height and width
            found = np.moveaxis(found, -3, -1)
    array = np.asarray(found)
    if array.dtype == np.uint8:
        array = array.astype(np.float32) / 255
    while array.ndim > 4:
        array = array[0]
    array = array[None] if array.ndim == 3 else array
    if array.ndim != 4 or array.shape[-1] not in (1, 3, 4):
        raise errors.EngineError(f"an array of {array.shape} came out, which is no picture")
    array = np.repeat(array, 3, axis=-1) if array.shape[-1] == 1 else array[..., :3]
    return array.astype(np.float32)


def _tokens_left(pipe: Any, prompt: str) -> int:
    """How many tokens even the most patient of its text encoders has no room for."""
    import transformers  # noqa: PLC0415 - it takes seconds, and the model is loaded with it

    left = []
    most = generic_call.parameters(pipe).get("max_sequence_length")
    for one in pipe.components.values():
        if not isinstance(one, transformers.PreTrainedTokenizerBase):
            continue
        room = int(one.model_max_length)
        if most is not None and isinstance(most.default, int) and room > 77:
            room = most.default  # CLIP's own room is 77, whatever the call says
        left.append(max(0, len(one(prompt, truncation=False, verbose=False).input_ids) - room))
    return min(left, default=0)
