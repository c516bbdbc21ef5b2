"""Record what full-size stages allocate and free, for the simulated cards to replay.

Run by hand, in an environment of its own (a CPU build of torch is enough, about a minute):

    python3 -m venv /tmp/rec
    /tmp/rec/bin/pip install torch==2.13.0 diffusers==0.42.1 transformers==5.24.0 accelerate
    /tmp/rec/bin/python tests/streams/record.py mangen/pooling/devices/profiles/streams.bin

The models are built at full size of fake tensors, which have shapes and no data. Each storage that
appears is an allocation, each that dies a free. Weights and inputs are outside of a stream; the
weights of each component are a stream of their own, `weights/COMPONENT`, in fp16.
Sizes in names are WIDTHxHEIGHT[xFRAMES]; the last number is the members of the batch.
Running it twice gives the same bytes. `profile.Streams` reads the file.
"""

from __future__ import annotations

import array
import gc
import json
import pathlib
import sys
import weakref
import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from diffusers import AutoencoderKL, I2VGenXLUNet, UNet2DConditionModel
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten
from transformers import (
    CLIPTextConfig,
    CLIPTextModel,
    CLIPTextModelWithProjection,
    CLIPVisionConfig,
    CLIPVisionModelWithProjection,
)

#: one UNet pass with classifier-free guidance takes every member twice
GUIDED = 2

# The published config.json of stabilityai/stable-diffusion-xl-base-1.0 and ali-vilab/i2vgen-xl.
SDXL_UNET = {
    "sample_size": 128,
    "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
    "up_block_types": ("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
    "block_out_channels": (320, 640, 1280),
    "cross_attention_dim": 2048,
    "transformer_layers_per_block": [1, 2, 10],
    "attention_head_dim": [5, 10, 20],
    "use_linear_projection": True,
    "addition_embed_type": "text_time",
    "addition_time_embed_dim": 256,
    "projection_class_embeddings_input_dim": 2816,
}
I2V_UNET = {
    "sample_size": 32,
    "block_out_channels": (320, 640, 1280, 1280),
    "cross_attention_dim": 1024,
    "num_attention_heads": 64,
}
VAE = {
    "down_block_types": ("DownEncoderBlock2D",) * 4,
    "up_block_types": ("UpDecoderBlock2D",) * 4,
    "block_out_channels": (128, 256, 512, 512),
    "layers_per_block": 2,
}


def text(kind: Any, hidden: int, layers: int, projection: int, act: str) -> Any:
    """A CLIP text encoder; the feed-forward is four times as wide, heads are 64 wide."""
    return kind(
        CLIPTextConfig(
            hidden_size=hidden,
            intermediate_size=4 * hidden,
            num_hidden_layers=layers,
            num_attention_heads=hidden // 64,
            projection_dim=projection,
            hidden_act=act,
        )
    )


def vision() -> Any:
    """ViT-H/14, the image encoder of I2VGen-XL."""
    return CLIPVisionModelWithProjection(
        CLIPVisionConfig(
            hidden_size=1280,
            intermediate_size=5120,
            num_hidden_layers=32,
            num_attention_heads=16,
            projection_dim=1024,
            patch_size=14,
            hidden_act="gelu",
        )
    )


COMPONENTS: dict[str, Callable[[], Any]] = {
    "sdxl.vae": lambda: AutoencoderKL(**VAE),
    "sdxl.text_encoder": lambda: text(CLIPTextModel, 768, 12, 768, "quick_gelu"),
    "sdxl.text_encoder_2": lambda: text(CLIPTextModelWithProjection, 1280, 32, 1280, "gelu"),
    "sdxl.unet": lambda: UNet2DConditionModel(**SDXL_UNET),
    "i2vgenxl.vae": lambda: AutoencoderKL(**VAE),
    "i2vgenxl.text_encoder": lambda: text(CLIPTextModel, 1024, 24, 512, "gelu"),
    "i2vgenxl.image_encoder": vision,
    "i2vgenxl.unet": lambda: I2VGenXLUNet(**I2V_UNET),
}


class Watch(TorchDispatchMode):
    """Note storages as they appear and die, as `record` says."""

    def __init__(self, outside: Iterable[torch.Tensor]) -> None:
        super().__init__()
        self.events: list[int] = []
        self._born = 0
        self._outside = {tensor.untyped_storage()._cdata for tensor in outside}
        self._live: dict[int, weakref.ref[Any]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        answer = func(*args, **(kwargs or {}))
        for leaf in tree_flatten(answer)[0]:
            if isinstance(leaf, torch.Tensor):
                self._note(leaf.untyped_storage())
        return answer

    def _note(self, storage: Any) -> None:
        key = storage._cdata
        if key in self._outside or key in self._live or not storage.nbytes():
            return
        born = self._born
        self._born += 1
        self.events.append(storage.nbytes())

        def died(_: object) -> None:
            self._live.pop(key, None)
            self.events.append(born - self._born)  # -1: the youngest

        self._live[key] = weakref.ref(storage, died)


def record(module: Any, inputs: Sequence[torch.Tensor], call: Callable[[], Any]) -> list[int]:
    """Bytes for an allocation; -k frees the k-th youngest of all allocations so far."""
    watch = Watch([*module.parameters(), *module.buffers(), *inputs])
    gc.collect()
    gc.disable()
    with watch:
        answer = call()
    del answer
    gc.enable()
    if sum(event > 0 for event in watch.events) * 2 != len(watch.events):
        raise RuntimeError("something outlives the pass: the stream would leak")
    return watch.events


def build(name: str, dtype: torch.dtype) -> Any:
    torch.set_default_dtype(dtype)
    module = COMPONENTS[name]().eval()
    torch.set_default_dtype(torch.float32)
    return module


def sdxl(module: Any, width: int, height: int, members: int) -> list[int]:
    n = GUIDED * members
    latent = torch.randn(n, 4, height // 8, width // 8, dtype=torch.float16)
    words = torch.randn(n, 77, 2048, dtype=torch.float16)
    added = {
        "text_embeds": torch.randn(n, 1280, dtype=torch.float16),
        "time_ids": torch.randn(n, 6, dtype=torch.float16),
    }
    time = torch.tensor(500)
    return record(
        module,
        [latent, words, time, *added.values()],
        lambda: module(
            latent, time, encoder_hidden_states=words, added_cond_kwargs=added, return_dict=False
        ),
    )


def i2v(module: Any, width: int, height: int, frames: int, members: int) -> list[int]:
    n = GUIDED * members
    shape = (n, 4, frames, height // 8, width // 8)
    latent, image = (torch.randn(*shape, dtype=torch.float16) for _ in range(2))
    words = torch.randn(n, 77, 1024, dtype=torch.float16)
    seen = torch.randn(n, 1, 1024, dtype=torch.float16)
    time, fps = torch.tensor(500), torch.full((n,), 16)
    return record(
        module,
        [latent, image, words, seen, time, fps],
        lambda: module(
            latent,
            time,
            fps=fps,
            image_latents=image,
            image_embeddings=seen,
            encoder_hidden_states=words,
            return_dict=False,
        ),
    )


def decode(module: Any, width: int, height: int, members: int, dtype: torch.dtype) -> list[int]:
    latent = torch.randn(members, 4, height // 8, width // 8, dtype=dtype)
    return record(module, [latent], lambda: module.decode(latent, return_dict=False))


def encode(module: Any, width: int, height: int, members: int) -> list[int]:
    pixels = torch.randn(members, 3, height, width, dtype=torch.float16)
    return record(module, [pixels], lambda: module.encode(pixels, return_dict=False))


def encode_text(module: Any, members: int) -> list[int]:
    words = torch.zeros(GUIDED * members, 77, dtype=torch.int64)
    return record(module, [words], lambda: module(words, output_hidden_states=True))


def everything() -> dict[str, list[int]]:
    streams: dict[str, list[int]] = {}
    for name in COMPONENTS:
        module = build(name, torch.float16)
        streams[f"weights/{name}"] = [p.untyped_storage().nbytes() for p in module.parameters()]
        if "text" in name:
            for members in (1, 2, 4):
                streams[f"{name}/{members}"] = encode_text(module, members)
    unet, vae = build("sdxl.unet", torch.float16), build("sdxl.vae", torch.float32)
    for width, height in ((512, 768), (768, 512), (1024, 1024)):
        for members in (1, 2, 4):
            place = f"{width}x{height}/{members}"
            streams[f"sdxl.unet/{place}"] = sdxl(unet, width, height, members)
            streams[f"sdxl.vae/{place}"] = decode(vae, width, height, members, torch.float32)
    unet, vae = build("i2vgenxl.unet", torch.float16), build("i2vgenxl.vae", torch.float16)
    eye = build("i2vgenxl.image_encoder", torch.float16)
    pixels = torch.randn(1, 3, 224, 224, dtype=torch.float16)
    streams["i2vgenxl.image_encoder/1"] = record(eye, [pixels], lambda: eye(pixels))
    for width, height in ((512, 512), (512, 768), (704, 1280)):
        for members in (1, 2) if height < 1280 else (1,):
            place = f"{width}x{height}x16/{members}"
            streams[f"i2vgenxl.unet/{place}"] = i2v(unet, width, height, 16, members)
        place = f"{width}x{height}/1"
        streams[f"i2vgenxl.vae/{place}"] = decode(vae, width, height, 1, torch.float16)
        streams[f"i2vgenxl.vae_encode/{place}"] = encode(vae, width, height, 1)
    return streams


def write(path: pathlib.Path, streams: dict[str, list[int]]) -> None:
    """A line of JSON, {name: [offset, bytes]}; then for each zlib over little-endian int64."""
    index, packed = {}, b""
    for name, events in sorted(streams.items()):
        numbers = array.array("q", events)
        if sys.byteorder == "big":
            numbers.byteswap()
        one = zlib.compress(numbers.tobytes(), 9)
        index[name] = [len(packed), len(one)]
        packed += one
    path.write_bytes(json.dumps(index).encode() + b"\n" + packed)


if __name__ == "__main__":
    with FakeTensorMode(), torch.no_grad():
        recorded = everything()
    for name, events in recorded.items():
        live = peak = 0
        born: list[int] = []
        for event in events:
            live += event if event > 0 else -born[event]
            peak = max(peak, live)
            if event > 0:
                born.append(event)
        print(f"{name:36} {len(events):6} events {peak / 2**20:9.1f} MiB")
    write(pathlib.Path(sys.argv[1]), recorded)
