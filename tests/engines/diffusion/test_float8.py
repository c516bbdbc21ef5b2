"""Denoisers in 8-bit floats: fewer bytes, as many as were told, and nearly the same picture."""

from __future__ import annotations

import dataclasses

import pytest

torch = pytest.importorskip("torch", reason="the gpu extra is not installed")
diffusers = pytest.importorskip("diffusers", reason="the gpu extra is not installed")

from mangen.engines.diffusion import (  # noqa: E402 - after what may skip it
    checkpoint,
    enrolment,
    family,
    float8,
    loading,
    sdxl,
)
from tests.engines.diffusion import drive  # noqa: E402 - as above

TASK = family.Task(role="image", prompt="a cat", width=64, height=64, steps=6, guidance=5.0)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", ["sdxl", "i2vgen_xl", "flux2_klein", "wan22_ti2v"])
def test_the_bytes_told_are_those_that_are_held(tiny, name, dtype):
    index = checkpoint.read(tiny(name))
    part = next(one for one in index.components.values() if float8.denoises(one.name))
    loading.diffusers()
    denoiser = getattr(diffusers, part.kind).from_pretrained(
        str(part.folder), dtype=loading.dtype(dtype)
    )
    whole = part.nbytes(dtype)
    float8.keep(denoiser, loading.dtype(dtype))
    small = [one for one in denoiser.parameters() if one.dtype == torch.float8_e4m3fn]
    told = part.nbytes(f"{dtype}+float8")
    width = loading.dtype(dtype).itemsize
    assert whole - told == (width - 1) * sum(one.numel() for one in small)
    if dtype == "bfloat16":  # half of it, but for what stays as it is: of the smallest, much
        assert told < {"sdxl": 0.54, "i2vgen_xl": 0.55}.get(name, 0.76) * whole
    if not denoiser._keep_in_fp32_modules:  # those are loaded in single precision always
        assert told == sum(one.numel() * one.element_size() for one in denoiser.parameters())


@pytest.fixture(scope="module")
def eighth(sdxl_model):
    return enrolment.enrol("eighth", sdxl_model.folder, dtype="float32", quantise="float8")


def test_a_picture_comes_out_nearly_the_same(sdxl_model, eighth, rt):
    whole, before = drive.run(sdxl.FAMILY, sdxl_model, rt, {"one": TASK})
    small, after = drive.run(sdxl.FAMILY, eighth, rt, {"one": TASK})
    assert 0 < drive.far(after["one"], before["one"]) < 0.1
    far = abs(small["one"].images.astype(int) - whole["one"].images.astype(int))
    assert far.mean() < 8
    with rt.use(sdxl.FAMILY.spec(eighth, "image")) as loaded:
        kinds = {one.dtype for one in loaded._unet.parameters()}
    assert torch.float8_e4m3fn in kinds  # it is stored so again after the steps


def test_a_batch_of_it_draws_what_its_members_draw_alone(eighth, rt):
    tasks = {str(seed): dataclasses.replace(TASK, seed=seed, steps=3 + seed) for seed in range(3)}
    _, together = drive.run(sdxl.FAMILY, eighth, rt, tasks)
    for key, task in tasks.items():
        _, single = drive.run(sdxl.FAMILY, eighth, rt, {key: task})
        assert drive.far(together[key], single[key]) <= 1e-5


def test_an_adapter_beside_it_still_runs(adapted, rt):
    model = dataclasses.replace(adapted, name="both", quantise="float8", digest="f" * 64)
    ended, _ = drive.run(
        sdxl.FAMILY, model, rt, {"one": dataclasses.replace(TASK, role="anchor", steps=2)}
    )
    assert ended["one"].features["ip_adapter"].size


def test_it_is_another_model_to_everyone(sdxl_model, eighth):
    plain = enrolment.enrol("eighth", sdxl_model.folder, dtype="float32")
    assert plain.digest != eighth.digest
    assert sdxl.FAMILY.spec(plain, "image").key != sdxl.FAMILY.spec(eighth, "image").key
    buckets = [sdxl.FAMILY.bucket(one, TASK) for one in (plain, eighth)]
    assert "float32+float8" in buckets[1]
    assert "float8" not in buckets[0]
    weights = [sdxl.FAMILY.spec(one, "image").weight_bytes for one in (plain, eighth)]
    assert weights[1] < weights[0]


def test_what_any_of_diffusers_models_leaves_out_is_left_out_here_too():
    """Or the bytes that are told would be others than those that are held."""
    loading.diffusers()
    kinds = [
        getattr(diffusers, name)
        for name in dir(diffusers)
        if ("Transformer" in name or "UNet" in name)
        and not any(word in name for word in ("Control", "Audio", "Music", "Pipeline", "RFD4"))
    ]
    patterns = {
        pattern
        for kind in kinds
        for pattern in (
            *(getattr(kind, "_skip_layerwise_casting_patterns", None) or ()),
            *(getattr(kind, "_keep_in_fp32_modules", None) or ()),
        )
    }
    assert len(patterns) > 20
    strange = {one for one in patterns if not float8._skipped(one.strip("^$"))}
    # these are no layers, but numbers by themselves
    assert strange <= {"rope", "pooled_bias", "scale_shift_table", "history_key_scale"}
