"""The encoder that all engines share: whole files, exact frames, the same bytes."""

from __future__ import annotations

import av
import numpy as np
import pytest

from mangen.engines import mp4

WIDTH, HEIGHT, FPS = 96, 64, 24


def shades(count):
    """One array, used again for each frame, as engines do."""
    frame = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    for number in range(count):
        frame[:] = (number * 3, 90, 200)
        yield frame


def write(path, count):
    told = mp4.write(shades(count), path, count=count, width=WIDTH, height=HEIGHT, fps=FPS)
    return list(told)


@pytest.mark.parametrize(
    ("count", "told"), [(1, []), (24, []), (25, [24]), (48, [24]), (61, [24, 48])]
)
def test_a_file_has_every_frame_at_its_time(tmp_path, count, told):
    path = tmp_path / "clip.mp4"
    assert write(path, count) == told
    with av.open(str(path)) as file:
        (stream,) = file.streams
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert (stream.width, stream.height, stream.average_rate) == (WIDTH, HEIGHT, FPS)
        frames = list(file.decode(video=0))
    times = [float(frame.pts * frame.time_base) for frame in frames]
    assert times == pytest.approx([number / FPS for number in range(count)], abs=1e-6)
    for number, frame in enumerate(frames):
        seen = frame.to_ndarray(format="rgb24").reshape(-1, 3).mean(axis=0)
        assert seen == pytest.approx([number * 3, 90, 200], abs=4)


def test_the_same_frames_give_the_same_bytes(tmp_path):
    for name in ("one.mp4", "other.mp4"):
        write(tmp_path / name, 30)
    assert (tmp_path / "one.mp4").read_bytes() == (tmp_path / "other.mp4").read_bytes()


def test_a_writer_that_is_left_closes_its_file(tmp_path):
    path = tmp_path / "clip.mp4"
    told = mp4.write(shades(100), path, count=100, width=WIDTH, height=HEIGHT, fps=FPS)
    assert next(told) == mp4.CHUNK
    told.close()
    path.unlink()
    write(path, 3)
    with av.open(str(path)) as file:
        assert len(list(file.decode(video=0))) == 3
