"""Writing: a panel's letters over the frames of a clip, while their lines are heard."""

from __future__ import annotations

import dataclasses

import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import pen, plane

FADE = 3  #: frames until letters are whole
CAPTION_S = 2.5  #: a caption can be read for so long


@dataclasses.dataclass(frozen=True, slots=True)
class _Shown:
    image: protocol.Image  #: premultiplied
    x: int
    y: int
    start: int
    end: int


class Writing:
    """The letters of one clip."""

    def __init__(self, request: protocol.ClipRequest) -> None:
        found = (_shown(request, letter) for letter in request.panel.letters)
        self._shown = [one for one in found if one is not None]

    def draw(self, frame: protocol.Image, number: int) -> None:
        """Lay onto an RGB frame what is to be read in it; the camera doesn't move it."""
        for one in self._shown:
            if one.start <= number < one.end:
                tall, wide = one.image.shape[:2]
                part = frame[one.y : one.y + tall, one.x : one.x + wide]
                plane.lay(part, one.image, min(1.0, (number - one.start + 1) / FADE))


def _shown(request: protocol.ClipRequest, letter: protocol.Letter) -> _Shown | None:
    patch = letter.patch
    x0, y0 = max(0, patch.x), max(0, patch.y)
    y1, x1 = max(0, request.height - patch.y), max(0, request.width - patch.x)
    cut = patch.image[y0 - patch.y : y1, x0 - patch.x : x1]
    if not cut.size:
        return None
    start, end = span(request, letter.line)
    return _Shown(np.ascontiguousarray(pen.premultiplied(cut)), x0, y0, start, end)


def span(request: protocol.ClipRequest, line: int) -> tuple[int, int]:
    """The frames a line's letters are seen in: somebody's words while they are heard.

    A caption, which nobody in the picture says, stays long enough to be read.
    """
    long = round(CAPTION_S * request.fps)
    heard = next((one for one in request.lines if one.line == line), None)
    if heard is None:
        return 0, long
    end = heard.start + heard.frames
    return heard.start, end if heard.by else max(end, heard.start + long)


def calmed(request: protocol.ClipRequest) -> str:
    """The motion; where words hang at a mouth, no pan carries the face away under them."""
    lines = {letter.line for letter in request.panel.letters}
    said = any(one.by and one.line in lines for one in request.lines)
    return "push" if said and request.motion.startswith("pan_") else request.motion
