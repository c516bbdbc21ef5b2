"""Tasks one after another, for models that can't batch: a step is a whole task."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias

import torch

from mangen import errors
from mangen.engines.diffusion import family
from mangen.pooling import models, work
from mangen.pooling.devices import device

#: hears how many steps are done, of how many; it may raise, to leave the task
Tell: TypeAlias = Callable[[int, int], None]


class Whole(Protocol):
    """A loaded model that draws a task in one go."""

    def draw(self, task: family.Task, tell: Tell) -> family.Result: ...


class Single:
    """A TaskRun over a Whole. Nobody joins: who is added waits for those before it.

    Progress is told, and aborts heard, between the steps inside; memory that runs out leaves the
    task where it was, at its beginning.
    """

    joinable = False

    def __init__(self, spec: models.ModelSpec, rt: work.Runtime) -> None:
        self._spec, self._rt = spec, rt
        self._waiting: dict[str, family.Task] = {}
        self._stack = contextlib.ExitStack()
        self._model: Whole | None = None

    def add(self, tasks: Mapping[str, family.Task]) -> None:
        again = tasks.keys() & self._waiting.keys()
        if again:
            raise errors.EngineError(f"{', '.join(sorted(again))} runs in this batch already")
        self._waiting.update(tasks)

    def step(self) -> Mapping[str, family.Result | Exception]:
        """Run the first task that waits; answers with it."""
        if not self._waiting:
            return {}
        if self._model is None:
            self._model = self._stack.enter_context(self._rt.use(self._spec))
        key, task = next(iter(self._waiting.items()))

        def tell(done: int, of: int) -> None:
            self._rt.progress(key, done, of)

        ended: family.Result | Exception
        try:
            with torch.no_grad():
                ended = self._model.draw(task, tell)
        except Exception as error:
            if device.out_of_memory(error):
                raise
            ended = error
        del self._waiting[key]
        return {key: ended}

    def drop(self, key: str) -> None:
        self._waiting.pop(key, None)

    def close(self) -> None:
        self._waiting.clear()
        self._model = None
        self._stack.close()
