"""Anchors and panels: pictures from words, and from whom they show."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from mangen.engines import protocol
from mangen.engines.diffusion import family, features, order, pictures, players, prompts


def anchor(
    player: players.Player, request: protocol.AnchorRequest, sketch: family.Task
) -> order.Order:
    """A character's reference picture, of exactly the asked size, and its features."""
    said = prompts.anchor(request, both=prompts.both(player.model))
    task = order.told(sketch, said, seed=request.sheet.seed)

    def end(results: Mapping[str, family.Result]) -> order.Ending:
        yield from ()
        result = results[order.ONE]
        return protocol.AnchorProduct(
            reference=pictures.covering(result.images[0], request.width, request.height),
            features=features.told(player.model, result.features),
            notes=order.notes(player, said, task, result),
        )

    return order.Order(tasks={order.ONE: task}, end=end)


def panel(
    player: players.Player, request: protocol.PanelRequest, sketch: family.Task
) -> order.Order:
    """A shot's picture, at least as large as its frame."""
    said = prompts.shot(request, both=prompts.both(player.model))
    task = dataclasses.replace(
        order.told(sketch, said, seed=request.seed),
        characters=features.cast(player.model, request.figures),
    )

    def end(results: Mapping[str, family.Result]) -> order.Ending:
        yield from ()
        result = results[order.ONE]
        return protocol.Panel(
            image=pictures.framed(result.images[0], request.width, request.height),
            notes=order.notes(player, said, task, result),
        )

    return order.Order(tasks={order.ONE: task}, end=end)
