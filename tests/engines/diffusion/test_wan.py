"""Wan2.2-TI2V: what a batch makes is what diffusers makes of each of its members alone."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

torch = pytest.importorskip("torch", reason="the gpu extra is not installed")
diffusers = pytest.importorskip("diffusers", reason="the gpu extra is not installed")

from mangen import errors  # noqa: E402 - after what may skip it
from mangen.engines.diffusion import checkpoint, family, loading, wan, wan_vae  # noqa: E402 - as above
from mangen.pooling import cache_policy  # noqa: E402 - as above
from tests.engines.diffusion import clips, conftest, drive  # noqa: E402 - as above

WIDTH, HEIGHT, FRAMES = 96, 64, 9
TASK = family.Task(role="video", prompt="the cat runs", negative="bad", width=WIDTH, height=HEIGHT,
                   frames=FRAMES, seed=0, steps=10, guidance=5.0,
                   images=(clips.picture(WIDTH, HEIGHT),))  # fmt: skip
TASKS = {
    "cat": TASK,
    "girl": dataclasses.replace(TASK, prompt="a girl, red hair", negative="", seed=1, steps=6,
                                guidance=3.0, images=(clips.picture(WIDTH, HEIGHT, 1),)),
    "city": dataclasses.replace(TASK, prompt="city at night", negative="day", seed=2, steps=14,
                                guidance=8.0, images=(clips.picture(WIDTH, HEIGHT, 2),)),
}  # fmt: skip
KINDS = {kind: cache_policy.Policy() for kind in conftest.KINDS}


@pytest.fixture(scope="module")
def model(wan_model):
    return wan_model


@pytest.fixture(scope="module")
def stock(model):
    loading.diffusers()
    pipe = diffusers.WanImageToVideoPipeline.from_pretrained(model.folder)
    pipe.set_progress_bar_config(disable=True)
    assert pipe.config.expand_timesteps
    return pipe


def alone(pipe, task, **more):
    """The latents (1, 48, 3, height, width) of the stock pipeline."""
    return pipe(
        image=Image.fromarray(task.images[0]), prompt=task.prompt, negative_prompt=task.negative,
        height=task.height, width=task.width, num_frames=task.frames,
        num_inference_steps=task.steps, guidance_scale=task.guidance,
        generator=torch.Generator().manual_seed(task.seed), **{"output_type": "latent", **more},
    ).frames  # fmt: skip


@pytest.fixture(scope="module")
def singles(stock):
    return {key: alone(stock, task) for key, task in TASKS.items()}


def whole(latents, single):
    """With the first frame's in their place, as the pipeline returns them."""
    return torch.cat([single[:, :, :1], latents[:, :, 1:]], dim=2)


def test_a_batch_makes_what_its_members_make_alone(model, rt, singles):
    """They join between steps, with pictures, steps and guidance of their own."""
    joins = {3: {"girl": TASKS["girl"]}, 5: {"city": TASKS["city"]}}
    ended, latents = drive.run(wan.FAMILY, model, rt, {"cat": TASKS["cat"]}, joins=joins)
    for key, single in singles.items():
        assert drive.far(whole(latents[key], single), single) <= 1e-5
        assert ended[key].images.shape == (FRAMES, HEIGHT, WIDTH, 3)
        assert ended[key].images.dtype == np.uint8
        assert ended[key].notes["steps"] == TASKS[key].steps
        assert ended[key].notes["scheduler"] == "unipc"


def test_who_leaves_on_the_way_changes_nothing_for_the_others(model, rt, singles):
    ended, latents = drive.run(wan.FAMILY, model, rt, dict(TASKS), leaves={4: ["cat"]})
    assert ended.keys() == {"girl", "city"}
    for key in ended:
        assert drive.far(whole(latents[key], singles[key]), singles[key]) <= 1e-5


def test_a_clip_is_that_of_the_pipeline_to_its_frames(model, rt, stock):
    free = dataclasses.replace(TASK, guidance=1.0, steps=4)
    ended, _ = drive.run(wan.FAMILY, model, rt, {"free": free})
    frames = alone(stock, free, output_type="np")[0]
    assert frames.shape == ended["free"].images.shape
    assert np.abs(ended["free"].images / 255 - frames).max() <= 0.51 / 255
    assert "free" in wan.FAMILY.bucket(model, free).split("|")


def test_rows_of_many_tokens_take_passes_of_their_own_and_give_the_same(
    model, rt, singles, monkeypatch
):  # fmt: skip
    tokens = 3 * (HEIGHT // 32) * (WIDTH // 32)
    monkeypatch.setattr(wan, "PASS", tokens + 1)
    with rt.use(wan.FAMILY.spec(model, "video")) as loaded:
        once, sizes = loaded._pass, []

        def counted(latents, times, hidden):
            sizes.append(len(latents))
            return once(latents, times, hidden)

        monkeypatch.setattr(loaded, "_pass", counted)
        _, latents = drive.run(wan.FAMILY, model, rt, {key: TASKS[key] for key in ("cat", "girl")})
    assert set(sizes) == {1}
    for key, one in latents.items():
        assert drive.far(whole(one, singles[key]), singles[key]) <= 1e-5


@pytest.mark.parametrize(
    ("scheduler", "kind"),
    [
        ("FlowMatchEulerDiscreteScheduler", "FlowMatchEulerDiscreteScheduler"),
        ("dpmpp", "DPMSolverMultistepScheduler"),
    ],
)
def test_another_scheduler_of_flows_may_be_registered(model, rt, stock, scheduler, kind):
    other = dataclasses.replace(model, name=kind, scheduler=scheduler)
    tasks = {key: dataclasses.replace(one, steps=4 + n)
             for n, (key, one) in enumerate(TASKS.items())}  # fmt: skip
    own = stock.scheduler
    stock.scheduler = getattr(diffusers, kind).from_config(own.config)
    single = {key: alone(stock, task) for key, task in tasks.items()}
    stock.scheduler = own
    first, *others = tasks.items()
    _, latents = drive.run(wan.FAMILY, other, rt, dict([first]), joins={1: dict(others)})
    for key, one in single.items():
        assert drive.far(whole(latents[key], one), one) <= 1e-5


def test_a_scheduler_that_knows_no_flow_is_refused(model):
    old = dataclasses.replace(model, name="old", scheduler="euler")
    with pytest.raises(errors.EngineError, match="EulerDiscreteScheduler, which knows no flow"):
        wan.FAMILY.spec(old, "").load()


@pytest.mark.parametrize(
    "text", ["the cat", "小猫，在雨里跑 & 叫&amp;笑", "Ein  Haus\n  am See", ""]
)
def test_prompts_in_any_language_reach_the_encoder_as_they_are(model, stock, text):
    words = wan.FAMILY.words(model).load()
    ids = stock.tokenizer(text, return_tensors="pt").input_ids
    with torch.no_grad():
        hidden = stock.text_encoder(ids).last_hidden_state
    made = words.encode(text)
    assert drive.far(made["hidden"], hidden) <= 1e-6
    assert made["left"] == 0


def test_what_a_prompt_is_too_long_for_is_told(model, rt):
    endless = dataclasses.replace(TASK, prompt="red " * 600, steps=1)
    ended, _ = drive.run(wan.FAMILY, model, rt, {"endless": endless, "cat": TASK})
    assert ended["endless"].notes["tokens_left_out"] > 0
    assert "tokens_left_out" not in ended["cat"].notes


def test_the_text_encoder_comes_for_the_words_alone_and_makes_room(model, rt):
    """On a device that holds one of both: denoising waits for it once, and known words don't."""
    parts = wan.FAMILY.spec(model, "video"), wan.FAMILY.words(model)
    tight, house = clips.tight(max(one.weight_bytes for one in parts), KINDS)
    short = {key: dataclasses.replace(one, steps=2) for key, one in TASKS.items()}
    batch = wan.FAMILY.open(model, wan.FAMILY.bucket(model, TASK), tight)
    batch.add(short)
    batch.step()
    assert [one == "words" for one in house.told] == [True, False]
    ended = dict(batch.step())
    batch.add({"again": dataclasses.replace(short["cat"], seed=8)})
    batch.step()
    ended.update(batch.step())
    batch.close()
    assert len(house.told) == 2
    single, _ = drive.run(wan.FAMILY, model, rt, {"one": short["girl"]})
    difference = ended["girl"].images.astype(int) - single["one"].images.astype(int)
    assert np.abs(difference).max() <= 1
    assert parts[0].key != parts[1].key


@pytest.mark.parametrize(
    ("dtype", "quantise"),
    [("float32", ""), ("bfloat16", ""), ("float16", ""), ("bfloat16", "float8")],
)
def test_counted_bytes_are_those_of_the_loaded_models(model, rt, dtype, quantise):
    """Some layers stay in single precision: two gigabytes of the full-size one's text encoder."""
    other = dataclasses.replace(model, name=f"{dtype}{quantise}", dtype=dtype, quantise=quantise)
    for spec, names in (
        (wan.FAMILY.spec(other, "video"), ("_transformer", "_vae")),
        (wan.FAMILY.words(other), ("_encoder",)),
    ):
        with rt.use(spec) as loaded:
            parts = [getattr(loaded, name) for name in names]
            parts = [getattr(one, "_module", one) for one in parts]
            held = sum(p.numel() * p.element_size() for one in parts for p in one.parameters())
        assert spec.weight_bytes == held
    ended, _ = drive.run(wan.FAMILY, other, rt, {"one": dataclasses.replace(TASK, steps=2)})
    assert ended["one"].images.std() > 1


@pytest.mark.parametrize("size", [(1, 1), (97, 63), (1, 3000), (3000, 1)])
def test_first_frames_of_any_size_are_cut_at_their_middle(model, rt, size):
    with rt.use(wan.FAMILY.spec(model, "video")) as loaded, torch.no_grad():
        plain = np.full((size[1], size[0], 3), (200, 90, 30), np.uint8)
        fit = np.full((HEIGHT, WIDTH, 3), (200, 90, 30), np.uint8)
        one, other = (loaded._vae.encode(picture, HEIGHT, WIDTH) for picture in (plain, fit))
    assert torch.allclose(one, other, atol=1e-5)
    assert one.shape == (1, 48, 1, HEIGHT // 16, WIDTH // 16)


def test_a_decoder_that_overflows_is_helped_and_goes_back(model):
    """A real overflow: a layer's weights are so large that only single precision holds them."""
    module = loading.pipeline(model, "WanPipeline").vae
    ours = wan_vae.WanVae(module)
    assert ours.safe
    latents = torch.randn(1, 48, 2, 18, 4, generator=torch.Generator().manual_seed(0)) * 4
    with torch.no_grad():
        plain = ours.decode(latents)
        tiled = ours.decode_safely(latents)
        assert tiled.shape == plain.shape == (5, 288, 64, 3)
        assert not module.use_tiling
        assert np.abs(tiled - plain).mean() < 0.1 * plain.std()  # attention sees a tile alone
        weight = module.post_quant_conv.weight
        weight.mul_(6e4 / weight.abs().max())
        module.half()
        assert not ours.safe
        assert not np.isfinite(ours.decode(latents)).all()
        assert np.isfinite(ours.decode_safely(latents)).all()
    assert module.dtype == torch.float16
    module.to(torch.bfloat16)
    assert ours.safe


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"prompt": " "}, "without a prompt"),
        ({"images": ()}, "without a first frame"),
        ({"images": (np.zeros((4, 4), np.uint8),)}, "RGB"),
        ({"steps": 0}, "0 steps"),
    ],
)
def test_what_cannot_be_made_is_its_own_end_and_nobody_elses(model, rt, change, said):
    batch = wan.FAMILY.open(model, wan.FAMILY.bucket(model, TASK), rt)
    batch.add({"bad": dataclasses.replace(TASK, **change),
               "good": dataclasses.replace(TASK, steps=1)})  # fmt: skip
    ended = dict(batch.step())
    ended.update(batch.step())
    batch.close()
    with pytest.raises(errors.EngineError, match=said):
        raise ended["bad"]
    assert isinstance(ended["good"], family.Result)


def test_other_models_of_its_name_are_not_served(model):
    index = checkpoint.read(model.folder)
    assert wan.FAMILY.serves(index)
    assert not wan.FAMILY.serves(dataclasses.replace(index, options={}))
    two = {**index.components, "transformer_2": index.components["transformer"]}
    assert not wan.FAMILY.serves(dataclasses.replace(index, components=two))


def test_bytes_sizes_and_buckets_are_told_without_torch(model):
    code = f"""
import pathlib, sys
from mangen.engines.diffusion import family, registry
model = registry.Model(name="t", folder=pathlib.Path({str(model.folder)!r}), family="wan")
found, task = family.of("wan"), family.Task(role="video", prompt="a", width=704, height=1280,
                                            frames=25)
print(found.spec(model, "video").weight_bytes > 0, found.bucket(model, task) != "",
      found.peak(model, task, 2) > 0, [one.name for one in found.stages(model, task, 1)],
      found.legal(model, 720, 1280, 96),
      *[m for m in ("torch", "diffusers") if m in sys.modules])
"""
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == (
        "True True True ['words', 'encode', 'denoise', 'decode'] (704, 1280, 97)"
    )


def test_sizes_beyond_its_own_are_refused_with_the_nearest(model):
    with pytest.raises(family.SizeError, match=r"720x1280 x 24.*704x1280 x 25 frames"):
        wan.FAMILY.legal(model, 720, 1280, 24, strict=True)
    assert wan.FAMILY.legal(model, 704, 1280, 121, strict=True) == (704, 1280, 121)


def test_a_peak_is_the_largest_stage(model):
    """Measured with fake tensors on the full-size model at 704x1280 x 121 frames, in GiB."""
    gib = 2**30
    half = dataclasses.replace(model, dtype="bfloat16")
    task = dataclasses.replace(TASK, width=704, height=1280, frames=121)
    peaks = {one.name: one.peak / gib for one in wan.FAMILY.stages(half, task, 4)}
    assert peaks["denoise"] == pytest.approx(5.08, rel=0.01)  # a row at a time
    assert peaks["decode"] == pytest.approx(9.64, rel=0.01)
    assert peaks["encode"] == pytest.approx(0.82, rel=0.01)
    assert wan.FAMILY.peak(half, task, 4) / gib == peaks["decode"]
    short = dataclasses.replace(task, width=480, height=832, frames=21)
    one, two = (wan.FAMILY.stages(half, short, n)[2].peak for n in (1, 2))
    assert two == 2 * one  # these share a pass
    short = dataclasses.replace(short, guidance=1.0)
    assert wan.FAMILY.stages(half, short, 2)[2].peak == one
    assert wan.FAMILY.stages(half, dataclasses.replace(short, pad=2), 1)[2].peak == one
    small = {one.name: one.peak for one in wan.FAMILY.stages(half, short, 1)}
    assert small["decode"] / gib == pytest.approx(4.05, rel=0.01)


def test_the_usual_numbers_are_its_pipelines_unless_others_are_registered(model):
    assert (wan.steps(model, None), wan.guidance(model, None)) == (50, 5.0)
    assert (wan.steps(model, 3), wan.guidance(model, 2.0)) == (3, 2.0)
    own = dataclasses.replace(model, steps=7, guidance=1.0)
    assert (wan.steps(own, None), wan.guidance(own, None)) == (7, 1.0)
