"""Denoisers kept in 8-bit floats: each layer is brought to the model's precision while it runs.

Half the bytes of half precision, for previews: pictures differ a little. No torch here but in
`keep`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from typing import Any

NAME = "float8"
#: behind the precision that a model computes in
MARK = f"+{NAME}"
#: layers that stay as they are: few bytes, and much depends on them. It holds what diffusers leaves
#: out of any of its models, so that bytes can be told without asking the model's class.
_KEPT = (
    "emb", "norm", "adaln", "modulation", "patch", "final_layer", "pooler", "img_in", "audio_proj",
    "process_conv", "time_proj", "ln_out", "motion_synthesis", "^proj_in$", "^proj$", "^proj_out$",
)  # fmt: skip


def denoises(component: str) -> bool:
    """Whether a pipeline's component is one that runs at every step, by its name."""
    return component.startswith(("unet", "transformer"))


def numbers(shapes: Mapping[str, Collection[int]]) -> int:
    """How many of a denoiser's numbers become 8-bit floats; `shapes` are those of its tensors."""
    total = 0
    for name, shape in shapes.items():
        layer = name.rpartition(".")[0]
        many = len(shapes.get(f"{layer}.weight", ())) > 1
        if many and name.endswith((".weight", ".bias")) and not _skipped(layer):
            total += math.prod(shape)
    return total


def keep(denoiser: Any, dtype: Any) -> None:
    """Store a loaded denoiser so; `dtype` is torch's, of what its layers compute in."""
    import torch  # noqa: PLC0415 - only a child has loaded a model

    denoiser.enable_layerwise_casting(
        storage_dtype=torch.float8_e4m3fn, compute_dtype=dtype, skip_modules_pattern=_KEPT
    )


def _skipped(layer: str) -> bool:
    """Whether a layer or what it lies in is left as it is."""
    parts = layer.split(".")
    above = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
    return any(re.search(pattern, path) for path in above for pattern in _KEPT)
