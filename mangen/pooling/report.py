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
    kinds: int,
    suspended: bool,
    at_work: bool,
) -> dict[str, Any]:
    """Put it together; see events.Control.report."""
    return {
        "window": [item.data for item in window if item.data is not None],
        "running": [item.data for item in running if item.data is not None],
        "room": max(0, capacity - len(window)),
        "capacity": capacity,
        "children": [_child(slot, child) for slot in slots for child in slot.children],
        "suspended": suspended,
        "at_work": at_work,
        "quarantined": [slot.number for slot in slots if slot.quarantined],
        "counters": dict(counters),
        "learned": {"kinds": kinds},
    }


def _child(slot: slots.Slot, child: lives.Child) -> dict[str, Any]:
    batch, said = child.batch, child.report
    return {
        "slot": slot.number,
        "owner": child.owner,
        "device": slot.device,
        "kind": child.kind,
        "card": slot.card.id,
        "state": str(child.state),
        "standby": child is slot.standby,
        "pid": child.pid,
        "tasks": child.tasks,
        "residents": dict(said.residents),
        "cache": dict(said.cache),
        "bytes": {
            "total": said.memory.total if said.memory is not None else 0,
            "used": said.used,
            "known": said.known,
            "usable": said.usable,
            "reserved": said.reserved,
            "difference": said.difference,
            "foreign": said.foreign,
            "watermark": said.watermark,
        },
        "admissible": said.admissible,
        "busy": round(slot.meter.total.ratio, 4),
        "fragmentation": child.fragmentation,
        "loading_s": round(said.loading_s, 3),
        "batch": None
        if batch is None
        else {
            "bucket": batch.bucket,
            "model": batch.model,
            "cap": batch.cap,
            "offered": len(batch.offered),
            "taken": len(batch.taken),
            "limit_s": batch.limit,
        },
    }
