"""Products that repeat, by way of the pool's feature cache: made once, and signed.

A signature covers all that influences a product. Tensors are kept in host memory: small ones
strewn over a card would strand gigabytes between them.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mangen.pooling import work

if TYPE_CHECKING:
    from mangen.engines.diffusion import registry
    from mangen.pooling import models


def signature(*parts: Any) -> str:
    """Sign JSON values and arrays."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            total.update(f"{part.dtype}{part.shape}".encode())
            total.update(np.ascontiguousarray(part).tobytes())
        else:
            total.update(json.dumps(part, sort_keys=True, ensure_ascii=False).encode())
        total.update(b"\x1f")
    return total.hexdigest()


def product(
    cache: work.FeatureCache, kind: str, signed: str, make: Callable[[], Any], *, by: work.Key
) -> Any:
    """Answer the product of that signature, made for the member `by` where nobody made it yet."""
    found = cache.get(kind, signed)
    return _kept(cache, kind, signed, make, by=by) if found is None else found


def words(
    model: registry.Model,
    reader: str,
    text: str,
    rt: work.Runtime,
    spec: models.ModelSpec,
    *,
    by: work.Key,
) -> Any:
    """Answer a prompt as `spec`'s text encoder reads it, which is loaded only where nobody asked.

    `reader` names the encoder's kind. Its loading is not counted among what a hit saves.
    """
    signed = signature(
        reader, model.digest or model.outline or str(model.folder), model.dtype, text
    )
    found = rt.cache.get("text", signed)
    if found is None:
        with rt.use(spec) as loaded:
            found = _kept(rt.cache, "text", signed, lambda: loaded.encode(text), by=by)
    return found


def _kept(
    cache: work.FeatureCache, kind: str, signed: str, make: Callable[[], Any], *, by: work.Key
) -> Any:
    began = time.monotonic()
    made = make()
    cache.put(kind, signed, made, seconds=time.monotonic() - began, by=by)
    return made
