"""From a job's params back to the request its engine takes: the stages' half of `graph`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from mangen.comic import model
from mangen.engines import protocol

Params = Mapping[str, Any]


def sheet_params(character: model.Character) -> dict[str, Any]:
    """A character's sheet as JSON."""
    return {
        "name": character.name,
        "sex": character.sex,
        "age": character.age,
        "words": list(character.words),
        "era": character.era,
        "seed": character.seed,
    }


def sheet(params: Params) -> protocol.CharacterSheet:
    """The sheet that `sheet_params` wrote."""
    return protocol.CharacterSheet(**{**params, "words": tuple(params["words"])})


def anchor_request(params: Params) -> protocol.AnchorRequest:
    """The request of an anchor job."""
    return protocol.AnchorRequest(
        sheet=sheet(params["sheet"]), width=params["width"], height=params["height"]
    )


def panel_request(
    params: Params, features: Mapping[str, Mapping[str, Any]] | None = None
) -> protocol.PanelRequest:
    """The request of an illustrate job.

    `features` are the anchors' features by character name; whoever is missing there (the anchor
    failed) is drawn from the words of the sheet alone.
    """
    known = features or {}
    return protocol.PanelRequest(
        kind=params["kind"],
        width=params["width"],
        height=params["height"],
        seed=params["seed"],
        scene=scene(params["scene"]),
        memory=params.get("memory", False),
        figures=tuple(
            protocol.Figure(
                sheet=sheet(figure["sheet"]),
                features=known.get(figure["sheet"]["name"], {}),
                emotion=figure["emotion"],
                speaking=figure["speaking"],
                age=figure.get("age", ""),
                gesture=figure.get("gesture", ""),
                held=figure.get("held", ""),
            )
            for figure in params["figures"]
        ),
        prompt=params["prompt"],
        title=params["title"],
        subtitle=params["subtitle"],
        lettering=tuple(protocol.Lettering(**one) for one in params.get("lettering", ())),
    )


def clip_request(
    params: Params,
    panel: protocol.Panel,
    frames: int,
    heard: tuple[protocol.Heard, ...] = (),
) -> protocol.ClipRequest:
    """The request of an animate job over the panel it needs, `frames` long (timing.shot_timing)."""
    return protocol.ClipRequest(
        panel=panel,
        motion=params["motion"],
        frames=frames,
        width=params["width"],
        height=params["height"],
        fps=params["fps"],
        seed=params["seed"],
        weather=params["weather"],
        lines=heard,
        framing=params.get("framing", "medium"),
    )


def speech(params: Params) -> tuple[protocol.Speech, protocol.Voice]:
    """What a voice job says, and by which voice."""
    return (
        protocol.Speech(text=params["text"], language=params["language"]),
        protocol.Voice(name=params["voice"], speed=params["speed"], pitch=params.get("pitch", 1.0)),
    )


def scene(params: Params) -> protocol.SceneLabels:
    """The labels that `scene_params` wrote."""
    return protocol.SceneLabels(**{**params, "objects": tuple(params.get("objects", ()))})


def scene_params(scene: protocol.SceneLabels) -> dict[str, Any]:
    """Scene labels as JSON."""
    return {**dataclasses.asdict(scene), "objects": list(scene.objects)}
