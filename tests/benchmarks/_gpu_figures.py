"""The figures of the card's benchmark, from what its pool and its loops left. Pure.

docs/benchmarks.md says what each means.
"""

from __future__ import annotations

import collections
import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import _gpu_pool

#: sessions of a bucket and size, after which its estimates are learned
SAMPLES = 5
Loops = Mapping[str, Mapping[str, Any]]


@dataclasses.dataclass(frozen=True, slots=True)
class Goal:
    """`at_least`: a figure is to be no smaller; else no larger."""

    bound: float
    at_least: bool

    def met(self, value: float) -> bool:
        return value >= self.bound if self.at_least else value <= self.bound

    def __str__(self) -> str:
        return f"{'>=' if self.at_least else '<='} {self.bound:g}"


GOALS: Mapping[str, Goal] = {
    "picture_vs_loop": Goal(0.97, True),
    "clip_vs_loop": Goal(0.97, True),
    "picture_of_bound": Goal(0.9, True),
    "clip_of_bound": Goal(0.9, True),
    "urgent_steps": Goal(2, False),
    "busy_ratio": Goal(0.95, True),
    "fragmentation": Goal(0.03, False),
    "estimate_worst": Goal(1.0, False),
}


def figures(pool: _gpu_pool.Found, loops: Loops) -> dict[str, Any]:
    """All figures by name; what was left out, or can't be measured here, is None."""
    found: dict[str, Any] = {}
    for name in ("picture", "clip"):
        pace, loop = pool.paces.get(name), loops.get(name)
        found.update(against(name, pace, loop, pool.caps.get(name, (1, False))[0]))
    urgent = [steps for steps, _ in pool.urgent]
    found |= {
        "urgent_steps": max(urgent, default=None),
        "urgent_s": rounded(max((seconds for _, seconds in pool.urgent), default=None)),
        "alone_vs_loop": rounded(alone(pool, loops)),
        "joining_vs_batches": rounded(joining(pool)),
        "busy_ratio": rounded(busy(list(pool.paces.values()))),
        "card_busy": rounded(card_busy(list(pool.paces.values()))),
        "fragmentation": rounded(pool.fragmentation),
        "estimate_worst": rounded(worst(learned(pool.sessions))),
        "estimate_worst_cold": rounded(worst(cold(pool.sessions))),
        "estimate_mean": rounded(mean_reserved(pool.sessions)),
        "theory_worst": rounded(max(pool.theory, default=None)),
        "oom": pool.ooms,
        "used_gib": rounded(pool.used / 2**30),
        "caps": {name: size for name, (size, _) in pool.caps.items()},
        "caps_settled": {name: settled for name, (_, settled) in pool.caps.items()},
        "load_s": {one.model.partition(":")[0] + ":encode" * one.model.endswith(":encode"):
                   rounded(one.seconds) for one in pool.loads},
        "warm_s": rounded(sum(one.seconds for one in pool.warmed)),
    }  # fmt: skip
    return found


def against(
    name: str, pace: _gpu_pool.Pace | None, loop: Mapping[str, Any] | None, cap: int
) -> dict[str, Any]:
    """One kind against the two loops: resident with the same batch, and loading for each task."""
    found: dict[str, float | None] = dict.fromkeys(
        ("per_s", "loop_per_s", "vs_loop", "load_share", "batch_gain", "bound", "vs_load_per_task",
         "of_bound"),
    )  # fmt: skip
    if pace is not None:
        found["per_s"] = pace.rate
    if loop is not None and str(cap) in loop["batch_s"]:
        alone, together = loop["batch_s"]["1"], loop["batch_s"][str(cap)]
        found["loop_per_s"] = cap / together
        found["batch_gain"] = cap * alone / together
        found["load_share"] = loop["load_s"] / (loop["load_s"] + alone)
        found["bound"] = bound(found["load_share"], found["batch_gain"])
    if pace is not None and found["loop_per_s"] is not None:
        found["vs_loop"] = pace.rate / found["loop_per_s"]
    if pace is not None and loop is not None and loop["task_s"]:
        found["vs_load_per_task"] = pace.rate * loop["task_s"]
        if found["bound"] is not None:
            found["of_bound"] = found["vs_load_per_task"] / found["bound"]
    return {f"{name}_{key}": rounded(value) for key, value in found.items()}


def bound(load_share: float, batch_gain: float) -> float:
    """How many times as many a resident batch can draw as who loads for each task."""
    return batch_gain / (1 - load_share)


def alone(pool: _gpu_pool.Found, loops: Loops) -> float | None:
    """Pictures a second one by one, of the resident loop's."""
    loop = loops.get("picture")
    return None if pool.alone is None or loop is None else pool.alone.rate * loop["batch_s"]["1"]


def joining(pool: _gpu_pool.Found) -> float | None:
    """Steps a second where members come and go, of those in whole batches of one length."""
    whole = pool.paces.get("picture")
    return None if pool.joined is None or whole is None else pool.joined.rate / whole.rate


def busy(paces: Sequence[_gpu_pool.Pace]) -> float | None:
    """Seconds in which a step ran, of those in which work was there."""
    seconds = sum(pace.seconds for pace in paces)
    return sum(pace.busy for pace in paces) / seconds if seconds else None


def card_busy(paces: Sequence[_gpu_pool.Pace]) -> float | None:
    """As `busy`, by the card's own word: a step may run while the card waits for it."""
    told = [(pace.card * pace.seconds, pace.seconds) for pace in paces if pace.card is not None]
    return sum(one for one, _ in told) / sum(s for _, s in told) if told else None


def learned(sessions: Sequence[_gpu_pool.Session]) -> Iterator[_gpu_pool.Session]:
    """Sessions after the fifth of their bucket: what is reserved was learned by then."""
    return _split(sessions, lambda seen: seen >= SAMPLES)


def cold(sessions: Sequence[_gpu_pool.Session]) -> Iterator[_gpu_pool.Session]:
    return _split(sessions, lambda seen: seen < SAMPLES)


def _split(
    sessions: Sequence[_gpu_pool.Session], wanted: Callable[[int], bool]
) -> Iterator[_gpu_pool.Session]:
    seen: collections.Counter[str] = collections.Counter()
    for session in sessions:
        if wanted(seen[session.bucket]):
            yield session
        seen[session.bucket] += 1


def worst(sessions: Iterator[_gpu_pool.Session]) -> float | None:
    """The largest share of its reservation that a session needed; over 1 it needed more."""
    return max((one.peak / one.reserved for one in sessions if one.reserved), default=None)


def mean_reserved(sessions: Sequence[_gpu_pool.Session]) -> float | None:
    """Reserved of needed, on average, where it was learned."""
    found = [one.reserved / one.peak for one in learned(sessions) if one.peak > 0]
    return sum(found) / len(found) if found else None


def rounded(value: float | None) -> float | None:
    """Four digits; what is no number was not measured."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.4g}")
