"""Record what the engine's own stages allocate at full size, for test_replay.py to replay.

Run by hand where the gpu extra is installed (a CPU is enough, about two minutes), after a change of
what a family's model does in a pass or in decoding:

    .venv/bin/python tests/engines/diffusion/record_streams.py

The models are built at full size of fake tensors, which have shapes and no data, and given to the
families' own loaded models: what is recorded is mangen's `predict` and its decoding, around the
networks. Names are FAMILY.STAGE/WIDTHxHEIGHT[xFRAMES]/MEMBERS[/DTYPE]; decoding a clip has the
frames that are decoded at once for members.
"""

from __future__ import annotations

import functools
import gzip
import json
import pathlib
import sys
import tempfile
import types
from collections.abc import Iterable, Iterator
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
for _folder in (HERE, HERE.parents[1] / "streams", HERE.parents[2]):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))

import full_size  # noqa: E402 - see below
import numpy as np  # noqa: E402 - found by the path above, as those below
import record  # noqa: E402 - see above
import torch  # noqa: E402 - see above
from torch._subclasses import fake_tensor  # noqa: E402 - see above

from mangen.engines.diffusion import (  # noqa: E402 - see above
    chunks,
    continuous,
    family,
    i2vgen,
    i2vgen_model,
    loading,
    sdxl_model,
    vae,
)
from mangen.pooling.devices import profile  # noqa: E402 - see above


def sdxl(root: pathlib.Path) -> Iterator[tuple[str, list[int]]]:
    pipe = types.SimpleNamespace(
        unet=record.build("sdxl.unet", torch.float16), vae=record.build("sdxl.vae", torch.float16),
        text_encoder=None, text_encoder_2=None, tokenizer=None, tokenizer_2=None,
        image_encoder=None, config={}, scheduler=loading.diffusers().EulerDiscreteScheduler(),
    )  # fmt: skip
    loaded = sdxl_model.SdxlModel(full_size.sdxl(root), pipe)
    for (width, height), counts in full_size.SDXL.items():
        task, shape = full_size.picture(width, height), (1, 4, height // 8, width // 8)
        for members in counts:
            batch = [_member(task, shape, hidden=(1, 77, 2048), pooled=(1, 1280), sizes=(1, 6))
                     for _ in range(members)]  # fmt: skip
            yield (
                f"sdxl.predict/{width}x{height}/{members}",
                record.record(pipe.unet, _held(batch), lambda batch=batch: loaded.predict(batch)),
            )
    for dtype in ("float32", "float16"):
        module = record.build("sdxl.vae", getattr(torch, dtype))
        yield from decoding("sdxl", vae.Vae(module), module, full_size.SDXL, dtype)


def decoding(
    name: str, coder: vae.Vae, module: Any, sizes: Iterable[tuple[int, int]], dtype: str
) -> Iterator[tuple[str, list[int]]]:
    """One picture, as the engine decodes and encodes them."""
    for width, height in sizes:
        place = f"{width}x{height}/1/{dtype}"
        latents = torch.randn(1, 4, height // 8, width // 8, dtype=torch.float16)
        yield (
            f"{name}.decode/{place}",
            record.record(module, [latents], lambda held=latents: coder.decode(held)),
        )
        pixels = torch.zeros(1, 3, height, width)
        yield (
            f"{name}.encode/{place}",
            record.record(module, [pixels], functools.partial(_encode, coder, pixels)),
        )


def _encode(coder: vae.Vae, pixels: Any) -> Any:
    """Encode what is on the device already: a picture's way there is the host's."""
    kept = torch.from_numpy
    torch.from_numpy = lambda _picture: pixels[0].permute(1, 2, 0)
    try:
        high, wide = pixels.shape[-2:]
        return coder.encode(np.zeros((high, wide, 3), np.uint8), high, wide)
    finally:
        torch.from_numpy = kept


def i2v(root: pathlib.Path) -> Iterator[tuple[str, list[int]]]:
    model = full_size.i2vgen(root)
    pipe = types.SimpleNamespace(
        unet=record.build("i2vgenxl.unet", torch.float16),
        vae=record.build("i2vgenxl.vae", torch.float16),
        text_encoder=torch.nn.Module(), tokenizer=None,
        scheduler=loading.diffusers().DDIMScheduler(),
    )  # fmt: skip
    loaded = i2vgen_model.I2vGenModel(model, pipe)
    for (width, height), counts in full_size.I2V.items():
        task, shape = (
            full_size.clip(width, height),
            (1, 4, full_size.FRAMES, height // 8, width // 8),
        )
        for members in counts:
            batch = [_member(task, shape, hidden=(1, 77, 1024), image=(1, 1, 1024))
                     for _ in range(members)]  # fmt: skip
            yield (
                f"i2vgen.predict/{width}x{height}x{full_size.FRAMES}/{members}",
                record.record(pipe.unet, _held(batch), lambda batch=batch: loaded.predict(batch)),
            )
        latents = torch.randn(*shape, dtype=torch.float16)
        for size in sorted({1, i2vgen.chunk(model, task), full_size.FRAMES}):
            yield (
                f"i2vgen.decode/{width}x{height}x{full_size.FRAMES}/{size}",
                record.record(
                    pipe.vae, [latents],
                    lambda held=latents, n=size: chunks.decode(loaded._vae.decode, held, n),
                ),
            )  # fmt: skip


def _member(task: family.Task, shape: tuple[int, ...], **row: tuple[int, ...]) -> Any:
    """A member in the middle of its steps, with and without its prompt, as guidance has it."""
    return continuous.Member(
        key="k", task=task, timesteps=[500.0], generator=None, guidance=5.0,
        scheduler=types.SimpleNamespace(scale_model_input=lambda latents, _time: latents / 1.5),
        latents=torch.randn(*shape, dtype=torch.float16),
        extra=torch.randn(*shape, dtype=torch.float16) if task.role == "video" else None,
        rows=tuple(
            {name: torch.randn(*one, dtype=torch.float16) for name, one in row.items()}
            for _ in range(2)
        ),
    )  # fmt: skip


def _held(batch: Iterable[Any]) -> list[torch.Tensor]:
    """What members keep between their steps: no pass makes it."""
    rows = [one for member in batch for row in member.rows for one in row.values()]
    own = [one for member in batch for one in (member.latents, member.extra)]
    return [*rows, *(one for one in own if one is not None)]


def everything() -> dict[str, list[int]]:
    """All streams by name.

    What leaves for the host, by `numpy`, has no data here; and fake modules, which can't be moved,
    are built as they are wanted.
    """
    fake_tensor.FakeTensor.numpy = lambda self: np.zeros(self.shape, np.float32)
    torch.nn.Module.to = lambda self, *_where, **_how: self
    with tempfile.TemporaryDirectory() as root, torch.no_grad(), fake_tensor.FakeTensorMode():
        place = pathlib.Path(root)
        return dict([*sdxl(place), *i2v(place)])


def write(streams: dict[str, list[int]]) -> None:
    text = json.dumps(dict(sorted(streams.items())), separators=(",", ":"))
    full_size.FILE.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    recorded = everything()
    for name, events in recorded.items():
        print(f"{name:36} {len(events):6} events {profile.highest(events) / 2**20:9.1f} MiB")
    write(recorded)
