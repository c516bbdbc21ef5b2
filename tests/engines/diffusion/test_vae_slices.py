"""Which pictures pass the VAE in tiles: by the card that a model is registered for, and no more."""

from __future__ import annotations

import dataclasses

import pytest

from mangen.engines.diffusion import family, registry, sdxl, slices
from tests.engines.diffusion import full_size

GIB = 2**30
LAW = family.VAE_DECODE


def of(tmp_path, gib, *, force_upcast=True):
    """Full-size SDXL in half precision, as registered for a card of so many GiB."""
    model = full_size.sdxl(tmp_path, force_upcast=force_upcast)
    return dataclasses.replace(model, limits=registry.Limits(card=int(gib * GIB)))


@pytest.mark.parametrize(
    ("room", "size", "tile"),
    [
        (3.0, (1024, 1024), None),
        (2.9, (1024, 1024), (576, 1024)),
        (1.0, (1024, 1024), (576, 576)),
        (1.0, (768, 1344), (448, 736)),
        (0.0, (1024, 1024), (256, 256)),
        (0.0, (256, 200), None),  # as small as a tile
        (0.5, (64, 4096), (64, 2112)),
    ],
)
def test_tiles_are_as_few_as_there_is_room_for(room, size, tile):
    found = slices.tile(LAW, "float32", *size, int(room * GIB))
    assert found == tile
    if room >= 0.5:
        assert slices.nbytes(LAW, "float32", *size, found) <= room * GIB


@pytest.mark.parametrize("size", [(1024, 1024), (768, 1344), (2048, 2048), (512, 768)])
def test_a_smaller_card_never_takes_more(tmp_path, size):
    task = full_size.picture(*size)
    peaks = [
        max(one.peak for one in sdxl.FAMILY.stages(of(tmp_path, gib), task, 1))
        for gib in (80, 22, 15, 11, 8, 4, 2)
    ]
    assert peaks == sorted(peaks, reverse=True)
    assert peaks[0] == LAW.bytes("float32", 1, size[0] * size[1])  # whole where there is room


def test_a_card_of_24_gb_decodes_a_million_pixels_whole_and_is_what_nothing_told_means(tmp_path):
    task = full_size.picture(1024, 1024)
    told, untold = of(tmp_path, 22), full_size.sdxl(tmp_path)
    assert sdxl.FAMILY.peak(told, task, 1) == sdxl.FAMILY.peak(untold, task, 1) == 3 * GIB


def test_what_the_safe_way_takes_is_in_the_peak(tmp_path):
    """Half precision needs half the bytes; single has no more room, so its tiles are smaller."""
    half = of(tmp_path, 22, force_upcast=False)
    shape = half, LAW, 1024, 1024
    assert sdxl.tile(*shape) is None
    safe = sdxl.safe_tile(*shape)
    assert safe is not None
    (decode,) = (
        one.peak for one in sdxl.FAMILY.stages(half, full_size.picture(1024, 1024), 1)
        if one.name == "decode"
    )  # fmt: skip
    assert slices.nbytes(LAW, "float32", 1024, 1024, safe) <= decode == 1.5 * GIB


def test_a_card_is_part_of_what_a_model_is_resident_as(tmp_path):
    assert of(tmp_path, 22).key != of(tmp_path, 8).key != full_size.sdxl(tmp_path).key
