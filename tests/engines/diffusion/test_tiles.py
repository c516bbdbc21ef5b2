"""Large panels by tiles: they cover everything, and no seam shows where they agree."""

from __future__ import annotations

import numpy as np
import pytest

from mangen.engines.diffusion import tiles

SIZES = [(64, 64), (65, 64), (200, 120), (129, 333), (1440, 2560), (4096, 1000)]


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("tile", [(64, 64), (64, 48)])
def test_tiles_cover_a_panel_and_overlap(width, height, tile):
    wide, high = tile
    width, height = max(width, wide), max(height, high)
    spots = tiles.layout(width, height, wide, high)
    seen = np.zeros((height, width), np.uint8)
    for left, top in spots:
        assert 0 <= left <= width - wide
        assert 0 <= top <= height - high
        seen[top : top + high, left : left + wide] += 1
    assert seen.min() >= 1
    for side, whole, starts in (
        (wide, width, sorted({left for left, _ in spots})),
        (high, height, sorted({top for _, top in spots})),
    ):
        assert starts[-1] == whole - side
        steps = np.diff(starts)
        assert all(side - step >= side // 8 for step in steps)


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_what_tiles_agree_on_stays_to_the_byte(width, height):
    whole = np.random.default_rng(3).integers(0, 256, (height, width, 3), np.uint8)
    spots = tiles.layout(width, height, 64, 64)
    parts = [whole[top : top + 64, left : left + 64] for left, top in spots]
    assert np.array_equal(tiles.blend(parts, spots, width, height), whole)


def test_where_tiles_differ_one_fades_into_the_other():
    spots = tiles.layout(112, 64, 64, 64)
    assert len(spots) == 2
    parts = [np.full((64, 64, 3), shade, np.uint8) for shade in (40, 200)]
    row = tiles.blend(parts, spots, 112, 64)[32, :, 0].astype(int)
    assert row[0] == 40
    assert row[-1] == 200
    assert (np.diff(row) >= 0).all()
    assert np.diff(row).max() <= (200 - 40) // 4


def test_the_target_covers_the_frame_in_the_pictures_own_proportions():
    old = np.zeros((100, 50, 3), np.uint8)
    assert tiles.target(old, 100, 150) == (100, 200)
    assert tiles.target(old, 20, 30) == (50, 100)


def test_a_picture_smaller_than_a_tile_is_filled_up_by_its_edge():
    old = np.random.default_rng(1).integers(0, 256, (5, 7, 3), np.uint8)
    filled = tiles.padded(old, 9, 8)
    assert filled.shape == (8, 9, 3)
    assert np.array_equal(filled[:5, :7], old)
    assert (filled[5:, :7] == old[-1]).all()
    assert tiles.padded(old, 4, 4) is old
