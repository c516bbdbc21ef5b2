"""A loaded FLUX.2 klein but for its text encoder: what a member needs in its steps and around."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from PIL import Image

from mangen import errors
from mangen.engines.diffusion import (
    canvas,
    continuous,
    family,
    flux_klein,
    flux_tokens,
    guard,
    loading,
    recall,
    schedulers,
)
from mangen.pooling import work

if TYPE_CHECKING:
    from mangen.engines.diffusion import registry

_LEAST = 64  #: pixels of a shown picture's side


def load(model: registry.Model) -> FluxKleinModel:
    """Load the denoiser and the VAE onto this process' device."""
    pipe = loading.pipeline(model, "Flux2KleinPipeline", text_encoder=None, tokenizer=None)
    return FluxKleinModel(model, pipe)


class FluxKleinModel:
    """Implements continuous.Denoiser."""

    def __init__(self, model: registry.Model, pipe: Any) -> None:
        self._model, self._place = model, loading.place()
        self._dtype = loading.dtype(model.dtype)
        self._transformer = pipe.transformer.to(self._place)
        self._vae = flux_tokens.BlockVae(pipe.vae.to(self._place))
        self._scheduler = schedulers.make(model, pipe.scheduler)
        if "mu" not in inspect.signature(self._scheduler.set_timesteps).parameters:
            raise errors.EngineError(
                f"{model.name} can't run with {type(self._scheduler).__name__}: add it to the "
                "models again without --scheduler"
            )
        self._text_places = flux_tokens.text_places(flux_klein.WORDS).to(self._place)
        self._channels = int(self._transformer.config.in_channels)
        self._signed = model.digest or model.outline or str(model.folder)

    def warm(self) -> None:
        """One pass of the denoiser and the decoder: what they need once is not a member's cost."""
        hidden = torch.zeros(1, 4, self._transformer.config.joint_attention_dim)
        with torch.no_grad():
            self._pass(
                torch.zeros(1, 16, self._channels), torch.ones(1), hidden,
                flux_tokens.places(4, 4, []),
            )  # fmt: skip
            self._vae.decode(torch.zeros(1, self._channels, 4, 4).to(self._place))

    def begin(self, key: str, task: family.Task, cache: work.FeatureCache) -> continuous.Member:
        high, wide = _grid(task)
        count = flux_klein.steps(self._model, task.steps)
        guidance = flux_klein.guidance(self._model, task)
        paints = task.mask is not None
        shown = self._shown(key, task, cache)
        scheduler, timesteps = self._schedule(count, high * wide, task.strength if paints else 1.0)
        generator = torch.Generator().manual_seed(task.seed)
        noise = torch.randn((1, self._channels, high, wide), generator=generator)
        noise = flux_tokens.packed(noise).to(self._place, self._dtype)
        latents = noise
        if paints:
            begun = scheduler.sigmas[scheduler.begin_index]
            latents = begun * noise + (1 - begun) * flux_tokens.packed(shown[0])
        words = _words(task)
        sizes = [(int(one.shape[2]), int(one.shape[3])) for one in shown]
        places = flux_tokens.places(high, wide, sizes).to(self._place)
        member = continuous.Member(
            key=key, task=task, scheduler=scheduler, timesteps=timesteps, latents=latents,
            generator=generator, guidance=guidance,
            rows=tuple(
                {
                    "hidden": one["hidden"].to(self._place, self._dtype),
                    "places": places,
                    "grids": ((high, wide), *sizes),
                }
                for one in words
            ),
            extra=torch.cat([flux_tokens.packed(one) for one in shown], 1) if shown else None,
            options=schedulers.step_options(scheduler, generator),
        )  # fmt: skip
        member.notes.update(
            seed=task.seed, steps=count, guidance=guidance, references=len(shown) - paints,
            scheduler=schedulers.variant(self._model)[0],
        )  # fmt: skip
        left = sum(one["left"] for one in words)
        if left:
            member.notes["tokens_left_out"] = left
        if task.negative and len(words) == 1:
            member.notes["negative_left_out"] = "this model takes none without guidance"
        if paints:
            member.after = self._keep(task, flux_tokens.packed(shown[0]), noise)
        return member

    def shape(self, member: continuous.Member) -> Hashable:
        return len(member.rows), member.rows[0]["grids"]

    def predict(self, members: Sequence[continuous.Member]) -> Sequence[Any]:
        rows = [(member, row["hidden"]) for member in members for row in member.rows]
        seen = [
            one.latents if one.extra is None else torch.cat([one.latents, one.extra], 1)
            for one, _ in rows
        ]
        times = torch.tensor([float(one.timestep) for one, _ in rows]).to(self._dtype)
        predicted = self._pass(
            torch.cat(seen), times / 1000, torch.cat([hidden for _, hidden in rows]),
            members[0].rows[0]["places"],
        )  # fmt: skip
        predicted = predicted[:, : members[0].latents.shape[1]]
        guided, first = [], 0
        for member in members:
            last = first + len(member.rows)
            guided.append(member.guided(predicted[first:last].split(1)))
            first = last
        return guided

    def finish(self, member: continuous.Member) -> family.Result:
        task, name = member.task, self._model.name
        guard.finite(member.latents, name)
        blocks = flux_tokens.unpacked(member.latents, *_grid(task))
        safely = functools.partial(self._vae.decode_safely, blocks)
        frames, notes = guard.decoded(
            functools.partial(self._vae.decode, blocks), None if self._vae.safe else safely, name
        )
        images = guard.exact(frames, task.width, task.height, 1)
        if task.mask is not None:
            images = canvas.laid_over(images, task)
        return family.Result(images=images, notes={**member.notes, **notes})

    def _pass(self, tokens: Any, times: Any, hidden: Any, places: Any) -> Any:
        """One pass: `times` 0..1 a row, `places` of all rows alike."""
        return self._transformer(
            hidden_states=tokens.to(self._place, self._dtype),
            timestep=times.to(self._place, self._dtype),
            encoder_hidden_states=hidden.to(self._place, self._dtype),
            txt_ids=self._text_places[: hidden.shape[1]],
            img_ids=places.to(self._place),
            return_dict=False,
        )[0]

    def _schedule(self, count: int, tokens: int, strength: float) -> tuple[Any, Sequence[Any]]:
        """A copy for one member, and its timesteps: noise lasts longer in a larger picture."""
        from diffusers.pipelines.flux2 import pipeline_flux2_klein as stock  # noqa: PLC0415 - it takes seconds

        if not 1 <= count <= 1000:
            raise errors.EngineError(f"{count} steps can't be done: ask for 1 to 1000")
        made = copy.deepcopy(self._scheduler)
        own = bool(made.config.get("use_flow_sigmas", False))
        sigmas = None if own else np.linspace(1.0, 1 / count, count)
        mu = stock.compute_empirical_mu(image_seq_len=tokens, num_steps=count)
        made.set_timesteps(count, device="cpu", sigmas=sigmas, mu=mu)
        first = count - max(1, int(count * strength))
        made.set_begin_index(first)
        return made, list(made.timesteps[first:])

    def _shown(self, key: str, task: family.Task, cache: work.FeatureCache) -> list[Any]:
        """Blocks of the pictures that are shown: what is repainted, the characters, the others."""
        found, others = [], list(task.images)
        if task.mask is not None:
            size = tuple(side * flux_klein.SIDE for side in _grid(task))
            found.append(self._encoded(key, cache, "latent", others.pop(0), size))
        pictures = [("character", one.picture) for one in task.characters]
        for kind, picture in [*pictures, *(("latent", one) for one in others)]:
            if picture is not None:
                found.append(self._encoded(key, cache, kind, *_framed(picture)))
        return found

    def _encoded(
        self,
        key: str,
        cache: work.FeatureCache,
        kind: str,
        picture: family.Image,
        size: tuple[int, ...],
    ) -> Any:
        signed = recall.signature("flux", self._signed, self._model.dtype, size, picture)
        encode = functools.partial(self._vae.encode, picture, *size)
        found = recall.product(cache, kind, signed, lambda: encode().cpu(), by=key)
        return found.to(self._place, self._dtype)

    def _keep(self, task: family.Task, old: Any, noise: Any) -> Any:
        """What lays the old picture, as noisy as the new one, over what the mask leaves."""
        mask = canvas.mask(task)
        mask = torch.nn.functional.interpolate(mask, size=_grid(task), mode="bilinear")
        mask = flux_tokens.packed(mask).to(self._place, self._dtype)

        def keep(one: continuous.Member) -> None:
            left = one.scheduler.sigmas[one.scheduler.step_index]
            one.latents = (1 - mask) * (left * noise + (1 - left) * old) + mask * one.latents

        return keep


def _grid(task: family.Task) -> tuple[int, int]:
    """Rows and columns of tokens."""
    return -(-task.height // flux_klein.SIDE), -(-task.width // flux_klein.SIDE)


def _words(task: family.Task) -> Sequence[Mapping[str, Any]]:
    """The encoded prompts, the one that is steered away from first."""
    found: Mapping[str, Any] = task.encoded
    return [found[name] for name in ("against", "words") if name in found]


def _framed(picture: family.Image) -> tuple[family.Image, tuple[int, int]]:
    """A picture as it is shown, with its height and width: its middle, in whole tokens."""
    high, wide = picture.shape[:2]
    if min(high, wide) < _LEAST or max(high, wide) > 8 * min(high, wide):
        raise errors.EngineError(
            f"a picture of {wide}x{high} can't be shown to this model: it takes {_LEAST} pixels a "
            "side at least, and sides of 1:8 at most"
        )
    if high * wide > flux_klein.REFERENCE:
        scale = (flux_klein.REFERENCE / (high * wide)) ** 0.5
        size = int(wide * scale), int(high * scale)
        picture = np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.LANCZOS))
    found = flux_klein.reference_size(*picture.shape[:2])
    top, left = ((side - cut) // 2 for side, cut in zip(picture.shape[:2], found, strict=True))
    return picture[top : top + found[0], left : left + found[1]], found
