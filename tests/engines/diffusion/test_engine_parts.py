"""Panels painted anew, amid their surroundings, and larger: by the engine, on tiny checkpoints."""

from __future__ import annotations

import contextlib
import dataclasses

import numpy as np
import pytest

from mangen import errors
from mangen.engines import protocol
from mangen.engines.diffusion import tiles
from tests.engines.diffusion import engined

OLD = np.random.default_rng(4).integers(0, 256, (200, 112, 3), np.uint8)
PANEL = protocol.Panel(
    image=OLD,
    layers=(protocol.Layer(image=np.zeros((200, 112, 4), np.uint8), depth=1.0),),
    faces=(protocol.Face(name="a", layer=0, box=(0, 0, 9, 9), mouth=(4, 4)),),
    letters=(protocol.Letter(line=1, patch=protocol.Patch(image=OLD[:4, :4], x=0, y=0)),),
)
MASK = np.zeros((200, 112), np.uint8)
MASK[60:120, 30:80] = 255
FRAME = {"panel": PANEL, "width": 90, "height": 160, "seed": 5, "prompt": "a red umbrella"}
REPAINT = protocol.RepaintRequest(mask=MASK, **FRAME)
OUTPAINT = protocol.OutpaintRequest(margin=0.25, **FRAME)
UPSCALE = protocol.UpscaleRequest(**{**FRAME, "width": 180, "height": 320})


def test_a_repaint_changes_what_the_mask_shows_and_no_other_byte(engine, rt):
    made = engined.make(engine, rt, REPAINT)
    assert made.image.shape == OLD.shape
    assert np.array_equal(made.image[MASK == 0], OLD[MASK == 0])
    assert not np.array_equal(made.image[80:100, 45:65], OLD[80:100, 45:65])
    assert (made.layers, made.faces) == ((), ())
    assert made.letters == PANEL.letters
    assert "red umbrella" in made.notes["prompt"]


def test_a_thin_mask_is_repainted_too(engine, rt):
    thin = np.zeros_like(MASK)
    thin[100, 20:90] = 255
    made = engined.make(engine, rt, dataclasses.replace(REPAINT, mask=thin))
    assert np.array_equal(made.image[thin == 0], OLD[thin == 0])
    assert not np.array_equal(made.image[100, 20:90], OLD[100, 20:90])


def test_an_outpainted_panel_has_the_old_one_in_its_middle(engine, rt):
    made = engined.make(engine, rt, OUTPAINT)
    assert made.image.shape == (300, 168, 3)
    inside = made.image[50:250, 28:140]
    assert np.array_equal(inside[10:-10, 10:-10], OLD[10:-10, 10:-10])
    assert made.layers == ()


def test_an_upscaled_panel_covers_the_frame_in_its_own_proportions(engine, rt):
    rt.told.clear()
    made = engined.make(engine, rt, UPSCALE)
    assert made.image.shape == (round(200 * 180 / 112), 180, 3)
    assert made.notes["tiles"] > 2
    assert made.notes["size"] == [180, 321]
    assert made.letters == PANEL.letters
    done = [one for key, one, _ in rt.told if key == "one"]
    assert done == sorted(done)
    # of eight steps it takes those that a base is left by
    assert {of for _, _, of in rt.told} == {made.notes["tiles"] * 2}


def test_tiles_of_one_request_never_run_more_at_once_than_it_asked_bytes_for(engine, rt):
    large = dataclasses.replace(UPSCALE, width=270, height=480)
    batch = engine.open(engine.bucket(large), rt)
    most = 0
    with contextlib.closing(batch):
        batch.add({"one": large})
        while not (ended := batch.step()):
            most = max(most, len(batch._tasks))
    assert ended["one"].notes["tiles"] > 8
    assert most == 4
    assert engine.peak(large, 1) >= engine.peak(dataclasses.replace(large, width=64, height=64), 1)


def test_the_same_request_gives_the_same_picture(engine, rt):
    for request in (REPAINT, OUTPAINT, UPSCALE):
        quick = dataclasses.replace(request, quality="preview")
        one, other = (engined.make(engine, rt, quick).image for _ in range(2))
        assert np.array_equal(one, other)


def test_buckets_do_not_depend_on_a_panel_that_is_not_drawn_yet(engine):
    unknown = protocol.Panel(image=np.empty((400, 225, 3), np.uint8))
    for request in (REPAINT, OUTPAINT, UPSCALE):
        other = dataclasses.replace(request, panel=unknown)
        assert engine.bucket(other) == engine.bucket(request)
        assert engine.peak(other, 2) == engine.peak(request, 2)


@pytest.mark.parametrize(
    ("request_", "change", "why"),
    [
        (REPAINT, {"mask": MASK[:50]}, "mask is 112x50"),
        (REPAINT, {"mask": MASK * 0}, "black all over"),
        (REPAINT, {"panel": protocol.Panel(image=OLD[:1, :1])}, r"panel\.image is 1x1"),
        (UPSCALE, {"panel": protocol.Panel(image=OLD.astype(float))}, "float64"),
        (OUTPAINT, {"margin": 0.0}, "margin is 0"),
        (OUTPAINT, {"margin": 3.0}, "margin is 3"),
        (UPSCALE, {"width": 9000}, "width is 9000"),
    ],
)
def test_what_cannot_be_done_names_its_field(engine, rt, request_, change, why):
    bad = dataclasses.replace(request_, **change)
    batch = engine.open(engine.bucket(request_), rt)
    with contextlib.closing(batch):
        batch.add({"bad": bad, "good": dataclasses.replace(request_, quality="final")})
        ended = dict(batch.step())
        assert isinstance(ended["bad"], errors.EngineError)
        assert why.replace("\\", "") in str(ended["bad"])
        while "good" not in ended:
            ended.update(batch.step())
    assert isinstance(ended["good"], protocol.Panel)


def test_tiles_are_drawn_over_the_enlarged_picture_and_not_far_from_it(engine, rt):
    plain = np.full((200, 112, 3), 120, np.uint8)
    request = dataclasses.replace(UPSCALE, panel=protocol.Panel(image=plain))
    player = engine._player(request)
    order = tiles.enlarge(player, request, tiles.shapes.sketch(player, request))
    for task in order.tasks.values():
        assert task.strength < 0.5
        assert (task.images[0] == 120).all()
    assert len({task.seed for task in order.tasks.values()}) == len(order.tasks)


def test_a_request_that_was_parked_on_its_way_begins_anew_and_ends_alike(engine, rt):
    whole = engined.make(engine, rt, UPSCALE)
    batch = engine.open(engine.bucket(UPSCALE), rt)
    with contextlib.closing(batch):
        batch.add({"one": UPSCALE, "other": dataclasses.replace(UPSCALE, seed=9)})
        for _ in range(3):
            assert batch.step() == {}
        batch.drop("one")  # as the pool does where memory ran out
        assert all(not task.startswith("one") for task in batch._tasks)
        batch.add({"one": UPSCALE})
        ended = {}
        while len(ended) < 2:
            ended.update(batch.step())
    far = np.abs(ended["one"].image.astype(int) - whole.image.astype(int))
    assert far.max() <= 1  # other company in its passes


def test_a_key_that_runs_already_is_refused(engine, rt):
    batch = engine.open(engine.bucket(UPSCALE), rt)
    with contextlib.closing(batch):
        batch.add({"one": UPSCALE})
        with pytest.raises(errors.EngineError, match="already holds one"):
            batch.add({"one": UPSCALE})


def test_who_joins_between_steps_ends_as_if_alone(engine, rt):
    """An urgent one need not wait for tiles that wait themselves."""
    alone = engined.make(engine, rt, REPAINT)
    batch = engine.open(engine.bucket(REPAINT), rt)
    assert batch.joinable
    with contextlib.closing(batch):
        batch.add({"first": dataclasses.replace(REPAINT, seed=1)})
        for _ in range(3):
            assert batch.step() == {}
        batch.add({"late": REPAINT})
        ended = {}
        while len(ended) < 2:
            ended.update(batch.step())
    assert np.abs(ended["late"].image.astype(int) - alone.image.astype(int)).max() <= 1
