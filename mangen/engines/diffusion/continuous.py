"""Step-level batching: members join and leave between steps, each with its own schedule.

One forward pass serves all members of one shape; a UNet takes a timestep a row, so that members
may be at different steps, of different schedulers, with different guidance. What a member makes
does not depend on who runs beside it, but for rounding; with `pad` not even for that.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol

import torch

from mangen import errors
from mangen.engines.diffusion import family
from mangen.pooling import models, work
from mangen.pooling.devices import device


@dataclasses.dataclass(eq=False, kw_only=True, slots=True)
class Member:
    """A task on its way. `rows` condition the passes: without and with the prompt, or with alone.

    `extra` are further input channels; `characters` is the adapter's part; `after` changes the
    latents after a step, as a repaint does; `notes` go into the result.
    """

    key: str
    task: family.Task
    scheduler: Any
    timesteps: Sequence[Any]  #: on the host
    latents: Any
    generator: Any  #: on the host: one seed is one picture on every device
    guidance: float
    rows: tuple[Mapping[str, Any], ...]
    extra: Any = None
    characters: Any = None
    after: Callable[[Member], None] | None = None
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)  #: of the scheduler's step
    notes: dict[str, Any] = dataclasses.field(default_factory=dict)
    at: int = 0
    began: float = dataclasses.field(default_factory=time.monotonic)

    @property
    def ready(self) -> bool:
        """Whether all steps are done and only the decoding is left."""
        return self.at >= len(self.timesteps)

    @property
    def timestep(self) -> Any:
        return self.timesteps[self.at]

    def scaled(self) -> Any:
        """The latents as the denoiser wants them at this step."""
        return self.scheduler.scale_model_input(self.latents, self.timestep)

    def guided(self, predicted: Sequence[Any]) -> Any:
        """One prediction of those of its rows."""
        if len(predicted) == 1:
            return predicted[0]
        without, with_prompt = predicted
        return without + self.guidance * (with_prompt - without)

    def advance(self, predicted: Any) -> None:
        self.latents = self.scheduler.step(
            predicted, self.timestep, self.latents, return_dict=False, **self.options
        )[0]
        self.at += 1
        if self.after is not None:
            self.after(self)


class Denoiser(Protocol):
    """A loaded model whose members run together."""

    def begin(self, key: str, task: family.Task, cache: work.FeatureCache) -> Member:
        """Encode what a task needs; products that repeat come from the cache."""
        ...

    def shape(self, member: Member) -> Hashable:
        """What must be equal for two members to share a pass."""
        ...

    def predict(self, members: Sequence[Member]) -> Sequence[Any]:
        """One prediction a member, its guidance applied."""
        ...

    def finish(self, member: Member) -> family.Result:
        """Decode, check, cut to size."""
        ...


class Continuous:
    """A TaskRun over a Denoiser. The model stays pinned from the first member to `close`.

    A member's error is its own end; running out of memory is the batch's, and leaves all members
    where they were: the pool parks them, and adds them again from their beginning.
    """

    joinable = True

    def __init__(self, spec: models.ModelSpec, rt: work.Runtime, *, pad: int = 0) -> None:
        """`pad`: passes have that many members always, so that a seed gives the same bits."""
        self._spec, self._rt, self._pad = spec, rt, pad
        self._waiting: dict[str, family.Task] = {}
        self._members: dict[str, Member] = {}
        self._stack = contextlib.ExitStack()
        self._model: Denoiser | None = None

    def add(self, tasks: Mapping[str, family.Task]) -> None:
        """Let tasks join at the next step: nothing is computed here."""
        again = tasks.keys() & (self._waiting.keys() | self._members.keys())
        if again:
            raise errors.EngineError(f"{', '.join(sorted(again))} runs in this batch already")
        self._waiting.update(tasks)

    def step(self) -> Mapping[str, family.Result | Exception]:
        """Do one step for every member; answers with those that ended in it."""
        if self._model is None:
            self._model = self._stack.enter_context(self._rt.use(self._spec))
        ended: dict[str, family.Result | Exception] = {}
        with torch.no_grad():
            self._begin(self._model, ended)
            self._advance(self._model)
            self._tell()
            self._finish(self._model, ended)
        return ended

    def drop(self, key: str) -> None:
        self._waiting.pop(key, None)
        self._members.pop(key, None)

    def close(self) -> None:
        self._waiting.clear()
        self._members.clear()
        self._model = None
        self._stack.close()

    def _begin(self, model: Denoiser, ended: dict[str, family.Result | Exception]) -> None:
        for key, task in list(self._waiting.items()):
            try:
                self._members[key] = model.begin(key, task, self._rt.cache)
            except Exception as error:
                if device.out_of_memory(error):
                    if ended:
                        return  # those are told first; this one is tried again in the next step
                    raise
                ended[key] = error
            del self._waiting[key]

    def _advance(self, model: Denoiser) -> None:
        """Predict for all before any moves: what fails on the way leaves all as they were."""
        groups: dict[Hashable, list[Member]] = collections.defaultdict(list)
        for member in self._members.values():
            if not member.ready:
                groups[model.shape(member)].append(member)
        predicted: list[tuple[Member, Any]] = []
        for group in groups.values():
            size = self._pad or len(group)
            for first in range(0, len(group), size):
                part = group[first : first + size]
                filled = [*part, *[part[-1]] * (size - len(part))]
                predicted.extend(zip(part, model.predict(filled), strict=False))
        for member, one in predicted:
            member.advance(one)

    def _tell(self) -> None:
        """Say how far each is. An abort may leave the step here: who is ready stays so."""
        for member in list(self._members.values()):
            self._rt.progress(member.key, member.at, len(member.timesteps))

    def _finish(self, model: Denoiser, ended: dict[str, family.Result | Exception]) -> None:
        """Decode those that are ready, one at a time: a batch's decoding needs one's bytes."""
        for member in [one for one in self._members.values() if one.ready]:
            try:
                ended[member.key] = model.finish(member)
            except Exception as error:
                if device.out_of_memory(error):
                    if ended:
                        return
                    raise
                ended[member.key] = error
            del self._members[member.key]
