"""How much may be published: what the windows of live workers still take. Pure.

A window is bounded twice: by its slots, and by predicted seconds, so that order is decided late
where jobs are long. Yet each device is always left a whole batch, and the next item after it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from mangen.ledger import jobs, publishing


@dataclasses.dataclass(kw_only=True, slots=True)
class _Crew:
    """Devices that serve the same queues, and what waits for them."""

    queues: frozenset[str]
    devices: int = 0
    slots: float = 0.0
    seconds: float = 0.0
    count: float = 0.0
    waiting_s: float = 0.0

    @property
    def free(self) -> float:
        return self.slots - self.count

    def takes(self, cap: int) -> bool:
        if self.free < 1:
            return False
        return self.waiting_s < self.seconds or self.count < self.devices * (cap + 1)


class Windows:
    """The room of all live workers, less what is published and not yet claimed."""

    def __init__(
        self,
        living: Sequence[jobs.Living],
        published: Mapping[str, publishing.Load],
        *,
        horizon_s: float,
    ) -> None:
        crews: dict[frozenset[str], _Crew] = {}
        for one in living:
            queues = frozenset(one.owner.queues)
            crew = crews.setdefault(queues, _Crew(queues=queues))
            crew.devices += 1
            crew.slots += one.report.get("capacity", 0)
            crew.seconds += horizon_s
        self._crews = list(crews.values())
        # who serves the fewest queues is chosen last by none: its own queue fills it first
        for queue, load in sorted(published.items(), key=lambda one: len(self._of(one[0]))):
            self._spread(queue, load)

    def room(self, queue: str) -> int:
        """How many more jobs of a queue fit into the slots."""
        return int(sum(max(0.0, crew.free) for crew in self._of(queue)))

    def take(self, queue: str, seconds: float, cap: int) -> bool:
        """Take room for one job of a queue; False where there is none."""
        able = [crew for crew in self._of(queue) if crew.takes(cap)]
        if not able:
            return False
        crew = max(able, key=lambda one: one.free / one.devices)
        crew.count += 1
        crew.waiting_s += seconds
        return True

    def beyond(self, queue: str, seconds: float) -> None:
        """Count a job that goes beyond the bound."""
        self._spread(queue, publishing.Load(jobs=1, seconds=seconds))

    def _of(self, queue: str) -> list[_Crew]:
        return [crew for crew in self._crews if queue in crew.queues]

    def _spread(self, queue: str, load: publishing.Load) -> None:
        """Nobody knows whose window holds what is published: by free slots, then by devices."""
        crews = self._of(queue)
        free = [max(0.0, crew.free) for crew in crews]
        weights = free if sum(free) >= load.jobs else [float(crew.devices) for crew in crews]
        for crew, weight in zip(crews, weights, strict=True):
            share = weight / sum(weights)
            crew.count += load.jobs * share
            crew.waiting_s += load.seconds * share
