"""From a job's params back to the request its engine takes: the stages' half of `graph`."""

from __future__ import annotations

import dataclasses
import types
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
        sheet=sheet(params["sheet"]),
        width=params["width"],
        height=params["height"],
        quality=_quality(params),
    )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Likeness:
    """What is known of a character from its anchor."""

    features: Mapping[str, Any]
    reference: protocol.Image | None = None


#: by name; whoever is missing (the anchor failed) is drawn from the words of the sheet alone
Likenesses = Mapping[str, Likeness]


def panel_request(
    params: Params, known: Likenesses = types.MappingProxyType({})
) -> protocol.PanelRequest:
    """The request of an illustrate job."""
    return protocol.PanelRequest(
        kind=params["kind"],
        width=params["width"],
        height=params["height"],
        seed=params["seed"],
        scene=scene(params["scene"]),
        memory=params.get("memory", False),
        figures=_figures(params, known),
        prompt=params["prompt"],
        title=params["title"],
        subtitle=params["subtitle"],
        lettering=tuple(protocol.Lettering(**one) for one in params.get("lettering", ())),
        quality=_quality(params),
    )


def clip_request(
    params: Params,
    panel: protocol.Panel,
    frames: int,
    heard: tuple[protocol.Heard, ...] = (),
    *,
    known: Likenesses = types.MappingProxyType({}),
    encoded: Mapping[str, protocol.Array] = types.MappingProxyType({}),
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
        scene=scene(params.get("scene", {})),
        figures=_figures(params, known),
        prompt=params.get("prompt", ""),
        quality=_quality(params),
        encoded=encoded,
    )


def encode_request(params: Params, panel: protocol.Panel) -> protocol.EncodeRequest:
    """The request of an encode job."""
    return protocol.EncodeRequest(
        panel=panel,
        width=params["width"],
        height=params["height"],
        seed=params["seed"],
        quality=_quality(params),
    )


def repaint_request(
    params: Params,
    panel: protocol.Panel,
    mask: protocol.Mask,
    known: Likenesses = types.MappingProxyType({}),
) -> protocol.RepaintRequest:
    """The request of a repaint job; the mask has the panel's size."""
    return protocol.RepaintRequest(mask=mask, **_link(params, panel, known))


def upscale_request(
    params: Params, panel: protocol.Panel, known: Likenesses = types.MappingProxyType({})
) -> protocol.UpscaleRequest:
    """The request of an upscale job."""
    return protocol.UpscaleRequest(**_link(params, panel, known))


def outpaint_request(
    params: Params, panel: protocol.Panel, known: Likenesses = types.MappingProxyType({})
) -> protocol.OutpaintRequest:
    """The request of an outpaint job."""
    return protocol.OutpaintRequest(margin=params["margin"], **_link(params, panel, known))


def _link(params: Params, panel: protocol.Panel, known: Likenesses) -> dict[str, Any]:
    """What all that is done to a panel has in common."""
    return {
        "panel": panel,
        "width": params["width"],
        "height": params["height"],
        "seed": params["seed"],
        "prompt": params["prompt"],
        "scene": scene(params["scene"]),
        "figures": _figures(params, known),
        "quality": _quality(params),
    }


def _quality(params: Params) -> protocol.Quality:
    """Of a job of models; what is drawn by rule knows none."""
    quality: protocol.Quality = params.get("quality", "final")
    return quality


def _figures(params: Params, known: Likenesses) -> tuple[protocol.Figure, ...]:
    nothing = Likeness(features={})
    return tuple(
        protocol.Figure(
            sheet=sheet(figure["sheet"]),
            features=(one := known.get(figure["sheet"]["name"], nothing)).features,
            reference=one.reference,
            emotion=figure["emotion"],
            speaking=figure["speaking"],
            age=figure.get("age", ""),
            gesture=figure.get("gesture", ""),
            held=figure.get("held", ""),
        )
        for figure in params.get("figures", ())
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
