"""What names work: content keys and seeds, never of numbers or subjects."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from mangen.comic import model
from mangen.engines import protocol


def key_of(*inputs: Any) -> str:
    """The content key of a job: sha256 over canonical JSON, 32 hex characters."""
    text = json.dumps(inputs, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def render_seed(shot: model.Shot) -> int:
    """The seed of this take, of whatever quality: the first take has the shot's own."""
    return (shot.seed + (shot.take - 1) * 0x9E3779B1) & 0x7FFFFFFF


def made_by(engine: protocol.Engine, stage: str, quality: model.Quality) -> list[str]:
    """What of an engine is part of a key: of one with models, the stage's own alone.

    So another model for clips makes no panel anew.
    """
    if quality == model.SKETCHED:
        return [stage, engine.name, engine.signature(stage)]
    return [stage, engine.name, engine.signature(stage, quality), quality]
