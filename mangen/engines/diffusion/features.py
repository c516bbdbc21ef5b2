"""What keeps a character the same, as JSON: the features of its anchor, where they are small."""

from __future__ import annotations

import base64
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mangen.engines import protocol
from mangen.engines.diffusion import family

if TYPE_CHECKING:
    from mangen.engines.diffusion import registry

ENGINE = "diffusion"
#: larger ones are made again from the anchor's picture, through the feature cache
MOST_BYTES = 64 << 10
_DTYPES = ("float32", "float16")


def told(model: registry.Model, made: Mapping[str, Any]) -> dict[str, Any]:
    """Features as a JSON object; `made` is what a family answered for an anchor."""
    found: dict[str, Any] = {"engine": ENGINE, "model": model.digest[:12], "adapter": stem(model)}
    arrays = [np.ascontiguousarray(one) for one in made.values()]
    if len(arrays) == 1 and arrays[0].nbytes <= MOST_BYTES and str(arrays[0].dtype) in _DTYPES:
        found["array"] = {
            "dtype": str(arrays[0].dtype),
            "shape": list(arrays[0].shape),
            "data": base64.b64encode(arrays[0].tobytes()).decode(),
        }
    return found


def array(model: registry.Model, known: Mapping[str, Any]) -> Any:
    """The array that `told` wrote, where this very model can use it; else None."""
    kept = known.get("array")
    if known.get("engine") != ENGINE or not isinstance(kept, Mapping):
        return None
    if (known.get("model"), known.get("adapter")) != (model.digest[:12], stem(model)):
        return None
    try:
        dtype, shape = str(kept["dtype"]), tuple(int(side) for side in kept["shape"])
        data = base64.b64decode(kept["data"], validate=True)
        return np.frombuffer(data, dtype).reshape(shape).copy() if dtype in _DTYPES else None
    except (KeyError, TypeError, ValueError):
        return None  # damaged: the picture says the same


def cast(
    model: registry.Model, figures: Sequence[protocol.Figure]
) -> tuple[family.CharacterFeatures, ...]:
    """Who is in a shot, left to right; whoever has neither features nor a picture is left out."""
    shown = []
    for number, one in enumerate(figures):
        kept = array(model, one.features)
        if kept is None and one.reference is None:
            continue
        shown.append(
            family.CharacterFeatures(
                name=one.sheet.name, features=kept, picture=one.reference,
                region=region(number, len(figures)),
            )
        )  # fmt: skip
    return tuple(shown)


def region(number: int, of: int) -> family.Region | None:
    """Where in the picture the one of that number stands: a share of its width; one is all over."""
    return None if of == 1 else (number / of, 0.0, (number + 1) / of, 1.0)


def stem(model: registry.Model) -> str:
    return pathlib.Path(model.adapter).stem if model.adapter else ""
