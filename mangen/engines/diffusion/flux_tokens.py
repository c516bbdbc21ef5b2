"""How FLUX.2 sees pictures: latents in blocks of two by two, as tokens with their places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from mangen.engines.diffusion import vae

#: how far apart the pictures that are shown lie on the axis of time; the one that is made lies at 0
_APART = 10


class BlockVae(vae.Vae):
    """An AutoencoderKLFlux2: its latents come out in blocks, normalised by what training saw."""

    def _outward(self, found: Any) -> Any:
        rows, channels, high, wide = found.shape
        blocks = found.view(rows, channels, high // 2, 2, wide // 2, 2)
        blocks = blocks.permute(0, 1, 3, 5, 2, 4).reshape(rows, channels * 4, high // 2, wide // 2)
        mean, deviation = self._seen(blocks)
        return (blocks - mean) / deviation

    def _inward(self, latents: Any) -> Any:
        mean, deviation = self._seen(latents)
        blocks = latents * deviation + mean
        rows, channels, high, wide = blocks.shape
        blocks = blocks.reshape(rows, channels // 4, 2, 2, high, wide)
        return blocks.permute(0, 1, 4, 2, 5, 3).reshape(rows, channels // 4, high * 2, wide * 2)

    def _seen(self, like: Any) -> tuple[Any, Any]:
        norm = self._module.bn
        mean = norm.running_mean.view(1, -1, 1, 1).to(like)
        spread = norm.running_var.view(1, -1, 1, 1) + self._module.config.batch_norm_eps
        return mean, spread.sqrt().to(like)


def packed(blocks: Any) -> Any:
    """Tokens (1, high x wide, channels) of blocks (1, channels, high, wide)."""
    return blocks.flatten(2).transpose(1, 2)


def unpacked(tokens: Any, high: int, wide: int) -> Any:
    """As `packed`, back."""
    return tokens.transpose(1, 2).unflatten(2, (high, wide))


def places(high: int, wide: int, shown: Sequence[tuple[int, int]]) -> Any:
    """Time, row, column and place in a text of each token: what is made, then what is shown."""
    grids = [(0, high, wide)]
    grids += [(_APART * number, *size) for number, size in enumerate(shown, 1)]
    return torch.cat([
        torch.cartesian_prod(
            torch.tensor([at]), torch.arange(rows), torch.arange(columns), torch.tensor([0])
        )
        for at, rows, columns in grids
    ])  # fmt: skip


def text_places(length: int) -> Any:
    """The same for the tokens of a prompt."""
    return torch.cat([torch.zeros(length, 3, dtype=torch.int64), torch.arange(length)[:, None]], 1)
