"""Pictures pass the VAE whole or in tiles, and come out alike; half precision is helped."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the gpu extra is not installed")
diffusers = pytest.importorskip("diffusers", reason="the gpu extra is not installed")

from mangen.engines.diffusion import (  # noqa: E402 - after what may skip it
    family,
    loading,
    mosaic,
    registry,
    sdxl,
    vae,
)
from tests.engines.diffusion import drive  # noqa: E402 - as above

HIGH, WIDE = 384, 512
TILE = (320, 256)  # width, height
TASK = family.Task(role="image", prompt="the cat", width=WIDE, height=HIGH, seed=3, steps=1,
                   guidance=1.0)  # fmt: skip


@pytest.fixture(scope="module")
def coder(sdxl_model):
    return vae.Vae(loading.pipeline(sdxl_model).vae)


def noise(*shape):
    return torch.randn(1, 4, *shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("size", [(64, 96), (64, 40), (33, 70), (20, 20)])
@pytest.mark.parametrize("units", [(1, 8), (8, 1), (1, 1)])
def test_a_mosaic_of_what_tiles_agree_on_is_the_whole(size, units):
    into, out = units
    whole = noise(size[0] * into, size[1] * into)
    larger, smaller = torch.nn.Upsample(scale_factor=out), torch.nn.AvgPool2d(into)

    def make(part):
        return larger(smaller(part))

    seen = []
    made = mosaic.made(
        lambda part: seen.append(part.shape[-2:]) or make(part), whole, (32, 40), overlap=16,
        units=units,
    )  # fmt: skip
    assert torch.allclose(made, make(whole), atol=1e-5)
    assert all(high <= 32 * into and wide <= 40 * into for high, wide in seen)
    assert len(seen) == len(mosaic.starts(size[0], 32, 16)) * len(mosaic.starts(size[1], 40, 16))


def test_tiles_are_decoded_to_about_the_whole_picture_and_show_no_seam(coder):
    with torch.no_grad():
        latents = noise(HIGH // 8, WIDE // 8)
        whole, tiled = coder.decode(latents), coder.decode(latents, TILE)
    assert tiled.shape == whole.shape == (1, HIGH, WIDE, 3)
    assert np.sqrt(((whole - tiled) ** 2).mean()) < 0.1 * whole.std()
    for axis in (1, 2):  # a seam is a row or a column that steps more than it does in the whole
        steps = [
            np.abs(np.diff(one, axis=axis)).mean(axis=(0, 3 - axis, 3)) for one in (whole, tiled)
        ]
        assert (steps[1] / steps[0]).max() < 1.25


def test_tiles_are_encoded_to_about_the_whole_pictures_latents(coder):
    picture = np.random.default_rng(1).integers(0, 256, (HIGH, WIDE, 3), np.uint8)
    with torch.no_grad():
        whole = coder.encode(picture, HIGH, WIDE)
        tiled = coder.encode(picture, HIGH, WIDE, tile=TILE)
    assert tiled.shape == whole.shape == (1, 4, HIGH // 8, WIDE // 8)
    assert (whole - tiled).std() < 0.1 * whole.std()


def small_card(model):
    """The model as registered for a card that has room for nothing but the least tiles."""
    return dataclasses.replace(model, name=f"{model.name}-small", limits=registry.Limits(card=1))


def test_a_model_of_a_small_card_never_passes_more_than_its_peak_allows(
    sdxl_model, rt, monkeypatch
):
    """And draws the same: nothing of it depends on what is free at the moment."""
    small, seen = small_card(sdxl_model), []
    picture = np.random.default_rng(2).integers(0, 256, (HIGH, WIDE, 3), np.uint8)
    task = dataclasses.replace(TASK, images=(picture,), strength=0.5)
    whole, _ = drive.run(sdxl.FAMILY, sdxl_model, rt, {"one": task})
    with rt.use(sdxl.FAMILY.spec(small, "image")) as loaded:
        module = loaded._vae._module
        for name, scale in (("encode", 1), ("decode", 8)):
            real = getattr(module, name)
            monkeypatch.setattr(
                module, name,
                lambda given, *a, real=real, scale=scale, name=name, **more: (
                    seen.append((name, given.shape[-2] * given.shape[-1] * scale**2)),
                    real(given, *a, **more),
                )[1],
            )  # fmt: skip
        tiled, _ = drive.run(sdxl.FAMILY, small, rt, {"one": task})
    stages = {one.name: one.peak for one in sdxl.FAMILY.stages(small, task, 1)}
    for name, law in (("encode", family.VAE_ENCODE), ("decode", family.VAE_DECODE)):
        pixels = [count for what, count in seen if what == name]
        assert len(pixels) > 1
        assert law.bytes("float32", 1, max(pixels)) == stages[name]
        assert stages[name] < law.bytes("float32", 1, HIGH * WIDE) / 2
    far = tiled["one"].images.astype(float) - whole["one"].images
    assert tiled["one"].images.shape == whole["one"].images.shape
    assert np.sqrt((far**2).mean()) < 0.2 * whole["one"].images.std()


@pytest.fixture(scope="module")
def overflowing(sdxl_model, tmp_path_factory):
    """A model in half precision whose VAE can't do it: only single precision holds its values."""
    folder = tmp_path_factory.mktemp("overflow") / "sdxl"
    pipe = diffusers.StableDiffusionXLPipeline.from_pretrained(
        sdxl_model.folder, image_encoder=None, feature_extractor=None
    )
    with torch.no_grad():
        for conv in (pipe.vae.post_quant_conv, pipe.vae.encoder.conv_out):
            conv.weight.mul_(6e4 / conv.weight.abs().max())
    pipe.vae.register_to_config(force_upcast=False)
    pipe.save_pretrained(folder)
    return dataclasses.replace(
        sdxl_model, name="overflowing", folder=folder, dtype="float16", outline=""
    )


@pytest.mark.parametrize("limits", [registry.Limits(), registry.Limits(card=1)])
def test_a_vae_that_overflows_is_helped_from_the_words_to_the_picture(overflowing, rt, limits):
    model = dataclasses.replace(overflowing, limits=limits)
    task = dataclasses.replace(TASK, width=320, height=264)
    ended, _ = drive.run(sdxl.FAMILY, model, rt, {"one": task})
    assert "NaN" in ended["one"].notes["safe_vae"]
    assert ended["one"].images.shape == (1, 264, 320, 3)
    assert ended["one"].images.std() > 1
    with rt.use(sdxl.FAMILY.spec(model, "image")) as loaded:
        assert not loaded._vae.safe  # it went back
        picture = np.random.default_rng(2).integers(0, 256, (264, 320, 3), np.uint8)
        over = dataclasses.replace(task, images=(picture,))
        with torch.no_grad():
            assert not loaded._vae.encode(picture, 264, 320).isfinite().all()
            assert loaded._encoded(over).isfinite().all()
            assert not loaded._vae.safe
