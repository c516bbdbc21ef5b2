"""Settings: a whole scene without its people: the place, the things that words name, a crowd."""

from __future__ import annotations

import cv2
import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import backdrop, crowd, objects, places, stage

PLACES = places.PLACES
#: framing -> (zoom, how far the shot's own angle may wander, in shares of the width)
_ANGLES: dict[str, tuple[float, float]] = {
    "establish": (1.0, 0.0),
    "medium": (1.06, 0.026),
    "action": (1.1, 0.04),
    "close": (1.22, 0.09),
    "over_shoulder": (1.2, 0.08),
    "split": (1.2, 0.08),
    "reaction": (1.3, 0.12),
}


def sheets(s: stage.Stage, scene: protocol.SceneLabels) -> list[stage.Sheet]:
    """The scene as sheets, the farthest (opaque) first; people belong at depth 0.75.

    A place keeps its details in all of its shots; the shot's seed only turns the camera a little.
    """
    found = places.sheets(s)
    if scene.crowd:
        found += crowd.draw(s)
    if s.memory:
        found.append(stage.Sheet(backdrop.faded(s), 1.0))
    for name in sorted(s.objects, key=lambda one: (one != "melons", one)):  # others stand in them
        found += objects.draw(s, name)
    return _angled(s, sorted(found, key=lambda sheet: sheet.depth))


def ground(s: stage.Stage) -> float:
    """The y where the ground one can stand on begins."""
    return places.ground(s)


def _angled(s: stage.Stage, found: list[stage.Sheet]) -> list[stage.Sheet]:
    """Another angle for every shot: nearer, and a little to one side."""
    zoom, wander = _ANGLES.get(s.framing, _ANGLES["medium"])
    if zoom == 1.0:
        return found
    chance = s.chance(90)
    dx = chance.uniform(-wander, wander) * s.width
    seen = []
    for sheet in found:
        k = 1 + (zoom - 1) * min(1.0, 0.55 + 0.45 * sheet.depth)
        x = s.width / 2 * (1 - k) + dx * min(1.0, sheet.depth)
        x = min(0.0, max(s.width * (1 - k), x))
        matrix = np.array([[k, 0, x], [0, k, s.horizon * s.unit * (1 - k)]])
        image = cv2.warpAffine(
            sheet.image, matrix, (s.width, s.height), flags=cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        )  # fmt: skip
        seen.append(stage.Sheet(np.asarray(image, np.uint8), sheet.depth))
    return seen
