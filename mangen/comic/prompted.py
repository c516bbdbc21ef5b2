"""The scene that a person's words ask for: what they name counts, all else stays. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

from mangen.comic import objects, scenery
from mangen.engines import protocol


def scene(
    labels: protocol.SceneLabels, prompt: str, names: Collection[str], language: scenery.Language
) -> protocol.SceneLabels:
    """Read place, hour, weather, mood and things from a prompt, as from a story's narration.

    An engine that draws from labels would show nothing of a prompt that leaves them as they were.
    """
    seen = scenery.look(prompt, names, language, labels.place)
    place, time = seen.place or labels.place, seen.time or labels.time
    masked = scenery.mask(prompt, names)
    things = objects.fitting([one.label for one in objects.named(masked, language)], place)
    kept = labels.objects if place == labels.place else ()
    return dataclasses.replace(
        labels,
        place=place,
        time=time,
        weather=seen.weather or (labels.weather if place == labels.place else "clear"),
        mood=scenery.most(prompt, "mood" if language == "zh" else "english-mood") or labels.mood,
        objects=objects.shown(list(dict.fromkeys([*things, *kept])), time),
        focus=labels.focus if place == labels.place else "",
        crowd=labels.crowd or objects.is_crowded(masked, language),
    )
