"""A request on its way: the tasks that it takes, and what becomes of their results.

Cheap: nothing here touches a device. What can't be drawn raises an EngineError that says why.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable, Generator, Mapping
from typing import Any, TypeAlias

from mangen import errors
from mangen.engines import protocol
from mangen.engines.diffusion import (
    family,
    features,
    pictures,
    players,
    prompts,
    schedulers,
    shapes,
)

#: the end of a request: yields how much of it is done, answers the product
Ending: TypeAlias = Generator[int, None, protocol.Product]
_PREVIEW_STEPS = 4  #: at least so many, else a quarter of them
ONE = ""  #: the part of a request that has one


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """`tasks` by part, in the order in which they begin; `end` makes the product of their results.

    `at_once` of them run together at most; `ends` is how much `end` counts beside the steps.
    """

    tasks: Mapping[str, family.Task]
    end: Callable[[Mapping[str, family.Result]], Ending]
    at_once: int = 1
    ends: int = 0


def of(
    player: players.Player,
    request: protocol.Request,
    path: pathlib.Path,  # noqa: ARG001 - of clips
    size: tuple[int, int, int] | None = None,
) -> Order:
    """Order what a request takes; `size` is the batch's, where its bucket tells one.

    A clip is written to `path`.
    """
    sketch = shapes.sketch(player, request)
    if size is not None:
        sketch = dataclasses.replace(sketch, width=size[0], height=size[1], frames=size[2])
    sketch = dataclasses.replace(sketch, steps=_steps(player), images=(), mask=None, characters=())
    match request:
        case protocol.AnchorRequest():
            return _anchor(player, request, sketch)
        case protocol.PanelRequest():
            return _panel(player, request, sketch)
    raise errors.EngineError(f"the diffusion engine makes nothing of {type(request).__name__}")


def _anchor(player: players.Player, request: protocol.AnchorRequest, sketch: family.Task) -> Order:
    said = prompts.anchor(request, player.model.family)
    task = _told(sketch, said, seed=request.sheet.seed)

    def end(results: Mapping[str, family.Result]) -> Ending:
        yield from ()
        result = results[ONE]
        return protocol.AnchorProduct(
            reference=pictures.covering(result.images[0], request.width, request.height),
            features=features.told(player.model, result.features),
            notes=notes(player, said, task, result),
        )

    return Order(tasks={ONE: task}, end=end)


def _panel(player: players.Player, request: protocol.PanelRequest, sketch: family.Task) -> Order:
    said = prompts.shot(request, player.model.family)
    task = dataclasses.replace(
        _told(sketch, said, seed=request.seed),
        characters=features.cast(player.model, request.figures),
    )

    def end(results: Mapping[str, family.Result]) -> Ending:
        yield from ()
        result = results[ONE]
        return protocol.Panel(
            image=pictures.framed(result.images[0], request.width, request.height),
            notes=notes(player, said, task, result),
        )

    return Order(tasks={ONE: task}, end=end)


def _told(sketch: family.Task, said: prompts.Prompt, *, seed: int) -> family.Task:
    return dataclasses.replace(sketch, prompt=said.text, negative=said.negative, seed=seed)


def _steps(player: players.Player) -> int | None:
    """Previews take a quarter of the steps, unless a model of their own makes them."""
    if player.quality == "final" or player.own:
        return None
    whole = schedulers.steps(player.model, None)
    return min(whole, max(_PREVIEW_STEPS, whole // 4))


def notes(
    player: players.Player, said: prompts.Prompt, task: family.Task, result: family.Result
) -> dict[str, Any]:
    """What is kept of how a product was made; JSON."""
    return {
        "model": player.model.name,
        "digest": player.model.digest[:12],
        "quality": player.quality,
        "size": [task.width, task.height],
        "prompt": said.text,
        **said.notes,
        **result.notes,
    }
