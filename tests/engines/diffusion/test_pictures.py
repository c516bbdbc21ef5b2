"""Pictures that come to the engine: converted exactly, or refused by name."""

from __future__ import annotations

import numpy as np
import pytest

from mangen import errors
from mangen.engines.diffusion import pictures

PLAIN = np.random.default_rng(2).integers(0, 256, (40, 30, 3), np.uint8)


def test_plain_bytes_stay():
    assert np.array_equal(pictures.rgb("it", PLAIN), PLAIN)


@pytest.mark.parametrize("shape", [(40, 30), (40, 30, 1)])
def test_greys_become_three_channels(shape):
    grey = PLAIN[..., 0].reshape(shape)
    assert np.array_equal(pictures.rgb("it", grey), np.repeat(PLAIN[..., :1], 3, axis=2))


def test_sixteen_bits_become_the_nearest_eight():
    deep = PLAIN.astype(np.uint16) * 257
    assert np.array_equal(pictures.rgb("it", deep), PLAIN)
    edge = np.full((8, 8, 3), 65535, np.uint16)
    assert (pictures.rgb("it", edge) == 255).all()
    assert (pictures.rgb("it", np.full((8, 8, 3), 128, np.uint16)) == 0).all()
    assert (pictures.rgb("it", np.full((8, 8, 3), 129, np.uint16)) == 1).all()


def test_what_is_transparent_lies_over_white():
    clear = np.dstack([PLAIN, np.full((40, 30), 255, np.uint8)])
    assert np.array_equal(pictures.rgb("it", clear), PLAIN)
    clear[..., 3] = 0
    assert (pictures.rgb("it", clear) == 255).all()
    clear[:] = (0, 100, 200, 51)
    assert pictures.rgb("it", clear)[0, 0].tolist() == [204, 224, 244]
    grey = np.dstack([np.full((9, 9), 0, np.uint8), np.full((9, 9), 255, np.uint8)])
    assert (pictures.rgb("it", grey) == 0).all()


def test_views_and_odd_sizes_will_do():
    view = PLAIN[::-1, 1:28]
    made = pictures.rgb("it", view)
    assert made.flags.c_contiguous
    assert np.array_equal(made, view)


@pytest.mark.parametrize(
    ("image", "why"),
    [
        (np.zeros((1, 1, 3), np.uint8), r"panel\.image is 1x1: 8 to 16384 pixels"),
        (np.zeros((0, 9, 3), np.uint8), r"panel\.image has the shape \(0, 9, 3\)"),
        (np.zeros((9, 9, 5), np.uint8), r"\(9, 9, 5\)"),
        (np.zeros((2, 9, 9, 3), np.uint8), r"\(2, 9, 9, 3\)"),
        (np.zeros((9, 9, 3), np.float32), "float32: bytes"),
        (np.zeros((9, 9, 3), np.int16), "int16: bytes"),
        (np.zeros((8, 20000, 3), np.uint8), "20000x8"),
    ],
)
def test_what_is_no_picture_is_refused_by_its_name(image, why):
    with pytest.raises(errors.EngineError, match=why) as caught:
        pictures.rgb("panel.image", image)
    assert caught.value.permanent


def test_a_mask_has_its_pictures_size_and_something_white():
    white = np.zeros((40, 30), np.uint8)
    white[3:9, 3:9] = 255
    assert np.array_equal(pictures.mask("mask", white, PLAIN), white)
    assert np.array_equal(pictures.mask("mask", white[..., None], PLAIN), white)
    assert np.array_equal(pictures.mask("mask", white > 0, PLAIN), white)
    for bad, why in (
        (np.zeros((40, 30), np.uint8), "black all over"),
        (white[:20], "30x20"),
        (PLAIN, r"shape \(40, 30, 3\)"),
        (white.astype(np.float32), "float32"),
    ):
        with pytest.raises(errors.EngineError, match=why):
            pictures.mask("mask", bad, PLAIN)


@pytest.mark.parametrize("size", [(90, 160), (160, 90), (31, 31), (1000, 64)])
def test_framed_pictures_cover_the_frame_in_its_proportions(size):
    width, height = size
    made = pictures.framed(PLAIN, width, height)
    assert made.shape[0] >= height
    assert made.shape[1] >= width
    assert made.shape[1] / made.shape[0] == pytest.approx(width / height, rel=0.07)


def test_a_picture_larger_than_the_frame_is_only_cut():
    made = pictures.framed(PLAIN, 10, 10)
    assert np.array_equal(made, PLAIN[5:35])


def test_covering_pictures_have_exactly_the_size():
    assert pictures.covering(PLAIN, 17, 90).shape == (90, 17, 3)
    assert np.array_equal(pictures.covering(PLAIN, 30, 40), PLAIN)
