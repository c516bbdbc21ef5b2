"""Rank: who is next within a class. Pure.

The hybrid of the design, normalised: short and small jobs first, age linear, plus what waits for
the job. Linear ageing at one rate never changes the order of two waiting jobs, so the rank is
computed once, when a job becomes ready, with its age as minus the hour of readiness.
"""

from __future__ import annotations

import dataclasses
import math

from mangen import errors

_GIB = float(1 << 30)
_MOST = 1000.0  #: a weight, so that ranks keep their digits beside the hours since 1970


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """How much shortness, smallness, an hour of age and freed jobs count."""

    short: float = 0.5
    small: float = 0.3
    age: float = 0.2
    frees: float = 0.1

    @classmethod
    def parse(cls, text: str) -> Weights:
        """Read `0.5,0.3,0.2,0.1`."""
        try:
            short, small, age, frees = numbers = [float(word) for word in text.split(",")]
        except ValueError as error:
            raise errors.SettingsError(
                f"MANGEN_RANK_WEIGHTS must be four numbers with commas, not {text!r}"
            ) from error
        if not all(0 <= number <= _MOST for number in numbers):  # NaN is refused by this, too
            raise errors.SettingsError(
                f"MANGEN_RANK_WEIGHTS are {text!r}; each must be at least 0 and at most {_MOST:g}"
            )
        return cls(short=short, small=small, age=age, frees=frees)


def rank(*, seconds: float, peak_bytes: int, frees: int, hours: float, weights: Weights) -> float:
    """Answer the rank, the largest first.

    `seconds` is the expected duration, `peak_bytes` the peak over the weights, `frees` how many
    jobs wait for this one, `hours` the epoch hour at which the job became ready. Whatever a row
    says of its job, the answer is a number.
    """
    seconds = max(1.0, seconds)  # in this order: NaN is not larger than 1
    return (
        weights.short / seconds
        + weights.small / (1.0 + max(peak_bytes, 0) / _GIB)
        + weights.frees * math.log2(1 + max(frees, 0))
        - weights.age * hours
    )
