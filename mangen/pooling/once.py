"""Work that can't be stepped, as a session of one step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from mangen.pooling import work
from mangen.pooling.devices import device

Run: TypeAlias = Callable[[Sequence[work.Item]], Mapping[work.Key, work.Outcome | Exception]]
"""Does the work of all items at once; answers each one's end by its key, or what went wrong."""


class Once:
    """Implements work.Session over a function, which claims nothing and holds nothing between.

    What `run` raises ends all its items, and what it forgets fails; out of memory, raised or
    answered, ends nobody: the pool parks who is left, and they run again in a smaller batch. A
    `run` that takes long calls `Runtime.progress`, so that it can be stopped.
    """

    joinable = False

    def __init__(self, run: Run) -> None:
        self._run = run
        self._items: dict[work.Key, work.Item] = {}

    def add(self, items: Sequence[work.Item]) -> Mapping[work.Key, work.Outcome]:
        self._items.update({item.key: item for item in items})
        return {}

    def step(self) -> Mapping[work.Key, work.Outcome]:
        """Run those who are left: all of them, but after an answered out of memory."""
        keys = list(self._items)
        try:
            answers = self._run(list(self._items.values()))
        except Exception as error:
            if device.out_of_memory(error):
                raise
            answers = dict.fromkeys(keys, error)
        if not isinstance(answers, Mapping):
            wrong = work.Outcome.failed(f"the work answered {type(answers).__name__}, no mapping")
            answers = dict.fromkeys(keys, wrong)
        ended: dict[work.Key, work.Outcome] = {}
        full: Exception | None = None
        for key in keys:
            answer = answers.get(key) or work.Outcome.failed("the work gave no answer")
            if isinstance(answer, work.Outcome):
                ended[key] = answer
            elif device.out_of_memory(answer):
                full = answer
            else:
                ended[key] = work.Outcome.failed(f"{type(answer).__name__}: {answer}")
        if full is not None and not ended:
            raise full
        for key in ended:
            del self._items[key]
        return ended

    def drop(self, key: work.Key, why: work.Why) -> work.Outcome:
        self._items.pop(key, None)
        if why is work.Why.OOM:
            return work.Outcome.parked()
        if why is work.Why.NEVER_FITS:
            return work.Outcome.failed("it needs more memory than this device has, alone")
        return work.Outcome.aborted(why)

    def close(self) -> None:
        self._items.clear()
