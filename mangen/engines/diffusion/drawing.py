"""Anchors and panels: pictures from words, and from whom they show."""

from __future__ import annotations

import dataclasses
import hashlib
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
    base = _base(player, request)
    task = dataclasses.replace(
        order.told(sketch, said, seed=request.seed),
        characters=features.cast(player.model, request.figures),
        base=base,
        strength=player.model.scene if base is not None else 1.0,
    )

    def end(results: Mapping[str, family.Result]) -> order.Ending:
        yield from ()
        result = results[order.ONE]
        return protocol.Panel(
            image=pictures.framed(result.images[0], request.width, request.height),
            notes=order.notes(player, said, task, result),
        )

    return order.Order(tasks={order.ONE: task}, end=end)


def _base(player: players.Player, request: protocol.PanelRequest) -> family.Base | None:
    """The scene's picture, where the model begins with one; a thing that fills the frame has none.

    Its seed is the scene's own, so that all its shots begin with the same.
    """
    if not player.model.scene or request.scene.framing == "insert":
        return None
    said = prompts.backdrop(request, both=prompts.both(player.model))
    digest = hashlib.sha256(said.text.encode()).digest()
    seed = int.from_bytes(digest[:4]) & 0x7FFFFFFF
    return family.Base(prompt=said.text, negative=said.negative, seed=seed)
