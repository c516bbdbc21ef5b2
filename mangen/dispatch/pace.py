"""Who works, and how much of the time: devices as a forecast counts them. Pure."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from mangen.ledger import jobs

#: a device serves at least this much of its time, however its past looks
_LEAST_SHARE = 0.3
_SAMPLED = 5  #: tasks before a child's busy share says something
_PACE_S = 300.0  #: of device time, after which a look at the pace counts a third
_GUESS_S = 60.0  #: of device time, that a guess at the pace weighs


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Device:
    """One device that serves queues, and the share of its time in which it works."""

    queues: frozenset[str]
    share: float = 1.0


class Pace:
    """How much of their time devices of a kind really worked while work waited for them."""

    def __init__(self) -> None:
        self._worked: dict[str, float] = {}
        self._had: dict[str, float] = {}

    def saw(self, kind: str, *, worked: float, had: float) -> None:
        """So many seconds of work in so many seconds that devices of this kind had for it."""
        fade = math.exp(-had / _PACE_S)
        self._worked[kind] = self._worked.get(kind, 0.0) * fade + worked
        self._had[kind] = self._had.get(kind, 0.0) * fade + had

    def share(self, kind: str, guess: float) -> float:
        """The share seen, leaning on a guess while little was seen."""
        had = self._had.get(kind, 0.0)
        seen = self._worked.get(kind, 0.0) + guess * _GUESS_S
        return min(1.0, max(_LEAST_SHARE, seen / (had + _GUESS_S)))


def devices(
    living: Sequence[jobs.Living], *, lease_s: float, pace: Pace | None = None
) -> list[Device]:
    """Who works: owners that beat, each with its share of busy time where work waited for it.

    `pace`: the share as it was seen of late, with all that passes between two jobs.
    """
    found = []
    for one in living:
        if one.silent_s > 2 * lease_s:
            continue
        share = 1.0
        for child in one.report.get("children", ()):
            if child.get("owner") == str(one.owner) and child.get("tasks", 0) >= _SAMPLED:
                share = min(1.0, max(_LEAST_SHARE, float(child.get("busy", 1.0))))
        if pace is not None:
            share = pace.share(one.owner.device, share)
        found.append(Device(queues=frozenset(one.owner.queues), share=share))
    return found
