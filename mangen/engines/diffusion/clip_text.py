"""Prompts of any length for CLIP encoders: windows of 77 tokens, encoded apart, read in one row.

A prompt of one window gives what the stock pipeline gives. Windows beyond the bound are left out,
and their tokens counted: whoever asked is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

#: of 77 tokens, beginning and end included: more of them dilute each other beyond use
WINDOWS = 8


class Encoders:
    """The text encoders of a model, whose hidden states lie side by side; the last one pools."""

    def __init__(self, pairs: Sequence[tuple[Any, Any]], *, normed: bool = False) -> None:
        """`pairs` are tokenizers with their encoders; `normed`: the states pass the last norm."""
        self._pairs = tuple(pairs)
        self._normed = normed

    def encode(self, text: str) -> dict[str, Any]:
        """Answer `hidden` (1, 77 n, width), `pooled` (1, width), and how many tokens were `left`.

        Both are in host memory.
        """
        windows = [_windows(tokenizer, text) for tokenizer, _ in self._pairs]
        most = max(len(one) for one, _ in windows)
        hidden, pooled = [], None
        for (tokenizer, encoder), (ids, _) in zip(self._pairs, windows, strict=True):
            filled = [*ids, *[_framed(tokenizer, [])] * (most - len(ids))]
            out = encoder(torch.tensor(filled, device=encoder.device), output_hidden_states=True)
            states = out.hidden_states[-2]  # the last layer is too near to pictures' captions
            if self._normed:
                # transformers before 5.6 had it one level below
                states = getattr(encoder, "text_model", encoder).final_layer_norm(states)
            hidden.append(states.reshape(1, -1, states.shape[-1]))
            pooled = out[0][:1]
        assert pooled is not None
        return {
            "hidden": torch.cat(hidden, dim=-1).cpu(),
            "pooled": pooled.cpu(),
            "left": max(left for _, left in windows),
        }


def even(
    one: Mapping[str, Any], other: Mapping[str, Any], empty: Callable[[], Any]
) -> tuple[Any, Any]:
    """The hidden states of both, the shorter ones followed by windows of no words."""
    first, second = one["hidden"], other["hidden"]
    longest = max(first.shape[1], second.shape[1])
    return _filled(first, empty, longest), _filled(second, empty, longest)


def _filled(hidden: Any, empty: Callable[[], Any], length: int) -> Any:
    if hidden.shape[1] == length:
        return hidden
    window = empty()
    return torch.cat([hidden, *[window] * ((length - hidden.shape[1]) // window.shape[1])], dim=1)


def _windows(tokenizer: Any, text: str) -> tuple[list[list[int]], int]:
    """Token ids by window, and how many tokens were left out."""
    room = tokenizer.model_max_length - 2
    ids = tokenizer(text, add_special_tokens=False, truncation=False, verbose=False).input_ids
    chunks = [ids[first : first + room] for first in range(0, len(ids), room)] or [[]]
    left = sum(len(chunk) for chunk in chunks[WINDOWS:])
    return [_framed(tokenizer, chunk) for chunk in chunks[:WINDOWS]], left


def _framed(tokenizer: Any, ids: Sequence[int]) -> list[int]:
    whole = [tokenizer.bos_token_id, *ids, tokenizer.eos_token_id]
    return [*whole, *[tokenizer.pad_token_id] * (tokenizer.model_max_length - len(whole))]
