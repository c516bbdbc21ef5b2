"""Sizes and bytes of a pipeline that nobody measured, from the configurations in its folder.

The numbers are the largest that were measured with fake tensors on full-size models: UNets 16
(SDXL) to 27 (SD 1.5, SVD, AnimateDiff), transformers 10 (SD3) to 22 (FLUX.2), so that a cold
estimate is too large rather than too small. No torch here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mangen.engines.diffusion import configs, registry

#: numbers a row, place of the latents and channel of its first level that a UNet holds at once
_UNET = 28.0
#: numbers a row, token and unit of width that a transformer holds at once
_TRANSFORMER = 22.0
_WORDS = 512  #: tokens of a prompt that run beside those of the picture
#: class of a VAE -> numbers a pixel that its decoder holds: once for all frames, and for each
_DECODERS: Mapping[str, tuple[float, float]] = {
    "AutoencoderKLLTXVideo": (0.0, 51.0),
    "AutoencoderKLCogVideoX": (22_900.0, 0.0),  # two latent frames at a time
    "AutoencoderKLHunyuanVideo": (20_000.0, 0.0),  # sixteen frames at a time
    "AutoencoderKLWan": (5_200.0, 0.0),  # one latent frame at a time
    "AutoencoderKLTemporalDecoder": (0.0, 1_024.0),
    "AutoencoderKL": (0.0, 768.0),
}
_OTHER_DECODER = (20_000.0, 1_200.0)
#: how the configurations of VAEs name the frames that become one latent
_IN_TIME = ("temporal_compression_ratio", "scale_factor_temporal", "temporal_compression")
_IN_SPACE = ("spatial_compression_ratio", "scale_factor_spatial", "encoder_spatial_compression")


def side(model: registry.Model) -> int:
    """Pixels that a side must be a multiple of."""
    if not _transforms(model):
        return max(8, _scale(model))
    # LTX's pipelines ask for it themselves, whatever their parts are
    return max(32 if model.pipeline.startswith("LTX") else 16, _token(model))


def frames_step(model: registry.Model) -> int:
    """Frames that become one latent, after the first."""
    config = configs.read(model.folder, "vae")
    for name in _IN_TIME:
        if isinstance(config.get(name), int):
            return int(config[name])
    scaling = config.get("spatio_temporal_scaling")
    if isinstance(scaling, list):  # LTX
        return int(2 ** sum(map(bool, scaling)))
    down = config.get("temperal_downsample")  # Wan: its own spelling
    if isinstance(down, list):
        return int(2 ** sum(map(bool, down)))
    return int(math.prod(config.get("temporal_expansions", [1])))  # Mochi


def most_frames(model: registry.Model) -> int:
    """Frames of a clip at most, as far as its folder tells."""
    motion = configs.read(model.folder, "motion_adapter").get("motion_max_seq_length")
    return int(motion) if isinstance(motion, int) else 257


def denoise(model: registry.Model, pixels: int, frames: int, rows: int) -> float:
    """Numbers that one pass of the denoiser holds at once."""
    if not _transforms(model):
        config = configs.read(model.folder, "unet")
        channels = _first(config.get("block_out_channels"), 320)
        return _UNET * channels * rows * frames * pixels / _scale(model) ** 2
    config = configs.read(model.folder, "transformer")
    heads = config.get("num_attention_heads") or config.get("n_heads") or 24
    width = int(_first(heads, 24) * _first(config.get("attention_head_dim"), 128))
    width = int(config.get("inner_dim") or config.get("hidden_size") or config.get("dim") or width)
    apart = config.get("patch_size_t") or (
        config["patch_size"][0] if len(_list(config.get("patch_size"))) == 3 else 1
    )
    latents = math.ceil(((frames - 1) // frames_step(model) + 1) / max(1, int(apart)))
    tokens = latents * pixels / _token(model) ** 2 + _WORDS
    return _TRANSFORMER * width * rows * tokens


def decode(model: registry.Model, pixels: int, frames: int) -> float:
    """Numbers that decoding one picture or clip holds at once."""
    config = configs.read(model.folder, "vae")
    once, each = _DECODERS.get(str(config.get("_class_name", "AutoencoderKL")), _OTHER_DECODER)
    return pixels * max(once, each * frames)


def _transforms(model: registry.Model) -> bool:
    return (model.folder / "transformer").is_dir()


def _token(model: registry.Model) -> int:
    """Pixels of a token's side."""
    config = configs.read(model.folder, "transformer")
    patch = config.get("patch_size", 1)
    patch = int(_list(patch)[-1]) if _list(patch) else int(patch or 1)
    vae = configs.read(model.folder, "vae")
    latent = vae.get("latent_channels") or vae.get("z_dim") or 0
    # some take two by two latents as channels of one token, and don't call it a patch
    blocks = 2 if latent and config.get("in_channels") == 4 * latent else 1
    return _scale(model) * max(1, patch) * blocks


def _scale(model: registry.Model) -> int:
    """Pixels of a latent's side."""
    config = configs.read(model.folder, "vae") or configs.read(model.folder, "vqvae")
    for name in _IN_SPACE:
        if isinstance(config.get(name), int):
            return int(config[name])
    scaling = config.get("spatio_temporal_scaling")
    if isinstance(scaling, list):
        return int(2 ** sum(map(bool, scaling)) * int(config.get("patch_size", 1)))
    levels = _list(config.get("block_out_channels") or config.get("encoder_block_out_channels"))
    return int(2 ** (len(levels) - 1)) if levels else 8


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _first(value: Any, usual: int) -> int:
    listed = _list(value)
    found = listed[0] if listed else value
    return int(found) if isinstance(found, int) else usual
