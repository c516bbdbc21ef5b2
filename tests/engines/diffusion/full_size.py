"""The full-size models whose streams were recorded, as families see them, and a card for them.

No torch here: what families tell of bytes is asked without it.
"""

from __future__ import annotations

import functools
import gzip
import json
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from mangen.engines.diffusion import family, registry
from mangen.engines.diffusion import i2vgen as clips
from mangen.pooling.devices import profile

FILE = pathlib.Path(__file__).with_name("full_size_streams.json.gz")
CARD = "full"  #: the kind of the simulated card
FRAMES = 16
#: width and height: members whose passes were recorded
SDXL = {(512, 768): (1, 2, 4, 8), (1024, 1024): (1, 2, 4, 8)}
I2V = {(512, 512): (1, 2, 4), (704, 1280): (1, 2)}

#: recorded tensor by tensor in half precision; SDXL's VAE runs in single precision
WEIGHTS = {
    "sdxl": ["sdxl.vae", "sdxl.vae", "sdxl.text_encoder", "sdxl.text_encoder_2", "sdxl.unet"],
    "i2vgen": ["i2vgenxl.vae", "i2vgenxl.text_encoder", "i2vgenxl.unet"],
}


@functools.cache
def streams() -> dict[str, list[int]]:
    """What record_streams.py wrote."""
    found: dict[str, list[int]] = json.loads(gzip.decompress(FILE.read_bytes()))
    return found


def sdxl(root: pathlib.Path, *, force_upcast: bool = True) -> registry.Model:
    """SDXL in half precision; `force_upcast`: its VAE runs in single precision.

    Its folder holds what the family reads of a checkpoint to know bytes over the weights.
    """
    folder = root / f"sdxl-{force_upcast}"
    (folder / "vae").mkdir(parents=True, exist_ok=True)
    (folder / "vae" / "config.json").write_text(json.dumps({"force_upcast": force_upcast}))
    return registry.Model(name="sdxl", family="sdxl", folder=folder, dtype="float16")


def i2vgen(folder: pathlib.Path) -> registry.Model:
    """I2VGen-XL in half precision; bytes over its weights are the same for a tiny one's folder."""
    return registry.Model(name="i2vgen", family="i2vgen", folder=folder, dtype="float16")


def picture(width: int, height: int) -> family.Task:
    return family.Task(role="image", prompt="a", width=width, height=height)


def clip(width: int, height: int, frames: int = FRAMES) -> family.Task:
    """A clip whose first frame is encoded already."""
    return family.Task(
        role="video", prompt="a", width=width, height=height, frames=frames,
        encoded={"first_latent": np.zeros(1), "image_embedding": np.zeros(1)},
    )  # fmt: skip


def card(folder: pathlib.Path, *, total: int = 22 * 2**30) -> profile.Profile:
    """Register a card that runs the recorded passes, of the engine's own choice of chunks."""
    stages = {}
    for (width, height), counts in SDXL.items():
        size = f"{width}x{height}"
        stages[f"sdxl.predict/{size}"] = _stage(f"sdxl.predict/{size}", _plain(counts))
        stages[f"sdxl.decode/{size}"] = _stage(f"sdxl.decode/{size}", {1: "1/float32"})
    for (width, height), counts in I2V.items():
        size = f"{width}x{height}x{FRAMES}"
        stages[f"i2vgen.predict/{size}"] = _stage(f"i2vgen.predict/{size}", _plain(counts))
        chunk = clips.chunk(i2vgen(folder), clip(width, height))
        stages[f"i2vgen.decode/{size}"] = _stage(f"i2vgen.decode/{size}", {1: str(chunk)})
    models = {
        name: {"weights": parts, "load_s": 45.0, "source": "the bundled card's"}
        for name, parts in WEIGHTS.items()
    }
    data = {"total": total, "context": 450 * 2**20, "source": "the bundled card's",
            "models": models, "stages": stages}  # fmt: skip
    return profile.register(str(folder), CARD, data)


def _stage(name: str, counts: Mapping[int, str]) -> dict[str, Any]:
    """A stage from the recordings NAME/ENDING, by its members."""
    recorded = {str(count): [streams()[f"{name}/{end}"]] for count, end in counts.items()}
    return {"step_s": 0.1, "peak": profile.highest(recorded["1"][0]), "streams": recorded,
            "source": "record_streams.py"}  # fmt: skip


def _plain(counts: tuple[int, ...]) -> dict[int, str]:
    return {count: str(count) for count in counts}
