"""Who plays: the model and the family behind each stage, read again when the registry changes.

No torch here: this is asked by processes that plan, for every shot.
"""

from __future__ import annotations

import dataclasses
import hashlib
import pathlib
from collections.abc import Iterator, Mapping

from mangen import errors
from mangen.engines import protocol
from mangen.engines.diffusion import estimate, family, registry
from mangen.pooling import models

#: stage -> the role whose player runs it
ROLES: Mapping[str, str] = {
    "anchor": "anchor",
    "illustrate": "image",
    "repaint": "inpaint",
    "outpaint": "inpaint",
    "upscale": "upscale",
    "encode": "video",
    "animate": "video",
}
STAGES: Mapping[type[protocol.Request], str] = {
    protocol.AnchorRequest: "anchor",
    protocol.PanelRequest: "illustrate",
    protocol.ClipRequest: "animate",
    protocol.EncodeRequest: "encode",
    protocol.RepaintRequest: "repaint",
    protocol.UpscaleRequest: "upscale",
    protocol.OutpaintRequest: "outpaint",
}
#: stages whose work shares batches where one model plays them, and the word of their buckets
_SHARED: Mapping[str, str] = {"anchor": "picture", "illustrate": "picture"}
ADD = "`manage.py models add NAME FOLDER`"


def word(stage: str) -> str:
    """What stands for a stage in buckets."""
    return _SHARED.get(stage, stage)


def stages(word: str) -> tuple[str, ...]:
    """The stages that a bucket's word stands for; none where it is no such word."""
    return tuple(stage for stage in ROLES if _SHARED.get(stage, stage) == word)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Player:
    """A stage's model in one quality. `own`: it makes previews and nothing else of the stage."""

    stage: str
    quality: protocol.Quality
    model: registry.Model
    family: family.Family
    own: bool = False

    @property
    def role(self) -> str:
        """What the family is asked for."""
        return "encode" if self.stage == "encode" else ROLES[self.stage]

    def spec(self) -> models.ModelSpec:
        return self.family.spec(self.model, self.role)


class Specs(Mapping[str, models.ModelSpec]):
    """Each player's spec, read from its folder when it is asked for.

    A model whose folder is gone raises ModelError for its own stages alone.
    """

    def __init__(self, playing: Mapping[str, Player]) -> None:
        self._playing = playing
        self._read: dict[str, models.ModelSpec] = {}

    def __getitem__(self, stage: str) -> models.ModelSpec:
        if stage not in self._read:
            self._read[stage] = self._playing[stage].spec()
        return self._read[stage]

    def __contains__(self, stage: object) -> bool:
        return stage in self._playing

    def __iter__(self) -> Iterator[str]:
        return iter(self._playing)

    def __len__(self) -> int:
        return len(self._playing)


class Players:
    """The players of one home. Cheap to ask: a look at the file's time."""

    def __init__(self, home: pathlib.Path) -> None:
        self._registry = registry.Registry(home)
        self._stamp: tuple[int, ...] | None = None
        self._book = registry.Book()
        self._specs: Mapping[str, models.ModelSpec] | None = None

    def specs(self) -> Mapping[str, models.ModelSpec]:
        """A spec for each stage that somebody plays; `illustrate:preview` as in Engine.models."""
        self._refresh()
        if self._specs is None:
            self._specs = Specs(
                {
                    player.stage + (registry.PREVIEW if player.own else ""): player
                    for player in self._all()
                }
            )
        return self._specs

    def version(self) -> str:
        """Changes with every model that plays, and with how it was told to run."""
        self._refresh()
        if not self._book.parts():
            return ""
        total = hashlib.sha256()
        for part, name in sorted(self._book.parts().items()):
            total.update(f"{part} {self._model(part, name).mark}\n".encode())
        return total.hexdigest()[:12]

    def signature(self, stage: str, quality: protocol.Quality) -> str:
        """Changes with a stage's model, and with how that was told to run."""
        return self.of(stage, quality).model.mark

    def of(self, stage: str, quality: protocol.Quality) -> Player:
        """Who runs a stage; raises ModelError where nobody does."""
        self._refresh()
        role = ROLES[stage]
        parts = self._book.parts()
        own = quality == "preview" and role + registry.PREVIEW in parts
        part = role + registry.PREVIEW if own else role
        if part not in parts:
            raise errors.ModelError(
                f"no model plays the role {role}, which {stage} needs: {ADD} adds one, and "
                "`manage.py models list` shows those there are"
            )
        model = self._model(part, parts[part])
        player = Player(
            stage=stage, quality=quality, model=model, family=estimate.family_of(model), own=own
        )
        if stage == "encode" and not player.family.staged:
            raise errors.ModelError(
                f"{model.name} encodes the first frame itself: there is no stage of it to run"
            )
        return player

    def named(self, stage: str, quality: protocol.Quality, key: str) -> Player:
        """Who runs a bucket: the model that its key names, whoever plays the role by now.

        Raises ModelError where that model is gone, or was added anew from other files or to run
        otherwise: what it makes now is not what this work's key promises.
        """
        self._refresh()
        name, mark = family.model_of(key)
        model = self._book.models.get(name)
        if model is None or model.mark != mark:
            now = "is no longer registered" if model is None else "was added anew otherwise"
            raise errors.ModelError(
                f"this work is for the model {name} ({mark}), which {now}: add it again as it was "
                f"by `manage.py models add {name} FOLDER`, or submit the project again, which "
                "plans with the models of now"
            )
        return Player(
            stage=stage, quality=quality, model=model, family=estimate.family_of(model),
            own=name == self._book.previews.get(ROLES[stage]),
        )  # fmt: skip

    def _all(self) -> list[Player]:
        found = []
        for stage, role in ROLES.items():
            for part in (role, role + registry.PREVIEW):
                if part not in self._book.parts():
                    continue
                quality: protocol.Quality = "final" if part == role else "preview"
                if stage == "encode" and not self._family(part).staged:
                    continue
                found.append(self.of(stage, quality))
        return found

    def _family(self, part: str) -> family.Family:
        return estimate.family_of(self._model(part, self._book.parts()[part]))

    def _model(self, part: str, name: str) -> registry.Model:
        if name not in self._book.models:
            raise errors.ModelError(
                f"the role {part} names the model {name!r}, which is not registered: "
                f"`manage.py models add {name} FOLDER --role {part}`"
            )
        return self._book.models[name]

    def _refresh(self) -> None:
        try:
            found = self._registry.file.stat()
            stamp: tuple[int, ...] = (found.st_mtime_ns, found.st_size, found.st_ino)
        except OSError:
            stamp = ()
        if stamp != self._stamp:
            self._book, self._specs = self._registry.read(), None
            self._stamp = stamp
