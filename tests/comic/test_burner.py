from __future__ import annotations

import cv2
import numpy as np
import pytest

from mangen.comic import burner, subtitles

CUE = subtitles.Cue(start_frame=0, end_frame=10, rows=("口袋里有¥12.50，", "和一张借条。"))
SIZES = [(720, 1280), (360, 640), (1080, 1920), (1280, 720), (64, 64), (722, 1282)]


def grey(width, height, value=110):
    return np.full((height, width, 3), value, np.uint8)


def burned(width, height, cue=CUE):
    frame = grey(width, height)
    burner.Burner(width, height).burn(frame, cue)
    return frame


def touched(frame):
    """Rows and columns of pixels that changed visibly."""
    changed = np.abs(frame.astype(int) - 110).max(axis=2) > 40
    return np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))


def test_text_stands_at_its_height_in_warm_white_on_ink():
    frame = burned(720, 1280)
    rows, columns = touched(frame)
    assert abs((rows[0] + rows[-1]) / 2 - 1046) < 8
    assert abs((columns[0] + columns[-1]) / 2 - 360) < 24
    assert (frame == (255, 250, 240)).all(axis=2).sum() > 3000
    assert (frame == (0x17, 0x12, 0x1A)).all(axis=2).sum() > 3000


@pytest.mark.parametrize("size", SIZES)
def test_every_size_holds_its_text(size):
    width, height = size
    frame = burned(*size)
    rows, columns = touched(frame)
    assert len(rows)
    assert columns[0] > 0
    assert columns[-1] < width - 1
    assert frame.shape == (height, width, 3)


@pytest.mark.parametrize("size", SIZES)
def test_planes_and_pixels_look_the_same(size):
    planes = burner.to_planes(grey(*size))
    burner.Burner(*size).burn_planes(planes, CUE)
    seen = cv2.cvtColor(planes, cv2.COLOR_YUV2RGB_I420).astype(int)
    assert np.abs(seen.mean(axis=2) - burned(*size).mean(axis=2)).mean() < 1.0


def test_a_row_wider_than_the_frame_is_drawn_smaller():
    wide = subtitles.Cue(start_frame=0, end_frame=9, rows=("M" * 48,))
    _, columns = touched(burned(720, 1280, wide))
    assert columns[0] > 10
    assert columns[-1] < 709


def test_characters_without_a_glyph_leave_no_box():
    plain = subtitles.Cue(start_frame=0, end_frame=9, rows=("你好猹",))
    odd = subtitles.Cue(start_frame=0, end_frame=9, rows=("你😀好\U0010fffe猹\ufe0f",))
    assert np.array_equal(burned(360, 640, plain), burned(360, 640, odd))
    nothing = subtitles.Cue(start_frame=0, end_frame=9, rows=("😀😀",))
    assert np.array_equal(burned(360, 640, nothing), grey(360, 640))


def test_the_comma_at_the_end_of_a_cue_is_not_drawn():
    with_mark = subtitles.Cue(start_frame=0, end_frame=9, rows=("他推开门，",))
    without = subtitles.Cue(start_frame=0, end_frame=9, rows=("他推开门",))
    assert np.array_equal(burned(360, 640, with_mark), burned(360, 640, without))
