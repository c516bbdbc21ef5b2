"""A loaded I2VGen-XL without its encoders of pictures: what a clip needs before, in and after."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from mangen import errors
from mangen.engines.diffusion import (
    chunks,
    clip_text,
    continuous,
    family,
    guard,
    i2vgen,
    loading,
    recall,
    schedulers,
    vae,
)
from mangen.pooling import work

if TYPE_CHECKING:
    from mangen.engines.diffusion import registry


def load(model: registry.Model) -> I2vGenModel:
    """Load what the steps and the decoding need onto this process' device."""
    pipe = loading.pipeline(model, "I2VGenXLPipeline", image_encoder=None, feature_extractor=None)
    return I2vGenModel(model, pipe)


class I2vGenModel:
    """Implements continuous.Denoiser, for tasks whose first frame is encoded."""

    def __init__(self, model: registry.Model, pipe: Any) -> None:
        self._model, self._place = model, loading.place()
        self._dtype = loading.dtype(model.dtype)
        self._unet = pipe.unet.to(self._place)
        pipe.vae.encoder = pipe.vae.quant_conv = None
        self._vae = vae.Vae(pipe.vae.to(self._place))
        encoder = pipe.text_encoder.to(self._place)
        # the stock pipeline looks for the norm where transformers had it before 5.6, and raises
        self._words = clip_text.Encoders([(pipe.tokenizer, encoder)], normed=True)
        self._scheduler = schedulers.make(model, pipe.scheduler)
        self._signed = model.digest or model.outline or str(model.folder)

    def warm(self) -> None:
        """One pass of the denoiser and the decoder: what they need once is not a member's cost."""
        latents = torch.zeros(2, self._unet.config.in_channels, 2, 8, 8)
        hidden = torch.zeros(2, 77, self._unet.config.cross_attention_dim)
        with torch.no_grad():
            self._pass(
                latents, [1.0, 1.0], [16, 16], hidden=hidden, first=latents, image=hidden[:, :1]
            )
            self._vae.decode(torch.zeros(1, self._vae.channels, 8, 8).to(self._place))

    def begin(self, key: str, task: family.Task, cache: work.FeatureCache) -> continuous.Member:
        if not task.prompt.strip():
            raise errors.EngineError(f"a clip without a prompt can't be made by {self._model.name}")
        guidance = i2vgen.guidance(self._model, task.guidance)
        count = i2vgen.steps(self._model, task.steps)
        scheduler, timesteps = schedulers.schedule(self._scheduler, count)
        first, image = self._first(task)
        rows, left = self._rows(key, task, cache, image, guided=guidance > 1)
        generator = torch.Generator().manual_seed(task.seed)
        noise = torch.randn(first.shape, generator=generator).to(self._place, self._dtype)
        member = continuous.Member(
            key=key, task=task, scheduler=scheduler, timesteps=timesteps,
            latents=noise * scheduler.init_noise_sigma, generator=generator, guidance=guidance,
            rows=rows, extra=first, options=schedulers.step_options(scheduler, generator),
        )  # fmt: skip
        member.notes.update(
            seed=task.seed, steps=count, guidance=guidance,
            scheduler=schedulers.variant(self._model)[0],
        )  # fmt: skip
        if left:
            member.notes["tokens_left_out"] = left
        return member

    def shape(self, member: continuous.Member) -> Hashable:
        hidden = tuple(row["hidden"].shape for row in member.rows)
        return tuple(member.latents.shape), len(member.rows), hidden

    def predict(self, members: Sequence[continuous.Member]) -> Sequence[Any]:
        rows = [(member, row) for member in members for row in member.rows]
        predicted = self._pass(
            torch.cat([member.scaled() for member, _ in rows]),
            [float(member.timestep) for member, _ in rows],
            [member.task.fps for member, _ in rows],
            hidden=torch.cat([row["hidden"] for _, row in rows]),
            first=torch.cat([member.extra for member, _ in rows]),
            image=torch.cat([row["image"] for _, row in rows]),
        ).split([len(member.rows) for member in members])
        return [member.guided(own.split(1)) for member, own in zip(members, predicted, strict=True)]

    def finish(self, member: continuous.Member) -> family.Result:
        task, name = member.task, self._model.name
        guard.finite(member.latents, name)
        plain, safe = i2vgen.chunk(self._model, task), i2vgen.safe_chunk(self._model, task)
        safely = functools.partial(chunks.decode, self._vae.decode_safely, member.latents, safe)
        frames, notes = guard.decoded(
            functools.partial(chunks.decode, self._vae.decode, member.latents, plain),
            None if self._vae.safe else safely, name,
        )  # fmt: skip
        images = guard.exact(frames, task.width, task.height, task.frames)
        return family.Result(images=images, notes={**member.notes, **notes})

    def _pass(
        self, latents: Any, times: Sequence[float], rates: Sequence[int], *, hidden: Any,
        first: Any, image: Any,
    ) -> Any:  # fmt: skip
        def here(one: Any) -> Any:
            return one.to(self._place, self._dtype)

        return self._unet(
            here(latents),
            torch.tensor(times, device=self._place),
            fps=torch.tensor(rates, device=self._place),
            image_latents=here(first),
            image_embeddings=here(image),
            encoder_hidden_states=here(hidden),
            return_dict=False,
        )[0]

    def _first(self, task: family.Task) -> tuple[Any, Any]:
        """The first frame's latent with the place of each frame after it, and its embedding."""
        scale = self._vae.scale
        latent = (1, self._vae.channels, -(-task.height // scale), -(-task.width // scale))
        # the projection takes exactly what this model's encoder of pictures makes
        image = (1, 1, int(self._unet.config.cross_attention_dim))
        found = []
        for name, shape in (("first_latent", latent), ("image_embedding", image)):
            made = task.encoded.get(name)
            if made is None or np.shape(made) != shape:
                there = "is missing" if made is None else f"has the shape {np.shape(made)}"
                raise errors.EngineError(
                    f"the {name} of an encoded first frame {there}, and {self._model.name} needs "
                    f"{shape}: encode it again at {task.width}x{task.height}"
                )
            found.append(torch.from_numpy(np.array(made, np.float32)).to(self._place, self._dtype))
        first, embedding = found[0][:, :, None], found[1]
        count = task.frames
        places = torch.arange(1, count, dtype=torch.float64) / max(1, count - 1)
        places = places.to(first).view(1, 1, -1, 1, 1)
        after = places.expand(1, first.shape[1], -1, *first.shape[3:])
        return torch.cat([first, after], dim=2), embedding

    def _rows(
        self, key: str, task: family.Task, cache: work.FeatureCache, image: Any, *, guided: bool
    ) -> tuple[tuple[Mapping[str, Any], ...], int]:
        """What conditions the passes, and how many tokens the encoder had no room for."""
        words = self._text(task.prompt, cache, key)
        left = int(words["left"])
        if not guided:
            return ({"hidden": self._here(words["hidden"]), "image": image},), left
        against = self._text(task.negative, cache, key)
        hidden = clip_text.even(against, words, lambda: self._text("", cache, key)["hidden"])
        rows = (
            {"hidden": self._here(hidden[0]), "image": torch.zeros_like(image)},
            {"hidden": self._here(hidden[1]), "image": image},
        )
        return rows, left + int(against["left"])

    def _text(self, text: str, cache: work.FeatureCache, key: str) -> Mapping[str, Any]:
        signed = recall.signature("i2vgen", self._signed, self._model.dtype, text)
        found: Mapping[str, Any] = recall.product(
            cache, "text", signed, lambda: self._encoded(text), by=key
        )
        return found

    def _encoded(self, text: str) -> Mapping[str, Any]:
        made = self._words.encode(text)
        return {"hidden": made["hidden"], "left": made["left"]}

    def _here(self, hidden: Any) -> Any:
        return hidden.to(self._place, self._dtype)
