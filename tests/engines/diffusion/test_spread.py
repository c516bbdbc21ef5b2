"""A model's frames over a shot: its first and last, and what lies between in even steps."""

from __future__ import annotations

import numpy as np
import pytest

from mangen.engines.diffusion import spread

MADE = np.repeat(np.arange(0, 250, 50, np.uint8), 12).reshape(5, 2, 2, 3)  # shades 0 50 100 150 200


def spread_over(count, made=MADE):
    return list(spread.frames(made, count, lambda image: image))


@pytest.mark.parametrize("count", [1, 2, 5, 9, 24, 61])
def test_there_are_exactly_as_many_frames_and_ends_meet_ends(count):
    found = spread_over(count)
    assert len(found) == count
    assert all(one.shape == (2, 2, 3) and one.dtype == np.uint8 for one in found)
    assert (found[0] == 0).all()
    if count > 1:
        assert (found[-1] == 200).all()


def test_between_two_of_them_both_mix():
    shades = [int(one[0, 0, 0]) for one in spread_over(9)]
    assert shades == [0, 25, 50, 75, 100, 125, 150, 175, 200]


def test_as_many_as_were_made_stay_as_they_are():
    assert np.array_equal(np.stack(spread_over(5)), MADE)


def test_a_single_frame_stands_still():
    found = spread_over(4, MADE[2:3])
    assert all((one == 100).all() for one in found)


def test_each_is_brought_to_size_once():
    sized = []

    def size(image):
        sized.append(int(image[0, 0, 0]))
        return image

    list(spread.frames(MADE, 61, size))
    assert sized == [0, 50, 100, 150, 200]
