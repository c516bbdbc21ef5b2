"""A loaded SDXL model: what a member needs before, in and after the steps."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from mangen import errors
from mangen.engines.diffusion import (
    canvas,
    clip_text,
    continuous,
    family,
    guard,
    ip_adapter,
    loading,
    recall,
    schedulers,
    sdxl,
    slices,
    vae,
)
from mangen.pooling import work

if TYPE_CHECKING:
    from mangen.engines.diffusion import registry

_INPAINT_CHANNELS = 9  #: the latent's, the mask and the masked picture's


def load(model: registry.Model) -> SdxlModel:
    """Load everything onto this process' device."""
    more = {} if model.adapter else {"image_encoder": None, "feature_extractor": None}
    pipe = loading.pipeline(model, "StableDiffusionXLPipeline", add_watermarker=False, **more)
    return SdxlModel(model, pipe)


class SdxlModel:
    """Implements continuous.Denoiser."""

    def __init__(self, model: registry.Model, pipe: Any) -> None:
        self._model, self._place = model, loading.place()
        self._dtype = loading.dtype(model.dtype)
        self._adapter = ip_adapter.Adapter(pipe, model.adapter) if model.adapter else None
        self._unet = pipe.unet.to(self._place)
        self._vae = vae.Vae(pipe.vae.to(self._place, loading.dtype(sdxl.vae_dtype(model))))
        for part in (pipe.text_encoder, pipe.text_encoder_2, pipe.image_encoder):
            if part is not None:
                part.to(self._place)
        if self._adapter is not None:
            self._adapter.to(self._place, self._dtype)
        self._words = clip_text.Encoders(
            [(pipe.tokenizer, pipe.text_encoder), (pipe.tokenizer_2, pipe.text_encoder_2)]
        )
        self._zeros = bool(pipe.config.get("force_zeros_for_empty_prompt", True))
        self._scheduler = schedulers.make(model, pipe.scheduler)
        self._channels = int(self._unet.config.in_channels)
        self._signed = model.digest or model.outline or str(model.folder)

    def warm(self) -> None:
        """One pass of the denoiser and the decoder: what they need once is not a member's cost."""
        with torch.no_grad():
            hidden = torch.zeros(2, 77, self._unet.config.cross_attention_dim)
            width = self._unet.config.projection_class_embeddings_input_dim
            pooled = width - 6 * self._unet.config.addition_time_embed_dim
            self._unet(
                torch.zeros(2, self._channels, 8, 8).to(self._place, self._dtype),
                torch.ones(2, device=self._place),
                encoder_hidden_states=hidden.to(self._place, self._dtype),
                added_cond_kwargs={
                    "text_embeds": torch.zeros(2, pooled).to(self._place, self._dtype),
                    "time_ids": torch.zeros(2, 6).to(self._place, self._dtype),
                },
            )
            self._vae.decode(torch.zeros(1, self._vae.channels, 8, 8).to(self._place))

    def begin(self, key: str, task: family.Task, cache: work.FeatureCache) -> continuous.Member:
        canvas.check(task, self._model.name)
        if self._channels == _INPAINT_CHANNELS and task.mask is None:
            raise errors.EngineError(
                f"{self._model.name} only repaints: give it a picture and a mask, or give the role "
                "image to another model"
            )
        guidance = sdxl.guidance(self._model, task.guidance)
        count = schedulers.steps(self._model, task.steps)
        base = self._base(key, task, cache)
        # a repaint at full strength begins with noise alone, as a picture from words does
        scheduler, timesteps = schedulers.schedule(
            self._scheduler, count, task.strength if base is not None else 1.0
        )
        guided = guidance > 1 and self._unet.config.time_cond_proj_dim is None
        rows, left = self._rows(key, task, cache, guided=guided)
        generator = torch.Generator().manual_seed(task.seed)
        high, wide = self._latent_size(task)
        noise = torch.randn((1, self._vae.channels, high, wide), generator=generator)
        noise = noise.to(self._place, self._dtype)
        if base is None or (task.mask is not None and task.strength >= 1):
            latents = noise * scheduler.init_noise_sigma
        else:
            latents = scheduler.add_noise(base, noise, timesteps[0].reshape(1))
        member = continuous.Member(
            key=key, task=task, scheduler=scheduler, timesteps=timesteps, latents=latents,
            generator=generator, guidance=guidance, rows=rows,
            characters=self._cast(key, task, cache),
            options=schedulers.step_options(scheduler, generator),
        )  # fmt: skip
        member.notes.update(
            seed=task.seed, steps=count, guidance=guidance,
            scheduler=schedulers.variant(self._model)[0],
        )  # fmt: skip
        if task.base is not None and not task.images:
            member.notes["scene_base"] = task.base.prompt
        if left:
            member.notes["tokens_left_out"] = left
        if task.mask is not None:
            self._inpaint(member, base, noise)
        return member

    def shape(self, member: continuous.Member) -> Hashable:
        return (
            tuple(member.latents.shape),
            len(member.rows),
            tuple(row["hidden"].shape for row in member.rows),
        )

    def predict(self, members: Sequence[continuous.Member]) -> Sequence[Any]:
        rows = [(member, row) for member in members for row in member.rows]
        scaled = [_with_extra(member) for member in members for _ in member.rows]
        times = [float(member.timestep) for member, _ in rows]
        if self._adapter is not None:
            shown = [(one.characters, side) for one in members for side in _sides(one)]
            self._adapter.show(shown, members[0].latents.shape[-2:])
        predicted = self._unet(
            torch.cat(scaled),
            torch.tensor(times, device=self._place),
            encoder_hidden_states=torch.cat([row["hidden"] for _, row in rows]),
            timestep_cond=self._guidance_embedding([member for member, _ in rows]),
            added_cond_kwargs={
                "text_embeds": torch.cat([row["pooled"] for _, row in rows]),
                "time_ids": torch.cat([row["sizes"] for _, row in rows]),
            },
            return_dict=False,
        )[0]
        guided, first = [], 0
        for member in members:
            last = first + len(member.rows)
            guided.append(member.guided(predicted[first:last].split(1)))
            first = last
        return guided

    def finish(self, member: continuous.Member) -> family.Result:
        task, name = member.task, self._model.name
        guard.finite(member.latents, name)
        shape = self._model, family.VAE_DECODE, task.width, task.height
        plain, safe = sdxl.tile(*shape), sdxl.safe_tile(*shape)
        frames, notes = guard.decoded(
            functools.partial(self._vae.decode, member.latents, plain),
            None
            if self._vae.safe
            else functools.partial(self._vae.decode_safely, member.latents, safe),
            name,
        )
        images = guard.exact(frames, task.width, task.height, 1)
        if task.mask is not None:
            images = canvas.laid_over(images, task)
        features: Mapping[str, Any] = {}
        if task.role == "anchor" and self._adapter is not None:
            features = {"ip_adapter": self._adapter.encode(images[0])}
        return family.Result(images=images, features=features, notes={**member.notes, **notes})

    def _rows(
        self, key: str, task: family.Task, cache: work.FeatureCache, *, guided: bool
    ) -> tuple[tuple[Mapping[str, Any], ...], int]:
        """What conditions the passes, and how many tokens the encoders had no room for."""
        words = self._text(task.prompt, cache, key)
        size = self._latent_size(task)
        high, wide = (side * self._vae.scale for side in size)
        sizes = torch.tensor([[high, wide, 0, 0, high, wide]]).to(self._place, self._dtype)
        if not guided:
            return (self._row(words["hidden"], words["pooled"], sizes),), int(words["left"])
        if not task.negative and self._zeros:
            nothing = {name: torch.zeros_like(words[name]) for name in ("hidden", "pooled")}
            hidden = nothing["hidden"], words["hidden"]
            against: Mapping[str, Any] = {**nothing, "left": 0}
        else:
            against = self._text(task.negative, cache, key)
            hidden = clip_text.even(against, words, lambda: self._text("", cache, key)["hidden"])
        rows = (
            self._row(hidden[0], against["pooled"], sizes),
            self._row(hidden[1], words["pooled"], sizes),
        )
        return rows, int(words["left"]) + int(against["left"])

    def _row(self, hidden: Any, pooled: Any, sizes: Any) -> Mapping[str, Any]:
        return {
            "hidden": hidden.to(self._place, self._dtype),
            "pooled": pooled.to(self._place, self._dtype),
            "sizes": sizes,
        }

    def _text(self, text: str, cache: work.FeatureCache, key: str) -> Mapping[str, Any]:
        signed = recall.signature("clip", self._signed, self._model.dtype, text)
        found: Mapping[str, Any] = recall.product(
            cache, "text", signed, lambda: self._words.encode(text), by=key
        )
        return found

    def _base(self, key: str, task: family.Task, cache: work.FeatureCache) -> Any:
        """The latents of what is changed or begun with; None where that is noise alone."""
        if task.images:
            size = tuple(side * self._vae.scale for side in self._latent_size(task))
            signed = recall.signature("vae", self._signed, sdxl.vae_dtype(self._model), size,
                                      task.images[0], self._tiles(task)[0])  # fmt: skip
            encode = functools.partial(self._encoded, task)
            found = recall.product(cache, "latent", signed, lambda: encode().cpu(), by=key)
        elif task.base is not None:
            signed = recall.signature(
                "scene", self._model.key, self._signed, self._latent_size(task),
                dataclasses.asdict(task.base),
            )  # fmt: skip
            draw = functools.partial(self._scene, key, task, task.base, cache)
            found = recall.product(cache, "style", signed, draw, by=key)
        else:
            return None
        return found.to(self._place, self._dtype)

    def _scene(
        self, key: str, task: family.Task, base: family.Base, cache: work.FeatureCache
    ) -> Any:
        """Draw what several tasks begin with: alone, so that its bits are the same every time."""
        steps = base.steps or min(sdxl.SCENE_STEPS, schedulers.steps(self._model, None))
        alone = family.Task(
            role="image", prompt=base.prompt, negative=base.negative, width=task.width,
            height=task.height, seed=base.seed, steps=steps,
        )  # fmt: skip
        member = self.begin(key, alone, cache)
        while not member.ready:
            member.advance(*self.predict([member]))
        guard.finite(member.latents, self._model.name)
        return member.latents.cpu()

    def _encoded(self, task: family.Task, hidden: Any = None) -> Any:
        """The latents of a task's picture, by the safe VAE where half precision overflows."""
        picture = task.images[0]
        high, wide = (side * self._vae.scale for side in self._latent_size(task))
        plain, safe = self._tiles(task)
        found = self._vae.encode(picture, high, wide, hidden, tile=plain)
        if not self._vae.safe and not bool(found.isfinite().all()):
            found = self._vae.encode_safely(picture, high, wide, hidden=hidden, tile=safe)
        return found

    def _tiles(self, task: family.Task) -> tuple[slices.Tile | None, slices.Tile | None]:
        """What of a picture is encoded at once, in the usual precision and in the safe one."""
        shape = self._model, family.VAE_ENCODE, task.width, task.height
        return sdxl.tile(*shape), sdxl.safe_tile(*shape)

    def _cast(self, key: str, task: family.Task, cache: work.FeatureCache) -> Any:
        """The characters' part; None without any, or where the model has no adapter."""
        adapter = self._adapter
        shown = [one for one in task.characters if one.features is not None
                 or one.picture is not None]  # fmt: skip
        if adapter is None or not shown:
            return None
        features = []
        for one in shown:
            if one.features is not None:
                features.append(one.features)
                continue
            picture = one.picture
            assert picture is not None
            signed = recall.signature("ip, upper", self._signed, self._model.adapter, picture)
            encode = functools.partial(adapter.encode, picture)
            features.append(recall.product(cache, "character", signed, encode, by=key))
        return adapter.cast(features, shown)

    def _inpaint(self, member: continuous.Member, base: Any, noise: Any) -> None:
        """Keep what the mask leaves: by the model's own channels, or by laying it over steps."""
        task = member.task
        assert task.mask is not None
        mask = canvas.mask(task).to(self._place, self._dtype)
        small = torch.nn.functional.interpolate(mask, size=member.latents.shape[-2:])
        if self._channels == _INPAINT_CHANNELS:
            kept = self._encoded(task, mask)
            member.extra = torch.cat([small, kept.to(self._place, self._dtype)], dim=1)
            return

        def keep(one: continuous.Member) -> None:
            kept = base
            if not one.ready:
                kept = one.scheduler.add_noise(base, noise, one.timestep.reshape(1))
            one.latents = (1 - small) * kept + small * one.latents

        member.after = keep

    def _latent_size(self, task: family.Task) -> tuple[int, int]:
        scale = self._vae.scale
        return -(-task.height // scale), -(-task.width // scale)

    def _guidance_embedding(self, members: Sequence[continuous.Member]) -> Any:
        """What models that were taught guidance itself (LCM) take instead of doubled passes."""
        width = self._unet.config.time_cond_proj_dim
        if width is None:
            return None
        scales = torch.tensor([one.guidance - 1 for one in members]) * 1000.0
        rates = torch.exp(-torch.arange(width // 2) * (np.log(10000.0) / (width // 2 - 1)))
        angles = scales[:, None] * rates[None]
        return torch.cat([angles.sin(), angles.cos()], dim=1).to(self._place, self._dtype)


def _with_extra(member: continuous.Member) -> Any:
    scaled = member.scaled()
    return scaled if member.extra is None else torch.cat([scaled, member.extra], dim=1)


def _sides(member: continuous.Member) -> Sequence[int]:
    return (0, 1) if len(member.rows) == 2 else (1,)
