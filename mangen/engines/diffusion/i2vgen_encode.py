"""What I2VGen-XL needs of a first frame, made apart from its steps, and the same every time.

Its own pipeline draws the first latent from the process' dice; here it is the likeliest one.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from PIL import Image

from mangen import errors
from mangen.engines.diffusion import family, framing, i2vgen, loading, recall, vae
from mangen.pooling import work
from mangen.pooling.devices import device

if TYPE_CHECKING:
    from mangen.engines.diffusion import registry

#: a product of each, and the kind of the feature cache that keeps it
KINDS = {"image_embedding": "image", "first_latent": "latent"}


def load(model: registry.Model) -> Encoder:
    """Load the encoders alone onto this process' device."""
    pipe = loading.pipeline(
        model, "I2VGenXLPipeline", unet=None, text_encoder=None, tokenizer=None, scheduler=None
    )
    return Encoder(model, pipe)


class Encoder:
    """The encoder of pictures, and that half of the VAE which makes latents."""

    def __init__(self, model: registry.Model, pipe: Any) -> None:
        self._model, self._place = model, loading.place()
        self._dtype = loading.dtype(model.dtype)
        pipe.vae.decoder = pipe.vae.post_quant_conv = None
        self._vae = vae.Vae(pipe.vae.to(self._place))
        self._eye = pipe.image_encoder.to(self._place)
        self._seen = pipe.feature_extractor

    def warm(self) -> None:
        self.encode(np.zeros((64, 64, 3), np.uint8), 64, 64)

    def encode(self, picture: family.Image, width: int, height: int) -> dict[str, family.Array]:
        """Answer `image_embedding` (1, 1, n) and `first_latent` (1, 4, height/8, width/8).

        They are float16 where the model runs in it, else float32. Raises EngineError for NaN.
        """
        size = self._seen.crop_size
        # as the model was taught: the middle square at the clip's width, then smaller
        square = framing.crop(picture, width, width, enlarge=Image.Resampling.BOX)
        small = Image.fromarray(square).resize(
            (size["width"], size["height"]), Image.Resampling.BILINEAR
        )
        seen = torch.from_numpy(np.asarray(small, np.float32) / 255)
        mean, deviation = (
            torch.tensor(numbers) for numbers in (self._seen.image_mean, self._seen.image_std)
        )
        seen = ((seen - mean) / deviation).permute(2, 0, 1)[None]
        scale = self._vae.scale
        high, wide = (-(-side // scale) * scale for side in (height, width))
        with torch.no_grad():
            found = {
                "image_embedding": self._eye(
                    seen.to(self._place, self._dtype)
                ).image_embeds.unsqueeze(1),
                "first_latent": self._vae.encode(framing.crop(picture, high, wide), high, wide),
            }
        if not all(bool(one.isfinite().all()) for one in found.values()):
            raise errors.EngineError(
                f"the encoders of {self._model.name} made NaN: their precision is too small; add "
                "it to the models again with --dtype bfloat16 or float32"
            )
        kept = torch.float16 if self._dtype == torch.float16 else torch.float32
        return {name: one.to("cpu", kept).numpy() for name, one in found.items()}


def features(
    model: registry.Model, key: str, task: family.Task, rt: work.Runtime
) -> Mapping[str, family.Array]:
    """What the first frame of a task becomes: from the cache, else by the encoders."""
    if not task.images:
        raise errors.EngineError(f"a clip without a first frame can't be made by {model.name}")
    picture = task.images[0]
    framing.check(picture)
    signed = recall.signature(
        "i2vgen", model.digest or model.outline or str(model.folder), model.dtype,
        (task.width, task.height), picture,
    )  # fmt: skip
    found = {name: rt.cache.get(kind, signed) for name, kind in KINDS.items()}
    kept = {name: one for name, one in found.items() if one is not None}
    if len(kept) == len(KINDS):
        return kept
    with rt.use(i2vgen.FAMILY.spec(model, "encode")) as encoder:
        began = time.monotonic()
        made: dict[str, family.Array] = encoder.encode(picture, task.width, task.height)
        seconds = (time.monotonic() - began) / len(KINDS)
    for name, kind in KINDS.items():
        rt.cache.put(kind, signed, made[name], seconds=seconds, by=key)
    return made


def prepare(model: registry.Model, key: str, task: family.Task, rt: work.Runtime) -> family.Task:
    """The task with its first frame encoded."""
    if task.encoded:
        return task
    return dataclasses.replace(task, encoded=features(model, key, task, rt))


class Encodes:
    """A TaskRun that encodes first frames, one a step."""

    joinable = True

    def __init__(self, model: registry.Model, rt: work.Runtime) -> None:
        self._model, self._rt = model, rt
        self._waiting: dict[str, family.Task] = {}
        self._ended: dict[str, family.Result | Exception] = {}

    def add(self, tasks: Mapping[str, family.Task]) -> None:
        again = tasks.keys() & self._waiting.keys()
        if again:
            raise errors.EngineError(f"{', '.join(sorted(again))} runs in this batch already")
        self._waiting.update(tasks)

    def step(self) -> Mapping[str, family.Result | Exception]:
        if self._waiting and not self._ended:
            key, task = next(iter(self._waiting.items()))
            self._ended[key] = self._one(key, task)
            del self._waiting[key]
            self._rt.progress(key, 1, 1)  # an abort may leave the step here: the result stays
        ended, self._ended = self._ended, {}
        return ended

    def drop(self, key: str) -> None:
        self._waiting.pop(key, None)
        self._ended.pop(key, None)

    def close(self) -> None:
        self._waiting.clear()
        self._ended.clear()

    def _one(self, key: str, task: family.Task) -> family.Result | Exception:
        try:
            made = features(self._model, key, task, self._rt)
        except Exception as error:
            if device.out_of_memory(error):
                raise
            return error
        none = np.zeros((0, task.height, task.width, 3), np.uint8)
        return family.Result(images=none, features=made)
