"""Any other pipeline: what comes out is what its own call gives, one task at a time."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from PIL import Image

torch = pytest.importorskip("torch", reason="the gpu extra is not installed")
diffusers = pytest.importorskip("diffusers", reason="the gpu extra is not installed")

from mangen import errors  # noqa: E402 - after what may skip it
from mangen.engines import protocol  # noqa: E402 - as above
from mangen.engines.diffusion import (  # noqa: E402 - as above
    abilities,
    enrolment,
    family,
    generic,
    generic_call,
    registry,
    trial,
)
from mangen.engines.diffusion import engine as engines  # noqa: E402 - as above
from mangen.pooling import errors as pool_errors  # noqa: E402 - as above
from mangen.pooling import testing  # noqa: E402 - as above
from mangen.pooling.devices import device  # noqa: E402 - as above
from tests.engines.diffusion import engined, others  # noqa: E402 - as above

FAMILY = generic.FAMILY
PICTURE = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
MASK = np.repeat([[0, 255]], 64, axis=0).repeat(32, axis=1).astype(np.uint8)
DRAW = family.Task(role="image", prompt="a cat", width=64, height=64, seed=3, steps=3)
CLIP = dataclasses.replace(DRAW, role="video", frames=9, images=(PICTURE,))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Answer the registered model of one of `others.MAKERS`."""
    root, found = tmp_path_factory.mktemp("others"), {}

    def model(name):
        if name not in found:
            found[name] = enrolment.enrol(name, others.make(name, root / name))
            assert found[name].family == "generic"
        return found[name]

    return model


def run(model, rt, task, key="one"):
    batch = FAMILY.open(model, FAMILY.bucket(model, task), rt)
    batch.add({key: task})
    ended = batch.step()[key]
    batch.close()
    if isinstance(ended, Exception):
        raise ended
    return ended


def stock(model, kind="DiffusionPipeline", **more):
    """What the pipeline's own call gives, in bytes."""
    pipe = getattr(diffusers, kind).from_pretrained(str(model.folder))
    pipe.set_progress_bar_config(disable=True)
    made = pipe(
        prompt="a cat", num_inference_steps=3, output_type="np",
        generator=torch.Generator().manual_seed(3), **more,
    )[0]  # fmt: skip
    frames = np.asarray(made)
    return (frames.reshape(-1, *frames.shape[-3:]) * 255).round()


SIZE = {"width": 64, "height": 64}
PIL_PICTURE, PIL_MASK = Image.fromarray(PICTURE), Image.fromarray(MASK)


@pytest.mark.parametrize(
    ("name", "task", "own"),
    [
        ("sd", DRAW, {**SIZE}),
        ("sd", dataclasses.replace(DRAW, negative="bad", guidance=3.0),
         {**SIZE, "negative_prompt": "bad", "guidance_scale": 3.0}),
        ("sd", dataclasses.replace(DRAW, role="upscale", images=(PICTURE,), strength=0.7),
         {"kind": "StableDiffusionImg2ImgPipeline", "image": PIL_PICTURE, "strength": 0.7}),
        ("sd", dataclasses.replace(DRAW, role="inpaint", images=(PICTURE,), mask=MASK),
         {**SIZE, "kind": "StableDiffusionInpaintPipeline", "image": PIL_PICTURE,
          "mask_image": PIL_MASK, "strength": 1.0}),
        ("pixart", DRAW, {**SIZE, "use_resolution_binning": False}),
        ("flux", dataclasses.replace(DRAW, role="anchor", guidance=2.0),
         {**SIZE, "guidance_scale": 2.0}),
        ("enlarger", dataclasses.replace(DRAW, role="upscale", images=(PICTURE,)),
         {"image": PIL_PICTURE.resize((16, 16), Image.Resampling.LANCZOS)}),
        ("refiner", dataclasses.replace(DRAW, role="upscale", images=(PICTURE,), strength=0.7),
         {"image": PIL_PICTURE, "strength": 0.7}),
        ("ltx", CLIP, {**SIZE, "image": PIL_PICTURE, "num_frames": 9, "frame_rate": 24.0}),
        ("animated", CLIP, {**SIZE, "num_frames": 9}),
    ],
)  # fmt: skip
def test_a_pipeline_draws_what_its_own_call_draws(made, rt, name, task, own):
    first = run(made(name), rt, task, "first")
    torch.manual_seed(11)
    dice = torch.get_rng_state()
    result = run(made(name), rt, task)
    assert torch.equal(torch.get_rng_state(), dice)  # nobody else's draw changes by it
    assert result.images.shape == (task.frames, 64, 64, 3)
    assert result.images.dtype == np.uint8
    assert abs(result.images - stock(made(name), **own)).max() <= 1
    assert result.images.std() > 1
    assert np.array_equal(first.images, result.images)
    other = run(made(name), rt, dataclasses.replace(task, seed=4))
    assert not np.array_equal(other.images, result.images)


def test_what_it_has_no_word_for_is_told(made, rt):
    clip = run(made("animated"), rt, CLIP)
    assert "words alone" in clip.notes["left_out"]["first_frame"]
    shown = (family.CharacterFeatures(name="a", picture=PICTURE),)
    panel = run(made("sd"), rt, dataclasses.replace(DRAW, characters=shown, images=(PICTURE,)))
    assert panel.notes["left_out"] == {"references": 2}
    assert panel.notes["pipeline"] == "StableDiffusionPipeline"
    long = run(made("sd"), rt, dataclasses.replace(DRAW, prompt="z " * 100))
    assert long.notes["tokens_left_out"] == 100 + 2 - 77
    assert "tokens_left_out" not in panel.notes
    short = run(made("flux"), rt, dataclasses.replace(DRAW, prompt="z " * 100))
    assert "tokens_left_out" not in short.notes  # its second encoder has read them all


@pytest.mark.parametrize("name", ["sd", "pixart"])
def test_steps_are_told_and_an_abort_is_heard_between_them(made, name):
    """By the callback of today and by that of the older pipelines."""
    rt = testing.Here()
    batch = FAMILY.open(made(name), FAMILY.bucket(made(name), DRAW), rt)
    batch.add({"one": DRAW})
    batch.step()
    assert rt.told == [("one", 1, 3), ("one", 2, 3), ("one", 3, 3)]
    batch.add({"two": DRAW, "three": DRAW})
    rt.stop("two")
    with pytest.raises(pool_errors.Dropped):
        batch.step()
    assert rt.told[3:] == [("two", 1, 3)]
    batch.drop("two")
    assert list(batch.step()) == ["three"]
    assert batch.step() == {}
    batch.close()


def test_nobody_joins_and_nobody_batches(made, rt):
    model = made("sd")
    assert FAMILY.cap(model, DRAW) == 1
    assert FAMILY.cap(dataclasses.replace(model, limits=registry.Limits(batch=9)), DRAW) == 1
    batch = FAMILY.open(model, FAMILY.bucket(model, DRAW), rt)
    assert not batch.joinable
    batch.add({"one": DRAW, "two": dataclasses.replace(DRAW, prompt=" ")})
    with pytest.raises(errors.EngineError, match="one runs in this batch already"):
        batch.add({"one": DRAW})
    assert list(batch.step()) == ["one"]
    assert "without a prompt" in str(batch.step()["two"])
    batch.close()


def test_a_trial_tells_what_a_pool_finds_out_later(made, tmp_path):
    """A model that can't do the first pass is loaded all the same: other tasks may go well."""
    options = device.Options(cpu_bytes=64 << 30, folder=str(tmp_path))
    assert trial.run(made("animated"), "cpu", options).warm_s > 0
    asked = dataclasses.replace(made("classes"), roles=("image",))
    with pytest.raises(errors.ModelError, match=r"classes was loaded, and could not run: .*labels"):
        trial.run(asked, "cpu", options)
    asked = dataclasses.replace(made("sd"), name="other", scheduler="NoScheduler")
    with pytest.raises(errors.EngineError, match="no scheduler 'NoScheduler' for other"):
        trial.run(asked, "cpu", options)


def test_one_step_of_a_picture_that_is_changed_is_left_always(made, rt):
    weak = dataclasses.replace(DRAW, role="upscale", images=(PICTURE,), strength=0.1)
    nearly = run(made("sd"), rt, weak)
    assert nearly.images.shape == (1, 64, 64, 3)
    lone = dataclasses.replace(weak, steps=1)
    assert run(made("sd"), rt, lone).images.shape == (1, 64, 64, 3)


def test_the_engines_requests_are_drawn_by_pipelines_of_any_kind(made, rt, tmp_path):
    book = registry.Registry(tmp_path / "home")
    for name in ("sd", "ltx"):
        limits = registry.Limits(pixels=96 * 160, frames=9)
        book.add(dataclasses.replace(made(name), steps=2, limits=limits))
    engine = engines.Diffusion(tmp_path / "scratch", tmp_path / "home")
    assert engine.models().keys() == {
        "anchor", "illustrate", "repaint", "outpaint", "upscale", "animate",
    }  # fmt: skip
    frame = {"width": 72, "height": 128}
    told = protocol.CharacterSheet(name="Tom", sex="male", words=("red hat",))
    anchor = engined.make(engine, rt, protocol.AnchorRequest(sheet=told, width=64, height=96))
    assert anchor.reference.shape == (96, 64, 3)
    figures = (protocol.Figure(sheet=told, reference=anchor.reference),)
    panel = engined.make(engine, rt, protocol.PanelRequest(
        kind="shot", seed=7, prompt="a cat on a roof", figures=figures, **frame,
    ))  # fmt: skip
    assert panel.image.shape[0] >= 128
    mask = np.zeros(panel.image.shape[:2], np.uint8)
    mask[40:90, 20:60] = 255
    repainted = engined.make(engine, rt, protocol.RepaintRequest(
        panel=panel, mask=mask, seed=1, prompt="a red umbrella", **frame,
    ))  # fmt: skip
    assert np.array_equal(repainted.image[mask == 0], panel.image[mask == 0])
    larger = engined.make(engine, rt, protocol.UpscaleRequest(
        panel=panel, width=144, height=256, seed=1,
    ))  # fmt: skip
    assert larger.image.shape[:2] >= (256, 144)
    clip = engined.make(engine, rt, protocol.ClipRequest(
        panel=panel, motion="pull", frames=30, fps=24, seed=7, prompt="a boat", **frame,
    ))  # fmt: skip
    assert clip.frames == 30


def test_memory_that_runs_out_is_the_batchs_and_leaves_the_task(made, rt):
    model = made("sd")
    with rt.use(FAMILY.spec(model, "image")) as loaded:
        unet = loaded._pipe.unet
        kept = unet.forward

        def full(*_given, **_more):
            raise torch.OutOfMemoryError("no memory")

        batch = FAMILY.open(model, FAMILY.bucket(model, DRAW), rt)
        batch.add({"one": DRAW})
        unet.forward = full
        try:
            with pytest.raises(torch.OutOfMemoryError):
                batch.step()
        finally:
            unet.forward = kept
        assert isinstance(batch.step()["one"], family.Result)
        batch.close()


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("classes", {}, "classes .DiTPipeline. wants class_labels"),
        ("sd", {"role": "inpaint"}, "was given no picture for the role inpaint"),
        ("sd", {"role": "inpaint", "images": (PICTURE,)}, "was given no mask"),
        ("sd", {"role": "video", "images": (PICTURE,)}, "makes no clips"),
        ("ltx", {"role": "video"}, "was given no picture for the role video"),
        ("pixart", {"role": "upscale", "images": (PICTURE,)}, "draws from words alone"),
        ("sd", {"images": (PICTURE[..., 0],)}, "RGB bytes"),
        ("sd", {"steps": 0}, "could not draw this"),
        ("ltx", {"role": "video", "images": (PICTURE,), "frames": 11}, "x 9 frames came out"),
    ],
)
def test_what_it_cannot_do_is_named(made, rt, name, change, said):
    with pytest.raises(errors.EngineError, match=said):
        run(made(name), rt, dataclasses.replace(DRAW, **change))


def call(kind, task, **more):
    """What a pipeline of that class would be called with; its weights have no part in it."""
    model = registry.Model(name="m", folder=PICTURE, family="generic", **more)
    return generic_call.Call(object.__new__(getattr(diffusers, kind)), model, task)


def test_guidance_goes_by_the_name_that_steers():
    task = dataclasses.replace(DRAW, guidance=4.0)
    for kind, name in (
        ("FluxPipeline", "guidance_scale"), ("QwenImagePipeline", "true_cfg_scale"),
        ("ZImagePipeline", "guidance_scale"),
    ):  # fmt: skip
        found = call(kind, task)
        assert found.arguments[name] == 4.0
        assert ("negative_prompt" in found.arguments) == (name == "true_cfg_scale")
    assert call("QwenImagePipeline", DRAW, guidance=2.0).arguments["true_cfg_scale"] == 2.0
    assert "guidance_scale" not in call("FluxPipeline", DRAW).arguments
    assert call("FluxPipeline", dataclasses.replace(DRAW, steps=None)).steps == 28
    assert call("FluxPipeline", dataclasses.replace(DRAW, steps=None), steps=9).steps == 9


def test_those_who_look_at_pictures_are_shown_them():
    shown = tuple(family.CharacterFeatures(name=n, picture=PICTURE) for n in "ab")
    task = dataclasses.replace(DRAW, characters=shown)
    many = call("QwenImageEditPlusPipeline", task)
    assert len(many.arguments["image"]) == 2
    one = call("QwenImageEditPipeline", task)
    assert isinstance(one.arguments["image"], Image.Image)
    assert one.left == {"references": 1}
    with pytest.raises(errors.EngineError, match="changes pictures and was given none"):
        call("QwenImageEditPipeline", DRAW)
    assert call("StableVideoDiffusionPipeline", CLIP).left == {"prompt": "this pipeline reads no "
                                                               "words"}  # fmt: skip


@pytest.mark.parametrize(
    ("pipeline", "roles"),
    [
        ("StableDiffusionPipeline", ("image", "anchor", "inpaint", "upscale")),
        ("PixArtSigmaPipeline", ("image", "anchor")),
        ("StableDiffusionUpscalePipeline", ("upscale",)),
        ("FluxFillPipeline", ("inpaint",)),
        ("LTXImageToVideoPipeline", ("video",)),
        ("HunyuanVideoPipeline", ("video",)),
        ("QwenImageEditPlusPipeline", ("image",)),
        ("FluxControlNetPipeline", ()),
        ("CogVideoXVideoToVideoPipeline", ()),
        ("StableAudioPipeline", ()),
        ("DiTPipeline", ()),
    ],
)
def test_a_name_tells_what_a_pipeline_can_play(pipeline, roles):
    assert abilities._by_name(pipeline) == roles


def test_sizes_follow_from_the_folder(made):
    assert FAMILY.legal(made("sd"), 101, 61, 1) == (104, 64, 1)
    assert FAMILY.legal(made("pixart"), 100, 60, 1) == (96, 64, 1)
    assert FAMILY.legal(made("ltx"), 112, 64, 12) == (128, 64, 13)
    assert FAMILY.legal(made("animated"), 64, 64, 99) == (64, 64, 24)
    with pytest.raises(family.SizeError, match=r"ltx can't make 64x64 x 10 frames.*x 9 frames"):
        FAMILY.legal(made("ltx"), 64, 64, 10, strict=True)


#: parts of full-size models, and the numbers that one pass of a row and one decoding were measured
#: to hold at 1024x1024, of 2x the numbers of a frame with guidance
_FULL = {
    "SD 1.5": ({"unet": {"block_out_channels": [320, 640, 1280, 1280]},
                "vae": {"block_out_channels": [128, 256, 512, 512], "latent_channels": 4}},
               26.0 * 128 * 128 * 320, 768 * 2**20),
    "FLUX.1": ({"transformer": {"num_attention_heads": 24, "attention_head_dim": 128,
                                "in_channels": 64, "patch_size": 1},
                "vae": {"block_out_channels": [128, 256, 512, 512], "latent_channels": 16}},
               17.2 * 3072 * (4096 + 512), 768 * 2**20),
    "PixArt": ({"transformer": {"num_attention_heads": 16, "attention_head_dim": 72,
                                "in_channels": 4, "patch_size": 2},
                "vae": {"block_out_channels": [128, 256, 512, 512], "latent_channels": 4}},
               12.1 * 1152 * 4096, 768 * 2**20),
}  # fmt: skip


@pytest.mark.parametrize("name", _FULL)
def test_an_unmeasured_models_law_is_too_large_rather_than_too_small(name, tmp_path):
    parts, denoise, decode = _FULL[name]
    for part, config in parts.items():
        (tmp_path / part).mkdir()
        (tmp_path / part / "config.json").write_text(json.dumps(config))
    model = registry.Model(name="m", folder=tmp_path, family="generic", dtype="bfloat16")
    task = dataclasses.replace(DRAW, width=1024, height=1024)
    stages = {one.name: one.peak for one in FAMILY.stages(model, task, 1)}
    assert 1 <= stages["denoise"] / (2 * denoise * 2) < 2.5
    assert stages["decode"] == decode * 2
    assert FAMILY.peak(model, task, 1) == max(stages.values())
    free = dataclasses.replace(task, guidance=1.0)
    assert {one.name: one.peak for one in FAMILY.stages(model, free, 1)}["denoise"] < (
        0.6 * stages["denoise"]
    )


@pytest.mark.parametrize(("name", "task"), [("flux", DRAW), ("ltx", CLIP)])
def test_half_precision_comes_out_as_bytes_too(made, rt, name, task):
    half = dataclasses.replace(made(name), name=f"half-{name}", dtype="bfloat16")
    result = run(half, rt, task)
    assert result.images.shape == (task.frames, 64, 64, 3)
    assert abs(result.images.astype(int) - run(made(name), rt, task).images).mean() < 20


def test_bytes_are_the_weights_and_cold_estimates_are_generous(made, rt):
    model = made("sd")
    spec = FAMILY.spec(model, "image")
    with rt.use(spec) as loaded:
        parts = [
            one for one in loaded._pipe.components.values() if isinstance(one, torch.nn.Module)
        ]
        held = sum(one.numel() * one.element_size() for part in parts for one in part.parameters())
    assert spec.weight_bytes == held
    assert spec.cold_factor > 2
    small = enrolment.enrol("small", model.folder, quantise="float8")
    assert FAMILY.spec(small, "image").weight_bytes < held
    far = run(small, rt, DRAW).images.astype(int) - run(model, rt, DRAW).images
    assert 0 < abs(far).mean() < 10
