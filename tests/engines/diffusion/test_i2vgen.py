"""I2VGen-XL: what a batch makes is what diffusers' own loop makes of each of its members alone."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from PIL import Image

torch = pytest.importorskip("torch", reason="the gpu extra is not installed")
diffusers = pytest.importorskip("diffusers", reason="the gpu extra is not installed")

from mangen import errors  # noqa: E402 - after what may skip it
from mangen.engines.diffusion import (  # noqa: E402 - as above
    chunks,
    clip_text,
    family,
    i2vgen,
    loading,
)
from tests.engines.diffusion import clips, drive  # noqa: E402 - as above

WIDTH, HEIGHT, FRAMES = 96, 64, 4
TASK = family.Task(role="video", prompt="the cat runs", negative="bad", width=WIDTH, height=HEIGHT,
                   frames=FRAMES, fps=16, seed=0, steps=10, guidance=5.0,
                   images=(clips.picture(WIDTH, HEIGHT),))  # fmt: skip
TASKS = {
    "cat": TASK,
    "girl": dataclasses.replace(TASK, prompt="a girl, red hair", negative="", seed=1, steps=6,
                                guidance=3.0, images=(clips.picture(2 * WIDTH, 2 * HEIGHT, 1),)),
    "city": dataclasses.replace(TASK, prompt="city at night", negative="day", seed=2, steps=14,
                                guidance=8.0, fps=8, images=(clips.picture(WIDTH, HEIGHT, 2),)),
}  # fmt: skip


@pytest.fixture(scope="module")
def model(i2vgen_model):
    return i2vgen_model


@pytest.fixture(scope="module")
def stock(model):
    """Diffusers' pipeline, given the texts and the likeliest latent: it can't make either."""
    loading.diffusers()
    pipe = diffusers.I2VGenXLPipeline.from_pretrained(model.folder)
    pipe.set_progress_bar_config(disable=True)
    encode = pipe.vae.encode

    def likeliest(pixels):
        found = encode(pixels)
        found.latent_dist.sample = found.latent_dist.mode
        return found

    pipe.vae.encode = likeliest
    return pipe


def words(pipe, text):
    ids = pipe.tokenizer(text, padding="max_length", truncation=True, return_tensors="pt").input_ids
    with torch.no_grad():
        out = pipe.text_encoder(ids, output_hidden_states=True)
        return pipe.text_encoder.final_layer_norm(out.hidden_states[-2])


def alone(pipe, task, **more):
    """The latents (1, 4, frames, height, width) of diffusers' loop."""
    return pipe(
        prompt_embeds=words(pipe, task.prompt), image=Image.fromarray(task.images[0]),
        negative_prompt_embeds=words(pipe, task.negative), height=task.height, width=task.width,
        target_fps=task.fps, num_frames=task.frames, num_inference_steps=task.steps,
        guidance_scale=task.guidance, generator=torch.Generator().manual_seed(task.seed),
        **{"output_type": "latent", **more},
    ).frames  # fmt: skip


@pytest.fixture(scope="module")
def singles(stock):
    return {key: alone(stock, task) for key, task in TASKS.items()}


def test_a_batch_makes_what_its_members_make_alone(model, rt, singles):
    """They join between steps, with pictures, steps, guidance and rates of their own."""
    joins = {3: {"girl": TASKS["girl"]}, 5: {"city": TASKS["city"]}}
    ended, latents = drive.run(i2vgen.FAMILY, model, rt, {"cat": TASKS["cat"]}, joins=joins)
    for key, single in singles.items():
        assert drive.far(latents[key], single) <= 1e-5
        assert ended[key].images.shape == (FRAMES, HEIGHT, WIDTH, 3)
        assert ended[key].images.dtype == np.uint8
        assert ended[key].notes["steps"] == TASKS[key].steps
        assert ended[key].notes["scheduler"] == "ddim"


def test_who_leaves_on_the_way_changes_nothing_for_the_others(model, rt, singles):
    ended, latents = drive.run(i2vgen.FAMILY, model, rt, dict(TASKS), leaves={4: ["cat"]})
    assert ended.keys() == {"girl", "city"}
    for key in ended:
        assert drive.far(latents[key], singles[key]) <= 1e-5


def test_a_padded_batch_gives_the_same_bits_whoever_runs_beside(model, rt):
    padded = {key: dataclasses.replace(one, pad=2, steps=3) for key, one in TASKS.items()}
    _, beside = drive.run(i2vgen.FAMILY, model, rt, dict(padded))
    _, lonely = drive.run(i2vgen.FAMILY, model, rt, {"city": padded["city"]})
    assert torch.equal(beside["city"], lonely["city"])


def test_without_guidance_the_work_is_halved_and_the_clip_is_that_of_the_pipeline(
    model, rt, stock
):  # fmt: skip
    free = dataclasses.replace(TASK, guidance=1.0, steps=4)
    ended, latents = drive.run(i2vgen.FAMILY, model, rt, {"free": free})
    assert drive.far(latents["free"], alone(stock, free)) <= 1e-5
    frames = alone(stock, free, output_type="np", decode_chunk_size=1)[0]
    assert np.abs(ended["free"].images / 255 - frames).max() <= 0.51 / 255
    assert "free" in i2vgen.FAMILY.bucket(model, free).split("|")
    assert 2 * i2vgen.denoising(model, free, 3) == i2vgen.denoising(model, TASK, 3)


def test_chunks_of_any_size_decode_to_the_same_frames(model, rt):
    latents = torch.randn(1, 4, 7, 8, 12, generator=torch.Generator().manual_seed(5))
    with rt.use(i2vgen.FAMILY.spec(model, "video")) as loaded, torch.no_grad():
        sizes = []

        def some(part):
            sizes.append(len(part))
            return loaded._vae.decode(part)

        whole, *others = (chunks.decode(some, latents, size) for size in (7, 1, 3))
    assert sizes == [7, *[1] * 7, 3, 3, 1]
    assert whole.shape == (7, HEIGHT, WIDTH, 3)
    assert all(np.abs(one - whole).max() <= 1e-5 for one in others)
    assert whole.std() > 0.01


def test_long_prompts_are_read_in_windows_and_what_is_left_out_is_told(model, rt):
    endless = dataclasses.replace(TASK, prompt="red " * 1250, steps=1)
    ended, _ = drive.run(i2vgen.FAMILY, model, rt, {"endless": endless, "cat": TASK})
    assert "tokens_left_out" not in ended["cat"].notes
    assert ended["endless"].notes["tokens_left_out"] >= 1250 - clip_text.WINDOWS * 75


def test_prompts_are_encoded_once(model, rt):
    task = dataclasses.replace(TASK, prompt="a prompt that nobody used yet", steps=1)
    drive.run(i2vgen.FAMILY, model, rt, {"first": task})
    rt.features.settle("first", done=True)
    before = rt.features.counters()["text"]
    drive.run(i2vgen.FAMILY, model, rt, {"other": dataclasses.replace(task, seed=9)})
    after = rt.features.counters()["text"]
    assert (after["hit"] - before["hit"], after["miss"] - before["miss"]) == (2, 0)


def test_the_usual_numbers_are_its_pipelines_unless_others_are_registered(model):
    assert (i2vgen.steps(model, None), i2vgen.guidance(model, None)) == (50, 9.0)
    assert (i2vgen.steps(model, 3), i2vgen.guidance(model, 2.0)) == (3, 2.0)
    own = dataclasses.replace(model, steps=7, guidance=4.0)
    assert (i2vgen.steps(own, None), i2vgen.guidance(own, None)) == (7, 4.0)
    quick = dataclasses.replace(model, scheduler="lcm")
    assert (i2vgen.steps(quick, None), i2vgen.guidance(quick, None)) == (6, 1.0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"prompt": " "}, "without a prompt"),
        ({"images": ()}, "without a first frame"),
        ({"images": (np.zeros((4, 4), np.uint8),)}, "RGB"),
        ({"images": (np.zeros((0, 4, 3), np.uint8),)}, "RGB"),
        ({"steps": 0}, "0 steps"),
        ({"encoded": {"image_embedding": np.zeros((1, 1, 32))}}, "first_latent.*is missing"),
        (
            {"encoded": {"image_embedding": np.zeros((1, 1, 32)),
                         "first_latent": np.zeros((1, 4, 8, 8))}},
            r"first_latent.*\(1, 4, 8, 8\).*\(1, 4, 8, 12\).*96x64",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_made_is_its_own_end_and_nobody_elses(model, rt, change, said):
    batch = i2vgen.FAMILY.open(model, i2vgen.FAMILY.bucket(model, TASK), rt)
    batch.add({"bad": dataclasses.replace(TASK, **change),
               "good": dataclasses.replace(TASK, steps=1)})  # fmt: skip
    ended = dict(batch.step())
    ended.update(batch.step())
    batch.close()
    with pytest.raises(errors.EngineError, match=said):
        raise ended["bad"]
    assert isinstance(ended["good"], family.Result)


def test_a_half_precision_decoder_that_overflows_is_helped_chunk_by_chunk(model, rt, singles):
    """A real overflow: a layer's weights are so large that only single precision holds them."""
    half = dataclasses.replace(model, name="half", dtype="float16")
    with rt.use(i2vgen.FAMILY.spec(half, "video")) as loaded, torch.no_grad():
        module = loaded._vae._module
        weight = module.post_quant_conv.weight
        weight.copy_(weight.float() * (6e4 / float(weight.abs().max())))
        ended, latents = drive.run(i2vgen.FAMILY, half, rt, {"cat": TASK})
        assert module.dtype == torch.float16
    assert "frames hold NaN" in ended["cat"].notes["safe_vae"]
    assert ended["cat"].images.shape == (FRAMES, HEIGHT, WIDTH, 3)
    assert latents["cat"].dtype == torch.float16
    assert drive.far(latents["cat"].float(), singles["cat"]) <= 0.05  # and the rest of it is right


def test_a_denoiser_kept_in_8_bit_floats_takes_fewer_bytes_and_makes_nearly_the_same(
    model, rt, singles
):  # fmt: skip
    half = dataclasses.replace(model, name="half8", dtype="float16")
    small = dataclasses.replace(half, name="small", quantise="float8")
    assert i2vgen.weight_bytes(small, "video") < 0.8 * i2vgen.weight_bytes(half, "video")
    assert i2vgen.weight_bytes(small, "encode") == i2vgen.weight_bytes(half, "encode")
    assert i2vgen.FAMILY.bucket(small, TASK) != i2vgen.FAMILY.bucket(half, TASK)
    _, latents = drive.run(i2vgen.FAMILY, small, rt, {"cat": TASK})
    assert 1e-3 < drive.far(latents["cat"].float(), singles["cat"]) < 0.5
