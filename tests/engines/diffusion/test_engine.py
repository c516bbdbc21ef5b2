"""The diffusion engine on tiny checkpoints: requests in, products out."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from mangen import errors
from mangen.engines import protocol
from mangen.engines.diffusion import engine as engines
from tests.engines.diffusion import engined

SHEET = protocol.CharacterSheet(
    name="闰土", sex="male", age="child", words=("毡帽", "银圈"), seed=3
)
ANCHOR = protocol.AnchorRequest(sheet=SHEET, width=64, height=96)
SHOT = protocol.PanelRequest(
    kind="shot", width=90, height=160, seed=7, prompt="the boy runs",
    scene=protocol.SceneLabels(place="river", time="dusk"),
)  # fmt: skip


def test_an_anchor_is_a_picture_of_the_asked_size_and_features_of_it(engine, rt):
    made = engined.make(engine, rt, ANCHOR)
    assert made.reference.shape == (96, 64, 3)
    assert json.loads(json.dumps(made.features)) == made.features
    assert made.features["engine"] == "diffusion"
    assert made.features["array"]["shape"] == [2, 1, 32]
    assert "felt hat" in made.notes["prompt"]


def test_a_panel_is_at_least_as_large_as_the_frame_and_says_how_it_was_made(engine, rt):
    made = engined.make(engine, rt, SHOT)
    assert made.image.shape[0] >= 160
    assert made.image.shape[1] >= 90
    assert made.image.dtype == np.uint8
    assert made.notes["seed"] == 7
    assert made.notes["steps"] == 8
    assert made.notes["model"] == "tiny"
    assert "the boy runs" in made.notes["prompt"]


def test_a_character_is_drawn_by_its_features_or_by_its_picture_alike(engine, rt):
    anchor = engined.make(engine, rt, ANCHOR)
    plain = engined.make(engine, rt, SHOT).image
    figures = [
        protocol.Figure(sheet=SHEET, features=anchor.features),
        protocol.Figure(sheet=SHEET, reference=anchor.reference),
        protocol.Figure(sheet=SHEET),
    ]
    known, seen, told = (
        engined.make(engine, rt, dataclasses.replace(SHOT, figures=(one,))).image for one in figures
    )
    assert not np.array_equal(known, told)
    assert not np.array_equal(seen, told)
    assert not np.array_equal(plain, told)
    again = engined.make(engine, rt, dataclasses.replace(SHOT, figures=(figures[0],))).image
    assert np.array_equal(known, again)


def test_previews_take_fewer_steps_of_the_same_size_and_seed(engine, rt):
    quick = dataclasses.replace(SHOT, quality="preview")
    assert engine.bucket(quick) != engine.bucket(SHOT)
    made = engined.make(engine, rt, quick)
    assert (made.notes["steps"], made.notes["quality"]) == (4, "preview")
    assert made.notes["size"] == engined.make(engine, rt, SHOT).notes["size"]


def test_an_empty_registry_runs_nothing_and_says_what_to_do(tmp_path):
    engine = engines.Diffusion(tmp_path, tmp_path)
    assert engine.models() == {}
    assert engine.version == "1"
    with pytest.raises(errors.ModelError, match=r"no model plays the role image.*models add"):
        engine.bucket(SHOT)


def test_a_shot_of_which_nothing_is_said_is_refused_before_a_model_is_loaded(engine, rt):
    silent = protocol.PanelRequest(kind="shot", width=90, height=160, seed=7)
    batch = engine.open(engine.bucket(silent), rt)
    before = dict(rt.residents.sizes())
    batch.add({"one": silent})
    (error,) = batch.step().values()
    batch.close()
    assert isinstance(error, errors.EngineError)
    assert "without a prompt" in str(error)
    assert rt.residents.sizes() == before
