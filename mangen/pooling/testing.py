"""For tests of a product's Work: a Runtime without a pool, and one drive through a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from mangen.pooling import cache, errors, models, residents, work
from mangen.pooling.devices import device as devices


class Here:
    """A Runtime in this process: every model fits, and progress is kept in `told`.

    `stop(key, why)` makes the next `progress` leave the step, as an abort does in a child where
    no other member runs.
    """

    def __init__(
        self,
        owner: str = "test/0/1",
        device: str = "cpu",
        kinds: Mapping[str, cache.Policy] | None = None,
    ) -> None:
        self.owner = owner
        self.device = device
        self.kind = device
        self.features = cache.Cache(cache.Options(kinds=kinds or {}))
        self.cache: work.FeatureCache = self.features
        self.residents = residents.Residents(_Room())
        self.told: list[tuple[work.Key, int, int]] = []
        self.stopped: dict[work.Key, work.Why] = {}

    def use(self, spec: models.ModelSpec) -> AbstractContextManager[Any]:
        return self.residents.use(spec)

    def progress(self, key: work.Key, done: int, of: int) -> None:
        self.told.append((key, done, of))
        if key in self.stopped:
            raise errors.Dropped(key, self.stopped[key])

    def stop(self, key: work.Key, why: work.Why = work.Why.ABORT) -> None:
        self.stopped[key] = why


class _Room:
    """A house where everything fits, and nobody hears of anything."""

    def make_room(self, _wanted: int, _keep: str) -> bool:
        return True

    def fits(self, _wanted: int) -> bool:
        return True

    def loading(self) -> None:
        pass

    def loaded(self, spec: models.ModelSpec, seconds: float, *, ahead: bool) -> None:
        pass

    def warmed(self, spec: models.ModelSpec, seconds: float) -> None:
        pass

    def evicted(self, spec: models.ModelSpec) -> None:
        pass


def drive(
    product: work.Work,
    items: Sequence[work.Item],
    rt: Here | None = None,
    between: Callable[[], None] = lambda: None,
) -> Mapping[work.Key, work.Outcome]:
    """Run items of one bucket through one session, as the child does; answers their outcomes."""
    runtime = rt or Here()
    session = product.open(items[0].bucket, runtime)
    left = {item.key for item in items}
    ended: dict[work.Key, work.Outcome] = {}
    try:
        ended.update(session.add(items))
        left -= ended.keys()
        while left:
            between()
            for key in [key for key in runtime.stopped if key in left]:
                ended[key] = session.drop(key, runtime.stopped.pop(key))
            left -= ended.keys()
            if left:
                try:
                    ended.update(session.step())
                except errors.Dropped:
                    continue
                except Exception as error:
                    if not devices.out_of_memory(error):
                        raise
                    ended.update(_end(session, sorted(left)))
                left -= ended.keys()
    finally:
        session.close()
    return ended


def _end(session: work.Session, keys: Sequence[work.Key]) -> Mapping[work.Key, work.Outcome]:
    """End members that ran out of memory: there is no more of it here for a second try."""
    ended = {}
    for key in keys:
        outcome = session.drop(key, work.Why.OOM)
        if outcome.status is work.Status.PARKED:
            outcome = session.drop(key, work.Why.NEVER_FITS)
        ended[key] = outcome
    return ended
