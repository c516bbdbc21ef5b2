"""How a project's videos are made: the snapshot it keeps, and the Look that graph.wanted takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mangen import settings
from mangen.comic import graph, makers
from mangen.engines.voice import cache

#: raised when the planner's rules change what they make of the same text
PLANNER_VERSION = "4"


def snapshot(chosen: settings.Settings, *, width: int | None, height: int | None) -> dict[str, Any]:
    """Answer what of the settings affects a project's products, as JSON for its row."""
    checked = settings.Settings(width=width or chosen.width, height=height or chosen.height)
    return {
        "width": checked.width,
        "height": checked.height,
        "image_engine": chosen.image_engine,
        "voice_engine": chosen.voice_engine,
        "music": chosen.music,
    }


def of(
    kept: Mapping[str, Any],
    engines: makers.Makers,
    voice: cache.Engine,
) -> graph.Look:
    """Answer the Look of a project from its snapshot and the engines it names."""
    image = engines.at(kept["image_engine"])
    return graph.Look(
        engine=image,
        width=kept["width"],
        height=kept["height"],
        image_engine=image.name,
        image_version=image.version,
        voice_engine=voice.name,
        voice_version=voice.version,
        music=kept.get("music", 1.0),
    )
