"""Prompts for FLUX.2 klein, read by its language model as they are, in Chinese or English."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import torch

from mangen.engines.diffusion import canvas, family, flux_klein, loading, recall
from mangen.pooling import work

if TYPE_CHECKING:
    from mangen.engines.diffusion import registry


def load(model: registry.Model) -> Words:
    """Load the text encoder alone onto this process' device."""
    pipe = loading.pipeline(model, "Flux2KleinPipeline", transformer=None, vae=None)
    return Words(pipe.tokenizer, pipe.text_encoder.model)


class Words:
    """The language model, as far as its states are read."""

    def __init__(self, tokenizer: Any, encoder: Any) -> None:
        self._tokenizer = tokenizer
        most = max(flux_klein.LAYERS)
        if len(encoder.layers) > most:
            # what comes behind is not read, nor is the norm that follows the last of all
            encoder.layers, encoder.norm = encoder.layers[:most], torch.nn.Identity()
        self._encoder = encoder.to(loading.place())

    def warm(self) -> None:
        self.encode("a")

    def encode(self, text: str) -> dict[str, Any]:
        """Answer `hidden` (1, 512, 3 widths), and how many of the text's tokens were `left` out."""
        talk = self._tokenizer.apply_chat_template(
            [{"role": "user", "content": text}],
            tokenize=False, add_generation_prompt=True, enable_thinking=False,
        )  # fmt: skip
        room = flux_klein.WORDS
        found = self._tokenizer(
            talk, return_tensors="pt", padding="max_length", truncation=True, max_length=room
        )
        length = len(self._tokenizer(talk, truncation=False, verbose=False).input_ids)
        with torch.no_grad():
            states = self._encoder(
                input_ids=found.input_ids.to(self._encoder.device),
                attention_mask=found.attention_mask.to(self._encoder.device),
                output_hidden_states=True, use_cache=False,
            ).hidden_states  # fmt: skip
        hidden = torch.cat([states[layer] for layer in flux_klein.LAYERS], dim=-1)
        return {"hidden": hidden.cpu(), "left": max(0, length - room)}


def prepare(model: registry.Model, key: str, task: family.Task, rt: work.Runtime) -> family.Task:
    """The task with its prompts encoded, as `words` and, where guidance needs it, `against`."""
    canvas.check(task, model.name)
    spec = flux_klein.FAMILY.words(model)
    found = {"words": recall.words(model, "qwen3", task.prompt, rt, spec, by=key)}
    if flux_klein.guidance(model, task) > 1:
        found["against"] = recall.words(model, "qwen3", task.negative, rt, spec, by=key)
    return dataclasses.replace(task, encoded={**task.encoded, **found})
