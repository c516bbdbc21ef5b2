"""Bytes by theory, of full-size models known by their headers alone. Without torch."""

from __future__ import annotations

import dataclasses

import pytest

from mangen import errors
from mangen.engines.diffusion import abilities, checkpoint, estimate, family, registry
from tests.engines.diffusion import forged

GIB = 2**30


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """Answer the full-size model of a family, in half precision."""
    root, made = tmp_path_factory.mktemp("full"), {}

    def model(name):
        if name not in made:
            pipeline, parts, options = forged.FAMILIES[name]
            folder = forged.checkpoint(root / name, parts, "BF16", pipeline, **options)
            index = checkpoint.read(folder)
            made[name] = registry.Model(
                name=name, folder=folder, family=name, pipeline=pipeline, dtype="bfloat16",
                roles=abilities.of(index, family.name_of(pipeline)),
            )  # fmt: skip
            assert family.of(name).serves(index)
        return made[name]

    return model


@pytest.mark.parametrize("name", forged.FAMILIES)
def test_the_parts_of_each_stage_are_told_and_the_largest_is_its_peak(full, name):
    model = full(name)
    assert set(model.roles) <= set(estimate.roles(model))
    for role in estimate.roles(model):
        size = family.of(name).legal(model, 768, 512, 1)
        found = estimate.of(model, role, width=size[0], height=size[1], batch=2)
        assert found.peak == max(part.peak for part in found.parts) > 0
        names = [part.name for part in found.parts]
        assert len(names) == len(set(names))
        if role != "encode":
            assert {"denoise", "decode"} <= set(names)
            assert ("encode" in names) == (role in ("inpaint", "upscale", "video"))
        assert found.weights == family.of(name).spec(model, role).weight_bytes
    assert len({estimate.STAGES[role] for role in estimate.roles(model)}) == len(
        estimate.roles(model)
    )


def test_a_text_encoder_of_its_own_takes_turns_with_the_denoiser(full):
    """Together they have 13.2 GiB, and each less than 8."""
    model, size = full("flux_klein"), {"width": 1024, "height": 1024}
    found = estimate.of(model, "image", **size)
    words = {part.name: part.weights for part in found.parts}
    assert words.pop("words") / GIB == pytest.approx(5.80, abs=0.01)  # 27 of its 36 layers
    assert set(words.values()) == {0}
    assert found.weights / GIB == pytest.approx(7.38, abs=0.01)
    assert found.largest == found.cap == 8
    assert found.peak / GIB == pytest.approx(1.5)  # decoding, larger than a pass without others
    assert estimate.of(model, "image", **size, card=10 * GIB).fits
    assert not estimate.of(model, "image", **size, card=9 * GIB).fits
    assert len(estimate.specs(model)) == 2
    # where the encoder is the larger of the two, it says how much there must be
    eighth = dataclasses.replace(model, quantise="float8")
    assert estimate.of(eighth, "image", **size).weights < 4 * GIB
    assert estimate.of(eighth, "image", **size, card=8 * GIB).fits
    assert not estimate.of(eighth, "image", **size, card=7 * GIB).fits


def test_people_who_are_shown_cost_bytes_where_the_model_looks_at_them(full):
    size = {"width": 1024, "height": 1024}
    peaks = [
        [estimate.of(full(name), "image", **size, batch=4, references=n).peak for n in (0, 1, 3)]
        for name in ("flux_klein", "sdxl")
    ]
    assert peaks[0][0] < peaks[0][1] < peaks[0][2]
    assert len(set(peaks[1])) == 1
    # measured with fake tensors: 1.57 GiB of one member that is shown two
    two = estimate.of(full("flux_klein"), "image", **size, references=2)
    assert 1.57 <= {part.name: part.peak for part in two.parts}["denoise"] / GIB < 1.62


@pytest.mark.parametrize(
    ("name", "size", "card"),
    [("flux_klein", (1024, 1024), 7), ("wan", (704, 1280), 12), ("generic", (1024, 1024), 11),
     ("i2vgen", (704, 1280), 5), ("sdxl", (1024, 1024), 8)],
)  # fmt: skip
def test_what_is_too_large_for_a_card_is_told_what_would_fit(full, name, size, card):
    model = full(name)
    role = model.roles[0]
    asked = {"width": size[0], "height": size[1]}
    found = estimate.of(model, role, **asked, card=card * GIB)
    assert not found.fits
    *others, larger = found.instead
    needed = int(larger.split()[-2])
    assert estimate.of(model, role, **asked, card=needed * GIB).fits
    assert not estimate.of(model, role, **asked, card=(needed - 1) * GIB).fits
    for one in others:
        if one.startswith("--quantise"):
            other = dataclasses.replace(model, quantise="float8")
            assert estimate.of(other, role, **asked, card=card * GIB).fits
        elif one.startswith("--vram"):
            limits = dataclasses.replace(model.limits, card=card * GIB)
            other = dataclasses.replace(model, limits=limits)
            assert estimate.of(other, role, **asked, card=card * GIB).fits
        else:
            wide, high = map(int, one.split()[0].split("x"))
            assert estimate.of(model, role, width=wide, height=high, card=card * GIB).fits


def test_no_such_role_is_named(full):
    with pytest.raises(errors.ModelError, match="no role 'hero'"):
        estimate.of(full("sdxl"), "hero", width=512, height=512)
