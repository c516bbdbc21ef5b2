"""How fast an episode is assembled at 720x1280: decode, subtitles, encode, sound."""

from __future__ import annotations

import fractions
import importlib.util
import json as json_
import pathlib
import resource
import sys
import tempfile
import time

import av
import cv2
import numpy as np

from mangen.comic import assemble, subtitles
from mangen.engines import length

WIDTH, HEIGHT = 720, 1280
SHOTS, FRAMES = 8, 90
TEXT = "深蓝的天空中，挂着一轮金黄的圆月，下面是海边的沙地。"


def panel(seed):
    """Draw flat shapes with ink lines and a little grain: what panels look like to an encoder."""
    rng = np.random.default_rng(seed)
    picture = np.full((HEIGHT * 5 // 4, WIDTH * 5 // 4, 3), rng.integers(60, 200, 3), np.uint8)
    for _ in range(60):
        points = rng.integers(0, 1600, (5, 2)).astype(np.int32)
        cv2.fillPoly(picture, [points], tuple(map(int, rng.integers(20, 240, 3))), cv2.LINE_AA)
        cv2.polylines(picture, [points], True, (36, 31, 38), 5, cv2.LINE_AA)
    grain = rng.integers(-1, 2, picture.shape[:2])[..., None]
    return np.clip(picture.astype(np.int16) + grain, 0, 255).astype(np.uint8)


def clip(path, picture, frames):
    """Write what the animatic writes: near lossless H.264, a slow push."""
    with av.open(str(path), "w", format="mp4") as box:
        stream = box.add_stream(
            "libx264", rate=length.FPS, options={"preset": "ultrafast", "crf": "12"}
        )
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for i in range(frames):
            scale = 1.25 / (1 + 0.06 * i / frames)
            move = np.array([[scale, 0, i * 0.3], [0, scale, i * 0.2]])
            shot = cv2.warpAffine(picture, move, (WIDTH, HEIGHT), flags=cv2.WARP_INVERSE_MAP)
            frame = av.VideoFrame.from_ndarray(shot, format="rgb24")
            frame.pts, frame.time_base = i, fractions.Fraction(1, length.FPS)
            box.mux(stream.encode(frame))
        box.mux(stream.encode(None))


def parts_of(folder):
    for i in range(SHOTS):
        path = folder / f"{i}.mp4"
        clip(path, panel(i), FRAMES)
        wave = np.sin(np.arange(FRAMES * length.SAMPLES_PER_FRAME) * 0.03) * 0.1
        yield assemble.Part(clip=path, frames=FRAMES, audio=wave.astype(np.float32))


def with_moviepy(parts, folder):
    """Frames a second of moviepy for clips, a subtitle and the same encoder; None without it."""
    if importlib.util.find_spec("moviepy") is None:
        return None
    import moviepy  # noqa: PLC0415 - only where somebody installed it to compare

    whole = moviepy.concatenate_videoclips([moviepy.VideoFileClip(str(p.clip)) for p in parts])
    overlay = np.zeros((160, 600, 4), np.uint8)
    overlay[40:120, 40:560] = 255
    shown = moviepy.ImageClip(overlay).with_duration(whole.duration).with_position((60, 966))
    start = time.perf_counter()
    moviepy.CompositeVideoClip([whole, shown]).write_videofile(
        str(folder / "moviepy.mp4"), codec="libx264", preset="veryfast", threads=2, logger=None
    )
    return SHOTS * FRAMES / (time.perf_counter() - start)


def measure():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        parts = list(parts_of(folder))
        cues = subtitles.cues(
            subtitles.TimedLine(start_frame=i * FRAMES, frames=FRAMES - 6, text=TEXT)
            for i in range(SHOTS)
        )
        start = time.perf_counter()
        for _ in assemble.assemble(
            parts, folder / "out", width=WIDTH, height=HEIGHT, cues=cues, title="bench"
        ):
            pass
        rate = SHOTS * FRAMES / (time.perf_counter() - start)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        other = with_moviepy(parts, folder)
    return {
        "frames_per_s": round(rate, 1),
        "peak_mb": round(peak),
        "vs_moviepy": None if other is None else round(rate / other, 2),
    }


def main(json: bool = False) -> None:  # noqa: FBT001, FBT002 - the benches' one signature
    """Print a table; with `json` also one object as the last line."""
    result = measure()
    for name, value in result.items():
        print(f"{name:>14}  {'-' if value is None else value}")
    if json:
        print(json_.dumps(result))


if __name__ == "__main__":
    main("--json" in sys.argv)
