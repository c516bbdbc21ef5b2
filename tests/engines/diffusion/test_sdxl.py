"""SDXL: what a batch draws is what the stock pipeline draws of each of its members alone."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the gpu extra is not installed")
diffusers = pytest.importorskip("diffusers", reason="the gpu extra is not installed")

from mangen import errors  # noqa: E402 - after what may skip it
from mangen.engines.diffusion import clip_text, family, schedulers, sdxl  # noqa: E402 - as above
from tests.engines.diffusion import drive  # noqa: E402 - as above

WIDTH, HEIGHT = 96, 64
TASKS = {
    "cat": family.Task(role="image", prompt="the cat in a tin", negative="bad", width=WIDTH,
                       height=HEIGHT, seed=0, steps=10, guidance=5.0),
    "girl": family.Task(role="image", prompt="a girl, red hair", width=WIDTH, height=HEIGHT,
                        seed=1, steps=6, guidance=3.0),
    "city": family.Task(role="image", prompt="city at night", negative="day", width=WIDTH,
                        height=HEIGHT, seed=2, steps=14, guidance=8.0),
}  # fmt: skip


@pytest.fixture(scope="module")
def stock(sdxl_model):
    pipe = diffusers.StableDiffusionXLPipeline.from_pretrained(
        sdxl_model.folder, image_encoder=None, feature_extractor=None
    )
    pipe.set_progress_bar_config(disable=True)
    return pipe


def alone(pipe, task, **more):
    """The stock pipeline's latents of one task."""
    return pipe(
        task.prompt, negative_prompt=task.negative or None, height=task.height, width=task.width,
        num_inference_steps=task.steps, guidance_scale=task.guidance, output_type="latent",
        generator=torch.Generator().manual_seed(task.seed), **more,
    ).images  # fmt: skip


@pytest.fixture(scope="module")
def singles(stock):
    return {key: alone(stock, task) for key, task in TASKS.items()}


def test_a_batch_draws_what_its_members_draw_alone(sdxl_model, rt, singles):
    """They join between steps, and have steps and guidance of their own."""
    joins = {3: {"girl": TASKS["girl"]}, 5: {"city": TASKS["city"]}}
    ended, latents = drive.run(sdxl.FAMILY, sdxl_model, rt, {"cat": TASKS["cat"]}, joins=joins)
    for key, single in singles.items():
        assert drive.far(latents[key], single) <= 1e-5
        result = ended[key]
        assert result.images.shape == (1, HEIGHT, WIDTH, 3)
        assert result.images.dtype == np.uint8
        assert result.notes["scheduler"] == "euler"
        assert result.notes["steps"] == TASKS[key].steps


def test_who_leaves_on_the_way_changes_nothing_for_the_others(sdxl_model, rt, singles):
    ended, latents = drive.run(sdxl.FAMILY, sdxl_model, rt, dict(TASKS), leaves={4: ["cat"]})
    assert ended.keys() == {"girl", "city"}
    assert drive.far(latents["girl"], singles["girl"]) <= 1e-5
    assert drive.far(latents["city"], singles["city"]) <= 1e-5


def test_a_padded_batch_gives_the_same_bits_whoever_runs_beside(sdxl_model, rt):
    padded = {key: dataclasses.replace(one, pad=2, steps=4) for key, one in TASKS.items()}
    _, beside = drive.run(sdxl.FAMILY, sdxl_model, rt, dict(padded))
    _, lonely = drive.run(sdxl.FAMILY, sdxl_model, rt, {"city": padded["city"]})
    assert torch.equal(beside["city"], lonely["city"])


@pytest.mark.parametrize(
    ("kind", "numbers"), [("LCMScheduler", (4, 1.0)), ("DDIMScheduler", (12, 5.0))]
)
def test_other_schedulers_keep_their_bounds(sdxl_model, rt, stock, kind, numbers):
    steps, guidance = numbers
    model = dataclasses.replace(sdxl_model, scheduler=kind, name=kind)
    tasks = {
        key: dataclasses.replace(one, steps=steps + number, guidance=guidance)
        for number, (key, one) in enumerate(TASKS.items())
    }
    own = stock.scheduler
    options = schedulers.variant(model)[1].options
    stock.scheduler = getattr(diffusers, kind).from_config(own.config, **options)
    single = {key: alone(stock, task) for key, task in tasks.items()}
    stock.scheduler = own
    first, *others = tasks.items()
    _, latents = drive.run(sdxl.FAMILY, model, rt, dict([first]), joins={1: dict(others)})
    for key, one in single.items():
        assert drive.far(latents[key], one) <= 1e-4


def test_prompts_are_encoded_once(sdxl_model, rt):
    task = dataclasses.replace(TASKS["cat"], prompt="a prompt that nobody drew yet", steps=1)
    drive.run(sdxl.FAMILY, sdxl_model, rt, {"first": task})
    rt.features.settle("first", done=True)
    before = rt.features.counters()["text"]
    drive.run(sdxl.FAMILY, sdxl_model, rt, {"other": dataclasses.replace(task, seed=9)})
    after = rt.features.counters()["text"]
    assert after["hit"] - before["hit"] == 2  # the prompt and what it is held against
    assert after["miss"] == before["miss"]


def test_long_prompts_are_read_in_windows_and_what_is_left_out_is_told(sdxl_model, rt):
    long = dataclasses.replace(TASKS["cat"], prompt="the cat in a tin " * 60, steps=2)
    endless = dataclasses.replace(TASKS["girl"], prompt="red " * 1250, steps=2)
    ended, _ = drive.run(
        sdxl.FAMILY, sdxl_model, rt, {"long": long, "endless": endless, "cat": TASKS["cat"]}
    )
    assert "tokens_left_out" not in ended["cat"].notes
    room = clip_text.WINDOWS * 75
    assert ended["endless"].notes["tokens_left_out"] > 0
    assert ended["long"].notes.get("tokens_left_out", 0) >= 0
    with rt.use(sdxl.FAMILY.spec(sdxl_model, "image")) as loaded:
        words = loaded._words.encode("red " * 1250)
    assert words["hidden"].shape[1] == clip_text.WINDOWS * 77
    assert words["left"] + room >= 1250


def test_a_size_between_steps_of_eight_comes_out_exactly(sdxl_model, rt):
    task = dataclasses.replace(TASKS["girl"], width=77, height=51, steps=1)
    ended, _ = drive.run(sdxl.FAMILY, sdxl_model, rt, {"odd": task})
    assert ended["odd"].images.shape == (1, 51, 77, 3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"prompt": "  "}, "without a prompt"),
        ({"steps": 0}, "0 steps"),
        ({"strength": 0.0}, "strength"),
        ({"mask": np.zeros((4, 4), np.uint8)}, "mask without a picture"),
        ({"images": (np.zeros((4, 4), np.uint8),)}, "RGB"),
        ({"images": (np.zeros((4, 4, 4), np.uint8),)}, "RGB"),
    ],
)
def test_what_cannot_be_drawn_is_its_own_end_and_nobody_elses(sdxl_model, rt, change, said):
    batch = sdxl.FAMILY.open(sdxl_model, sdxl.FAMILY.bucket(sdxl_model, TASKS["cat"]), rt)
    batch.add({"bad": dataclasses.replace(TASKS["cat"], **change),
               "good": dataclasses.replace(TASKS["girl"], steps=1)})  # fmt: skip
    ended = batch.step()
    batch.close()
    assert isinstance(ended["bad"], errors.EngineError)
    assert said in str(ended["bad"])
    assert isinstance(ended["good"], family.Result)
