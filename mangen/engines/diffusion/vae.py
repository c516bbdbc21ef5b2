"""Pictures to latents and back, one at a time, in the precision that is safe for this VAE."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from PIL import Image

from mangen.engines.diffusion import mosaic, slices

if TYPE_CHECKING:
    from mangen.engines.diffusion import family


class Vae:
    """A loaded AutoencoderKL. Encoding takes the distribution's mode: one picture, one latent.

    A `tile`, width and height in pixels, is what passes at once; None is the whole picture.
    """

    def __init__(self, module: Any) -> None:
        self._module = module
        self.scale = 2 ** (len(module.config.block_out_channels) - 1)
        self.channels = int(module.config.latent_channels)

    @property
    def safe(self) -> bool:
        """Whether it runs in single precision already."""
        return bool(self._module.dtype == torch.float32)

    def encode(
        self,
        picture: family.Image,
        high: int,
        wide: int,
        hidden: Any = None,
        *,
        tile: slices.Tile | None = None,
    ) -> Any:
        """Latents of a picture, brought to a size; `hidden` is 1 where it is left out."""
        pixels = torch.from_numpy(resized(picture, high, wide).astype(np.float32) / 127.5 - 1)
        pixels = pixels.permute(2, 0, 1)[None].to(self._module.device)
        if hidden is not None:
            pixels = pixels * (hidden.to(pixels) < 0.5)
        if tile is None:
            return self._outward(self._encoded(pixels))
        found = mosaic.made(
            self._encoded, pixels, self._latents(tile), overlap=self._overlap,
            units=(self.scale, 1),
        )  # fmt: skip
        return self._outward(found.to(self._module.device, self._module.dtype))

    def encode_safely(self, picture: family.Image, high: int, wide: int, **more: Any) -> Any:
        """As `encode`, in single precision for this once."""
        with self._single():
            return self.encode(picture, high, wide, **more)

    def decode(self, latents: Any, tile: slices.Tile | None = None) -> Any:
        """Frames (n, height, width, 3) in 0..1 of latents (n, channels, ...), as numpy floats."""
        latents = self._inward(latents.to(self._module.device, self._module.dtype))
        if tile is None:
            made = self._decoded(latents)
        else:
            made = mosaic.made(
                self._decoded, latents, self._latents(tile), overlap=self._overlap,
                units=(1, self.scale),
            )  # fmt: skip
        return made.float().cpu().permute(0, 2, 3, 1).numpy()

    def decode_safely(self, latents: Any, tile: slices.Tile | None = None) -> Any:
        """As `decode`, in single precision for this once."""
        with self._single():
            return self.decode(latents, tile)

    @contextlib.contextmanager
    def _single(self) -> Iterator[None]:
        before = self._module.dtype
        try:
            self._module.to(torch.float32)
            yield
        finally:
            self._module.to(before)

    @property
    def _overlap(self) -> int:
        return int(slices.OVERLAP // self.scale)

    def _latents(self, tile: slices.Tile) -> tuple[int, int]:
        wide, high = tile
        return -(-high // self.scale), -(-wide // self.scale)

    def _encoded(self, pixels: Any) -> Any:
        return self._module.encode(pixels.to(self._module.dtype)).latent_dist.mode()

    def _decoded(self, latents: Any) -> Any:
        return (self._module.decode(latents, return_dict=False)[0] / 2 + 0.5).clamp(0, 1)

    def _outward(self, found: Any) -> Any:
        """What a denoiser works on, of the module's own latents; `_inward` is the way back."""
        mean, deviation = self._normal(found)
        return (found - mean) * self._module.config.scaling_factor / deviation

    def _inward(self, latents: Any) -> Any:
        mean, deviation = self._normal(latents)
        return latents * deviation / self._module.config.scaling_factor + mean

    def _normal(self, like: Any) -> tuple[Any, Any]:
        """Mean and deviation of the latents, where the model knows them by channel."""
        config = self._module.config
        if config.get("latents_mean") is None or config.get("latents_std") is None:
            return 0.0, 1.0
        mean, deviation = (
            torch.tensor(config[name]).view(1, -1, 1, 1).to(like)
            for name in ("latents_mean", "latents_std")
        )
        return mean, deviation


def resized(picture: Any, high: int, wide: int) -> Any:
    """A picture or a mask at this size, itself where it has it."""
    if picture.shape[:2] == (high, wide):
        return picture
    return np.asarray(Image.fromarray(picture).resize((wide, high), Image.Resampling.LANCZOS))
