"""The engines of a deployment: by short name, by dotted path, and by the name they give themselves.

Importing an engine is light: what it draws with is loaded in the child that draws.
"""

from __future__ import annotations

import contextlib
import importlib
import pathlib
from collections.abc import Mapping
from typing import Any

from mangen import errors, settings
from mangen.engines import protocol
from mangen.pooling import models

SKETCH = "animatic"  #: draws cards and camera moves of every project, and all of an animatic
MODELS = "diffusion"
#: short names, which stand wherever a dotted path does
ENGINES: Mapping[str, str] = {
    SKETCH: "mangen.engines.animatic.engine:Animatic",
    MODELS: "mangen.engines.diffusion.engine:Diffusion",
}


class Makers:
    """Engines for pictures, each made at its first use."""

    def __init__(self, chosen: settings.Settings, scratch: pathlib.Path | None = None) -> None:
        """`scratch` is where they may write."""
        self.chosen, self._own = chosen, chosen.image_engine
        self._scratch = scratch or chosen.root / "scratch"
        self._made: dict[str, protocol.Engine] = {}

    def at(self, path: str) -> protocol.Engine:
        """Answer the engine of a short name or dotted path; raises SettingsError for none."""
        path = ENGINES.get(path, path)
        if path not in self._made:
            self._made[path] = engine_class(path)(self._scratch, self.chosen.root)
        return self._made[path]

    def named(self, name: str) -> protocol.Engine:
        """Answer the engine that calls itself so: the deployment's own, or one of mangen's."""
        found = self.find(name)
        if found is not None:
            return found
        own = self.at(self._own)
        raise errors.SettingsError(
            f"this worker draws with {own.name}, the job wants {name}: "
            "set MANGEN_IMAGE_ENGINE alike on every worker"
        )

    def find(self, name: str) -> protocol.Engine | None:
        """Answer the engine that calls itself so; None where there is none here."""
        own = self.at(self._own)
        if own.name == name:
            return own
        return self.at(name) if name in ENGINES else None

    def painter(self) -> protocol.Engine:
        """Answer what draws with models here."""
        own = self.at(self._own)
        return own if own.name != SKETCH else self.at(MODELS)

    def spec(self, model: str) -> models.ModelSpec | None:
        """Answer the model of this name, where an engine that is here has it.

        Models whose folders are gone or broken are nobody's, and hold up no other one's work.
        """
        for path in (self._own, *ENGINES):
            asked = self.at(path).models()
            for stage in asked:
                with contextlib.suppress(errors.ModelError):
                    if asked[stage].key == model:
                        return asked[stage]
        return None


def engine_class(path: str) -> Any:
    """Import a short name or `module:Class`; raises SettingsError that names what is missing."""
    module, _, name = ENGINES.get(path, path).partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise errors.SettingsError(
            f"there is no engine {path!r} ({error}): write {', '.join(ENGINES)} or module:Class "
            "(--engine, MANGEN_IMAGE_ENGINE), and for voices module:Class (MANGEN_VOICE_ENGINE)"
        ) from error
