"""Models that were taught to need few steps: by their scheduler, with and without guidance."""

from __future__ import annotations

import dataclasses
import json
import shutil

import pytest

torch = pytest.importorskip("torch", reason="the gpu extra is not installed")
diffusers = pytest.importorskip("diffusers", reason="the gpu extra is not installed")

from mangen.engines.diffusion import family, schedulers, sdxl  # noqa: E402 - after what may skip it
from tests.engines.diffusion import drive  # noqa: E402 - as above

SIZE = {"width": 96, "height": 64}
WORDS = ("the cat in a tin", "a girl, red hair", "city at night")
#: steps and guidance of three members, by scheduler: each has its own, as the models are used
NUMBERS = {
    "euler": ((10, 5.0), (6, 3.0), (14, 8.0)),
    "euler_a": ((8, 5.0), (6, 3.0), (11, 7.0)),
    "ddim": ((12, 5.0), (7, 3.0), (9, 8.0)),
    "dpmpp": ((9, 5.0), (6, 3.0), (12, 7.0)),
    "unipc": ((8, 5.0), (6, 3.0), (10, 7.0)),
    "lcm": ((4, 1.0), (6, 1.0), (8, 1.0)),
    "lightning": ((4, 0.0), (2, 0.0), (8, 1.0)),
    "turbo": ((4, 0.0), (1, 0.0), (6, 0.5)),
}
#: of the largest latent
BOUNDS = {"euler": 1e-5, "euler_a": 1e-5, "lightning": 1e-5, "turbo": 1e-5}
OTHERS = 1e-4


def tasks(numbers):
    return {
        words: family.Task(
            role="image", prompt=words, seed=seed, steps=steps, guidance=guidance,
            negative="bad" if guidance > 1 else "", **SIZE,
        )
        for seed, (words, (steps, guidance)) in enumerate(zip(WORDS, numbers, strict=True))
    }  # fmt: skip


def stock(folder, scheduler=None):
    pipe = diffusers.StableDiffusionXLPipeline.from_pretrained(
        folder, image_encoder=None, feature_extractor=None
    )
    pipe.set_progress_bar_config(disable=True)
    if scheduler is not None:
        kind = getattr(diffusers, scheduler.kind)
        pipe.scheduler = kind.from_config(pipe.scheduler.config, **scheduler.options)
    return pipe


def alone(pipe, task):
    return pipe(
        task.prompt, negative_prompt=task.negative or None, num_inference_steps=task.steps,
        guidance_scale=task.guidance, output_type="latent", height=task.height, width=task.width,
        generator=torch.Generator().manual_seed(task.seed),
    ).images  # fmt: skip


def joined(model, rt, given):
    """The latents of a batch that two join when the first has begun."""
    first, *others = given.items()
    return drive.run(sdxl.FAMILY, model, rt, dict([first]), joins={1: dict(others)})[1]


@pytest.mark.parametrize("name", NUMBERS)
def test_each_scheduler_keeps_its_members_apart_at_steps_and_guidance_of_their_own(
    sdxl_model, rt, name
):
    model = dataclasses.replace(sdxl_model, scheduler=name, name=name)
    given = tasks(NUMBERS[name])
    latents = joined(model, rt, given)
    pipe = stock(sdxl_model.folder, schedulers.VARIANTS[name])
    for key, task in given.items():
        assert drive.far(latents[key], alone(pipe, task)) <= BOUNDS.get(name, OTHERS)
    buckets = {sdxl.FAMILY.bucket(model, task) for task in given.values()}
    (bucket,) = buckets
    assert f"|{'cfg' if NUMBERS[name][0][1] > 1 else 'free'}|{name}|" in bucket


@pytest.mark.parametrize("name", ["turbo", "lightning", "lcm"])
def test_a_distilled_folder_is_known_by_its_scheduler_and_takes_few_steps(
    sdxl_model, tmp_path, name, rt
):
    """No option of the registration tells what it is."""
    found = schedulers.VARIANTS[name]
    kind = getattr(diffusers, found.kind)
    folder = tmp_path / name
    shutil.copytree(sdxl_model.folder, folder)
    own = json.loads((folder / "scheduler" / "scheduler_config.json").read_text())
    kind.from_config(own, **found.options).save_pretrained(folder / "scheduler")
    index = folder / "model_index.json"
    index.write_text(index.read_text().replace("EulerDiscreteScheduler", found.kind))
    model = dataclasses.replace(sdxl_model, folder=folder, name=f"own-{name}")
    task = family.Task(role="image", prompt="the cat", **SIZE)
    ended, latents = drive.run(sdxl.FAMILY, model, rt, {"one": task})
    notes = ended["one"].notes
    assert (notes["scheduler"], notes["steps"]) == (name, found.steps)
    assert notes["guidance"] == found.guidance <= 1
    plain = dataclasses.replace(task, steps=found.steps, guidance=found.guidance)
    assert drive.far(latents["one"], alone(stock(folder), plain)) <= OTHERS
    half = sdxl.FAMILY.stages(model, task, 4)[0].peak
    assert half * 2 == sdxl.FAMILY.stages(sdxl_model, task, 4)[0].peak  # no second rows


@pytest.fixture(scope="module")
def taught(sdxl_model, tmp_path_factory):
    """An LCM whose UNet is told the guidance, as latent-consistency/lcm-sdxl is."""
    folder = tmp_path_factory.mktemp("taught") / "lcm"
    pipe = stock(sdxl_model.folder, schedulers.VARIANTS["lcm"])
    torch.manual_seed(5)
    unet = diffusers.UNet2DConditionModel.from_config(pipe.unet.config, time_cond_proj_dim=16)
    unet.load_state_dict(pipe.unet.state_dict(), strict=False)
    pipe.unet = unet
    pipe.save_pretrained(folder)
    return dataclasses.replace(sdxl_model, folder=folder, name="taught", outline="")


def test_a_model_that_was_taught_guidance_has_its_own_for_each_member_in_one_pass(taught, rt):
    given = tasks(((4, 8.0), (6, 1.5), (8, 12.0)))
    given = {key: dataclasses.replace(task, negative="") for key, task in given.items()}
    latents = joined(taught, rt, given)
    pipe = stock(taught.folder)
    for key, task in given.items():
        assert drive.far(latents[key], alone(pipe, task)) <= OTHERS
    moved = dataclasses.replace(given[WORDS[0]], guidance=2.0)
    _, other = drive.run(sdxl.FAMILY, taught, rt, {"one": moved})
    assert drive.far(other["one"], latents[WORDS[0]]) > 1e-4  # it does heed it


def test_a_model_that_was_taught_guidance_takes_single_rows_and_8_unless_told(taught, rt):
    task = family.Task(role="image", prompt="the cat", steps=1, **SIZE)
    ended, _ = drive.run(sdxl.FAMILY, taught, rt, {"one": task})
    assert ended["one"].notes["guidance"] == 8.0
    assert "|free|lcm|" in sdxl.FAMILY.bucket(taught, task)
    guided = dataclasses.replace(taught, name="told", guidance=3.0)
    assert sdxl.guidance(guided, None) == 3.0
    assert "|free|" in sdxl.FAMILY.bucket(guided, task)
