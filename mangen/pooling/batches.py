"""Cuts what waits into what could be one batch each. Pure."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Sequence

from mangen.pooling import window


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """Members in order, of one bucket. `full` is a share of what it could have been.

    It is 0 where one member is all there can be: what is full at once gains nothing by it.
    `lingers`: it may still fill up.
    """

    members: tuple[window.Waiting, ...]
    full: float
    lingers: bool

    @property
    def head(self) -> window.Waiting:
        return self.members[0]


def by_bucket(left: Iterable[window.Waiting]) -> list[list[window.Waiting]]:
    """Split what is in order by bucket, and those apart that go alone; each keeps the order."""
    found: dict[tuple[str, bool], list[window.Waiting]] = collections.defaultdict(list)
    for one in left:
        found[one.group].append(one)
    return list(found.values())


def cut(members: Sequence[window.Waiting], cap: int, now: float, linger_s: float) -> Batch:
    """Take the first of a bucket, up to `cap`, and none into more than its own cap allows.

    It lingers while it is not full and nobody in it has waited for `linger_s`.
    """
    _, alone = members[0].group
    most = 1 if alone else max(1, cap)
    chosen: list[window.Waiting] = []
    for one in members[:most]:
        if chosen and one.item.cap <= len(chosen):
            break
        chosen.append(one)
    return Batch(
        members=tuple(chosen),
        full=len(chosen) / most if most > 1 else 0.0,
        lingers=len(members) < most and now - min(one.since for one in members) < linger_s,
    )
