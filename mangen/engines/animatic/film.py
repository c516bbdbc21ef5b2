"""Films: a panel under a moving camera, in weather, encoded frame by frame."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import cv2
import numpy as np

from mangen.engines import mp4, protocol
from mangen.engines.animatic import camera, finish, lips, plane, weather, writing


def frames(request: protocol.ClipRequest) -> Iterator[protocol.Image]:
    """Every frame of a clip, RGB; one array is reused."""
    sheets = plane.of(request)
    faces = _faces(request)
    words = writing.Writing(request)
    motion = writing.calmed(request)
    factor, addend = finish.of(request.width, request.height)
    sky = weather.Weather(
        request.weather, request.width, request.height, request.seed, picture=request.panel.image
    )
    frame = np.zeros((request.height, request.width, 3), np.uint8)
    for number in range(request.frames):
        view = camera.view(
            motion, number, request.frames, request.fps, request.seed, framing=request.framing
        )
        for sheet in sheets:
            sheet.wear(faces[number])
            sheet.draw(frame, view)
        sky.draw(frame, number / request.fps)
        cv2.multiply(frame, factor, frame, 1 / 255)
        cv2.add(frame, addend, frame)
        words.draw(frame, number)
        yield frame


def _faces(request: protocol.ClipRequest) -> list[list[str]]:
    """The patches that are worn in each frame."""
    worn: list[list[str]] = [[] for _ in range(request.frames)]
    for k, face in enumerate(request.panel.faces):
        if face.mouths:
            said = lips.mouths(face.name, request.lines, request.frames, request.fps)
            for number, opening in enumerate(said):
                if opening is not None:
                    key = plane.mouth_key(k, min(opening, len(face.mouths) - 1))
                    worn[number].append(key)
        if face.blink is not None:
            shut = lips.blinks(face.name, request.frames, request.fps, request.seed)
            for number, closed in enumerate(shut):
                if closed:
                    worn[number].append(plane.blink_key(k))
    return worn


def shoot(request: protocol.ClipRequest, path: pathlib.Path) -> Iterator[int]:
    """Encode a clip into `path`; yields the frames done, the file is whole at the end."""
    yield from mp4.write(
        frames(request),
        path,
        count=request.frames,
        width=request.width,
        height=request.height,
        fps=request.fps,
    )
