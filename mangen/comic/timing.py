"""When the lines of a shot begin and how long the shot is: used by animate and assemble alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from mangen.engines import length

BREATH_FRAMES = 6  #: a quarter of a second after the last line of a shot
SHOWN_FRAMES = 24  #: the least a line that is shown only stays, so that it can be seen


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class LineTime:
    """One line's place in its shot, in frames."""

    start_frame: int
    frames: int


def shot_timing(
    lines: Sequence[Mapping[str, Any]],
    samples: Sequence[int | None],
    *,
    card_seconds: float = 0.0,
) -> tuple[tuple[LineTime, ...], int]:
    """The time of each line and the frames of the whole shot, at length.FPS.

    `lines` are the `lines` of the params of animate and assemble (`text`, `spoken`). `samples[i]`
    is the length of line i's voice at length.RATE, None where it has no sound (then the line lasts
    as estimated). A shot without lines is a card of `card_seconds`.
    """
    times: list[LineTime] = []
    at = 0
    for line, count in zip(lines, samples, strict=True):
        frames = max(1, length.frames_of(count, line["text"]))
        if not line.get("spoken", True):
            frames = max(SHOWN_FRAMES, frames)
        times.append(LineTime(start_frame=at, frames=frames))
        at += frames
    if times:
        return tuple(times), at + BREATH_FRAMES
    return (), max(1, round(card_seconds * length.FPS))
