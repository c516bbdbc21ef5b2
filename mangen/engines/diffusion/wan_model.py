"""A loaded Wan2.2-TI2V but for its text encoder: what a clip needs before, in and after its steps.

The first frame is given by its latents, whose tokens are at the end of their way from the first
step on: each token has a timestep of its own, and so each member may have its own steps, too.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from mangen import errors
from mangen.engines.diffusion import (
    continuous,
    family,
    guard,
    loading,
    recall,
    schedulers,
    wan,
    wan_vae,
)
from mangen.pooling import work

if TYPE_CHECKING:
    from mangen.engines.diffusion import registry


def load(model: registry.Model) -> WanModel:
    """Load the denoiser and the VAE onto this process' device."""
    pipe = loading.pipeline(model, "WanPipeline", text_encoder=None, tokenizer=None)
    return WanModel(model, pipe)


class WanModel:
    """Implements continuous.Denoiser, for tasks whose prompts are encoded."""

    def __init__(self, model: registry.Model, pipe: Any) -> None:
        self._model, self._place = model, loading.place()
        self._dtype = loading.dtype(model.dtype)
        self._transformer = pipe.transformer.to(self._place)
        self._vae = wan_vae.WanVae(pipe.vae.to(self._place))
        self._scheduler = schedulers.make(model, pipe.scheduler)
        kind = type(self._scheduler).__name__
        # others keep the folder's words about flows, and heed none of them
        heeds = "use_flow_sigmas" in inspect.signature(type(self._scheduler)).parameters
        flows = heeds and self._scheduler.config.get("use_flow_sigmas")
        if not (flows or kind.startswith("FlowMatch")):
            raise errors.EngineError(
                f"{model.name} can't run with {kind}, which knows no flow: add it to the models "
                "again without --scheduler"
            )
        self._signed = model.digest or model.outline or str(model.folder)

    def warm(self) -> None:
        """One pass of the denoiser and the decoder: what they need once is not a member's cost."""
        latents = torch.zeros(1, self._vae.channels, 2, 4, 4)
        hidden = torch.zeros(1, wan.WORDS, self._transformer.config.text_dim)
        with torch.no_grad():
            self._pass(latents, torch.ones(1, self._tokens(latents)), hidden)
            self._vae.decode(latents[:, :, :1])

    def begin(self, key: str, task: family.Task, cache: work.FeatureCache) -> continuous.Member:
        guidance = wan.guidance(self._model, task.guidance)
        count = wan.steps(self._model, task.steps)
        scheduler, timesteps = schedulers.schedule(self._scheduler, count)
        first = self._first(key, task, cache)
        length = (task.frames - 1) // self._vae.pace + 1
        generator = torch.Generator().manual_seed(task.seed)
        shape = (1, self._vae.channels, length, *first.shape[3:])
        # as the pipeline: latents are kept in single precision between the steps
        noise = torch.randn(shape, generator=generator).to(self._place)
        names = ("against", "words") if guidance > 1 else ("words",)
        member = continuous.Member(
            key=key, task=task, scheduler=scheduler, timesteps=timesteps, latents=noise,
            generator=generator, guidance=guidance, extra=first,
            rows=tuple({"hidden": self._filled(task.encoded[name])} for name in names),
            options=schedulers.step_options(scheduler, generator),
        )  # fmt: skip
        member.notes.update(
            seed=task.seed, steps=count, guidance=guidance,
            scheduler=schedulers.variant(self._model)[0],
        )  # fmt: skip
        left = sum(int(task.encoded[name]["left"]) for name in names)
        if left:
            member.notes["tokens_left_out"] = left
        return member

    def shape(self, member: continuous.Member) -> Hashable:
        return tuple(member.latents.shape), len(member.rows)

    def predict(self, members: Sequence[continuous.Member]) -> Sequence[Any]:
        """Rows of many tokens take passes of their own: see wan.PASS."""
        rows = [(member, row) for member in members for row in member.rows]
        size = wan.at_once(self._tokens(members[0].latents))
        predicted: list[Any] = []
        for first in range(0, len(rows), size):
            part = rows[first : first + size]
            made = self._pass(
                torch.cat([_with_first(member) for member, _ in part]),
                torch.cat([self._times(member) for member, _ in part]),
                torch.cat([row["hidden"] for _, row in part]),
            )
            predicted.extend(made.split(1))
        rest = iter(predicted)
        return [member.guided([next(rest) for _ in member.rows]) for member in members]

    def finish(self, member: continuous.Member) -> family.Result:
        task, name = member.task, self._model.name
        guard.finite(member.latents, name)
        latents = _with_first(member)
        frames, notes = guard.decoded(
            functools.partial(self._vae.decode, latents),
            None if self._vae.safe else functools.partial(self._vae.decode_safely, latents), name,
        )  # fmt: skip
        images = guard.exact(frames, task.width, task.height, task.frames)
        return family.Result(images=images, notes={**member.notes, **notes})

    def _pass(self, latents: Any, times: Any, hidden: Any) -> Any:
        return self._transformer(
            hidden_states=latents.to(self._place, self._dtype),
            timestep=times.to(self._place),
            encoder_hidden_states=hidden.to(self._place, self._dtype),
            return_dict=False,
        )[0]

    def _first(self, key: str, task: family.Task, cache: work.FeatureCache) -> Any:
        """The first frame's latents (1, channels, 1, ...), in single precision."""
        side = self._vae.scale * self._side
        high, wide = (-(-length // side) * side for length in (task.height, task.width))
        signed = recall.signature(
            "wan", self._signed, self._model.dtype, (wide, high), task.images[0]
        )
        found = recall.product(
            cache, "latent", signed,
            lambda: self._vae.encode(task.images[0], high, wide).cpu(), by=key,
        )  # fmt: skip
        return found.to(self._place)

    def _filled(self, words: Any) -> Any:
        """A prompt's states (1, 512, width), zero behind its own tokens."""
        hidden = words["hidden"].to(self._place, self._dtype)
        return torch.nn.functional.pad(hidden, (0, 0, 0, wan.WORDS - hidden.shape[1]))

    def _times(self, member: continuous.Member) -> Any:
        """A timestep for each token (1, tokens): those of the first frame are done."""
        tokens = self._tokens(member.latents)
        times = torch.full((1, tokens), float(member.timestep))
        times[:, : tokens // member.latents.shape[2]] = 0
        return times

    def _tokens(self, latents: Any) -> int:
        length, high, wide = latents.shape[2:]
        return int(length * (high // self._side) * (wide // self._side))

    @property
    def _side(self) -> int:
        """Latents of a token's side."""
        return int(self._transformer.config.patch_size[1])


def _with_first(member: continuous.Member) -> Any:
    """The latents with the first frame's in their place."""
    return torch.cat([member.extra, member.latents[:, :, 1:]], dim=2)
