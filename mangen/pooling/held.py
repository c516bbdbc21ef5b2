"""What is in a pool's hands: what waits, what is offered, and what was taken."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mangen.pooling import lives, requests, window, work


@dataclasses.dataclass(kw_only=True, slots=True)
class Held:
    """A request in this pool: it waits (no child), is offered, or was taken."""

    request: requests.Request
    waiting: window.Waiting | None = None  # kept while it is offered, to put it back
    child: lives.Child | None = None
    taken: bool = False
    stopped: work.Why | None = None
    lost_offers: int = 0

    @property
    def item(self) -> work.Item:
        return self.request.item


class Table:
    """Held requests by key, and the window of those that wait. The engine thread owns it."""

    def __init__(self) -> None:
        self.window = window.Window()
        self.held: dict[work.Key, Held] = {}
        self._twins: dict[work.Key, collections.deque[requests.Request]] = {}

    @property
    def unacked(self) -> list[work.Item]:
        """What waits or is offered."""
        return [held.request.item for held in self.held.values() if not held.taken]

    @property
    def running(self) -> list[work.Item]:
        return [held.item for held in self.held.values() if held.taken]

    def matching(self, match: Callable[[Mapping[str, Any]], bool]) -> list[work.Key]:
        """Keys of the work whose data `match` accepts."""
        datas = [(key, held.item.data) for key, held in self.held.items()]
        return [key for key, data in datas if data is not None and match(data)]

    def items(self, keys: Iterable[work.Key]) -> list[work.Item]:
        """Answer the items of these, of which each is held."""
        return [self.held[key].item for key in keys]

    def add(self, request: requests.Request, now: float) -> None:
        key = request.item.key
        if key in self.held:  # a second message, or a retry that overtook its first end
            self._twins.setdefault(key, collections.deque()).append(request)
            return
        self.window.add(request.item, now)  # first: what it can't take must not be held half
        self.held[key] = Held(request=request)

    def offer(self, key: work.Key, child: lives.Child) -> Held:
        """Take one out of the window, to be offered to this child."""
        held = self.held[key]
        held.waiting = self.window.take(key)
        held.child = child
        return held

    def put_back(self, key: work.Key) -> Held:
        """Let one wait again that was offered and not taken."""
        held = self.held[key]
        assert held.waiting is not None
        self.window.put_back(held.waiting)
        held.waiting = held.child = None
        return held

    def end(self, key: work.Key) -> requests.Request | None:
        """Forget one; answers its twin, which is to be added now."""
        del self.held[key]
        twins = self._twins.get(key)
        if not twins:
            return None
        twin = twins.popleft()
        if not twins:
            del self._twins[key]
        return twin

    def flush(self) -> None:
        """Forget what waits: it could not be acked any more."""
        self._twins.clear()
        for waiting in self.window.clear():
            del self.held[waiting.item.key]
