"""What stages work with: the ledger, the store, engines by dotted path, a scratch folder."""

from __future__ import annotations

import functools
import importlib
import pathlib
from collections.abc import Mapping
from typing import Any

from mangen import errors, settings, storage
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
        self._engines: dict[str, Any] = {}

    def image_engine(self, path: str) -> protocol.Engine:
        """Answer a picture engine by its dotted path, made once a process."""
        if path not in self._engines:
            self._engines[path] = engine_class(path)(self.scratch)
        engine: protocol.Engine = self._engines[path]
        return engine

    def image_engine_of(self, bucket: str) -> protocol.Engine:
        """Answer the engine whose name a bucket begins with."""
        name = bucket.split("/", 1)[0]
        engine = self.image_engine(self.settings.image_engine)
        if engine.name != name:
            raise errors.SettingsError(
                f"this worker draws with {engine.name}, the job wants {name}: "
                "set MANGEN_IMAGE_ENGINE alike on every worker"
            )
        return engine

    @functools.cached_property
    def voice_engine(self) -> cache.Engine:
        """The voice engine of this worker."""
        engine: cache.Engine = engine_class(self.settings.voice_engine)()
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
        for spec in self.image_engine(self.settings.image_engine).models().values():
            if spec.key == model:
                return spec
        for spec in self.voice_models().values():
            if spec.key == model:
                return spec
        return None

    def file_of(self, artifact: jobs.Artifact) -> pathlib.Path:
        """Answer the local file of a stored artifact."""
        return self.store.locate(artifact.path)


def engine_class(path: str) -> Any:
    """Import `module:Class`; raises SettingsError that names what is missing."""
    module, _, name = path.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise errors.SettingsError(
            f"there is no engine {path!r} ({error}): set MANGEN_IMAGE_ENGINE and "
            "MANGEN_VOICE_ENGINE to module:Class"
        ) from error
