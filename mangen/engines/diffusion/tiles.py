"""Large panels by tiles: each is drawn finer for itself, and they overlap so that no seam shows.

Where tiles overlap they mix, by shares that fall towards each tile's edges and add up to one: what
two tiles agree on stays as it is.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np

from mangen.engines import protocol
from mangen.engines.diffusion import family, order, painting, pictures, players, prompts, shapes

#: how far a tile may leave the enlarged picture: finer, and the same
_STRENGTH = 0.3
_OVERLAP = 8  #: a tile's side is so many overlaps, at least
Spot = tuple[int, int]  #: left, top


def enlarge(
    player: players.Player, request: protocol.UpscaleRequest, sketch: family.Task
) -> order.Order:
    """The panel at least as large as was asked, in its own proportions."""
    old = pictures.rgb("panel.image", request.panel.image)
    width, height = target(old, request.width, request.height)
    base = padded(pictures.resized(old, width, height), sketch.width, sketch.height)
    spots = layout(base.shape[1], base.shape[0], sketch.width, sketch.height)
    said = prompts.detail(request, both=prompts.both(player.model))
    tasks = {
        f"{number}": dataclasses.replace(
            order.told(sketch, said, seed=(request.seed + number) & 0x7FFFFFFF),
            images=(base[top : top + sketch.height, left : left + sketch.width].copy(),),
            strength=_STRENGTH,
        )
        for number, (left, top) in enumerate(spots)
    }

    def end(results: Mapping[str, family.Result]) -> order.Ending:
        yield from ()
        drawn = [results[part].images[0] for part in tasks]
        whole = blend(drawn, spots, base.shape[1], base.shape[0])[:height, :width]
        first = next(iter(tasks))
        told = order.notes(player, said, tasks[first], results[first])
        return dataclasses.replace(
            painting.flat(request.panel),
            image=np.ascontiguousarray(whole),
            notes={**told, "seed": request.seed, "tiles": len(tasks), "size": [width, height]},
        )

    return order.Order(tasks=tasks, end=end, at_once=shapes.at_once(player, request))


def target(old: protocol.Image, width: int, height: int) -> tuple[int, int]:
    """The size that covers width x height in the picture's own proportions; never smaller."""
    high, wide = old.shape[:2]
    scale = max(width / wide, height / high, 1.0)
    return max(width, round(wide * scale)), max(height, round(high * scale))


def padded(image: protocol.Image, width: int, height: int) -> protocol.Image:
    """A picture of at least this size: what is missing right and below repeats its edge."""
    high, wide = image.shape[:2]
    more = ((0, max(0, height - high)), (0, max(0, width - wide)), (0, 0))
    return np.pad(image, more, mode="edge") if any(map(any, more)) else image


def layout(width: int, height: int, tile_width: int, tile_height: int) -> list[Spot]:
    """Where the tiles lie, row by row: spread evenly, each overlapping the next."""
    across, down = _starts(width, tile_width), _starts(height, tile_height)
    return [(left, top) for top in down for left in across]


def _starts(whole: int, tile: int) -> list[int]:
    if whole <= tile:
        return [0]
    overlap = max(1, tile // _OVERLAP)
    count = max(2, math.ceil((whole - overlap) / (tile - overlap)))
    return [round(number * (whole - tile) / (count - 1)) for number in range(count)]


def blend(
    drawn: Sequence[protocol.Image], spots: Sequence[Spot], width: int, height: int
) -> protocol.Image:
    """One picture of tiles that lie at these spots and cover it."""
    total = np.zeros((height, width, 3), np.float32)
    weights = np.zeros((height, width, 1), np.float32)
    for image, (left, top) in zip(drawn, spots, strict=True):
        high, wide = image.shape[:2]
        share = np.outer(_ramp(high), _ramp(wide)).astype(np.float32)[..., None]
        total[top : top + high, left : left + wide] += image * share
        weights[top : top + high, left : left + wide] += share
    whole: protocol.Image = (total / weights).round().clip(0, 255).astype(np.uint8)
    return whole


def _ramp(side: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Weights along one side of a tile: from its edges up, as far as tiles overlap at least."""
    reach = max(1, side // _OVERLAP)
    inside = np.minimum(np.arange(side), np.arange(side)[::-1]) + 1
    return np.minimum(inside / (reach + 1), 1.0)
