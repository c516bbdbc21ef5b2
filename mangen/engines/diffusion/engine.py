"""The diffusion engine: the registry's models behind the stages of pictures and clips.

This module is light: planning asks it for specs, buckets and bytes, and torch is loaded when a
model is.
"""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from mangen import errors
from mangen.engines import protocol
from mangen.engines.diffusion import players, shapes
from mangen.pooling import models, work

if TYPE_CHECKING:
    from mangen.engines.diffusion import run

#: raised when this engine makes something else of the same request and model: prompts, sizes
RULES = "1"


class Diffusion:
    """Implements protocol.Engine over the models of `home`; clips are made below `scratch`.

    Without registered models it runs no stage: `models` is empty, all else raises ModelError.
    """

    name = "diffusion"
    references = True

    def __init__(self, scratch: pathlib.Path, home: pathlib.Path) -> None:
        self._scratch = scratch
        self._players = players.Players(home)

    @property
    def version(self) -> str:
        """Of the rules, and of every model that plays a role."""
        found = self._players.version()
        return f"{RULES}-{found}" if found else RULES

    def models(self) -> Mapping[str, models.ModelSpec]:
        return self._players.specs()

    def signature(self, stage: str, quality: protocol.Quality = "final") -> str:
        """Of the rules, the model behind a stage, and how that was told to run."""
        return f"{RULES}-{self._players.signature(stage, quality)}"

    def bucket(self, request: protocol.Request) -> str:
        """diffusion/STAGE/QUALITY/KEY, where the key is the family's, and names the model.

        Anchors and panels are both `picture`: what one model draws of one size shares batches.
        """
        player = self._player(request)
        key = player.family.bucket(player.model, shapes.sketch(player, request))
        return f"{self.name}/{players.word(player.stage)}/{player.quality}/{key}"

    def peak(self, request: protocol.Request, members: int) -> int:
        player = self._player(request)
        sketch = shapes.sketch(player, request)
        tasks = members * shapes.at_once(player, request)
        return player.family.peak(player.model, sketch, tasks)

    def cap(self, request: protocol.Request) -> int:
        """The family's own, in requests: one may take several tasks at once."""
        player = self._player(request)
        tasks = player.family.cap(player.model, shapes.sketch(player, request))
        return max(1, tasks // shapes.at_once(player, request))

    def open(self, bucket: str, rt: work.Runtime) -> run.Run:
        """Open a batch; raises ModelError where the bucket's model is not registered any more.

        EngineMissing: what models run with is not installed here.
        """
        name, word, quality, key = [*bucket.split("/", 3), "", "", "", ""][:4]
        stages = players.stages(word)
        if name != self.name or not stages or quality not in ("preview", "final"):
            raise errors.EngineError(f"{bucket!r} is no bucket of the diffusion engine")
        made = cast("protocol.Quality", quality)
        playing = {stage: self._players.named(stage, made, key) for stage in stages}
        try:
            import diffusers  # noqa: F401, PLC0415 - models are loaded with it, steps from now

            from mangen.engines.diffusion import run  # noqa: PLC0415 - for children alone

            return run.Run(playing, key, rt, self._scratch)
        except ImportError as error:
            raise errors.EngineMissing(
                f"models can't be run here, as {error.name or 'torch'} is not installed ({error}): "
                "`python3 manage.py --gpu up` installs it"
            ) from error

    def _player(self, request: protocol.Request) -> players.Player:
        return self._players.of(players.STAGES[type(request)], request.quality)
