"""Make the benchmark's models: full-size ones with random weights on a card, else the tiny ones.

Run as a program of its own, so that the benchmark's own process never loads torch:

    python _gpu_models.py FOLDER [--full]

Its last line is JSON: the device, its bytes, torch's version, the seconds that it took.
"""

from __future__ import annotations

import json
import pathlib
import sys
import time
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
for _folder in (HERE.parents[1], HERE.parent / "streams"):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))

import torch  # noqa: E402 - a program's import, after its path

from mangen.engines.diffusion import loading, tiny, tiny_words  # noqa: E402 - as above

#: what `models tiny` makes, in the folders that are named alike here
NAMES = ("sdxl", "i2vgen_xl")


def make(folder: pathlib.Path, *, full: bool) -> None:
    """Write both models; at full size random numbers stand where the weights would."""
    if not full:
        for name in NAMES:
            tiny.make(name, folder / name)
        return
    loading.diffusers()  # without bars, without a network
    torch.manual_seed(0)
    _sdxl().save_pretrained(folder / "sdxl")
    _i2vgen().save_pretrained(folder / "i2vgen_xl")


def _sdxl() -> Any:
    import diffusers  # noqa: PLC0415 - after it was told to be quiet

    first, second = tiny_words.clip(), tiny_words.clip(pad="!")
    return diffusers.StableDiffusionXLPipeline(
        vae=_built("sdxl.vae", scaling_factor=0.13025, force_upcast=True),
        text_encoder=_speaking(_built("sdxl.text_encoder"), first), tokenizer=first,
        text_encoder_2=_speaking(_built("sdxl.text_encoder_2"), second), tokenizer_2=second,
        unet=_built("sdxl.unet"), add_watermarker=False,
        scheduler=diffusers.EulerDiscreteScheduler(
            beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear",
            timestep_spacing="leading", steps_offset=1,
        ),
    )  # fmt: skip


def _i2vgen() -> Any:
    import diffusers  # noqa: PLC0415 - as above
    import transformers  # noqa: PLC0415 - as above

    words = tiny_words.clip(pad="!")
    return diffusers.I2VGenXLPipeline(
        vae=_built("i2vgenxl.vae", scaling_factor=0.18215, force_upcast=False),
        text_encoder=_speaking(_built("i2vgenxl.text_encoder"), words), tokenizer=words,
        image_encoder=_built("i2vgenxl.image_encoder"),
        feature_extractor=transformers.CLIPImageProcessor(
            size={"shortest_edge": 224}, crop_size={"height": 224, "width": 224}
        ),
        unet=_built("i2vgenxl.unet"),
        scheduler=diffusers.DDIMScheduler(
            beta_schedule="squaredcos_cap_v2", clip_sample=False, steps_offset=1,
            prediction_type="v_prediction", rescale_betas_zero_snr=True,
            timestep_spacing="leading",
        ),
    )  # fmt: skip


def _built(name: str, **settings: Any) -> Any:
    """A full-size component in half precision, its random weights drawn on the card itself."""
    import record  # noqa: PLC0415 - the published configurations; it loads torch and diffusers

    with torch.device(loading.place()):
        module = record.build(name, torch.float16)
    if settings:
        module.register_to_config(**settings)
    return module


def _speaking(encoder: Any, words: Any) -> Any:
    """An encoder that knows the few words of the tiny tokenizer by their numbers."""
    for name in ("bos_token_id", "eos_token_id", "pad_token_id"):
        setattr(encoder.config, name, getattr(words, name))
    return encoder


def main(argv: list[str]) -> int:
    began = time.monotonic()
    cuda = torch.cuda.is_available()
    if cuda:
        torch.cuda.init()
    make(pathlib.Path(argv[0]), full="--full" in argv)
    said = {
        "device": torch.cuda.get_device_name(0) if cuda else "cpu",
        "total": torch.cuda.mem_get_info(0)[1] if cuda else 0,
        "torch": torch.__version__,
        "make_s": round(time.monotonic() - began, 2),
    }
    print(json.dumps(said))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
