"""Configurations in a model's folder, as they are asked before it is loaded. No torch here."""

from __future__ import annotations

import functools
import json
import pathlib
from collections.abc import Mapping
from typing import Any


def read(folder: pathlib.Path, part: str) -> Mapping[str, Any]:
    """Read a part's configuration: `vae`, say, or `model_index.json` for the whole.

    Nothing where it can't be read: loading the model will say what is missing.
    """
    file = folder / part
    if not part.endswith(".json"):
        named = "scheduler_config.json" if part == "scheduler" else "config.json"
        file = file / named
    try:
        return _read(file, file.stat().st_mtime_ns)
    except (OSError, ValueError):
        return {}


@functools.lru_cache(maxsize=256)
def _read(file: pathlib.Path, _changed: int) -> Mapping[str, Any]:
    found = json.loads(file.read_text("utf-8"))
    return found if isinstance(found, dict) else {}
