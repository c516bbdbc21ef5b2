"""What a product answers of its members, held against what it may answer."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Mapping
from typing import Any

from mangen.pooling import errors, work

_SAID = 200  #: characters of a wrong answer that are told


class Nonsense(errors.PoolError):
    """A product answered what says of nobody how it ended."""


def checked(
    answer: Any, said: str, members: Collection[work.Key]
) -> Mapping[work.Key, work.Outcome]:
    """Answer the ends of these members; `said` names the call that answered.

    What is wrong with one member's end fails that member. Raises Nonsense for what is no mapping
    and for keys that are nobody's: then nobody knows who ended.
    """
    if not isinstance(answer, Mapping):
        raise Nonsense(
            f"{said} answered {_short(answer)}: it must answer a mapping of keys to Outcomes"
        )
    unknown = [key for key in answer if key not in members]
    if unknown:
        raise Nonsense(
            f"{said} answered an end of {_short(unknown)}, not of its members {sorted(members)}"
        )
    return {key: sound(outcome, said) for key, outcome in answer.items()}


def sound(outcome: Any, said: str, *, may_park: bool = False) -> work.Outcome:
    """Answer the outcome, or a failure that says what is wrong with it."""
    if not isinstance(outcome, work.Outcome) or not isinstance(outcome.status, work.Status):
        return work.Outcome.failed(f"{said} answered {_short(outcome)}, which is no Outcome")
    if outcome.status is work.Status.PARKED and not may_park:
        return work.Outcome.failed(f"{said}: the work parked a member unasked")
    try:
        pickle.dumps(outcome)
    except Exception as error:  # noqa: BLE001 - whatever a value raises when pickled
        return work.Outcome.failed(f"{said}: its value can't be sent: {_short(error)}")
    return outcome


def _short(given: Any) -> str:
    try:
        return repr(given)[:_SAID]
    except Exception:  # noqa: BLE001 - a product's own __repr__
        return f"a {type(given).__qualname__}"
