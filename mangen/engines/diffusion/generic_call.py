"""A task as the arguments of a pipeline's own call, by its signature."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PIL import Image

from mangen import errors
from mangen.engines.diffusion import vae

if TYPE_CHECKING:
    from mangen.engines.diffusion import family, registry

_FRAMES = ("num_frames", "frames", "video_length")
#: what is given to a call where it must have it; nobody here has anything else
_GIVEN = ("self", "prompt", "image", "images", "mask_image")
#: classes that take several pictures to draw from, by what their names hold
_MANY = ("EditPlus", "Flux2", "Omni", "GlmImage", "QwenImage21")
#: those that enlarge by a number of their own, and have no word for a size
_ENLARGE = {"StableDiffusionUpscalePipeline": 4, "StableDiffusionLatentUpscalePipeline": 2}


def parameters(pipe: Any) -> Mapping[str, inspect.Parameter]:
    """What a pipeline's call takes, by name."""
    return inspect.signature(type(pipe).__call__).parameters


class Call:
    """`arguments` of the pipeline; `left` is what of the task it has no word for, and why."""

    def __init__(self, pipe: Any, model: registry.Model, task: family.Task) -> None:
        """Raise EngineError that names what the pipeline lacks, or what it wants besides."""
        self._known, self._kind = parameters(pipe), type(pipe).__name__
        self._told, self._task = f"{model.name} ({self._kind})", task
        self.arguments: dict[str, Any] = {}
        self.left: dict[str, Any] = {}
        self._check()
        steps = task.steps if task.steps is not None else model.steps
        for name, value in (
            ("prompt", task.prompt),
            ("negative_prompt", task.negative or None),
            ("width", task.width),
            ("height", task.height),
            ("num_inference_steps", steps),
            ("frame_rate", float(task.fps)),
            ("output_type", "np"),
            ("use_resolution_binning", False),  # it would draw another size, and stretch it
        ):
            if name in self._known and value is not None:
                self.arguments[name] = value
        if "prompt" not in self._known:
            self.left["prompt"] = "this pipeline reads no words"
        if task.negative and "negative_prompt" not in self._known:
            self.left["negative"] = "this pipeline takes none"
        self._guide(task.guidance if task.guidance is not None else model.guidance)
        if task.role in ("inpaint", "upscale", "video"):
            self._change()
        else:
            self._show()

    @property
    def steps(self) -> int:
        """How many it will do, as far as the call tells."""
        usual = self._known.get("num_inference_steps")
        found = self.arguments.get("num_inference_steps", usual.default if usual else 1)
        return found if isinstance(found, int) else 1

    @property
    def _picture(self) -> str | None:
        return next((name for name in ("image", "images") if name in self._known), None)

    def _check(self) -> None:
        unmet = [
            name
            for name, one in self._known.items()
            if one.default is one.empty
            and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
            and name not in _GIVEN
        ]
        if unmet:
            raise errors.EngineError(
                f"{self._told} wants {', '.join(unmet)}, which nobody here can give it: use a "
                "pipeline that draws from words and pictures"
            )

    def _guide(self, wanted: float | None) -> None:
        """Guidance, by whichever of its two names steers this pipeline."""
        plain = self._known.get("guidance_scale")
        if wanted is None:
            return
        if plain is not None and (plain.default is not None or "true_cfg_scale" not in self._known):
            self.arguments["guidance_scale"] = wanted
        elif "true_cfg_scale" in self._known:
            self.arguments["true_cfg_scale"] = wanted
            self.arguments.setdefault("negative_prompt", " ")  # else it would not steer at all

    def _change(self) -> None:
        """A picture that is changed, enlarged or begun with."""
        task, name = self._task, self._picture
        if not task.images:
            raise errors.EngineError(f"{self._told} was given no picture for the role {task.role}")
        if task.role == "video":
            self._move()
        elif name is None:
            raise errors.EngineError(f"{self._told} changes no pictures: its call takes none")
        if name is None:
            self.left["first_frame"] = "this pipeline makes clips from words alone"
            return
        times = _ENLARGE.get(self._kind, 1)
        wide, high = -(-task.width // times), -(-task.height // times)
        picture = Image.fromarray(vae.resized(task.images[0], high, wide))
        self.arguments[name] = [picture] if name == "images" else picture
        if "strength" in self._known:
            # pipelines leave the first steps out, and can't leave out all
            self.arguments["strength"] = min(1.0, max(task.strength, 1.001 / self.steps))
        if task.role == "inpaint":
            if task.mask is None or "mask_image" not in self._known:
                raise errors.EngineError(
                    f"{self._told} was given no mask, or its call takes none: it can't repaint"
                )
            mask = vae.resized(task.mask, task.height, task.width)
            self.arguments["mask_image"] = Image.fromarray(mask)

    def _move(self) -> None:
        name = next((name for name in _FRAMES if name in self._known), None)
        if name is None:
            raise errors.EngineError(f"{self._told} makes no clips: its call takes no frames")
        self.arguments[name] = self._task.frames

    def _show(self) -> None:
        """Pictures of whom it shows, where the pipeline looks at any."""
        name, kind = self._picture, self._kind
        shown = [one.picture for one in self._task.characters if one.picture is not None]
        pictures = [Image.fromarray(one) for one in (*shown, *self._task.images)]
        if not pictures:
            if name and ("Edit" in kind or self._known[name].default is inspect.Parameter.empty):
                raise errors.EngineError(
                    f"{self._told} changes pictures and was given none: give the role "
                    f"{self._task.role} to a model that draws from words"
                )
            return
        if name is None:
            self.left["references"] = len(pictures)
        elif name == "images" or any(word in kind for word in _MANY):
            self.arguments[name] = pictures
        else:
            self.arguments[name] = pictures[0]
            if len(pictures) > 1:
                self.left["references"] = len(pictures) - 1
