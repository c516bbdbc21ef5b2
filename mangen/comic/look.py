"""How a project's videos are made: the snapshot it keeps, and the Look that graph.wanted takes."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

from mangen import errors, settings
from mangen.comic import makers, model
from mangen.engines import length, protocol
from mangen.engines.voice import cache
from mangen.pooling import models

#: raised when the planner's rules change what they make of the same text
PLANNER_VERSION = "4"
#: what of a snapshot the planner never sees: his storyboard stays, whoever draws it
DRAWN_BY = ("quality", "upscale", "outpaint")
#: how people name what an engine can do to a panel
EXTRAS = ("upscale", "outpaint")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Look:
    """How a project's videos are made: size, engines, voice. Part of every key."""

    #: draws cards and camera moves, and the shots of an animatic
    sketch: protocol.Engine
    #: draws the shots of previews and finals
    painter: protocol.Engine | None = None
    quality: model.Quality = model.SKETCHED  #: of shots that say nothing else
    upscale: bool = False
    outpaint: bool = False
    width: int = 720
    height: int = 1280
    fps: int = length.FPS
    encode_queue: str = "gpu.low"
    voice_engine: str = "kokoro"
    voice_version: str = "1"
    voice: str = "zm_yunyang"  #: narrator of Chinese texts
    voice_en: str = "bm_george"  #: narrator of English texts
    speed: float = 1.0
    music: float = 1.0  #: volume of music and places, 0..1; 0: voices alone

    def quality_of(self, shot: model.Shot) -> model.Quality:
        """Of a shot; title and end cards have no better one."""
        return (shot.quality or self.quality) if shot.kind == "shot" else model.SKETCHED

    def maker(self, quality: model.Quality) -> protocol.Engine:
        """Answer who draws shots of a quality; raises UsageError where nobody can."""
        if quality == model.SKETCHED:
            return self.sketch
        if self.painter is None or "illustrate" not in self._painted:
            raise errors.UsageError(
                f"there is no model to draw the quality {quality} with: `manage.py models add NAME "
                "FOLDER --role image` registers one, `manage.py models list` shows what is there"
            )
        return self.painter

    def spec(self, stage: str, quality: model.Quality) -> models.ModelSpec | None:
        """Answer the model of a stage in that quality; None: nobody runs that stage."""
        if quality == model.SKETCHED:
            return self._sketched.get(stage)
        self.maker(quality)
        return protocol.spec_of(self._painted, stage, quality)

    @functools.cached_property
    def _sketched(self) -> Mapping[str, models.ModelSpec]:
        return self.sketch.models()

    @functools.cached_property
    def _painted(self) -> Mapping[str, models.ModelSpec]:
        """Asked once: a registry that changes meanwhile changes nothing of this look."""
        return self.painter.models() if self.painter is not None else {}

    @property
    def own(self) -> protocol.Engine:
        """Who draws the project's shots that say nothing else."""
        return self.maker(self.quality)

    def check(self, board: model.Storyboard | None = None) -> None:
        """Raise UsageError for what is wanted of the project or its shots and can't be made."""
        self.maker(self.quality)
        for extra in EXTRAS:
            if getattr(self, extra) and self.spec(extra, self.quality) is None:
                raise errors.UsageError(cannot(self.own, extra))
        asked = {self.quality}
        for episode in board.episodes if board is not None else ():
            for shot in episode.shots:
                self._check_shot(f"e{episode.no}/s{shot.no}", shot)
                asked.add(self.quality_of(shot))
        for quality in asked - {model.SKETCHED}:
            self._check_size(quality)

    def _check_size(self, quality: model.Quality) -> None:
        """Raise UsageError where a model can't make panels or clips of this frame."""
        engine = self.maker(quality)
        asked = protocol.PanelRequest(
            kind="shot", width=self.width, height=self.height, seed=0,
            quality="preview" if quality == "preview" else "final",
        )  # fmt: skip
        try:
            engine.bucket(asked)
        except errors.EngineError as error:
            raise errors.UsageError(
                f"{error}; give the project another --width and --height"
            ) from error

    def _check_shot(self, name: str, shot: model.Shot) -> None:
        if shot.kind != "shot" and (shot.quality or shot.repaint):
            raise errors.UsageError(
                f"{name} is a {shot.kind} card: those are always drawn by rule; take quality and "
                "repaint out of it"
            )
        quality = self.quality_of(shot)
        try:
            engine = self.maker(quality)
        except errors.UsageError as error:
            raise errors.UsageError(f"{name}: {error}") from error
        if quality != model.SKETCHED and _blank(shot):
            raise errors.UsageError(
                f"{name} has no prompt, nobody in it and no scene: models can't draw that; give it "
                "a prompt"
            )
        if shot.repaint is not None and self.spec("repaint", quality) is None:
            raise errors.UsageError(f"{name}: {cannot(engine, 'repaint')}")


def _blank(shot: model.Shot) -> bool:
    return not shot.prompt.strip() and not shot.characters and shot.scene == protocol.SceneLabels()


def cannot(engine: protocol.Engine, stage: str) -> str:
    """Say that an engine has no such stage, and the mend."""
    if engine.name == makers.SKETCH:
        return (
            f"{makers.SKETCH} can't {stage}: that is for shots drawn by models (`new --engine "
            f"{makers.MODELS}`, or `manage.py upgrade` for single shots)"
        )
    role = {"upscale": "upscale"}.get(stage, "inpaint")
    return (
        f"{engine.name} has no model to {stage} with: `manage.py models add NAME FOLDER --role "
        f"{role}` registers one"
    )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Wishes:
    """What somebody wants of a new project; None: as the settings have it."""

    width: int | None = None
    height: int | None = None
    engine: str | None = None
    quality: str | None = None
    upscale: bool = False
    outpaint: bool = False


def snapshot(chosen: settings.Settings, wishes: Wishes | None = None) -> dict[str, Any]:
    """Answer what of settings and wishes affects a project's products, as JSON for its row.

    Raises UsageError for wishes that contradict each other.
    """
    wishes = wishes or Wishes()
    checked = settings.Settings(
        width=wishes.width or chosen.width, height=wishes.height or chosen.height
    )
    engine, quality = _drawn(chosen, wishes)
    kept: dict[str, Any] = {
        "width": checked.width,
        "height": checked.height,
        "image_engine": engine,
        "voice_engine": chosen.voice_engine,
        "music": chosen.music,
    }
    if quality != model.SKETCHED:  # what an animatic keeps stays as it was
        kept["quality"] = quality
    return kept | {extra: True for extra in EXTRAS if getattr(wishes, extra)}


def _drawn(chosen: settings.Settings, wishes: Wishes) -> tuple[str, model.Quality]:
    """By which engine, in which quality."""
    asked = wishes.quality
    if asked is not None and asked not in model.QUALITIES:
        raise errors.UsageError(
            f"there is no quality {asked!r}: choose {', '.join(model.QUALITIES)}"
        )
    quality: model.Quality | None = asked
    path = wishes.engine or chosen.image_engine
    sketches = makers.engine_class(path).name == makers.SKETCH
    if wishes.engine is None and quality is not None and sketches != (quality == model.SKETCHED):
        path, sketches = (makers.MODELS, False) if sketches else (makers.SKETCH, True)
    if quality is None:
        return path, model.SKETCHED if sketches else "final"
    if sketches != (quality == model.SKETCHED):
        raise errors.UsageError(
            f"{path} makes no {quality}: an animatic is drawn by rule, by the engine "
            f"{makers.SKETCH}, previews and finals by models ({makers.MODELS}); leave out "
            "--engine or --quality"
        )
    return path, quality


def of(kept: Mapping[str, Any], engines: makers.Makers, voice: cache.Engine) -> Look:
    """Answer the Look of a project from its snapshot and the engines it names."""
    own = engines.at(kept["image_engine"])
    sketches = own.name == makers.SKETCH
    return Look(
        sketch=own if sketches else engines.named(makers.SKETCH),
        painter=engines.painter() if sketches else own,
        quality=kept.get("quality", model.SKETCHED if sketches else "final"),
        upscale=kept.get("upscale", False),
        outpaint=kept.get("outpaint", False),
        width=kept["width"],
        height=kept["height"],
        encode_queue=engines.chosen.encode_queue,
        voice_engine=voice.name,
        voice_version=voice.version,
        music=kept.get("music", 1.0),
    )
