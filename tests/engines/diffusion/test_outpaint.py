"""The canvas around a panel: the old picture stays, its edges reach out."""

from __future__ import annotations

import numpy as np
import pytest

from mangen.engines.diffusion import outpaint, pictures

OLD = np.random.default_rng(5).integers(0, 256, (120, 80, 3), np.uint8)


@pytest.mark.parametrize("margin", [0.01, 0.25, 1.0])
def test_the_old_picture_lies_in_the_middle_to_the_byte(margin):
    canvas = outpaint.of(OLD, margin)
    assert canvas.base.shape == (*canvas.mask.shape, 3)
    down, across = round(120 * margin), round(80 * margin)
    assert canvas.base.shape[:2] == (120 + 2 * down, 80 + 2 * across)
    inside = canvas.base[canvas.top : canvas.top + 120, canvas.left : canvas.left + 80]
    assert np.array_equal(inside, OLD)


def test_the_mask_is_white_around_and_falls_to_nothing_within_the_seam():
    canvas = outpaint.of(OLD, 0.25)
    inside = canvas.mask[canvas.top : canvas.top + 120, canvas.left : canvas.left + 80]
    around = canvas.mask.copy()
    around[canvas.top : canvas.top + 120, canvas.left : canvas.left + 80] = 255
    assert (around == 255).all()
    middle = inside[60].astype(int)
    assert 0 < middle[0] < 255
    assert (np.diff(middle[:40]) <= 0).all()
    assert (inside[8:-8, 8:-8] == 0).all()


def test_what_is_painted_reaches_the_old_picture_in_the_seam_alone():
    canvas = outpaint.of(OLD, 0.25)
    new = np.zeros_like(canvas.base)
    whole = pictures.mixed(canvas.base, new, canvas.mask)
    kept = canvas.mask == 0
    assert np.array_equal(whole[kept], canvas.base[kept])
    assert not whole[canvas.mask == 255].any()


def test_the_surroundings_begin_with_the_edge():
    plain = np.zeros((60, 60, 3), np.uint8)
    plain[:, 30:] = 200
    base = outpaint.of(plain, 0.5).base
    assert (base[30:90, :20] == 0).all()
    assert (base[30:90, -20:] == 200).all()


def test_a_picture_of_few_pixels_has_a_canvas_too():
    canvas = outpaint.of(np.full((8, 8, 3), 9, np.uint8), 0.01)
    assert canvas.base.shape == (10, 10, 3)
    assert (canvas.base == 9).all()
