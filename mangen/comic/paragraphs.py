"""The paragraphs of a text: its lines, or, where it was wrapped by hand, its blocks of lines."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator

_ENDS = frozenset("。！？!?…”’」』\"'.:：;；—）)】")
LINES_TO_JUDGE = 8


def paragraphs(
    text: str, start: int, end: int, *, wrapped: bool = False
) -> Iterator[tuple[int, int]]:
    """Yield the spans of the paragraphs in text[start:end], without white space at their ends."""
    at = start
    block: tuple[int, int] | None = None
    while at < end:
        stop = text.find("\n", at, end)
        stop = end if stop < 0 else stop
        first, last = _strip(text, at, stop)
        if first < last:
            if wrapped:
                block = (block[0] if block else first, last)
            else:
                yield first, last
        elif block:
            yield block
            block = None
        at = stop + 1
    if block:
        yield block


@functools.lru_cache(maxsize=2)
def is_wrapped(text: str) -> bool:
    """Say whether sentences run on over line ends of about one width, blocks parted by blanks."""
    lines = text.split("\n")[:4000]
    followed = [a.strip() for a, b in itertools.pairwise(lines) if a.strip() and b.strip()]
    if len(followed) < LINES_TO_JUDGE or not any(not line.strip() for line in lines):
        return False
    width = sorted(len(line) for line in followed)[len(followed) * 9 // 10]
    if not 20 <= width <= 100:
        return False
    alike = sum(len(line) >= 0.75 * width for line in followed)
    open_ended = sum(line[-1] not in _ENDS for line in followed)
    return alike >= 0.6 * len(followed) and open_ended >= 0.5 * len(followed)


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
