"""One MP4 being written: H.264 and AAC, times set by frame and sample, index first."""

from __future__ import annotations

import contextlib
import fractions
import pathlib
from typing import Any, Self

import av
import numpy as np

from mangen.comic import burner, soundtrack
from mangen.engines import length

_AAC_FRAME = 1024
_BT601 = 6  #: matrix, primaries and transfer: what the planes are, so players need not guess
_LIMITED = 1


class Film:
    """A context: leaving it finishes the file. Sides are even, `fps` divides length.RATE.

    The same frames must give the same bits. Hence one thread (two gave others in about one run of
    a hundred) and no macroblock tree: with it x264 reads memory it never wrote, at sizes that its
    half-size planes don't fill, as `MALLOC_PERTURB_` shows. The quality is set for doing without.
    """

    def __init__(self, path: pathlib.Path, width: int, height: int, fps: int, title: str) -> None:
        self.width, self.height, self.fps = width, height, fps
        # as a file: URL, for a name with a colon would be read as one
        self._box = av.open(
            f"file:{path.absolute()}",
            "w",
            format="mp4",
            # the default of 1000 a second would round the sound's length in the index
            options={"movflags": "+faststart", "movie_timescale": str(length.RATE)},
        )
        self._box.metadata["title"] = title
        self._video: Any = self._box.add_stream(
            "libx264",
            rate=fps,
            options={
                "preset": "veryfast",
                "crf": "22",
                "threads": "1",
                "x264-params": "mbtree=0",
            },
        )
        self._video.width, self._video.height, self._video.pix_fmt = width, height, "yuv420p"
        context = self._video.codec_context
        context.color_range = _LIMITED
        context.colorspace = context.color_primaries = context.color_trc = _BT601
        self._audio: Any = self._box.add_stream("aac", rate=length.RATE, layout="stereo")
        self._audio.bit_rate = 128_000
        self._heard = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._box.mux(self._video.encode(None))
            self._box.mux(self._audio.encode(None))
            self._box.close()
        else:
            with contextlib.suppress(av.FFmpegError, OSError):  # the first error is the cause
                self._box.close()

    def picture(self, planes: burner.Array, number: int) -> None:
        """Add frame `number`: yuv420p planes, shape (height * 3 / 2, width)."""
        frame = av.VideoFrame.from_ndarray(planes, format="yuv420p")
        frame.pts, frame.time_base = number, fractions.Fraction(1, self.fps)
        frame.color_range, frame.colorspace = _LIMITED, _BT601
        self._box.mux(self._video.encode(frame))

    def sound(self, track: soundtrack.Samples, until: int, *, last: bool) -> None:
        """Add what is due of the whole mono track before sample `until`, to both loudspeakers."""
        while self._heard < until:
            samples = track[self._heard : min(until, self._heard + _AAC_FRAME)]
            if len(samples) < _AAC_FRAME and not last:
                return  # only the very last packet may be short
            both = np.ascontiguousarray(np.stack([samples, samples]))
            frame = av.AudioFrame.from_ndarray(both, format="fltp", layout="stereo")
            frame.sample_rate, frame.pts = length.RATE, self._heard
            frame.time_base = fractions.Fraction(1, length.RATE)
            self._heard += len(samples)
            self._box.mux(self._audio.encode(frame))
