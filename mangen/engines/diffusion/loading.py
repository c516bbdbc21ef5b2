"""From a folder to components in memory: the place, the precision, no network, no stray output.

This module loads torch, so only a child imports it, and only when a model is wanted.
"""

from __future__ import annotations

import functools
import os
import pathlib
from typing import TYPE_CHECKING, Any

import torch

from mangen import errors
from mangen.engines.diffusion import float8
from mangen.pooling.devices import device

if TYPE_CHECKING:
    from mangen.engines.diffusion import registry


def place() -> str:
    """Where this process computes.

    A child that owns a card has begun CUDA before it loads a model; any other process would take
    memory from somebody's card.
    """
    return "cuda" if torch.cuda.is_initialized() else "cpu"


def dtype(name: str) -> torch.dtype:
    found: torch.dtype = getattr(torch, name)
    return found


@functools.cache
def diffusers() -> Any:
    """The library, kept from the network and from drawing bars of its own."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import diffusers as library  # noqa: PLC0415 - it reads the environment when it is imported
    import transformers  # noqa: PLC0415 - as above

    for each in (library, transformers):
        each.utils.logging.set_verbosity_error()
        each.utils.logging.disable_progress_bar()
    return library


def pipeline(model: registry.Model, kind: str = "DiffusionPipeline", **more: Any) -> Any:
    """Load a model's folder into host memory; raises EngineError that names the folder."""
    library = diffusers()
    folder = pathlib.Path(model.folder)
    try:
        found = getattr(library, kind).from_pretrained(
            str(folder), dtype=dtype(model.dtype), local_files_only=True,
            use_safetensors=True, variant=model.variant or None, **more,
        )  # fmt: skip
    except (OSError, ValueError, RuntimeError, KeyError, AttributeError) as error:
        if device.out_of_memory(error):
            raise
        raise errors.EngineError(
            f"the model {model.name} in {folder} can't be loaded: {error}; "
            f"`manage.py models list` says whether the folder is whole"
        ) from error
    found.set_progress_bar_config(disable=True)
    if model.quantise:
        for name, part in found.components.items():
            if part is not None and float8.denoises(name):
                float8.keep(part, dtype(model.dtype))
    return found
