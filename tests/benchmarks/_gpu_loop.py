"""The loops that people write by hand with diffusers: the models stay, or are loaded for each task.

Run as a program of its own, which has the card to itself:

    python _gpu_loop.py JOB

JOB is JSON: folder, full, batches {kind: [sizes]}, tasks (loads for each), seconds (it ends after
so many). Its last line is JSON: for each kind seconds of a load, of a batch by its size, and of a
task that loads its model.
"""

from __future__ import annotations

import gc
import json
import pathlib
import statistics
import sys
import time
from collections.abc import Sequence
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
for _folder in (HERE.parents[1], HERE):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))

import _gpu_work  # noqa: E402 - a program's import, after its path
import numpy as np  # noqa: E402 - as above
import torch  # noqa: E402 - as above
from PIL import Image  # noqa: E402 - as above

from mangen.engines.diffusion import loading  # noqa: E402 - as above

_ROOMY = 40 * 2**30  #: bytes of a card that decodes a batch of pictures at once
_ROUNDS = 3  #: of which the median counts


class Loop:
    """A kind's model in this process, as a script would hold it."""

    def __init__(self, bench: _gpu_work.Bench, kind: _gpu_work.Kind, place: str) -> None:
        self._kind, self._place = kind, place
        self._dtype = getattr(torch, bench.dtype)
        began = time.monotonic()
        library = loading.diffusers()
        name = "I2VGenXLPipeline" if kind.role == "video" else "StableDiffusionXLPipeline"
        more = {} if kind.role == "video" else {"add_watermarker": False}
        self._pipe = getattr(library, name).from_pretrained(
            bench.folder / _gpu_work.FOLDERS[kind.model], dtype=self._dtype,
            local_files_only=True, use_safetensors=True, **more,
        ).to(place)  # fmt: skip
        self._pipe.set_progress_bar_config(disable=True)
        if place == "cuda" and torch.cuda.mem_get_info()[1] < _ROOMY:
            self._pipe.vae.enable_slicing()  # as anyone would, whose batches don't fit decoded
        settle(place)
        self.load_s = time.monotonic() - began

    def run(self, numbers: Sequence[int], steps: int = 0) -> Any:
        """Draw these as one batch: (n, frames, height, width, 3) in 0..1."""
        kind = self._kind
        noise = torch.cat([self._noise(number) for number in numbers])
        shared = {
            "height": kind.height, "width": kind.width, "latents": noise, "output_type": "np",
            "num_inference_steps": steps or kind.steps,
            "guidance_scale": _gpu_work.GUIDANCE[kind.role],
        }  # fmt: skip
        words = [_gpu_work.prompt(number) for number in numbers]
        if kind.role == "image":
            return self._pipe(prompt=words, **shared).images[:, None]
        pictures = [Image.fromarray(_gpu_work.first_frame(kind, number)) for number in numbers]
        return self._pipe(
            image=pictures, num_frames=kind.frames, target_fps=_gpu_work.FPS,
            prompt_embeds=self._hidden(words),
            negative_prompt_embeds=self._hidden([""] * len(words)),
            decode_chunk_size=kind.frames // 4, **shared,
        ).frames  # fmt: skip

    def _noise(self, number: int) -> Any:
        """The same for one seed on every device; the pipeline scales it."""
        kind = self._kind
        shape = [1, 4, kind.height // 8, kind.width // 8]
        if kind.role == "video":
            shape.insert(2, kind.frames)
        drawn = torch.randn(shape, generator=torch.Generator().manual_seed(number))
        return drawn.to(self._place, self._dtype)

    def _hidden(self, words: Sequence[str]) -> Any:
        """What the pipeline itself would make of words, were it not for transformers 5.6."""
        ids = self._pipe.tokenizer(
            list(words), padding="max_length", max_length=77, truncation=True, return_tensors="pt"
        ).input_ids.to(self._place)
        encoder = self._pipe.text_encoder
        with torch.no_grad():
            states = encoder(ids, output_hidden_states=True).hidden_states[-2]
            return getattr(encoder, "text_model", encoder).final_layer_norm(states)


def settle(place: str) -> None:
    """Wait for the card: what is timed must have happened."""
    if place == "cuda":
        torch.cuda.synchronize()


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Run all of it, or as much as its seconds allow; answers what was measured by kind."""
    until = time.monotonic() + job["seconds"]
    bench = _gpu_work.Bench(folder=pathlib.Path(job["folder"]), full=job["full"])
    place = "cuda" if torch.cuda.is_available() else "cpu"
    if not bench.full:
        torch.set_num_threads(1)
    found: dict[str, Any] = {}
    for name, sizes in job["batches"].items():
        if found and time.monotonic() > until:
            break
        found[name] = _measured(
            bench, bench.kinds[name], sizes, tasks=job["tasks"], until=until, place=place
        )
    return found


def _measured(
    bench: _gpu_work.Bench, kind: _gpu_work.Kind, sizes: Sequence[int], *, tasks: int,
    until: float, place: str,
) -> dict[str, Any]:  # fmt: skip
    loop = Loop(bench, kind, place)
    loads, seconds = [loop.load_s], {}
    for size in sorted(set(sizes)):
        if seconds and time.monotonic() > until:
            break
        loop.run(range(size), steps=2)  # kernels are chosen, memory is taken
        seconds[str(size)] = statistics.median(_timed(loop, size, place) for _ in range(_ROUNDS))
    keep(bench, kind.name, loop.run([0]))
    del loop
    whole: list[float] = []
    for number in range(tasks):
        if whole and time.monotonic() > until:
            break
        clear(place)
        began = time.monotonic()
        again = Loop(bench, kind, place)
        again.run([number])
        settle(place)
        whole.append(time.monotonic() - began)
        loads.append(again.load_s)
        del again
    clear(place)
    return {
        "load_s": statistics.median(loads), "batch_s": seconds,
        "task_s": statistics.median(whole) if whole else None,
    }  # fmt: skip


def _timed(loop: Loop, size: int, place: str) -> float:
    began = time.monotonic()
    loop.run(range(size))
    settle(place)
    return time.monotonic() - began


def clear(place: str) -> None:
    gc.collect()
    if place == "cuda":
        torch.cuda.empty_cache()


def keep(bench: _gpu_work.Bench, name: str, made: Any) -> None:
    for number, frames in enumerate(made):
        picture = (np.clip(np.asarray(frames), 0, 1) * 255).round().astype(np.uint8)
        np.save(bench.out / f"loop-{name}-{number}.npy", picture)


def likeliest() -> None:
    """Let a first frame have its likeliest latent, as mangen does, not one of the process' dice."""
    loading.diffusers()
    from diffusers.models.autoencoders import vae  # noqa: PLC0415 - after it was told to be quiet

    vae.DiagonalGaussianDistribution.sample = vae.DiagonalGaussianDistribution.mode


if __name__ == "__main__":
    likeliest()
    print(json.dumps(measure(json.loads(sys.argv[1]))))
