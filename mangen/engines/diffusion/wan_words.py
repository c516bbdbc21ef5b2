"""Prompts for Wan, read by UMT5 as they are, in Chinese or English."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import torch

from mangen import errors
from mangen.engines.diffusion import family, framing, loading, recall, wan
from mangen.pooling import work

if TYPE_CHECKING:
    from mangen.engines.diffusion import registry


def load(model: registry.Model) -> Words:
    """Load the text encoder alone onto this process' device."""
    pipe = loading.pipeline(model, "WanPipeline", transformer=None, vae=None, scheduler=None)
    return Words(pipe.tokenizer, pipe.text_encoder)


class Words:
    """The text encoder and its tokenizer."""

    def __init__(self, tokenizer: Any, encoder: Any) -> None:
        self._tokenizer, self._encoder = tokenizer, encoder.to(loading.place())

    def warm(self) -> None:
        self.encode("a")

    def encode(self, text: str) -> dict[str, Any]:
        """Answer `hidden` (1, tokens, width) in host memory, and how many tokens were `left` out.

        Only the text's own tokens are kept; what they are filled up with is zero.
        """
        room = wan.WORDS
        found = self._tokenizer(text, return_tensors="pt", truncation=True, max_length=room)
        length = len(self._tokenizer(text, truncation=False, verbose=False).input_ids)
        place = self._encoder.device
        with torch.no_grad():
            hidden = self._encoder(
                found.input_ids.to(place), found.attention_mask.to(place)
            ).last_hidden_state
        return {"hidden": hidden.cpu(), "left": max(0, length - room)}


def prepare(model: registry.Model, key: str, task: family.Task, rt: work.Runtime) -> family.Task:
    """The task with its prompts encoded, as `words` and, where guidance needs it, `against`."""
    if not task.prompt.strip():
        raise errors.EngineError(f"a clip without a prompt can't be made by {model.name}")
    if not task.images:
        raise errors.EngineError(f"a clip without a first frame can't be made by {model.name}")
    framing.check(task.images[0])
    spec = wan.FAMILY.words(model)
    found = {"words": recall.words(model, "umt5", task.prompt, rt, spec, by=key)}
    if wan.guidance(model, task.guidance) > 1:
        found["against"] = recall.words(model, "umt5", task.negative, rt, spec, by=key)
    return dataclasses.replace(task, encoded={**task.encoded, **found})
