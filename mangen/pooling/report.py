"""The pool's state as JSON data: for `inspect stats`, Flower and the product's heartbeat."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mangen.pooling import lives, slots, work


def build(
    *,
    window: Sequence[work.Item],
    running: Sequence[work.Item],
    capacity: int,
    slots: Iterable[slots.Slot],
    counters: Mapping[str, int],
) -> dict[str, Any]:
    """Put it together; see events.Control.report."""
    return {
        "window": [item.data for item in window if item.data is not None],
        "running": [item.data for item in running if item.data is not None],
        "room": max(0, capacity - len(window)),
        "capacity": capacity,
        "children": [_child(slot, child) for slot in slots for child in slot.children],
        "quarantined": [slot.number for slot in slots if slot.quarantined],
        "counters": dict(counters),
    }


def _child(slot: slots.Slot, child: lives.Child) -> dict[str, Any]:
    batch = child.batch
    return {
        "slot": slot.number,
        "owner": child.owner,
        "device": slot.device,
        "state": str(child.state),
        "standby": child is slot.standby,
        "pid": child.pid,
        "tasks": child.tasks,
        "residents": dict(child.report.residents),
        "cache": dict(child.report.cache),
        "bytes": {
            "used": child.report.used,
            "usable": child.report.usable,
            "reserved": child.report.reserved,
        },
        "batch": None
        if batch is None
        else {
            "bucket": batch.bucket,
            "model": batch.model,
            "offered": len(batch.offered),
            "taken": len(batch.taken),
            "limit_s": batch.limit,
        },
    }
