"""How each kind of product is kept, as the configuration says."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from mangen.pooling import errors

_MOST = 2**60


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """How one kind of product is kept; `only_while` names tasks, one of which must wait."""

    worth: float = 1.0
    only_while: tuple[str, ...] = ()

    @classmethod
    def of(cls, kind: str, given: Mapping[str, Any]) -> Policy:
        """Read the configuration's dict; raises ConfigError that names the kind."""
        said = f"the cache kind {kind!r} is {given!r}"
        if not isinstance(given, Mapping):
            raise errors.ConfigError(f"{said}: it must be a dict, as {{'worth': 1.0}}")
        names = given.get("only_while", ())
        if not isinstance(names, list | tuple) or not all(isinstance(one, str) for one in names):
            raise errors.ConfigError(f"{said}: only_while must be a list of task names")
        worth = given.get("worth", 1.0)
        number = isinstance(worth, int | float) and not isinstance(worth, bool)
        if not number or not 0 <= worth <= _MOST:
            raise errors.ConfigError(f"{said}: worth must be a finite number, 0 or more")
        try:
            return cls(**{**given, "only_while": tuple(names)})
        except TypeError as error:
            raise errors.ConfigError(f"{said}: {error}") from error


def policies(given: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Policy]:
    """Read all kinds; raises ConfigError that names the one that is wrong."""
    check_names(given)
    return {kind: Policy.of(kind, one) for kind, one in given.items()}


def check_names(kinds: Iterable[object]) -> None:
    """Raise ConfigError for a kind that is no text, or named like the counters' sum."""
    for kind in kinds:
        if not isinstance(kind, str) or not kind:
            raise errors.ConfigError(f"the cache kind {kind!r} must be named by a text")
        if kind == "total":
            raise errors.ConfigError("no cache kind may be named total: the counters' sum is")
