"""The registry of models: `models.json` under home names the folder behind each role.

The file is written whole or not at all, under a lock; reading needs none. No torch here.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import hashlib
import json
import os
import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mangen import errors
from mangen.engines.diffusion import checkpoint, float8, weights

FILE = "models.json"
ROLES = ("image", "anchor", "inpaint", "upscale", "video")
PREVIEW = ":preview"  #: behind a role: who plays it where a quick look is enough
_FORMAT = 1
#: it stands in buckets, keys of the cache and reports
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What a person allows a model at most; 0 leaves it to the family and the device."""

    pixels: int = 0
    frames: int = 0
    batch: int = 0
    card: int = 0  #: bytes of the smallest card that runs it


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """A checked folder under a name. None and empty text leave a choice to the family.

    `roles` are those it can play; which it does play stands in `Book.roles`.
    """

    name: str
    folder: pathlib.Path
    family: str
    pipeline: str = ""  #: the class in model_index.json
    dtype: str = "float16"  #: what it runs in, as torch names it
    roles: tuple[str, ...] = ()
    licence: str = ""  #: as its folder tells it; empty: it tells nothing
    limits: Limits = Limits()
    steps: int | None = None
    guidance: float | None = None
    scheduler: str = ""  #: class of the scheduler; empty: the folder's own
    variant: str = ""  #: of the files, as fp16
    quantise: str = ""  #: float8: what runs at every step is kept so; empty: all in `dtype`
    reproducible: bool = False  #: passes have always as many members: see `pad`
    #: how far a shot's picture may leave its scene's, which it then begins with; 0: it begins
    #: with noise
    scene: float = 0.0
    adapter: str = ""  #: an IP-Adapter's safetensors file, absolute; empty: none
    digest: str = ""  #: sha256 of everything that it computes with
    outline: str = ""  #: of configurations and headers: see checkpoint.Index

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise errors.ModelError(
                f"{self.name!r} can't name a model: take up to 64 letters, digits, dots, dashes "
                "and underscores, and begin with a letter or a digit"
            )
        if self.dtype not in weights.RUN_IN:
            raise errors.ModelError(
                f"{self.name} can't run in {self.dtype!r}: write {', '.join(weights.RUN_IN)}"
            )
        if self.quantise not in ("", float8.NAME):
            raise errors.ModelError(
                f"{self.name} can't be kept in {self.quantise!r}: write {float8.NAME}, or nothing"
            )
        for role in self.roles:
            check_role(role)
        for what, least in (("steps", self.steps), ("guidance", self.guidance)):
            if least is not None and not least >= (1 if what == "steps" else 0):
                raise errors.ModelError(f"{self.name} can't run with {least} as its {what}")
        if not 0 <= self.scene <= 1:
            raise errors.ModelError(
                f"{self.name} can't leave a scene's picture by {self.scene}: write 0 to 1"
            )
        if min(dataclasses.astuple(self.limits)) < 0:
            raise errors.ModelError(f"a limit of {self.name} is negative; 0 is none")

    @property
    def key(self) -> str:
        """What it is resident as: the same files, registered to run otherwise, are another."""
        told = (
            self.digest or self.outline, self.dtype, self.quantise, pathlib.Path(self.adapter).name,
            self.scheduler, self.steps, self.guidance,
            *([self.limits.card] if self.limits.card else []),
        )  # fmt: skip
        return f"{self.name}:{hashlib.sha256(repr(told).encode()).hexdigest()[:12]}"

    @property
    def mark(self) -> str:
        """Twelve letters that change with everything of a registration that changes pictures."""
        told = (self.key, self.limits.pixels, self.limits.frames, self.pad, self.scene)
        return hashlib.sha256(repr(told).encode()).hexdigest()[:12]

    @property
    def pad(self) -> int:
        """How many members its passes have, whoever runs; 0: as many as there are."""
        return (self.limits.batch or 1) if self.reproducible else 0

    @property
    def precision(self) -> str:
        """What it runs in and is kept in: `float16`, or `float16+float8`."""
        return self.dtype + (float8.MARK if self.quantise else "")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Book:
    """What the registry holds. `roles`: role -> the name of the model that plays it.

    `previews` are the roles that another model plays where a quick look is enough.
    """

    models: Mapping[str, Model] = dataclasses.field(default_factory=dict)
    roles: Mapping[str, str] = dataclasses.field(default_factory=dict)
    previews: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def parts(self) -> dict[str, str]:
        """Who plays what, previews as `image:preview`."""
        previews = {role + PREVIEW: name for role, name in self.previews.items()}
        return {**self.roles, **previews}

    def plays(self, name: str) -> tuple[str, ...]:
        """What a model plays, as `parts` writes it."""
        return tuple(part for part, holder in self.parts().items() if holder == name)


class Registry:
    """The models of one home. Safe to use from several processes: one lock, taken by writers."""

    def __init__(self, root: pathlib.Path) -> None:
        self.file = root / FILE

    def read(self) -> Book:
        """Everything that is registered; empty where nothing was ever added."""
        try:
            text = self.file.read_text("utf-8")
        except FileNotFoundError:
            return Book()
        except (OSError, UnicodeDecodeError) as error:
            raise errors.ModelError(f"can't read the registry {self.file}: {error}") from error
        try:
            found = json.loads(text)
            number = found["format"]
            if number == _FORMAT:
                models = {name: _model(name, data) for name, data in found["models"].items()}
                previews = dict(found.get("previews", {}))  # older files have none
                return Book(models=models, roles=dict(found["roles"]), previews=previews)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise errors.ModelError(
                f"the registry {self.file} is damaged ({error}): remove it, and add the models "
                "again by `manage.py models add`"
            ) from error
        raise errors.ModelError(
            f"the registry {self.file} has format {number!r}, and this mangen knows {_FORMAT}: "
            "use the mangen that wrote it, or remove it and add the models again"
        )

    def get(self, name: str) -> Model:
        """The model of that name; raises ModelError that lists those there are."""
        book = self.read()
        if name not in book.models:
            there = ", ".join(sorted(book.models)) or "none yet"
            raise errors.ModelError(
                f"there is no model {name!r}; there are {there}: `manage.py models add {name} "
                "FOLDER` adds it"
            )
        return book.models[name]

    def role(self, role: str, quality: str = "final") -> Model | None:
        """Who plays a role; None: nobody. Raises ModelError for one that is no longer there.

        A preview that has no player of its own is the final one's: `preview` tells which it was.
        """
        check_role(role)
        own = self.preview(role) if quality == "preview" else None
        return own or self._player(role)

    def preview(self, role: str) -> Model | None:
        """Who plays a role's previews and nothing else of it; None: whoever plays the role."""
        check_role(role)
        return self._player(role + PREVIEW)

    def _player(self, part: str) -> Model | None:
        book = self.read()
        name = book.parts().get(part)
        if name is not None and name not in book.models:
            raise errors.ModelError(
                f"the role {part} names the model {name!r}, which is not registered: "
                f"`manage.py models add {name} FOLDER --role {part}`"
            )
        return book.models[name] if name is not None else None

    def add(self, model: Model, roles: tuple[str, ...] | None = None) -> dict[str, str]:
        """Add a model, or replace the one of its name; answers who lost which role to it.

        Without `roles` it takes those of its own that nobody plays, and no previews: those are
        asked for, as `image:preview`.
        """
        check_plays(model, roles or ())
        with self._writing() as book:
            held = {
                part: holder
                for part, holder in book.parts().items()
                # what it played before and no longer can
                if holder != model.name or part.removesuffix(PREVIEW) in model.roles
            }
            taken = [r for r in model.roles if r not in held] if roles is None else roles
            lost = {r: held[r] for r in taken if held.get(r, model.name) != model.name}
            self._write(
                {**book.models, model.name: model}, {**held, **dict.fromkeys(taken, model.name)}
            )
        return lost

    def remove(self, name: str) -> tuple[str, ...]:
        """Forget a model, never its folder; answers the roles that nobody plays now."""
        with self._writing() as book:
            if name not in book.models:
                self.get(name)  # says so
            freed = book.plays(name)
            self._write(
                {key: one for key, one in book.models.items() if key != name},
                {part: holder for part, holder in book.parts().items() if holder != name},
            )
        return freed

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Book]:
        """Hold the lock, and read what is there now."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            lock = self.file.with_suffix(".lock").open("w")
        except OSError as error:
            raise errors.ModelError(
                f"can't write the registry {self.file}: {error.strerror}; mend the folder, or set "
                "MANGEN_HOME to another"
            ) from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield self.read()

    def _write(self, models: Mapping[str, Model], parts: Mapping[str, str]) -> None:
        previews = {role: parts[role + PREVIEW] for role in ROLES if role + PREVIEW in parts}
        data = {
            "format": _FORMAT,
            "roles": {role: parts[role] for role in ROLES if role in parts},
            **({"previews": previews} if previews else {}),
            "models": {name: _data(models[name]) for name in sorted(models)},
        }
        part = self.file.with_suffix(".part")  # one writer at a time: the lock is held
        try:
            with part.open("w", encoding="utf-8") as file:
                json.dump(data, file, indent=1, ensure_ascii=False)
                file.write("\n")
                file.flush()
                os.fsync(file.fileno())
            part.replace(self.file)
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            raise errors.ModelError(
                f"can't write the registry {self.file}: {error.strerror}; free some space or mend "
                "the folder"
            ) from error


def verify(model: Model) -> checkpoint.Index:
    """Read a model's folder again; raises ModelError where it is no longer what was added."""
    index = checkpoint.read(model.folder, model.variant)
    if model.outline and index.outline != model.outline:
        raise errors.ModelError(
            f"{model.folder} is no longer what was added as {model.name}: add it again by "
            f"`manage.py models add {model.name} {model.folder}`"
        )
    return index


def check_role(role: str) -> None:
    if role not in ROLES:
        raise errors.ModelError(f"there is no role {role!r}: write {', '.join(ROLES)}")


def check_plays(model: Model, roles: Iterable[str]) -> None:
    """Raise ModelError for a role (or its previews) that there isn't, or that it can't play."""
    for role in [part.removesuffix(PREVIEW) for part in roles]:
        check_role(role)
        if role not in model.roles:
            raise errors.ModelError(
                f"{model.name} ({model.pipeline or model.family}) can't play the role {role}; "
                f"it can play {', '.join(model.roles) or 'none'}"
            )


def _data(model: Model) -> dict[str, Any]:
    data = dataclasses.asdict(model)
    del data["name"]
    return {**data, "folder": str(model.folder)}


def _model(name: str, data: Mapping[str, Any]) -> Model:
    return Model(
        **{
            **data,
            "name": name,
            "folder": pathlib.Path(data["folder"]),
            "roles": tuple(data["roles"]),
            "limits": Limits(**data["limits"]),
        }
    )
