"""What leads from a product back to how it was made: versions, seed, key, the cache's part."""

from __future__ import annotations

import collections
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

import mangen
from mangen.comic import look
from mangen.comic.stages import kit, stage
from mangen.ledger import jobs
from mangen.pooling import models, work


class Watched:
    """The child's Runtime, whose cache is counted while a session runs."""

    def __init__(self, rt: work.Runtime) -> None:
        self._rt = rt
        self.owner, self.device, self.kind = rt.owner, rt.device, rt.kind
        self.counts: collections.Counter[str] = collections.Counter()
        self.cache: work.FeatureCache = _Counted(rt.cache, self.counts)

    def use(self, spec: models.ModelSpec) -> AbstractContextManager[Any]:
        return self._rt.use(spec)

    def progress(self, key: work.Key, done: int, of: int) -> None:
        self._rt.progress(key, done, of)


class _Counted:
    def __init__(self, features: work.FeatureCache, counts: collections.Counter[str]) -> None:
        self._features, self._counts = features, counts

    def get(self, kind: str, signature: str) -> Any | None:
        found = self._features.get(kind, signature)
        self._counts["misses" if found is None else "hits"] += 1
        return found

    def put(
        self, kind: str, signature: str, value: Any, *, seconds: float, by: work.Key | None = None
    ) -> None:
        self._features.put(kind, signature, value, seconds=seconds, by=by)


def trace(
    job: jobs.Job, made: stage.Made, versions: Mapping[str, str], cache: Mapping[str, int]
) -> Mapping[str, Any]:
    """What an attempt's row keeps. `cache` counts what its whole session asked for until now."""
    return {
        "key": job.key,
        "seed": job.params.get("seed"),
        "model": job.model,
        **versions,
        "cache": dict(cache),
        **made.value,
    }


def versions(tools: kit.Kit, bucket: str, model: str) -> dict[str, str]:
    """Who made it: mangen's version, the engine's name and version, the model's version.

    A model that tells no version of its own has its engine's.
    """
    name = bucket.split("/", 1)[0]
    voice = tools.voice_engine
    found = voice if name == voice.name else tools.makers.find(name)
    if found is None:  # a stage that mangen does itself
        rules = {"planner": look.PLANNER_VERSION} if name == "storyboard" else {}
        return {"mangen": mangen.__version__, **rules}
    spec = tools.spec(model)
    return {
        "mangen": mangen.__version__,
        "engine": name,
        "engine_version": found.version,
        "model_version": spec.version if spec is not None and spec.version else found.version,
    }
