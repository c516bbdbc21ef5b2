"""Films: a panel under a moving camera, in weather, encoded frame by frame."""

from __future__ import annotations

import fractions
import pathlib
from collections.abc import Iterator

import av
import cv2
import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import camera, finish, lips, plane, weather, writing

STEP = 24  #: frames drawn between two looks at the clock
_OPTIONS = {"preset": "ultrafast", "crf": "12", "threads": "1", "x264-params": "threads=1"}


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
    """Encode a clip into `path`; yields the frames done every `STEP`, the file is whole at the end.

    H.264, yuv420p (BT.601, limited range), near lossless, one thread, so that the same request
    gives the same bytes; frame n is shown at n / fps.
    """
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=request.fps, options=_OPTIONS)
        stream.width, stream.height, stream.pix_fmt = request.width, request.height, "yuv420p"
        context = stream.codec_context
        context.thread_count = 1
        context.color_range, context.colorspace = 1, 6  # limited; SMPTE 170M, as OpenCV converts
        for number, rgb in enumerate(frames(request)):
            planar: protocol.Image = np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2YUV_I420), np.uint8)
            picture = av.VideoFrame.from_ndarray(planar, "yuv420p")
            picture.pts = number
            picture.time_base = fractions.Fraction(1, request.fps)
            container.mux(stream.encode(picture))
            if (number + 1) % STEP == 0 and number + 1 < request.frames:
                yield number + 1
        container.mux(stream.encode(None))
