"""What a family is asked before its model is loaded: sizes, bytes, buckets. Without torch."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import pytest

from mangen import errors
from mangen.engines.diffusion import checkpoint, family, registry, schedulers, sdxl

TASK = family.Task(role="image", prompt="a", width=512, height=768)


@pytest.fixture
def model(tmp_path):
    return registry.Model(name="big", folder=tmp_path, family="sdxl", digest="d" * 64)


@pytest.mark.parametrize(
    ("sizes", "asked", "nearest"),
    [
        (family.Sizes(), (512, 768, 1), (512, 768, 1)),
        (family.Sizes(), (515, 765, 1), (512, 768, 1)),
        (family.Sizes(), (1, 1, 0), (64, 64, 1)),
        (family.Sizes(), (9000, 4500, 1), (2048, 1024, 1)),
        (family.Sizes(pixels=512 * 512), (1024, 1024, 1), (512, 512, 1)),
        (family.Sizes(pixels=500_000), (720, 1280, 1), (528, 944, 1)),
        (family.Sizes(step=32, least=256, most=1280), (100, 1300, 1), (256, 1280, 1)),
        (family.Sizes(frames_step=4, most_frames=121), (704, 1280, 24), (704, 1280, 25)),
        (family.Sizes(frames_step=4, most_frames=121), (704, 1280, 999), (704, 1280, 121)),
        (family.Sizes(frames_step=4, most_frames=120), (704, 1280, 999), (704, 1280, 117)),
        (family.Sizes(most_frames=16), (512, 512, 24), (512, 512, 16)),
    ],
)
def test_the_nearest_legal_size_is_named(sizes, asked, nearest):
    found = sizes.nearest(*asked)
    assert found == nearest
    assert sizes.nearest(*found) == found  # it is legal itself
    assert found[0] * found[1] <= sizes.pixels
    sizes.check("m", *found)
    if found != asked:
        with pytest.raises(family.SizeError, match=f"m can't make .*{found[0]}x{found[1]}"):
            sizes.check("m", *asked)


def test_laws_give_the_bytes_that_were_measured():
    """facts: SDXL with guidance, and its VAE, at 512x768 and 1024x1024, in GiB."""
    gib = 2**30
    assert family.SDXL_DENOISE.bytes("float16", 1, 512 * 768) / gib == pytest.approx(
        0.116, abs=1e-3
    )
    assert family.SDXL_DENOISE.bytes("float16", 2, 2**20) / gib == pytest.approx(0.617, abs=1e-3)
    assert family.VAE_DECODE.bytes("float32", 1, 2**20) / gib == pytest.approx(3.0)
    assert family.VAE_DECODE.bytes("float16", 2, 512 * 768) / gib == pytest.approx(1.125)
    found = family.I2V_DENOISE.bytes("float16", 1, 512 * 512, 16) / gib
    assert found == pytest.approx(2.59, abs=5e-3)


def test_a_peak_is_the_largest_stage_and_pictures_are_decoded_one_by_one(model):
    small, large = (sdxl.FAMILY.peak(model, TASK, n) for n in (1, 64))
    assert small == family.VAE_DECODE.bytes("float32", 1, 512 * 768)
    assert large == family.SDXL_DENOISE.bytes("float16", 64, 512 * 768)
    free = dataclasses.replace(TASK, guidance=1.0)
    assert sdxl.FAMILY.peak(model, free, 64) == large // 2
    padded = dataclasses.replace(TASK, pad=64)
    assert sdxl.FAMILY.peak(model, padded, 1) == large


def test_a_bucket_holds_what_must_be_equal_and_nothing_else(model):
    bucket = sdxl.FAMILY.bucket
    same = dataclasses.replace(
        TASK, role="inpaint", prompt="b", negative="c", seed=5, steps=7, guidance=9.0, strength=0.5
    )
    assert bucket(model, TASK) == bucket(model, same)
    others = {
        bucket(model, dataclasses.replace(TASK, width=520)),
        bucket(model, dataclasses.replace(TASK, height=760)),
        bucket(model, dataclasses.replace(TASK, guidance=1.0)),
        bucket(model, dataclasses.replace(TASK, pad=4)),
        *(
            bucket(dataclasses.replace(model, **change), TASK)
            for change in (
                {"dtype": "bfloat16"}, {"scheduler": "ddim"}, {"adapter": "/a/b.safetensors"},
                {"digest": "e" * 64}, {"name": "other"},
            )
        ),
    }  # fmt: skip
    assert len(others) == 9
    assert bucket(model, TASK) not in others
    assert family.pad_of(bucket(model, dataclasses.replace(TASK, pad=4))) == 4
    assert family.pad_of(bucket(model, TASK)) == 0


def test_each_pipeline_has_its_family():
    assert family.name_of("StableDiffusionXLPipeline") == "sdxl"
    assert family.name_of("SomethingNewPipeline") == "generic"
    assert family.of("sdxl") is sdxl.FAMILY
    with pytest.raises(errors.EngineError, match=r"no family 'x'.*sdxl"):
        family.of("x")


@pytest.mark.parametrize(
    ("registered", "own", "usual"),
    [
        ("", '{"_class_name": "EulerDiscreteScheduler"}', ("euler", 30, 5.0)),
        ("", '{"_class_name": "EulerDiscreteScheduler", "timestep_spacing": "trailing"}',
         ("lightning", 4, 0.0)),
        ("", '{"_class_name": "EulerAncestralDiscreteScheduler", "timestep_spacing": "trailing"}',
         ("turbo", 4, 0.0)),
        ("", '{"_class_name": "LCMScheduler"}', ("lcm", 6, 1.0)),
        ("LCMScheduler", '{"_class_name": "EulerDiscreteScheduler"}', ("lcm", 6, 1.0)),
        ("lightning", "{}", ("lightning", 4, 0.0)),
        ("HeunDiscreteScheduler", "{}", ("HeunDiscreteScheduler", 30, 5.0)),
        ("", "no json", ("euler", 30, 5.0)),
    ],
)  # fmt: skip
def test_a_scheduler_says_how_many_steps_and_how_much_guidance(
    tmp_path, registered, own, usual
):  # fmt: skip
    name, *numbers = usual
    (tmp_path / "scheduler").mkdir()
    (tmp_path / "scheduler" / "scheduler_config.json").write_text(own)
    model = registry.Model(name="m", folder=tmp_path, family="sdxl", scheduler=registered)
    assert schedulers.variant(model)[0] == name
    assert (schedulers.steps(model, None), schedulers.guidance(model, None)) == (*numbers,)
    model = dataclasses.replace(model, steps=9, guidance=0.0)
    assert (schedulers.steps(model, None), schedulers.guidance(model, None)) == (9, 0.0)
    assert (schedulers.steps(model, 3), schedulers.guidance(model, 7.5)) == (3, 7.5)


def test_all_of_this_is_answered_without_torch(sdxl_model):
    code = f"""
import pathlib, sys
from mangen.engines.diffusion import checkpoint, family, registry
model = registry.Model(name="t", folder=pathlib.Path({str(sdxl_model.folder)!r}), family="sdxl")
found, task = family.of("sdxl"), family.Task(role="image", prompt="a", width=64, height=64)
assert found.serves(checkpoint.read(model.folder))
spec = found.spec(model, "image")
print(spec.weight_bytes > 0, found.bucket(model, task) != "", found.peak(model, task, 2) > 0,
      found.legal(model, 65, 65, 1), *[m for m in ("torch", "diffusers") if m in sys.modules])
"""
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == "True True True (64, 64, 1)"


def test_a_refiner_is_not_served(sdxl_model):
    index = checkpoint.read(sdxl_model.folder)
    assert sdxl.FAMILY.serves(index)
    less = {name: one for name, one in index.components.items() if name != "text_encoder"}
    assert not sdxl.FAMILY.serves(dataclasses.replace(index, components=less))
    with pytest.raises(family.SizeError, match=r"65x64.*64x64"):
        sdxl.FAMILY.legal(sdxl_model, 65, 64, 1, strict=True)
