"""A request on its way: the tasks that it takes, and what becomes of their results."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Mapping
from typing import Any, TypeAlias

from mangen.engines import protocol
from mangen.engines.diffusion import family, players, prompts

#: the end of a request: yields how much of it is done, answers the product
Ending: TypeAlias = Generator[int, None, protocol.Product]
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


def told(sketch: family.Task, said: prompts.Prompt, *, seed: int) -> family.Task:
    """A task of the sketch's shape with these words."""
    return dataclasses.replace(sketch, prompt=said.text, negative=said.negative, seed=seed)


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
