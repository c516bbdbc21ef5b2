"""What stages work with: the ledger, the store, engines, a scratch folder."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Mapping

from mangen import settings, storage
from mangen.comic import makers
from mangen.comic.stages import scratch
from mangen.engines import protocol
from mangen.engines.voice import cache
from mangen.ledger import jobs, ledger
from mangen.pooling import models


class Kit:
    """The tools of one child process."""

    def __init__(self, chosen: settings.Settings, book: ledger.Ledger) -> None:
        self.settings, self.ledger = chosen, book
        self.store = storage.Store(chosen.artifact_root)
        self._lock, self.scratch = scratch.make(chosen.root / "scratch")
        self.makers = makers.Makers(chosen, self.scratch)

    def image_engine_of(self, bucket: str) -> protocol.Engine:
        """Answer the engine whose name a bucket begins with."""
        return self.makers.named(bucket.split("/", 1)[0])

    @functools.cached_property
    def voice_engine(self) -> cache.Engine:
        """The voice engine of this worker."""
        engine: cache.Engine = makers.engine_class(self.settings.voice_engine)()
        return engine

    @functools.cached_property
    def voices(self) -> cache.Cached:
        """The voice engine behind its cache, which processes and restarts share."""
        return cache.Cached(self.voice_engine, self.settings.root / "cache" / "voice")

    def voice_models(self) -> Mapping[str, models.ModelSpec]:
        """Answer the models a voice engine wants resident, by role; none for a light one."""
        wanted = getattr(self.voice_engine, "models", None)
        return wanted() if wanted is not None else {}

    def spec(self, model: str) -> models.ModelSpec | None:
        """Answer the model of this name, if an engine of this worker has it."""
        if not model:  # work that needs none
            return None
        for spec in self.voice_models().values():
            if spec.key == model:
                return spec
        return self.makers.spec(model)

    def file_of(self, artifact: jobs.Artifact) -> pathlib.Path:
        """Answer the local file of a stored artifact."""
        return self.store.locate(artifact.path)
