"""What an item must be, before it may wait: one wrong number would stall or end what it is near."""

from __future__ import annotations

import math
from collections.abc import Mapping
from multiprocessing import reduction
from typing import Any

from mangen.pooling import errors, wire, work

LONGEST_BUCKET = 1_000
MOST_MEMBERS = 1_024
MOST_BYTES = 2**50


def check(item: object) -> None:
    """Raise PoolError that names the item, the field, its value and the mend."""
    if not isinstance(item, work.Item):
        raise errors.PoolError(f"{shown(item)} is no work.Item: submit one")
    for name in ("key", "name", "bucket"):
        value = getattr(item, name)
        if not isinstance(value, str) or not value:
            _refuse(item, name, value, "a str that is not empty")
    plain = item.bucket == wire.PLAIN
    if len(item.bucket) > LONGEST_BUCKET:
        _refuse(item, "bucket", item.bucket, f"at most {LONGEST_BUCKET:,} characters long")
    if plain and item.data is not None:
        _refuse(item, "bucket", item.bucket, "another name, that one is for tasks without data")
    if not isinstance(item.model, str):
        _refuse(item, "model", item.model, "a str, empty for none")
    if not _whole(item.klass, 0, 2):
        _refuse(item, "klass", item.klass, "0, 1 or 2")
    if not (_finite(item.rank) or (plain and item.rank == math.inf)):
        _refuse(item, "rank", item.rank, "a finite number")
    _check_needs(item)


def _check_needs(item: work.Item) -> None:
    peaks = item.peaks
    if not isinstance(peaks, tuple) or len(peaks) > MOST_MEMBERS:
        _refuse(item, "peaks", peaks, f"a tuple of at most {MOST_MEMBERS:,} numbers")
    for peak in peaks:
        if not _whole(peak, 0, MOST_BYTES):
            _refuse(item, "peaks", peak, "bytes, each an int from 0 to 2**50")
    if not _whole(item.cap, 1, MOST_MEMBERS):
        _refuse(item, "cap", item.cap, f"an int from 1 to {MOST_MEMBERS:,}")
    if not _finite(item.seconds) or item.seconds < 0:
        _refuse(item, "seconds", item.seconds, "a finite number, 0 or more")
    if not isinstance(item.solo, bool):
        _refuse(item, "solo", item.solo, "True or False")
    if not (item.data is None or isinstance(item.data, Mapping)):
        _refuse(item, "data", item.data, "a mapping of JSON data, or None")


def check_sendable(item: work.Item) -> None:
    """Raise PoolError when the item can't go to a child: it is pickled as the pipe does it."""
    try:
        reduction.ForkingPickler.dumps(item)
    except Exception as error:  # whatever pickling raises
        raise errors.PoolError(
            f"the item {shown(item.key)} can't be sent to a child: {error!r}: "
            "let its data be JSON data"
        ) from error


def shown(value: object, most: int = 60) -> str:
    """A value in few letters; some, as a number of many digits, have no repr at all."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - whatever a stranger's repr raises
        return f"a {type(value).__name__} that can't be shown"
    return text if len(text) <= most else f"{text[:most]}..."


def _refuse(item: work.Item, field: str, value: object, mend: str) -> None:
    raise errors.PoolError(
        f"the item {shown(item.key)} has {field} {shown(value)}: it must be {mend}"
    )


def _whole(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _finite(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an int beyond all floats
        return False
