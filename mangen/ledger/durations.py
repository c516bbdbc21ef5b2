"""How long things take: observations kept, durations learned from them, seconds foretold.

What is learned is a factor: seconds observed / seconds planned, so that a kind of work whose items
differ in length (a line, a clip, an episode) is foretold item by item. The latest samples of each
kind lie in its own row: whoever writes observations learns in the same transaction, any number of
workers at once, and pruning observations loses nothing.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence

import sqlalchemy as sa

from mangen.ledger import door, jobs

#: samples of a kind that count: older ones are forgotten
WINDOW = 64
#: samples, as much as which a guess weighs
_GUESS = 1.0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Duration:
    """One kind of work on one kind of device; seconds are of one item, also where many ran at once.

    `low` and `high`: 10 and 90 % lasted no longer. Factors: the same of observed / planned;
    `fresh` samples of the latest had a plan.
    """

    stage: str
    bucket: str
    model: str
    device: str
    samples: int
    low: float
    typical: float
    high: float
    mean: float
    factor_low: float
    factor: float
    factor_high: float
    fresh: int


@dataclasses.dataclass(frozen=True, slots=True)
class Factor:
    """What planned seconds are multiplied by."""

    low: float  #: of one item: 10 % have less
    mean: float
    high: float  #: of one item: 90 % have less
    least: float  #: the mean itself may be so low, for all that was seen
    most: float  #: and so high
    known: bool  #: such work was seen, here or in another bucket


#: nothing like it was ever seen: as planned, give or take much
UNKNOWN = Factor(low=0.4, mean=1.0, high=2.5, least=0.4, most=2.5, known=False)


class Learned:
    """What was learned, asked for kinds of work. Pure."""

    def __init__(
        self, durations: Sequence[Duration] = (), *, devices: Collection[str] = ()
    ) -> None:
        """`devices` are the kinds that work will run on; none: all that were seen."""
        self._exact: dict[tuple[str, ...], list[Duration]] = {}
        self._alike: dict[tuple[str, ...], list[Duration]] = {}
        known = [one for one in durations if one.fresh]
        living = [one for one in known if one.device in devices]
        for one in known:
            exact, alike = (one.stage, one.model, one.bucket), (one.stage, one.model)
            self._exact.setdefault(exact, []).append(one)
            self._alike.setdefault(alike, []).append(one)
        # a kind that was seen on devices that live is foretold from those alone
        for one in living:
            exact, alike = (one.stage, one.model, one.bucket), (one.stage, one.model)
            self._exact[exact] = [d for d in self._exact[exact] if d.device in devices]
            self._alike[alike] = [d for d in self._alike[alike] if d.device in devices]
        self._found: dict[tuple[str, str, str], Factor] = {}

    def factor(self, stage: str, bucket: str, model: str) -> Factor:
        """What was seen of this kind, leaning on its other buckets while it is new."""
        asked = stage, bucket, model
        if asked not in self._found:
            guess = _lean(self._alike.get((stage, model), ()), UNKNOWN)
            self._found[asked] = _lean(self._exact.get((stage, model, bucket), ()), guess)
        return self._found[asked]

    def seconds(self, candidate: jobs.Candidate) -> float:
        """How long a job will keep its device."""
        found = self.factor(candidate.stage, candidate.bucket, candidate.model)
        return jobs.likely_s(candidate.seconds_theory * found.mean)


def _lean(seen: Sequence[Duration], guess: Factor) -> Factor:
    """What was seen, and of the guess the less the more was seen."""
    weights = [min(one.fresh, WINDOW) for one in seen]
    total = sum(weights)
    if not total:
        return guess

    def mixed(of: Callable[[Duration], float], guessed: float) -> float:
        summed = sum(w * of(one) for w, one in zip(weights, seen, strict=True))
        return (summed + _GUESS * guessed) / (total + _GUESS)

    def error(one: Duration) -> float:
        return (one.factor_high - one.factor_low) / (2 * math.sqrt(max(1, one.fresh)))

    middle = mixed(lambda one: one.factor, guess.mean)
    low = mixed(lambda one: one.factor_low, guess.low if guess.known else middle)
    high = mixed(lambda one: one.factor_high, guess.high if guess.known else middle)
    return Factor(
        low=min(low, middle),
        mean=middle,
        high=max(high, middle),
        least=min(middle, mixed(lambda one: one.factor - error(one), guess.least)),
        most=max(middle, mixed(lambda one: one.factor + error(one), guess.most)),
        known=True,
    )


class Observing(door.Door):
    """The ledger's door for what devices showed."""

    def observe(self, rows: Sequence[jobs.Observation | Mapping[str, object]]) -> None:
        """Keep what was seen on devices, beside the attempts it was seen of, and learn from it.

        A mapping is an Observation's fields; what it holds beside them goes into `meta`.
        """
        if not rows:
            return
        values = [
            {"no": no, **dataclasses.asdict(_observation(seen))} for no, seen in enumerate(rows)
        ]
        observed = json.dumps(values, ensure_ascii=False)
        with self.transaction() as conn:
            kinds = door.run(conn, "observe", observed=observed, window=WINDOW).all()
            if kinds:
                door.run(
                    conn,
                    "learn_durations",
                    stages=[kind.stage for kind in kinds],
                    buckets=[kind.bucket for kind in kinds],
                    models=[kind.model for kind in kinds],
                    devices=[kind.device for kind in kinds],
                )

    def observations(self, limit: int = 10_000) -> Sequence[jobs.Observation]:
        """The latest observations, oldest first."""
        with self.statement() as conn:
            return [jobs.Observation(**row) for row in door.rows(conn, "observations", limit=limit)]

    def durations(self, conn: sa.Connection) -> Sequence[Duration]:
        """All that was learned."""
        return [Duration(**row) for row in door.rows(conn, "durations")]


_FIELDS = {field.name for field in dataclasses.fields(jobs.Observation)}


def _observation(seen: jobs.Observation | Mapping[str, object]) -> jobs.Observation:
    if isinstance(seen, jobs.Observation):
        return seen
    known: dict[str, object] = {
        name: value for name, value in seen.items() if name in _FIELDS and value is not None
    }
    rest = {name: value for name, value in seen.items() if name not in _FIELDS}
    meta = known.get("meta", {})
    return jobs.Observation(
        **{"kind": "session", **known, "meta": {**meta, **rest}}  # type: ignore[arg-type,dict-item]  # the fields' own types
    )
