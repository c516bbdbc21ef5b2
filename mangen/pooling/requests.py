"""What the engine needs of whoever hands it a request (with Celery: celery_request)."""

from __future__ import annotations

from typing import Any, Protocol

from mangen.pooling import work


class Request(Protocol):
    """One request. The engine thread calls these; none of them blocks or raises."""

    item: work.Item
    #: goes to the child with the item
    payload: Any
    #: a hard limit of its own in seconds, for plain tasks
    limit: float | None

    def withdrawn(self) -> bool:
        """Whether it was revoked or has expired, while it waits."""
        ...

    def taken(self, pid: int, at: float) -> None:
        """A child has it: ack. `at` is monotonic time."""
        ...

    def settled(self, outcome: work.Outcome, reply: Any) -> None:
        """It ended in the child with this reply."""
        ...

    def revoked(self) -> None:
        """It was withdrawn before any child had it."""
        ...

    def terminated(self, why: str) -> None:
        """It was stopped on purpose, and its child could not say so itself."""
        ...

    def timed_out(self, seconds: float) -> None:
        """It passed its hard limit, alone, and its child was killed."""
        ...

    def lost(self, why: str) -> None:
        """Its child died."""
        ...
