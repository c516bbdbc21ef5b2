"""First frames to latents and latents to clips, by Wan's VAE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from mangen.engines.diffusion import framing

if TYPE_CHECKING:
    from mangen.engines.diffusion import family, guard


class WanVae:
    """A loaded AutoencoderKLWan. It decodes the frames of a clip one after another by itself."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self.scale = int(module.config.scale_factor_spatial)
        self.pace = int(module.config.scale_factor_temporal)
        self.channels = int(module.config.z_dim)

    @property
    def safe(self) -> bool:
        """Whether it can't overflow where single precision does not: bfloat16 reaches as far."""
        return bool(self._module.dtype in (torch.float32, torch.bfloat16))

    def encode(self, picture: family.Image, high: int, wide: int) -> Any:
        """The likeliest latents (1, channels, 1, ...) of a picture cut to that size, as floats."""
        cut = torch.from_numpy(framing.crop(picture, high, wide).astype(np.float32) / 127.5 - 1)
        pixels = cut.permute(2, 0, 1)[None, :, None].to(self._module.device, self._module.dtype)
        found = self._module.encode(pixels).latent_dist.mode().float()
        mean, deviation = self._normal(found)
        return (found - mean) / deviation

    def decode(self, latents: Any) -> guard.Floats:
        """Frames (n, height, width, 3) in 0..1 of latents (1, channels, f, ...)."""
        latents = latents.to(self._module.device, self._module.dtype)
        mean, deviation = self._normal(latents)
        made = self._module.decode(latents * deviation + mean, return_dict=False)[0]
        # to the host before anything is made of it: a clip's numbers are many
        frames = made[0].permute(1, 2, 3, 0).cpu().float()
        found: guard.Floats = frames.div_(2).add_(0.5).clamp_(0, 1).numpy()
        return found

    def decode_safely(self, latents: Any) -> guard.Floats:
        """As `decode`, in single precision for this once, and in tiles: it has twice the bytes."""
        before = self._module.dtype
        try:
            self._module.to(torch.float32)
            self._module.enable_tiling()
            return self.decode(latents)
        finally:
            self._module.disable_tiling()
            self._module.to(before)

    def _normal(self, like: Any) -> tuple[Any, Any]:
        """Mean and deviation of the latents by channel."""
        config = self._module.config
        mean, deviation = (
            torch.tensor(numbers).view(1, -1, 1, 1, 1).to(like)
            for numbers in (config.latents_mean, config.latents_std)
        )
        return mean, deviation
