"""Which roles a checkpoint can play, by its pipeline and its parts."""

from __future__ import annotations

import re

from mangen.engines.diffusion import checkpoint

_FAMILIES = {
    "i2vgen": ("video",),
    "wan": ("video",),
    "flux_klein": ("image", "anchor", "inpaint"),
}
#: channels that an inpainting UNet takes: the latent's, the mask and the masked picture's
_INPAINT_CHANNELS = 9
#: pipelines that draw from words, over whose parts diffusers has others that change pictures
_CHANGE_TOO = (
    "StableDiffusionPipeline", "StableDiffusion3Pipeline", "FluxPipeline", "QwenImagePipeline",
    "ZImagePipeline", "ChromaPipeline",
)  # fmt: skip
#: what the names of pipelines promise, the first that fits: those of no use here, then the others
_NAMES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"audio|music|sound|speech|acestep|shape|onnx|modular|control|adapter|gligen", ()),
    (r"prior|decod|marigold|variation|example|transfer|video2video|videotovideo|wananimate", ()),
    (r"upsample|hdr|temporalrefine|^(ddim|ddpm|pndm|dit|ldm|karras|score|consistency|repaint)", ()),
    (r"upscale|superres|refiner", ("upscale",)),
    (r"inpaint|fill", ("inpaint",)),
    (r"video|i2v|t2v|animatediff|ltx|mochi|allegro|latte|skyreels|toworld|anyflow", ("video",)),
    (r"ti2v|^wan|helios|easyanimate|consisid|^pia|cosmos.*predict", ("video",)),
    (r"img2img|image2image|i2i|depth2img", ("upscale",)),
    (r"edit|kontext|pix2pix", ("image",)),
)


def of(index: checkpoint.Index, family: str) -> tuple[str, ...]:
    """Answer the roles, as the registry names them; none where it draws nothing that is wanted."""
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
    if pipeline in _CHANGE_TOO:
        return ("image", "anchor", "inpaint", "upscale")
    name = pipeline.lower()
    return next((roles for words, roles in _NAMES if re.search(words, name)), ("image", "anchor"))
