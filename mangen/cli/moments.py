"""Moments and spans of time, as people say them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def ready(one: Mapping[str, Any], now: dt.datetime | None = None) -> str:
    """When a project will be ready, as `about 03:10-03:40 (in 2 h)`; else why nobody can tell.

    The ends are rounded outwards, the more coarsely the farther they are, so that a watched line
    stands still while nothing changes.
    """
    if not one.get("eta"):
        return str(one.get("eta_why") or "")
    at = now or dt.datetime.now().astimezone()
    low, eta, high = (
        dt.datetime.fromisoformat(one[name]).astimezone(at.tzinfo)
        for name in ("eta_low", "eta", "eta_high")
    )
    left = max(0.0, (eta - at).total_seconds())
    step = _MINUTE if left < 15 * _MINUTE else 5 * _MINUTE if left < 3 * _HOUR else 10 * _MINUTE
    first, last = _floor(max(low, at), step), _floor(high + dt.timedelta(seconds=step), step)
    day = (
        ""
        if first.date() == at.date()
        else f"{first:%a} "
        if left < 6 * _DAY
        else f"{first:%d %b} "
    )
    end = f"{last:%H:%M}" if last.date() == first.date() else f"{last:%a %H:%M}"
    return f"about {day}{first:%H:%M}-{end} (in {span(left)})"


def moment(at: dt.datetime | str) -> str:
    """A moment in this machine's time, to the second."""
    found = dt.datetime.fromisoformat(at) if isinstance(at, str) else at
    return f"{found.astimezone():%Y-%m-%d %H:%M:%S}"


def span(seconds: float) -> str:
    """A span of time in its largest unit: `40 s`, `12 min`, `2 h`, `3 days`."""
    if seconds < _MINUTE:
        return f"{max(1, round(seconds))} s" if seconds >= 1 else "no time"
    if seconds < 90 * _MINUTE:
        return f"{round(seconds / _MINUTE)} min"
    if seconds < 2 * _DAY:
        return f"{round(seconds / _HOUR)} h"
    return f"{round(seconds / _DAY)} days"


def _floor(at: dt.datetime, step: int) -> dt.datetime:
    since = at.hour * _HOUR + at.minute * _MINUTE + at.second
    whole = at.replace(hour=0, minute=0, second=0, microsecond=0)
    return whole + dt.timedelta(seconds=since - since % step)
