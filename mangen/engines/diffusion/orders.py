"""From a request to its order. Cheap: nothing here touches a device."""

from __future__ import annotations

import dataclasses
import pathlib

from mangen.engines import protocol
from mangen.engines.diffusion import (
    drawing,
    filming,
    order,
    painting,
    players,
    shapes,
    tiles,
)

_PREVIEW_STEPS = 4  #: at least so many, else a quarter of them


def of(
    player: players.Player,
    request: protocol.Request,
    path: pathlib.Path,
    size: tuple[int, int, int] | None = None,
) -> order.Order:
    """Order what a request takes; `size` is the batch's, where its bucket tells one.

    A clip is written to `path`. Raises EngineError for what can't be drawn.
    """
    sketch = shapes.sketch(player, request)
    if size is not None:
        sketch = dataclasses.replace(sketch, width=size[0], height=size[1], frames=size[2])
    sketch = dataclasses.replace(sketch, steps=_steps(player), images=(), mask=None, characters=())
    match request:
        case protocol.AnchorRequest():
            return drawing.anchor(player, request, sketch)
        case protocol.PanelRequest():
            return drawing.panel(player, request, sketch)
        case protocol.ClipRequest():
            return filming.clip(player, request, sketch, path)
        case protocol.EncodeRequest():
            return filming.encode(player, request, sketch)
        case protocol.RepaintRequest():
            return painting.repaint(player, request, sketch)
        case protocol.OutpaintRequest():
            return painting.around(player, request, sketch)
        case protocol.UpscaleRequest():
            return tiles.enlarge(player, request, sketch)


def _steps(player: players.Player) -> int | None:
    """Previews take a quarter of the steps, unless a model of their own makes them."""
    if player.quality == "final" or player.own:
        return None
    whole = player.family.steps(player.model)
    return min(whole, max(_PREVIEW_STEPS, whole // 4))
