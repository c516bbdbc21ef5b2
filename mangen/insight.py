"""Looking into what runs and what ran: the backlog, an artifact's trace, histories."""

from __future__ import annotations

from typing import Any

from mangen import api
from mangen.dispatch import drain, foresight

_OPEN = ("running", "published", "ready", "blocked")


def backlog() -> dict[str, Any]:
    """Say how many seconds of work wait in each queue, and how many devices there are for it.

    `seconds` can begin now (running, published, ready); `blocked_seconds` wait for other jobs. What
    people paused is no work to wait for. Cheap enough to be asked all the time: whoever leads the
    pass counts every few seconds; `age_s` says how long ago.
    """
    with api.open_ledger() as (chosen, book):
        found = foresight.waiting(book, lease_s=chosen.lease_s)
    queues: dict[str, Any] = {}
    for name in dict.fromkeys((*drain.QUEUES, *(one.queue for one in found.lanes))):
        lanes = [one for one in found.lanes if one.queue == name]
        serving = sum(name in one.queues for one in found.devices)
        seconds = sum(one.seconds for one in lanes if one.state != "blocked")
        queues[name] = {
            "devices": serving,
            "seconds": round(seconds, 1),
            "blocked_seconds": round(sum(o.seconds for o in lanes if o.state == "blocked"), 1),
            "jobs": {state: _jobs(lanes, state) for state in _OPEN},
            "classes": {
                word: round(sum(one.seconds for one in lanes if one.lane == n), 1)
                for n, word in enumerate(("high", "mid", "low"))
            },
            "seconds_per_device": round(seconds / serving, 1) if serving else None,
        }
    return {
        "seconds": round(sum(queue["seconds"] for queue in queues.values()), 1),
        "blocked_seconds": round(sum(queue["blocked_seconds"] for queue in queues.values()), 1),
        "devices": len(found.devices),
        "age_s": round(found.age_s, 1),
        "queues": queues,
    }


def _jobs(lanes: Any, state: str) -> int:
    return sum(one.jobs for one in lanes if one.state == state)
