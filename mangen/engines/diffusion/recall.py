"""Products that repeat, by way of the pool's feature cache: made once, and signed.

A signature covers all that influences a product. Tensors are kept in host memory: small ones
strewn over a card would strand gigabytes between them.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from mangen.pooling import work


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
    if found is None:
        began = time.monotonic()
        found = make()
        cache.put(kind, signed, found, seconds=time.monotonic() - began, by=by)
    return found
