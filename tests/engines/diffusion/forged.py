"""Checkpoints without values: headers as the real ones', and holes where the tensors would be."""

from __future__ import annotations

import json
import math
import struct

from mangen.engines.diffusion import weights

#: component -> library, class, config, and its tensors by shape; parameters of the real SDXL
SDXL = {
    "scheduler": ("diffusers", "EulerDiscreteScheduler", {}, {}),
    "text_encoder": ("transformers", "CLIPTextModel", {}, {"one": (123_060_480,)}),
    "text_encoder_2": (
        "transformers", "CLIPTextModelWithProjection", {}, {"one": (694_659_840,)},
    ),
    "tokenizer": ("transformers", "CLIPTokenizer", {}, {}),
    "tokenizer_2": ("transformers", "CLIPTokenizer", {}, {}),
    "unet": (
        "diffusers", "UNet2DConditionModel", {"in_channels": 4}, {"one": (2_567_463_684,)},
    ),
    "vae": ("diffusers", "AutoencoderKL", {"force_upcast": True}, {"one": (83_653_863,)}),
}  # fmt: skip

#: parameters and configurations of the real FLUX.2-klein-4B
KLEIN = {
    "scheduler": ("diffusers", "FlowMatchEulerDiscreteScheduler", {}, {}),
    "text_encoder": (
        "transformers", "Qwen3ForCausalLM", {"num_hidden_layers": 36, "hidden_size": 2560},
        {"model.embed_tokens.weight": (151_936, 2_560), "model.norm.weight": (2_560,),
         **{f"model.layers.{number}.all": (100_930_816,) for number in range(36)}},
    ),
    "tokenizer": ("transformers", "Qwen2TokenizerFast", {}, {}),
    "transformer": (
        "diffusers", "Flux2Transformer2DModel",
        {"num_attention_heads": 24, "attention_head_dim": 128},
        {"blocks.weight": (3_875_544_576 // 3072, 3072)},
    ),
    "vae": ("diffusers", "AutoencoderKLFlux2", {}, {"one": (84_046_115,)}),
}  # fmt: skip
I2VGEN = {
    "scheduler": ("diffusers", "DDIMScheduler", {}, {}),
    "image_encoder": ("transformers", "CLIPVisionModelWithProjection", {}, {"one": (4, 4)}),
    "feature_extractor": ("transformers", "CLIPImageProcessor", {}, {}),
    "text_encoder": ("transformers", "CLIPTextModel", {}, {"one": (4, 4)}),
    "tokenizer": ("transformers", "CLIPTokenizer", {}, {}),
    "unet": ("diffusers", "I2VGenXLUNet", {"in_channels": 4}, {"one.weight": (1_420_000_000, 1)}),
    "vae": ("diffusers", "AutoencoderKL", {}, {"decoder.one": (4, 4)}),
}  # fmt: skip
WAN = {
    "scheduler": ("diffusers", "UniPCMultistepScheduler", {}, {}),
    "text_encoder": ("transformers", "UMT5EncoderModel", {}, {"one": (5_680_000_000,)}),
    "tokenizer": ("transformers", "T5TokenizerFast", {}, {}),
    "transformer": (
        "diffusers", "WanTransformer3DModel", {"patch_size": [1, 2, 2]},
        {"one.weight": (5_000_000_000, 1)},
    ),
    "vae": ("diffusers", "AutoencoderKLWan",
            {"scale_factor_spatial": 16, "scale_factor_temporal": 4}, {"one": (4, 4)}),
}  # fmt: skip
PIXART = {
    "scheduler": ("diffusers", "DPMSolverMultistepScheduler", {}, {}),
    "text_encoder": ("transformers", "T5EncoderModel", {}, {"one": (4_762_310_656,)}),
    "tokenizer": ("transformers", "T5Tokenizer", {}, {}),
    "transformer": (
        "diffusers", "PixArtTransformer2DModel",
        {"num_attention_heads": 16, "attention_head_dim": 72, "in_channels": 4, "patch_size": 2},
        {"one.weight": (610_000_000, 1)},
    ),
    "vae": ("diffusers", "AutoencoderKL",
            {"block_out_channels": [128, 256, 512, 512], "latent_channels": 4},
            {"one": (83_653_863,)}),
}  # fmt: skip
#: family -> its pipeline's class, its parts, and what model_index.json says besides
FAMILIES = {
    "sdxl": ("StableDiffusionXLPipeline", SDXL, {}),
    "flux_klein": ("Flux2KleinPipeline", KLEIN, {"is_distilled": True}),
    "i2vgen": ("I2VGenXLPipeline", I2VGEN, {}),
    "wan": ("WanImageToVideoPipeline", WAN, {"expand_timesteps": True}),
    "generic": ("PixArtSigmaPipeline", PIXART, {}),
}


def small(parts):
    """The same with four numbers a tensor: for what reads every byte."""
    return {
        name: (*one[:3], {tensor: (4, 1)[: len(shape)] for tensor, shape in one[3].items()})
        for name, one in parts.items()
    }  # fmt: skip


SMALL = small(SDXL)


def safetensors(path, tensors, dtype="F16", *, cut=0):
    """Write a file whose header is true and whose data is a hole; `cut` bytes are lost."""
    header, at = {}, 0
    for name, shape in tensors.items():
        size = math.prod(shape) * weights.WIDTHS[dtype]
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + at - cut)


def checkpoint(
    folder, parts=None, dtype="F16", pipeline="StableDiffusionXLPipeline", suffix="", **options
):
    """Write a whole folder; answers it."""
    parts = parts or SDXL
    index = {"_class_name": pipeline, "_diffusers_version": "0.42.1", "image_encoder": [None, None],
             **options}  # fmt: skip
    for name, (library, kind, config, tensors) in parts.items():
        index[name] = [library, kind]
        place = folder / name
        place.mkdir(parents=True)
        named = "scheduler_config.json" if "Scheduler" in kind else "config.json"
        (place / named).write_text(json.dumps(config))
        stem = "model" if library == "transformers" else "diffusion_pytorch_model"
        if tensors:
            safetensors(place / f"{stem}{suffix}.safetensors", tensors, dtype)
    (folder / "model_index.json").write_text(json.dumps(index))
    return folder


def sharded(place, stem="diffusion_pytorch_model", shards=3):
    """Cut a component's only file into shards of one tensor each, with their index."""
    whole = place / f"{stem}.safetensors"
    whole.unlink()
    names = [f"{stem}-{n:05}-of-{shards:05}.safetensors" for n in range(1, shards + 1)]
    for number, name in enumerate(names):
        safetensors(place / name, {f"part.{number}": (10,)})
    index = {"metadata": {}, "weight_map": {f"part.{n}": name for n, name in enumerate(names)}}
    (place / f"{stem}.safetensors.index.json").write_text(json.dumps(index))
    return names
