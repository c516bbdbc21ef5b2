"""Batches whose tasks first need another model: an encoder that need not stay beside the steps.

Where both don't fit on a device, each has it in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from mangen.engines.diffusion import continuous, family
from mangen.pooling import models, work
from mangen.pooling.devices import device

#: answers the task with what the other model made for it, by way of `Runtime.use`
Prepare: TypeAlias = Callable[[str, family.Task, work.Runtime], family.Task]


class Prelude(continuous.Continuous):
    """A Continuous whose tasks are prepared before they begin.

    While nobody runs, the batch's own model is unpinned, so that it may make room for the other.
    While somebody does, newcomers are prepared beside it, or wait until it has ended.
    """

    def __init__(
        self, spec: models.ModelSpec, rt: work.Runtime, prepare: Prepare, *, pad: int = 0
    ) -> None:
        super().__init__(spec, rt, pad=pad)
        self._prepare = prepare
        self._unready: dict[str, None] = {}  # in their order

    def add(self, tasks: Mapping[str, family.Task]) -> None:
        super().add(tasks)
        self._unready.update(dict.fromkeys(tasks))

    def step(self) -> Mapping[str, family.Result | Exception]:
        """Prepare who is new, then do one step; who failed in the first is told before it."""
        return self._ready() or super().step()

    def drop(self, key: str) -> None:
        super().drop(key)
        self._unready.pop(key, None)

    def close(self) -> None:
        super().close()
        self._unready.clear()

    def _begin(
        self, model: continuous.Denoiser, ended: dict[str, family.Result | Exception]
    ) -> None:
        held = {key: self._waiting.pop(key) for key in self._unready}
        try:
            super()._begin(model, ended)
        finally:
            self._waiting.update(held)

    def _ready(self) -> dict[str, family.Result | Exception]:
        """Prepare as many as there is memory for, the first first; answers with who failed."""
        failed: dict[str, family.Result | Exception] = {}
        if self._unready and not self._members:
            self._model = None
            self._stack.close()
        for key in list(self._unready):
            try:
                self._waiting[key] = self._prepare(key, self._waiting[key], self._rt)
            except Exception as error:
                if device.out_of_memory(error):
                    if failed or self._members:
                        return failed  # those are told, or end, first
                    raise
                failed[key] = error
                del self._waiting[key]
            del self._unready[key]
        return failed
