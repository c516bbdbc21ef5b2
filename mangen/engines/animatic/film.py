"""Films: a panel under a moving camera, in weather, encoded frame by frame."""

from __future__ import annotations

import fractions
import pathlib
from collections.abc import Iterator

import av
import cv2
import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import camera, finish, pen, stage, weather

STEP = 24  #: frames drawn between two looks at the clock
_OPTIONS = {"preset": "ultrafast", "crf": "12", "threads": "1", "x264-params": "threads=1"}


class _Plane:
    """One layer, cut to what is not empty, ready to be warped."""

    def __init__(self, image: protocol.Image, depth: float, fit: float) -> None:
        if fit < 0.75:  # linear sampling would alias
            small = cv2.resize(image, None, fx=fit, fy=fit, interpolation=cv2.INTER_AREA)
            image = np.asarray(small, np.uint8)
            fit = 1.0
        self.height, self.width = image.shape[:2]
        self.depth, self.fit = depth, fit
        self.opaque = image.shape[2] == 3 or bool((image[..., 3] == 255).all())
        if self.opaque:
            self.at, self.image = (0, 0), np.ascontiguousarray(image[..., :3])
            return
        rows = np.flatnonzero(image[..., 3].any(1))
        columns = np.flatnonzero(image[..., 3].any(0))
        self.empty = not len(rows)
        y0, y1, x0, x1 = (
            (0, 1, 0, 1) if self.empty else (rows[0], rows[-1] + 1, columns[0], columns[-1] + 1)
        )
        self.at = (int(x0), int(y0))
        self.image = np.ascontiguousarray(pen.premultiplied(image[y0:y1, x0:x1]))

    def draw(self, frame: protocol.Image, view: camera.View) -> None:
        """Warp the layer onto an RGB frame as the camera sees it."""
        height, width = frame.shape[:2]
        short = min(width, height)
        zoom = 1 + (view.zoom - 1) * (0.45 + 0.55 * self.depth)
        k = 1 / (self.fit * zoom)
        x = self.width / 2 + (view.x * self.depth * short) / self.fit - self.at[0]
        y = self.height / 2 + (view.y * self.depth * short) / self.fit - self.at[1]
        ox, oy = x + (0.5 - width / 2) * k - 0.5, y + (0.5 - height / 2) * k - 0.5
        tall, wide = self.image.shape[:2]
        u0, u1 = max(0, int(-ox / k) - 1), min(width, int((wide - ox) / k) + 2)
        v0, v1 = max(0, int(-oy / k) - 1), min(height, int((tall - oy) / k) + 2)
        if u1 <= u0 or v1 <= v0:
            return
        matrix = np.array([[k, 0, ox + k * u0], [0, k, oy + k * v0]])
        edge = cv2.BORDER_REPLICATE if self.opaque else cv2.BORDER_CONSTANT
        seen = cv2.warpAffine(
            self.image, matrix, (u1 - u0, v1 - v0), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=edge,
        )  # fmt: skip
        part = frame[v0:v1, u0:u1]
        if self.opaque:
            part[:] = seen
            return
        rest = cv2.cvtColor(cv2.bitwise_not(cv2.extractChannel(seen, 3)), cv2.COLOR_GRAY2RGB)
        part[:] = cv2.add(
            cv2.multiply(part, rest, scale=1 / 255), cv2.cvtColor(seen, cv2.COLOR_RGBA2RGB)
        )


def planes(request: protocol.ClipRequest) -> list[_Plane]:
    """The panel's layers, or its image alone where it has none."""
    height, width = request.panel.image.shape[:2]
    fit = max(request.width * stage.ROOM / width, request.height * stage.ROOM / height)
    layers = request.panel.layers or (protocol.Layer(image=request.panel.image, depth=1.0),)
    found = [_Plane(layer.image, layer.depth, fit) for layer in layers]
    if not found[0].opaque:
        found.insert(0, _Plane(request.panel.image, layers[0].depth, fit))
    return found


def frames(request: protocol.ClipRequest) -> Iterator[protocol.Image]:
    """Every frame of a clip, RGB; one array is reused."""
    sheets = planes(request)
    factor, addend = finish.of(request.width, request.height)
    sky = weather.Weather(request.weather, request.width, request.height, request.seed)
    frame = np.zeros((request.height, request.width, 3), np.uint8)
    for number in range(request.frames):
        view = camera.view(request.motion, number, request.frames, request.fps, request.seed)
        for sheet in sheets:
            sheet.draw(frame, view)
        sky.draw(frame, number / request.fps)
        cv2.multiply(frame, factor, frame, 1 / 255)
        cv2.add(frame, addend, frame)
        yield frame


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
