"""What workers tell with their heartbeats, as far as it can be used.

A report is another process's word, maybe of another version: what is no number, no list, or no id
in it is passed over, so that one worker's rubbish never ends the pass that all depend on.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

_MOST = 1e6  #: requests that one owner may hold, or take
_MOST_ID = 2**63 - 1
_NONE = re.compile("[\\0\ud800-\udfff]")  #: what no text in Postgres holds


def read(report: Any) -> Mapping[str, Any]:
    """A report whose room, capacity, window and children are what they must be."""
    if not isinstance(report, dict):
        return {}
    read = dict(report)
    for name in {"room", "capacity"} & read.keys():
        read[name] = _number(read[name])
    for name in {"window", "children"} & read.keys():
        read[name] = [one for one in _list(read[name]) if isinstance(one, dict)]
    if "window" in read:
        read["window"] = [one for one in read["window"] if _is_id(one.get("job"))]
    if "children" in read:
        read["children"] = [_child(one) for one in read["children"]]
    return read


def write(report: Mapping[str, Any]) -> str:
    """A report as JSON that Postgres takes: NaN, infinity and NUL would cost the heartbeat."""
    return json.dumps(_storable(dict(report)), ensure_ascii=True, allow_nan=False)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: Any) -> float:
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    return min(value, _MOST) if known and value >= 0 else 0  # NaN is not


def _is_id(value: Any) -> bool:
    return type(value) is int and 0 < value <= _MOST_ID


def _child(told: Mapping[str, Any]) -> Mapping[str, Any]:
    numbers = {name: _number(told[name]) for name in ("tasks", "busy") if name in told}
    return {**told, **numbers}


def _storable(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return _NONE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_storable(str(name)): _storable(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_storable(one) for one in value]
    return value
