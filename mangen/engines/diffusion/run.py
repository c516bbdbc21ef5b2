"""A batch of requests over a family's batch of tasks: one request may take several of them."""

from __future__ import annotations

import dataclasses
import pathlib
import uuid
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from mangen import errors
from mangen.engines import protocol
from mangen.engines.diffusion import family, order, orders, players
from mangen.pooling import models, work
from mangen.pooling.devices import device


@dataclasses.dataclass(eq=False, kw_only=True, slots=True)
class _Member:
    """A request on its way. Progress is counted in steps of all its tasks, then its end's."""

    key: str
    plan: order.Order
    path: pathlib.Path
    waiting: list[str]  #: parts that have not begun
    running: dict[str, tuple[int, int]] = dataclasses.field(default_factory=dict)
    results: dict[str, family.Result] = dataclasses.field(default_factory=dict)
    ending: order.Ending | None = None
    steps: int = 0  #: of one task, as the family tells them

    def progress(self) -> tuple[int, int]:
        begun = sum(done for done, _ in self.running.values())
        whole = len(self.plan.tasks) * self.steps + self.plan.ends
        return len(self.results) * self.steps + begun, whole


class Run:
    """Implements protocol.Run. Nothing touches the device before the first step."""

    def __init__(
        self,
        playing: Mapping[str, players.Player],
        key: str,
        rt: work.Runtime,
        scratch: pathlib.Path,
    ) -> None:
        """`playing`: one model, in each stage whose requests may come.

        `key` is the family's own part of the bucket; clips are written below `scratch`.
        """
        self._playing, self._key, self._rt, self._scratch = playing, key, rt, scratch
        self._size = family.size_of(key)
        self._members: dict[str, _Member] = {}
        self._tasks: dict[str, tuple[_Member, str]] = {}
        self._ended: dict[str, protocol.Product | Exception] = {}
        self._watched = _Watched(rt, self._tell, lambda task: self._tasks[task][0].key)
        self._batch = self._open()
        self._stale = False  #: the family's batch takes nobody more
        self.joinable = self._batch.joinable

    def _open(self) -> family.TaskRun:
        player = next(iter(self._playing.values()))
        return player.family.open(player.model, self._key, self._watched)

    def add(self, requests: Mapping[str, protocol.Request]) -> None:
        """Take requests; one that can't be drawn ends by its error in the next step."""
        for key, request in requests.items():
            if key in self._members or key in self._ended:
                raise errors.EngineError(f"the batch {self._key} already holds {key}")
            path = self._scratch / f"{uuid.uuid4().hex}.mp4"
            try:
                plan = orders.of(self._player(request), request, path, self._size)
            except Exception as error:
                if device.out_of_memory(error):
                    raise
                self._ended[key] = error
                continue
            self._members[key] = _Member(key=key, plan=plan, path=path, waiting=list(plan.tasks))

    def _player(self, request: protocol.Request) -> players.Player:
        stage = players.STAGES[type(request)]
        if stage not in self._playing:
            raise errors.EngineError(f"a batch of {', '.join(self._playing)} can't {stage}")
        return self._playing[stage]

    def step(self) -> Mapping[str, protocol.Product | Exception]:
        if not self._ended:  # else those are told first
            self._begin()
            if self._tasks:
                self._stale = not self._batch.joinable
                for task, result in self._batch.step().items():
                    self._take(task, result)
            self._end()
        ended, self._ended = self._ended, {}
        return ended

    def drop(self, key: str) -> None:
        """Stop a request; what it had written of its clip is removed."""
        self._ended.pop(key, None)
        if key in self._members:
            self._forget(self._members[key])

    def close(self) -> None:
        for member in list(self._members.values()):
            self._forget(member)
        self._ended.clear()
        self._batch.close()

    def _begin(self) -> None:
        """Hand over the tasks that may run now."""
        if self._stale:
            if self._tasks:
                return
            self._batch.close()
            self._batch, self._stale = self._open(), False
        for member in list(self._members.values()):
            while member.waiting and len(member.running) < member.plan.at_once:
                part = member.waiting.pop(0)
                task = f"{member.key}/{part}" if part else member.key
                member.running[part] = (0, 0)
                self._tasks[task] = (member, part)
                try:
                    self._batch.add({task: member.plan.tasks[part]})
                except errors.MangenError as error:
                    self._fail(member, error)
                    break

    def _take(self, task: str, result: family.Result | Exception) -> None:
        """A task has ended, well or not."""
        found = self._tasks.pop(task, None)
        if found is None:  # its request was dropped while it ended
            return
        member, part = found
        if isinstance(result, Exception):
            self._fail(member, result)
            return
        del member.running[part]
        member.results[part] = result
        if len(member.results) == len(member.plan.tasks):
            member.ending = member.plan.end(member.results)

    def _end(self) -> None:
        """Move on those whose tasks are all done."""
        for member in list(self._members.values()):
            if member.ending is None:
                continue
            try:
                done = next(member.ending)
            except StopIteration as stopped:
                self._ended[member.key] = stopped.value
                del self._members[member.key]
            except Exception as error:
                if device.out_of_memory(error):
                    raise
                self._fail(member, error)
            else:
                steps, whole = member.progress()
                self._rt.progress(member.key, steps + done, whole)

    def _fail(self, member: _Member, error: Exception) -> None:
        self._forget(member)
        self._ended[member.key] = error

    def _forget(self, member: _Member) -> None:
        for task in [task for task, (one, _) in self._tasks.items() if one is member]:
            self._batch.drop(task)
            del self._tasks[task]
        if member.ending is not None:
            member.ending.close()
        member.path.unlink(missing_ok=True)
        self._members.pop(member.key, None)

    def _tell(self, task: str, done: int, of: int) -> None:
        """A family tells of a task; the pool hears of its request."""
        member, part = self._tasks[task]
        member.running[part], member.steps = (done, of), of
        self._rt.progress(member.key, *member.progress())


class _Watched:
    """The child's Runtime, as a family's batch sees it: tasks are told by their request's key."""

    def __init__(
        self,
        rt: work.Runtime,
        tell: Callable[[str, int, int], None],
        key_of: Callable[[str], str],
    ) -> None:
        self._rt, self._tell = rt, tell
        self.owner, self.device, self.kind = rt.owner, rt.device, rt.kind
        self.cache: work.FeatureCache = _Cache(rt.cache, key_of)

    def use(self, spec: models.ModelSpec) -> AbstractContextManager[Any]:
        return self._rt.use(spec)

    def progress(self, key: work.Key, done: int, of: int) -> None:
        self._tell(key, done, of)


class _Cache:
    def __init__(self, cache: work.FeatureCache, key_of: Callable[[str], str]) -> None:
        self._cache, self._key_of = cache, key_of

    def get(self, kind: str, signature: str) -> Any | None:
        return self._cache.get(kind, signature)

    def put(
        self, kind: str, signature: str, value: Any, *, seconds: float, by: work.Key | None = None
    ) -> None:
        maker = self._key_of(by) if by is not None else None
        self._cache.put(kind, signature, value, seconds=seconds, by=maker)
