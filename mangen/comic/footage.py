"""Where an episode's frames come from: a clip, a camera move on a panel, or a neighbour's picture.

Frames are yuv420p planes as numpy arrays, shape (height * 3 / 2, width), BT.601 limited range.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

import av
import cv2
import numpy as np

from mangen import errors
from mangen.comic import burner
from mangen.engines import protocol

ZOOM = 1.06  #: of a camera move on a panel, from first to last frame
_SOFT = 0.12  #: share of a move in which it gathers speed, and in which it loses it
_SPARE = 1.25  #: a panel is kept so much larger than the frame: less detail does not flicker
_UNTAGGED = 2
_BT601 = (_UNTAGGED, 5, 6)


def of_clip(path: pathlib.Path, width: int, height: int) -> Iterator[burner.Array]:
    """Every frame of a clip, brought to size without stretching; EngineError where it is broken."""
    try:
        with av.open(str(path), metadata_errors="replace") as container:
            stream = container.streams.video[0]
            stream.thread_count = 1  # the encoder wants the other core
            for frame in container.decode(stream):
                yield _planes(frame, width, height)
    except (av.FFmpegError, OSError, IndexError) as error:
        raise errors.EngineError(f"the clip {path} can't be read: {error}") from error


def of_panel(
    image: protocol.Image, frames: int, width: int, height: int, *, turn: int
) -> Iterator[burner.Array]:
    """A gentle move over a panel (any size, any even frame): in, out, in turns. Soft at its ends.

    The panel covers the frame and is never stretched; `turn` chooses the move.
    """
    master = _master(rgb_of(image), width, height)
    tall, wide = master.shape[:2]
    widest = min(wide / width, tall / height)
    for i in range(frames):
        way = soft(i / max(1, frames - 1))
        way = way if turn % 2 == 0 else 1 - way
        scale = widest / ZOOM**way
        matrix = np.array(
            [[scale, 0, (wide - scale * width + scale - 1) / 2],
             [0, scale, (tall - scale * height + scale - 1) / 2]]
        )  # fmt: skip
        moved = cv2.warpAffine(
            master,
            matrix,
            (width, height),
            flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_REPLICATE,
        )
        yield burner.to_planes(np.asarray(moved, np.uint8))


def rgb_of(image: protocol.Image) -> protocol.Image:
    """A picture as RGB, shape (height, width, 3): grey is spread, transparency laid on black."""
    picture = np.asarray(image, np.uint8)
    if picture.ndim == 2 or picture.shape[2] == 1:
        return np.asarray(cv2.cvtColor(picture, cv2.COLOR_GRAY2RGB), np.uint8)
    if picture.shape[2] == 4:
        cover = cv2.merge([np.ascontiguousarray(picture[..., 3])] * 3)
        colours = np.ascontiguousarray(picture[..., :3])
        return np.asarray(cv2.multiply(colours, cover, scale=1 / 255), np.uint8)
    return np.ascontiguousarray(picture)


def soft(t: float) -> float:
    """0..1 at constant speed with soft ends."""
    if t < _SOFT:
        return t * t / (2 * _SOFT) / (1 - _SOFT)
    if t > 1 - _SOFT:
        return 1 - soft(1 - t)
    return (t - _SOFT / 2) / (1 - _SOFT)


def _master(picture: protocol.Image, width: int, height: int) -> protocol.Image:
    factor = _SPARE * max(width / picture.shape[1], height / picture.shape[0])
    if factor >= 1:
        return picture
    size = (max(width, round(picture.shape[1] * factor)),
            max(height, round(picture.shape[0] * factor)))  # fmt: skip
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)


def _planes(frame: Any, width: int, height: int) -> burner.Array:
    fits = (frame.width, frame.height) == (width, height)
    if fits and frame.format.name == "yuv420p" and int(frame.colorspace) in _BT601:
        return np.asarray(frame.to_ndarray(), np.uint8)
    picture = rgb_of(frame.to_ndarray(format="rgb24"))
    if not fits:
        scale = max(width / frame.width, height / frame.height)
        picture = np.asarray(
            cv2.warpAffine(
                picture,
                np.array([[scale, 0, (width - scale * frame.width + scale - 1) / 2],
                          [0, scale, (height - scale * frame.height + scale - 1) / 2]]),
                (width, height),
                flags=cv2.INTER_LINEAR,
                borderMode=cv2.BORDER_REPLICATE,
            ),
            np.uint8,
        )  # fmt: skip
    return burner.to_planes(np.ascontiguousarray(picture))
