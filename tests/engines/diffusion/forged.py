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

#: the same with four numbers a component: for what reads every byte
SMALL = {name: (*one[:3], dict.fromkeys(one[3], (4,))) for name, one in SDXL.items()}


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


def checkpoint(folder, parts=None, dtype="F16", pipeline="StableDiffusionXLPipeline", suffix=""):
    """Write a whole folder; answers it."""
    parts = parts or SDXL
    index = {"_class_name": pipeline, "_diffusers_version": "0.42.1", "image_encoder": [None, None]}
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
