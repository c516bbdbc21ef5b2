"""FLUX.2 klein: what a batch draws is what the stock pipeline draws of each member alone."""

from __future__ import annotations

import dataclasses
import json
import math
import shutil

import numpy as np
import pytest
from PIL import Image

torch = pytest.importorskip("torch", reason="the gpu extra is not installed")
diffusers = pytest.importorskip("diffusers", reason="the gpu extra is not installed")
import transformers  # noqa: E402 - after what may skip it

from mangen import errors  # noqa: E402 - as above
from mangen.engines.diffusion import (  # noqa: E402 - as above
    checkpoint,
    family,
    flux_klein,
    flux_klein_words,
    registry,
)
from mangen.pooling import cache_policy  # noqa: E402 - as above
from tests.engines.diffusion import clips, conftest, drive  # noqa: E402 - as above

FAMILY = flux_klein.FAMILY
WIDTH, HEIGHT = 96, 64


def picture(seed, high=64, wide=80):
    return np.random.default_rng(seed).integers(0, 256, (high, wide, 3), np.uint8)


def character(name, seed, *size):
    return family.CharacterFeatures(name=name, picture=picture(seed, *size))


BASE = family.Task(role="image", prompt="a cat", width=WIDTH, height=HEIGHT, steps=4)
TASKS = {
    "plain": dataclasses.replace(BASE, prompt="雨夜里，一只黑猫坐在屋顶", seed=1, steps=5),
    "one": dataclasses.replace(BASE, seed=2, characters=(character("a", 1),)),
    "other": dataclasses.replace(BASE, seed=3, steps=3, characters=(character("b", 2),)),
    "two": dataclasses.replace(
        BASE, seed=4, characters=(character("a", 1), character("b", 3, 96, 70)),
        images=(picture(4, 100, 64),),
    ),
}  # fmt: skip


def changed(folder, to, *, index=None, scheduler=None):
    shutil.copytree(folder, to)
    for name, values in (
        ("model_index.json", index), ("scheduler/scheduler_config.json", scheduler),
    ):  # fmt: skip
        found = json.loads((to / name).read_text())
        (to / name).write_text(json.dumps({**found, **(values or {})}))
    return to


def registered(folder, name):
    index = checkpoint.read(folder)
    return registry.Model(
        name=name, folder=index.folder, family="flux_klein", pipeline=index.pipeline,
        dtype="float32", outline=index.outline,
    )  # fmt: skip


@pytest.fixture(scope="module")
def model(tiny):
    return registered(tiny("flux2_klein"), "klein")


@pytest.fixture(scope="module")
def base(tiny, tmp_path_factory):
    """The same as one that was not distilled, whose noise lasts longer in larger pictures."""
    folder = changed(
        tiny("flux2_klein"), tmp_path_factory.mktemp("base") / "m",
        index={"is_distilled": False}, scheduler={"use_dynamic_shifting": True},
    )  # fmt: skip
    return registered(folder, "base")


def alone(model, task, kind="Flux2KleinPipeline", **more):
    """The stock pipeline's last latents of one task, as tokens."""
    pipe = getattr(diffusers, kind).from_pretrained(str(model.folder))
    pipe.set_progress_bar_config(disable=True)
    latents = []

    def keep(_pipe, _step, _time, given):
        latents.append(given["latents"])
        return {}

    shown = [Image.fromarray(one.picture) for one in task.characters]
    shown += [Image.fromarray(one) for one in task.images] if task.mask is None else []
    made = pipe(
        prompt=task.prompt, **({"image": shown or None} | more), width=task.width,
        height=task.height, num_inference_steps=task.steps, guidance_scale=task.guidance or 1.0,
        generator=torch.Generator().manual_seed(task.seed), callback_on_step_end=keep,
        output_type="np",
    ).images  # fmt: skip
    return latents[-1], made[0]


def test_a_batch_draws_what_its_members_draw_alone(model, rt):
    """With pictures of their own, other numbers of steps, and joining on the way."""
    first = {key: TASKS[key] for key in ("plain", "one")}
    joins = {2: {"other": TASKS["other"]}, 3: {"two": TASKS["two"]}}
    ended, latents = drive.run(FAMILY, model, rt, first, joins=joins)
    for key, task in TASKS.items():
        single, made = alone(model, task)
        assert drive.far(latents[key], single) <= 1e-5, key
        result = ended[key]
        assert result.images.shape == (1, HEIGHT, WIDTH, 3)
        assert abs(result.images[0] - made * 255).max() <= 1
        references = len(task.characters) + len(task.images)
        assert (result.notes["steps"], result.notes["references"]) == (task.steps, references)


def test_those_whose_pictures_are_of_one_size_share_a_pass(model, rt):
    """And each still sees its own."""
    pair = {key: dataclasses.replace(TASKS[key], steps=3) for key in ("one", "other")}
    with rt.use(FAMILY.spec(model, "image")) as loaded:
        kept, sizes = loaded.predict, []
        loaded.predict = lambda members: sizes.append(len(members)) or kept(members)
    try:
        _, latents = drive.run(FAMILY, model, rt, pair | {"plain": TASKS["plain"]})
    finally:
        loaded.predict = kept
    assert sizes[:2] == [2, 1]
    for key, task in pair.items():
        assert drive.far(latents[key], alone(model, task)[0]) <= 1e-5
    swapped = dataclasses.replace(pair["one"], characters=pair["other"].characters)
    assert drive.far(alone(model, swapped)[0], latents["one"]) > 1e-4


def test_guidance_is_each_members_own_where_it_was_not_distilled(base, rt):
    tasks = {
        "weak": dataclasses.replace(BASE, guidance=1.5, seed=5),
        "strong": dataclasses.replace(TASKS["one"], guidance=6.0, steps=6),
    }
    _, latents = drive.run(FAMILY, base, rt, tasks)
    for key, task in tasks.items():
        assert drive.far(latents[key], alone(base, task)[0]) <= 1e-5
    away = dataclasses.replace(tasks["weak"], negative="a dog")
    _, other = drive.run(FAMILY, base, rt, {"away": away})
    assert drive.far(other["away"], latents["weak"]) > 1e-4


def test_its_folder_says_how_many_steps_and_how_much_guidance(model, base):
    usual = dataclasses.replace(BASE, steps=None)
    for one, numbers in ((model, (4, 1.0)), (base, (50, 4.0))):
        assert (flux_klein.steps(one, None), flux_klein.guidance(one, usual)) == numbers
    registered = dataclasses.replace(base, steps=9, guidance=2.0)
    assert (flux_klein.steps(registered, None), flux_klein.guidance(registered, usual)) == (9, 2.0)
    assert flux_klein.steps(registered, 3) == 3
    wished = dataclasses.replace(usual, guidance=3.0)
    assert [flux_klein.guidance(one, wished) for one in (model, base)] == [1.0, 3.0]


def test_a_padded_batch_gives_the_same_bits_whoever_runs_beside(model, rt):
    padded = {key: dataclasses.replace(one, pad=2, steps=3) for key, one in TASKS.items()}
    _, beside = drive.run(FAMILY, model, rt, dict(padded))
    _, lonely = drive.run(FAMILY, model, rt, {"one": padded["one"]})
    assert torch.equal(beside["one"], lonely["one"])


def test_a_repaint_leaves_what_the_mask_leaves(model, rt):
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    mask[:, 48:] = 255
    old = picture(7, HEIGHT, WIDTH)
    task = dataclasses.replace(BASE, role="inpaint", images=(old,), mask=mask, seed=8)
    ended, latents = drive.run(FAMILY, model, rt, {"one": task})
    stock, _ = alone(
        model, task, "Flux2KleinInpaintPipeline", image=Image.fromarray(old), strength=1.0,
        mask_image=Image.fromarray(mask),
    )  # fmt: skip
    assert drive.far(latents["one"], stock) <= 1e-5
    made = ended["one"].images[0]
    assert np.array_equal(made[:, :48], old[:, :48])
    assert not np.array_equal(made[:, 48:], old[:, 48:])
    less = dataclasses.replace(task, strength=0.5)
    ended, _ = drive.run(FAMILY, model, rt, {"one": less})
    nearer = abs(ended["one"].images[0, :, 48:].astype(int) - old[:, 48:]).mean()
    assert nearer < abs(made[:, 48:].astype(int) - old[:, 48:]).mean()


@pytest.mark.parametrize("layers", [27, 30])
def test_prompts_are_read_as_the_stock_pipeline_reads_them(model, rt, layers):
    """Whole or cut short: nobody reads what lies behind the last layer that counts."""
    stock = diffusers.Flux2KleinPipeline.from_pretrained(str(model.folder), transformer=None)
    if layers > 27:
        torch.manual_seed(0)
        config = stock.text_encoder.config
        more = transformers.Qwen3Config(**{**config.to_dict(), "num_hidden_layers": layers,
                                           "layer_types": None})  # fmt: skip
        stock.text_encoder = transformers.Qwen3ForCausalLM(more).eval()
    texts = ["雨夜，黑猫。", "A cat on a tin roof", "x" * 700]
    with torch.no_grad():
        theirs = [stock.encode_prompt(one)[0].clone() for one in texts]
    words = flux_klein_words.Words(stock.tokenizer, stock.text_encoder.model)
    for text, their in zip(texts, theirs, strict=True):
        ours = words.encode(text)
        assert drive.far(ours["hidden"], their) <= 1e-5
        assert (ours["left"] > 0) == (len(text) > 600)
    if layers == 27:
        long = dataclasses.replace(BASE, prompt=texts[-1], negative="bad", steps=1)
        notes = drive.run(FAMILY, model, rt, {"one": long})[0]["one"].notes
        assert notes["tokens_left_out"] == ours["left"]
        assert "none without guidance" in notes["negative_left_out"]


def test_prompts_are_encoded_once(model, rt):
    task = dataclasses.replace(BASE, prompt="a prompt that nobody drew yet", steps=1)
    before = rt.features.counters()["text"]["miss"]
    for key in ("first", "second"):
        drive.run(FAMILY, model, rt, {key: dataclasses.replace(task, seed=len(key))})
    assert rt.features.counters()["text"]["miss"] == before + 1


def test_a_small_device_holds_the_text_encoder_and_the_denoiser_in_turn(model):
    sizes = [FAMILY.words(model).weight_bytes, FAMILY.spec(model, "image").weight_bytes]
    kinds = {kind: cache_policy.Policy() for kind in conftest.KINDS}
    narrow, house = clips.tight(max(sizes), kinds)
    batch = FAMILY.open(model, FAMILY.bucket(model, BASE), narrow)
    batch.add({key: TASKS[key] for key in ("plain", "one")})
    ended = {}
    for _ in range(9):
        ended |= batch.step()
        if len(ended) == 1 and len(house.told) == 2:  # one runs still: the newcomer waits for it
            batch.add({"late": dataclasses.replace(BASE, prompt="late", steps=1)})
        if len(ended) == 3:
            break
    batch.close()
    assert [type(one) for one in ended.values()] == [family.Result] * 3
    assert list(ended) == ["one", "plain", "late"]
    assert [told == "words" for told in house.told] == [True, False, True, False]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"prompt": " "}, "without a prompt"),
        ({"steps": 0}, "0 steps"),
        ({"images": (picture(0, 20, 200),)}, "200x20 can't be shown"),
        ({"images": (picture(0, 64, 600),)}, "600x64 can't be shown"),
        ({"images": (picture(0)[..., 0],)}, "RGB bytes"),
        ({"characters": (family.CharacterFeatures(name="x", picture=picture(0)[:0]),)}, "RGB"),
        ({"mask": np.zeros((64, 64), np.uint8)}, "mask without a picture"),
    ],
)
def test_what_cannot_be_drawn_is_named_and_costs_only_itself(model, rt, change, said):
    batch = FAMILY.open(model, FAMILY.bucket(model, BASE), rt)
    batch.add({"bad": dataclasses.replace(BASE, **change),
               "good": dataclasses.replace(BASE, steps=1)})  # fmt: skip
    ended = {}
    while len(ended) < 2:
        ended |= batch.step()
    batch.close()
    assert isinstance(ended["bad"], errors.EngineError)
    assert said in str(ended["bad"])
    assert isinstance(ended["good"], family.Result)


def test_a_scheduler_of_another_kind_is_refused(model, rt):
    other = dataclasses.replace(model, name="lcm", scheduler="lcm")
    with pytest.raises(errors.EngineError, match="without --scheduler"):
        drive.run(FAMILY, other, rt, {"one": BASE})


def test_in_eight_bits_it_draws_nearly_the_same(model, rt):
    small = dataclasses.replace(model, name="small", quantise="float8", digest="8" * 64)
    _, before = drive.run(FAMILY, model, rt, {"one": TASKS["one"]})
    _, after = drive.run(FAMILY, small, rt, {"one": TASKS["one"]})
    assert 0 < drive.far(after["one"], before["one"]) < 0.1


def test_bytes_are_the_largest_stages_and_grow_with_what_is_shown(model):
    stages = {one.name: one for one in FAMILY.stages(model, TASKS["two"], 2)}
    assert list(stages) == ["words", "encode", "denoise", "decode"]
    assert stages["words"].spec.weight_bytes == FAMILY.words(model).weight_bytes
    assert FAMILY.peak(model, TASKS["two"], 2) == max(one.peak for one in stages.values())
    peaks = [
        {one.name: one.peak for one in FAMILY.stages(model, task, 1)}["denoise"]
        for task in (BASE, TASKS["one"], TASKS["two"])
    ]
    assert peaks == sorted(set(peaks))
    # 512 of the prompt, 24 of the picture, 20 of the character's, of 32 numbers
    assert peaks[1] == int(21.6 * 32 * (512 + 24 + 20) * 4)
    unseen = dataclasses.replace(BASE, characters=(family.CharacterFeatures(name="a"),))
    assert FAMILY.peak(model, unseen, 1) > FAMILY.peak(model, TASKS["one"], 1)


def test_weights_told_are_those_that_are_held(model, rt):
    drive.run(FAMILY, model, rt, {"one": dataclasses.replace(BASE, steps=1)})
    with rt.use(FAMILY.words(model)) as words, rt.use(FAMILY.spec(model, "image")) as loaded:
        for spec, parts in (
            (FAMILY.words(model), [words._encoder]),
            (FAMILY.spec(model, "image"), [loaded._transformer, loaded._vae._module]),
        ):
            held = sum(one.numel() * 4 for part in parts for one in part.parameters())
            held += sum(one.numel() for one in loaded._vae._module.buffers())  # a few numbers
            assert math.isclose(spec.weight_bytes, held, rel_tol=0.001)


def test_sizes_are_whole_tokens_and_batches_bounded(model):
    with pytest.raises(family.SizeError, match=r"klein can't make 100x64.*96x64"):
        FAMILY.legal(model, 100, 64, 1, strict=True)
    assert FAMILY.legal(model, 9000, 9000, 1) == (2048, 2048, 1)
    assert FAMILY.cap(model, BASE) == 8
    limited = dataclasses.replace(model, limits=registry.Limits(batch=2))
    assert FAMILY.cap(limited, BASE) == 2
    same = dataclasses.replace(TASKS["two"], seed=9, steps=7)
    assert FAMILY.bucket(model, same) == FAMILY.bucket(model, BASE)
