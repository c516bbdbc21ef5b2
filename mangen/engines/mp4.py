"""Clips as files: H.264 in MP4, near lossless, the same bytes of the same frames.

This module loads OpenCV and PyAV, so only what draws imports it.
"""

from __future__ import annotations

import fractions
import pathlib
from collections.abc import Iterable, Iterator

import av
import cv2
import numpy as np

from mangen.engines import protocol

CHUNK = 24  #: frames written between two looks at the clock
_OPTIONS = {"preset": "ultrafast", "crf": "12", "threads": "1", "x264-params": "threads=1"}


def write(
    frames: Iterable[protocol.Image],
    path: pathlib.Path,
    *,
    count: int,
    width: int,
    height: int,
    fps: int,
) -> Iterator[int]:
    """Encode `count` RGB frames into `path`; the file is whole at the end.

    Yields the frames done after each `CHUNK` but the last. yuv420p (BT.601, limited range), one
    thread, so that the same frames give the same bytes; frame n is shown at n / fps. Sides are
    even. A frame's array may be used again for the next.
    """
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=fps, options=_OPTIONS)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        context = stream.codec_context
        context.thread_count = 1
        context.color_range, context.colorspace = 1, 6  # limited; SMPTE 170M, as OpenCV converts
        for number, rgb in enumerate(frames):
            planar: protocol.Image = np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2YUV_I420), np.uint8)
            picture = av.VideoFrame.from_ndarray(planar, "yuv420p")
            picture.pts = number
            picture.time_base = fractions.Fraction(1, fps)
            container.mux(stream.encode(picture))
            if (number + 1) % CHUNK == 0 and number + 1 < count:
                yield number + 1
        container.mux(stream.encode(None))
