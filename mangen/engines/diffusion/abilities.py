"""Which roles a checkpoint can play, by its pipeline and its parts."""

from __future__ import annotations

from mangen.engines.diffusion import checkpoint

_FAMILIES = {
    "i2vgen": ("video",),
    "wan": ("video",),
    "flux_klein": ("image", "anchor", "inpaint"),
}
#: channels that an inpainting UNet takes: the latent's, the mask and the masked picture's
_INPAINT_CHANNELS = 9


def of(index: checkpoint.Index, family: str) -> tuple[str, ...]:
    """Answer the roles, as the registry names them."""
    if family == "sdxl":
        return _of_sdxl(index)
    return _FAMILIES.get(family) or _by_name(index.pipeline)


def _of_sdxl(index: checkpoint.Index) -> tuple[str, ...]:
    unet = index.components.get("unet")
    if unet is not None and unet.config.get("in_channels") == _INPAINT_CHANNELS:
        return ("inpaint",)
    if "text_encoder" not in index.components:  # the refiner has the second encoder alone
        return ("upscale",)
    return ("image", "anchor", "inpaint", "upscale")


def _by_name(pipeline: str) -> tuple[str, ...]:
    """What the name of an unknown pipeline's class promises."""
    name = pipeline.lower()
    if "upscale" in name:
        return ("upscale",)
    if "inpaint" in name:
        return ("inpaint",)
    if any(word in name for word in ("video", "i2v", "t2v", "cogvideo", "ltx", "animatediff")):
        return ("video",)
    return ("image", "anchor")
