"""A panel's letters over the frames of a clip that a model made: it neither sees nor keeps them."""

from __future__ import annotations

import dataclasses

import numpy as np

from mangen.engines import protocol

_UNHEARD_S = 2.5  #: so long are letters seen whose line is not heard in this clip


@dataclasses.dataclass(frozen=True, slots=True)
class _Shown:
    image: protocol.Image  #: RGBA
    x: int
    y: int
    start: int
    end: int


class Letters:
    """The letters of one clip, each while its line is heard."""

    def __init__(self, request: protocol.ClipRequest) -> None:
        self._shown = [one for one in (_shown(request, x) for x in request.panel.letters) if one]

    def over(self, frame: protocol.Image, number: int) -> protocol.Image:
        """The frame of that number with what is to be read in it; itself where nothing is."""
        here = [one for one in self._shown if one.start <= number < one.end]
        if not here:
            return frame
        written = frame.copy()
        for one in here:
            tall, wide = one.image.shape[:2]
            part = written[one.y : one.y + tall, one.x : one.x + wide]
            alpha = one.image[..., 3:].astype(np.float32) / 255
            part[:] = (part * (1 - alpha) + one.image[..., :3] * alpha).round().astype(np.uint8)
        return written


def _shown(request: protocol.ClipRequest, letter: protocol.Letter) -> _Shown | None:
    """What of a letter lies in the frame, and when; None: nothing."""
    patch = letter.patch
    left, top = max(0, patch.x), max(0, patch.y)
    inside = patch.image[
        top - patch.y : max(0, request.height - patch.y),
        left - patch.x : max(0, request.width - patch.x),
    ]
    if not inside.size:
        return None
    heard = next((one for one in request.lines if one.line == letter.line), None)
    if heard is None:
        return _Shown(inside, left, top, 0, round(_UNHEARD_S * request.fps))
    return _Shown(inside, left, top, heard.start, heard.start + heard.frames)
