"""Every first-class family behind the engine: the same requests, whatever model plays."""

from __future__ import annotations

import dataclasses
import json
import pathlib

import av
import numpy as np
import pytest

from mangen.engines import protocol
from mangen.engines.diffusion import engine as engines
from mangen.engines.diffusion import enrolment, orders, registry
from tests.engines.diffusion import engined

SHEET = protocol.CharacterSheet(name="闰土", sex="male", age="child", words=("毡帽",), seed=3)
SHOT = protocol.PanelRequest(
    kind="shot", width=72, height=128, seed=7, prompt="少年手捏一柄钢叉",
    scene=protocol.SceneLabels(place="sea", time="night"),
)  # fmt: skip
PICTURE = np.random.default_rng(6).integers(0, 256, (160, 90, 3), np.uint8)
CLIP = protocol.ClipRequest(
    panel=protocol.Panel(image=PICTURE), motion="pull", frames=30, width=72, height=128, fps=24,
    seed=7, prompt="船在河上",
)  # fmt: skip


@pytest.fixture
def engine_of(tiny, tmp_path):
    """An engine whose registry holds one tiny model."""

    def of(name, steps=2, **limits):
        home = tmp_path / name
        model = enrolment.enrol(
            name, tiny(name), dtype="float32", steps=steps,
            limits=registry.Limits(pixels=96 * 160, **limits),
        )  # fmt: skip
        registry.Registry(home).add(model)
        return engines.Diffusion(tmp_path / "scratch", home)

    return of


def test_klein_draws_whom_it_is_shown_and_reads_the_texts_own_language(engine_of, rt):
    engine = engine_of("flux2_klein")
    assert {"anchor", "illustrate", "repaint", "outpaint"} == engine.models().keys()
    anchor = engined.make(engine, rt, protocol.AnchorRequest(sheet=SHEET, width=64, height=96))
    assert anchor.reference.shape == (96, 64, 3)
    assert "array" not in anchor.features
    assert json.loads(json.dumps(anchor.features)) == anchor.features
    told = protocol.Figure(sheet=SHEET, features=anchor.features)
    shown = dataclasses.replace(told, reference=anchor.reference)
    made = [
        engined.make(engine, rt, dataclasses.replace(SHOT, figures=(one,))) for one in (told, shown)
    ]
    assert not np.array_equal(made[0].image, made[1].image)
    assert made[1].image.shape[0] >= 128
    assert "闰土，小男孩" in made[1].notes["prompt"]
    assert "少年手捏一柄钢叉" in made[1].notes["prompt"]
    assert "untranslated" not in made[1].notes


def test_klein_repaints_too_and_keeps_what_the_mask_leaves(engine_of, rt):
    engine = engine_of("flux2_klein")
    mask = np.zeros(PICTURE.shape[:2], np.uint8)
    mask[40:90, 20:60] = 255
    request = protocol.RepaintRequest(
        panel=protocol.Panel(image=PICTURE), mask=mask, width=72, height=128, seed=1,
        prompt="一把红伞",
    )  # fmt: skip
    made = engined.make(engine, rt, request)
    assert np.array_equal(made.image[mask == 0], PICTURE[mask == 0])
    assert not np.array_equal(made.image, PICTURE)
    assert made.notes["prompt"].startswith("一把红伞")


def test_bytes_are_asked_for_pictures_of_whom_a_shot_will_show(engine_of):
    """Their pictures are not there when bytes are asked for."""
    engine = engine_of("flux2_klein")
    figure = protocol.Figure(sheet=SHEET)
    alone, cast = SHOT, dataclasses.replace(SHOT, figures=(figure, figure))
    assert engine.peak(cast, 1) > engine.peak(alone, 1)
    assert engine.bucket(cast) == engine.bucket(alone)


@pytest.mark.parametrize("frames", [1, 31])
def test_wan_makes_the_shots_frames_of_its_own(engine_of, rt, frames):
    engine = engine_of("wan22_ti2v")
    assert {"animate"} == engine.models().keys()
    clip = engined.make(engine, rt, dataclasses.replace(CLIP, frames=frames))
    with av.open(str(clip.path)) as file:
        (stream,) = file.streams
        assert (stream.width, stream.height, stream.average_rate) == (72, 128, 24)
        assert len(list(file.decode(video=0))) == clip.frames == frames
    assert clip.notes["frames"] == {1: 13, 31: 37}[frames]
    assert "船在河上" in clip.notes["prompt"]
    assert "镜头缓缓拉远" in clip.notes["prompt"]


def test_shots_of_about_one_length_share_a_bucket(engine_of):
    engine = engine_of("wan22_ti2v", frames=49)
    lengths = {n: engine.bucket(dataclasses.replace(CLIP, frames=n)) for n in (24, 27, 40, 60, 200)}
    assert lengths[24] == lengths[27]
    assert lengths[60] == lengths[200]  # as long as it can
    assert len(set(lengths.values())) == 3


@pytest.mark.parametrize(
    ("name", "request_", "final"), [("flux2_klein", SHOT, 4), ("wan22_ti2v", CLIP, 50)]
)
def test_previews_take_a_quarter_of_the_families_own_steps(engine_of, name, request_, final):
    engine = engine_of(name, steps=None)
    quick = dataclasses.replace(request_, quality="preview")
    player = engine._player(quick)
    assert player.family.steps(player.model) == final
    order = orders.of(player, quick, pathlib.Path("unused.mp4"))
    assert {task.steps for task in order.tasks.values()} == {max(4, final // 4)}


def test_what_runs_one_by_one_draws_tiles_and_panels_too(tiny, rt, tmp_path):
    """A batch that takes nobody more is followed by another."""
    model = enrolment.enrol(
        "plain", tiny("sdxl"), dtype="float32", steps=3, limits=registry.Limits(pixels=64 * 64)
    )
    other = dataclasses.replace(model, family="generic", adapter="")
    registry.Registry(tmp_path).add(other)
    engine = engines.Diffusion(tmp_path / "scratch", tmp_path)
    request = protocol.UpscaleRequest(
        panel=protocol.Panel(image=PICTURE), width=96, height=171, seed=1, prompt="river"
    )
    batch = engine.open(engine.bucket(request), rt)
    assert not batch.joinable
    batch.close()
    assert engine.cap(request) == 1
    made = engined.make(engine, rt, request)
    assert made.image.shape == (171, 96, 3)
    assert made.notes["tiles"] == 6
    square = dataclasses.replace(SHOT, width=96, height=96)
    shots = {key: dataclasses.replace(square, seed=n) for n, key in enumerate("ab")}
    ended = engined.run(engine, rt, shots)
    assert all(isinstance(one, protocol.Panel) for one in ended.values())
    assert not np.array_equal(ended["a"].image, ended["b"].image)
