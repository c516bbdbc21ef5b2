"""Shots of one scene begin with one picture of it, which is drawn once and kept."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the gpu extra is not installed")
diffusers = pytest.importorskip("diffusers", reason="the gpu extra is not installed")

from mangen import errors  # noqa: E402 - after what may skip it
from mangen.engines import protocol  # noqa: E402 - as above
from mangen.engines.diffusion import engine as engines  # noqa: E402 - as above
from mangen.engines.diffusion import enrolment, family, prompts, registry, sdxl  # noqa: E402 - as above
from mangen.pooling import cache_policy, testing  # noqa: E402 - as above
from tests.engines.diffusion import conftest, drive, engined  # noqa: E402 - as above

SCENE = family.Base(prompt="a street at night", negative="people", seed=11, steps=3)
TASK = family.Task(role="image", prompt="the cat", width=96, height=64, seed=1, steps=5,
                   guidance=5.0, strength=0.8, base=SCENE)  # fmt: skip
PANEL = protocol.PanelRequest(
    kind="shot", width=90, height=160, seed=7, prompt="the boy runs",
    scene=protocol.SceneLabels(place="river", time="dusk", framing="close"),
)  # fmt: skip


@pytest.fixture
def rt():
    """A runtime whose cache is empty."""
    return testing.Here(kinds={kind: cache_policy.Policy() for kind in conftest.KINDS})


def counted(rt):
    return rt.features.counters()["style"]


def test_it_is_the_stock_img2img_over_the_scenes_own_picture(sdxl_model, rt):
    _, latents = drive.run(sdxl.FAMILY, sdxl_model, rt, {"one": TASK})
    pipe = diffusers.StableDiffusionXLPipeline.from_pretrained(
        sdxl_model.folder, image_encoder=None, feature_extractor=None
    )
    pipe.set_progress_bar_config(disable=True)
    shared = {"output_type": "latent", "guidance_scale": 5.0}
    scene = pipe(
        SCENE.prompt, negative_prompt=SCENE.negative, num_inference_steps=3, height=64, width=96,
        generator=torch.Generator().manual_seed(11), **shared,
    ).images  # fmt: skip
    over = diffusers.StableDiffusionXLImg2ImgPipeline.from_pipe(pipe)
    over.set_progress_bar_config(disable=True)
    single = over(
        TASK.prompt, image=scene, strength=0.8, num_inference_steps=5,
        generator=torch.Generator().manual_seed(1), **shared,
    ).images  # fmt: skip
    assert drive.far(latents["one"], single) <= 1e-5


def test_the_second_shot_of_a_scene_finds_it_and_is_what_it_would_have_been(sdxl_model, rt):
    other = dataclasses.replace(TASK, prompt="a girl, red hair", seed=2, steps=7, guidance=3.0)
    _, first = drive.run(sdxl.FAMILY, sdxl_model, rt, {"first": TASK})
    assert (counted(rt)["hit"], counted(rt)["miss"]) == (0, 1)
    rt.features.settle("first", done=True)
    _, hit = drive.run(sdxl.FAMILY, sdxl_model, rt, {"other": other})
    assert (counted(rt)["hit"], counted(rt)["miss"]) == (1, 1)
    fresh = testing.Here(kinds={kind: cache_policy.Policy() for kind in conftest.KINDS})
    _, missed = drive.run(sdxl.FAMILY, sdxl_model, fresh, {"other": other})
    assert torch.equal(hit["other"], missed["other"])
    # and where it is drawn beside others, its own bits are the same: it is drawn alone
    words = dataclasses.replace(TASK, base=None, strength=1.0, seed=5)
    busy = testing.Here(kinds={kind: cache_policy.Policy() for kind in conftest.KINDS})
    ended, beside = drive.run(
        sdxl.FAMILY, sdxl_model, busy, {"words": words}, joins={2: {"first": TASK, "other": other}}
    )
    assert drive.far(beside["first"], first["first"]) <= 1e-5
    assert drive.far(beside["other"], hit["other"]) <= 1e-5
    assert ended["first"].notes["scene_base"] == SCENE.prompt
    assert "scene_base" not in ended["words"].notes
    assert counted(busy)["miss"] == 1  # whoever comes second finds it


@pytest.mark.parametrize(
    "change",
    [{"prompt": "a river"}, {"seed": 12}, {"negative": ""}, {"steps": 2}],
    ids=lambda change: next(iter(change)),
)
def test_whatever_makes_another_picture_of_it_is_another_scene(sdxl_model, rt, change):
    drive.run(sdxl.FAMILY, sdxl_model, rt, {"one": dataclasses.replace(TASK, steps=1)})
    base = dataclasses.replace(SCENE, **change)
    drive.run(sdxl.FAMILY, sdxl_model, rt, {"two": dataclasses.replace(TASK, steps=1, base=base)})
    assert (counted(rt)["hit"], counted(rt)["miss"]) == (0, 2)


def test_a_picture_of_its_own_comes_before_the_scenes(sdxl_model, rt):
    picture = np.random.default_rng(3).integers(0, 256, (64, 96, 3), np.uint8)
    with_it = dataclasses.replace(TASK, images=(picture,))
    _, one = drive.run(sdxl.FAMILY, sdxl_model, rt, {"one": with_it})
    _, two = drive.run(
        sdxl.FAMILY, sdxl_model, rt, {"two": dataclasses.replace(with_it, base=None)}
    )
    assert torch.equal(one["one"], two["two"])
    assert counted(rt)["miss"] == 0


@pytest.fixture
def scened(tiny, tmp_path):
    """An engine whose model was registered to begin with scenes, and one without."""

    def made(**more):
        home = tmp_path / f"home{len(more)}"
        model = enrolment.enrol(
            "tiny", tiny("sdxl"), dtype="float32", steps=4,
            limits=registry.Limits(pixels=96 * 160), **more,
        )  # fmt: skip
        registry.Registry(home).add(model)
        return engines.Diffusion(tmp_path / "scratch", home)

    return made


def test_a_model_registered_so_begins_each_panel_of_a_scene_with_one_picture(scened, rt):
    engine, plain = scened(scene=0.75), scened()
    assert engine.signature("illustrate") != plain.signature("illustrate")
    close = engined.make(engine, rt, PANEL)
    scene = dataclasses.replace(PANEL.scene, framing="establish")
    wide = engined.make(
        engine, rt, dataclasses.replace(PANEL, scene=scene, prompt="a boat", seed=8)
    )
    assert (counted(rt)["hit"], counted(rt)["miss"]) == (1, 1)
    assert close.notes["scene_base"] == wide.notes["scene_base"]
    assert "riverbank" in close.notes["scene_base"]
    backdrop = prompts.backdrop(PANEL, both=False)
    assert "people" in backdrop.negative  # the scene is empty: shots bring their own
    assert "boy" not in backdrop.text
    night = dataclasses.replace(PANEL, scene=dataclasses.replace(PANEL.scene, time="night"))
    engined.make(engine, rt, night)
    assert counted(rt)["miss"] == 2
    assert "scene_base" not in engined.make(plain, rt, PANEL).notes


def test_a_strength_that_is_none_and_models_that_cannot_are_refused(tiny):
    with pytest.raises(errors.ModelError, match="0 to 1"):
        enrolment.enrol("tiny", tiny("sdxl"), scene=1.5)
    with pytest.raises(errors.ModelError, match="leave --scene-base"):
        enrolment.enrol("wan", tiny("wan22_ti2v"), scene=0.5)
