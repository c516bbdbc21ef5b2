"""Parts of a panel painted anew: where a mask says, or all around it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
from PIL import Image, ImageFilter

from mangen.engines import protocol
from mangen.engines.diffusion import (
    family,
    features,
    order,
    outpaint,
    pictures,
    players,
    prompts,
)

#: a latent's pixel is so many of the picture's: a mask narrower than it would be lost
_GROWN = 8


def repaint(
    player: players.Player, request: protocol.RepaintRequest, sketch: family.Task
) -> order.Order:
    """The panel with what the mask shows painted anew; all else is the old panel's, to the byte."""
    old = pictures.rgb("panel.image", request.panel.image)
    mask = pictures.mask("mask", request.mask, old)
    high, wide = old.shape[:2]
    said = prompts.shot(request, both=prompts.both(player.model))
    task = dataclasses.replace(
        order.told(sketch, said, seed=request.seed),
        images=(pictures.resized(old, sketch.width, sketch.height),),
        mask=grown(pictures.resized(mask, sketch.width, sketch.height)),
        characters=features.cast(player.model, request.figures),
    )

    def end(results: Mapping[str, family.Result]) -> order.Ending:
        yield from ()
        result = results[order.ONE]
        made = pictures.resized(result.images[0], wide, high)
        return dataclasses.replace(
            flat(request.panel),
            image=pictures.mixed(old, made, softened(mask)),
            notes=order.notes(player, said, task, result),
        )

    return order.Order(tasks={order.ONE: task}, end=end)


def around(
    player: players.Player, request: protocol.OutpaintRequest, sketch: family.Task
) -> order.Order:
    """The panel amid more of its surroundings; it is kept to the byte, but for a narrow seam."""
    old = pictures.rgb("panel.image", request.panel.image)
    canvas = outpaint.of(old, request.margin)
    said = prompts.around(request, both=prompts.both(player.model))
    task = dataclasses.replace(
        order.told(sketch, said, seed=request.seed),
        images=(pictures.resized(canvas.base, sketch.width, sketch.height),),
        mask=pictures.resized(canvas.mask, sketch.width, sketch.height),
    )

    def end(results: Mapping[str, family.Result]) -> order.Ending:
        yield from ()
        result = results[order.ONE]
        high, wide = canvas.base.shape[:2]
        made = pictures.resized(result.images[0], wide, high)
        return protocol.Panel(
            image=pictures.mixed(canvas.base, made, canvas.mask),
            letters=request.panel.letters,
            notes=order.notes(player, said, task, result),
        )

    return order.Order(tasks={order.ONE: task}, end=end)


def flat(panel: protocol.Panel) -> protocol.Panel:
    """A panel without its layers and faces, which are the old picture's."""
    return dataclasses.replace(panel, layers=(), faces=())


def grown(mask: protocol.Mask) -> protocol.Mask:
    """The mask and what lies around it as far as a latent's pixel reaches."""
    spread = Image.fromarray(mask).filter(ImageFilter.BoxBlur(_GROWN))
    found: protocol.Mask = np.where(np.maximum(mask, np.asarray(spread)) > 0, 255, 0).astype(
        np.uint8
    )
    return found


def softened(mask: protocol.Mask) -> protocol.Mask:
    """The mask with its edge softened inwards: what it leaves stays left."""
    area = int((mask >= 128).sum())
    radius = min(12.0, area**0.5 / 24)
    if radius < 1:
        return mask
    blurred = np.asarray(Image.fromarray(mask).filter(ImageFilter.GaussianBlur(radius)))
    # at the edge itself a blur is half: twice its upper half runs from nothing to all within
    inward = np.clip(2 * blurred.astype(np.int16) - 255, 0, 255).astype(np.uint8)
    return np.minimum(mask, inward)
