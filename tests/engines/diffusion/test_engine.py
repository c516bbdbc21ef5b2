"""The diffusion engine on tiny checkpoints: requests in, products out."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from mangen import errors
from mangen.engines import protocol
from mangen.engines.diffusion import engine as engines
from mangen.engines.diffusion import family, features, orders, registry
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


def test_an_anchor_and_a_panel_of_one_frame_are_drawn_in_one_batch_as_they_are_alone(engine, rt):
    panel = dataclasses.replace(SHOT, width=ANCHOR.width, height=ANCHOR.height)
    assert engine.bucket(ANCHOR) == engine.bucket(panel)
    assert engine.bucket(panel).startswith("diffusion/picture/final/")
    batch = engine.open(engine.bucket(panel), rt)
    batch.add({"panel": panel})
    ended = dict(batch.step())
    batch.add({"anchor": ANCHOR})
    while len(ended) < 2:
        ended.update(batch.step())
    batch.close()
    assert list(ended) == ["panel", "anchor"]
    alone = engined.make(engine, rt, ANCHOR), engined.make(engine, rt, panel)
    assert ended["anchor"].features.keys() == alone[0].features.keys() >= {"array"}
    for one, other in (
        (ended["anchor"].reference, alone[0].reference), (ended["panel"].image, alone[1].image),
    ):  # fmt: skip
        assert np.abs(one.astype(int) - other.astype(int)).max() <= 1


def test_a_batch_of_pictures_refuses_other_requests(engine, rt):
    batch = engine.open(engine.bucket(SHOT), rt)
    batch.add(
        {"one": protocol.EncodeRequest(panel=protocol.Panel(image=None), width=64, height=96)}
    )
    (error,) = batch.step().values()
    batch.close()
    assert isinstance(error, errors.EngineError)
    assert "illustrate" in str(error)
    assert "encode" in str(error)


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


def test_a_prompt_of_thousands_of_letters_is_drawn_and_what_had_no_room_is_counted(engine, rt):
    long = dataclasses.replace(
        SHOT, prompt="the boy runs along the river. " * 170, quality="preview"
    )
    made = engined.make(engine, rt, long)
    assert len(made.notes["prompt"]) > 5000
    assert made.notes["tokens_left_out"] > 0
    assert made.notes["prompt"].index("manhua") < 1500  # the style is among what is read
    assert (
        "tokens_left_out"
        not in engined.make(
            engine, rt, dataclasses.replace(SHOT, quality="preview", prompt="a boy")
        ).notes
    )


def test_words_that_nobody_knows_in_english_are_told_with_the_panel(engine, rt):
    odd = dataclasses.replace(SHOT, prompt="魑魅魍魉在河边", quality="preview")
    assert engined.make(engine, rt, odd).notes["untranslated"] == ["魑魅魍魉在"]


def test_an_extreme_frame_names_the_nearest_size(engine):
    with pytest.raises(family.SizeError, match="nearest size it can make is"):
        engine.bucket(dataclasses.replace(SHOT, width=64, height=4096))


@pytest.mark.parametrize("field", ["width", "height"])
def test_a_frame_beyond_bounds_names_its_field(engine, field):
    with pytest.raises(errors.EngineError, match=f"{field} is 5000: 64 to 4096"):
        engine.bucket(dataclasses.replace(SHOT, **{field: 5000}))


def test_cards_are_not_drawn(engine):
    with pytest.raises(errors.EngineError, match=r"card \(title\).*animatic"):
        engine.bucket(dataclasses.replace(SHOT, kind="title"))


def test_damaged_features_give_way_to_the_picture(engine, rt):
    anchor = engined.make(engine, rt, ANCHOR)
    broken = {**anchor.features, "array": {**anchor.features["array"], "data": "%%"}}
    other = {**anchor.features, "model": "f" * 12}
    quick = dataclasses.replace(SHOT, quality="preview")

    def drawn(features):
        figure = protocol.Figure(sheet=SHEET, features=features, reference=anchor.reference)
        return engined.make(engine, rt, dataclasses.replace(quick, figures=(figure,))).image

    seen = drawn({})
    assert np.array_equal(drawn(broken), seen)
    assert np.array_equal(drawn(other), seen)
    assert np.array_equal(drawn({"engine": "animatic"}), seen)


def test_two_characters_stand_in_their_own_parts_of_the_picture(engine, rt):
    anchor = engined.make(engine, rt, ANCHOR)
    figures = tuple(
        protocol.Figure(sheet=dataclasses.replace(SHEET, name=name), features=anchor.features)
        for name in "甲乙丙"
    )
    regions = [one.region for one in features.cast(engine._player(SHOT).model, figures)]
    assert regions == [pytest.approx((n / 3, 0, (n + 1) / 3, 1)) for n in range(3)]
    (alone,) = features.cast(engine._player(SHOT).model, figures[:1])
    assert alone.region is None
    quick = dataclasses.replace(SHOT, quality="preview", figures=figures[:2])
    assert isinstance(engined.make(engine, rt, quick), protocol.Panel)


def test_shots_of_one_scene_begin_with_its_picture_which_is_drawn_once(home, tiny, rt, tmp_path):
    model = dataclasses.replace(registry.Registry(home).get("tiny"), name="scenic", scene=0.7)
    registry.Registry(tmp_path).add(model)
    engine = engines.Diffusion(tmp_path / "scratch", tmp_path)
    shots = {
        "one": dataclasses.replace(SHOT, figures=(protocol.Figure(sheet=SHEET),)),
        "other": dataclasses.replace(SHOT, seed=8, prompt="a boat", scene=SHOT.scene),
    }
    tasks = {
        key: orders.of(engine._player(one), one, tmp_path / "unused.mp4").tasks[""]
        for key, one in shots.items()
    }
    assert tasks["one"].base == tasks["other"].base
    assert "a boy" not in tasks["one"].base.prompt
    before = rt.features.counters()["style"]
    ended = engined.run(engine, rt, shots)
    after = rt.features.counters()["style"]
    assert (after["miss"] - before["miss"], after["hit"] - before["hit"]) == (1, 1)
    assert "riverbank" in ended["one"].notes["scene_base"]
    insert = dataclasses.replace(SHOT, scene=protocol.SceneLabels(framing="insert", focus="ring"))
    order = orders.of(engine._player(insert), insert, tmp_path / "unused.mp4")
    assert order.tasks[""].base is None
    assert order.tasks[""].strength == 1.0
