"""Upgrades and repaints on a real ledger: only the shots that are named are drawn anew."""

from __future__ import annotations

import io
import json
import os
import time

import pytest
from PIL import Image

from mangen import errors
from mangen.comic import boards, masks, retake, schema, upgrade
from tests.comic import drawers


@pytest.fixture
def drawn(studio):
    """An animatic of which all is done, and models to upgrade it with."""
    studio.painter = drawers.Painter()
    studio.planned()
    studio.work()
    return studio


def better(studio, *paths, quality="final", own="animatic"):
    scopes = [studio.scope(path) for path in paths]
    return studio.editor.edit(
        studio.project, upgrade.plan(scopes, quality, own), verb="upgrade", scope=paths[0], by="li"
    )


def shots_of(studio):
    board = boards.current(studio.book, studio.store, studio.project).board
    return {f"e{e.no}/s{shot.no}": shot for e in board.episodes for shot in e.shots}


def test_an_upgrade_draws_one_shot_anew_and_keeps_the_video_until_then(drawn):
    before = drawn.ids()
    seed = shots_of(drawn)["e1/s3"].seed
    [old] = drawn.sql("select video from episodes where project = :p", p=drawn.project)
    done = better(drawn, "e1/s3")
    assert done.detail["shots"] == [{"shot": "e1/s3", "quality": ["animatic", "final"]}]
    assert drawn.changed_since(before) == {
        ("anchor", "c/林若雪@diffusion"), ("illustrate", "e1/s3"), ("encode", "e1/s3"),
        ("animate", "e1/s3"), ("assemble", "e1"),
    }  # fmt: skip
    assert drawn.job("illustrate", "e1/s3").bucket.startswith("diffusion/picture/final/")
    [now] = drawn.sql("select video from episodes where project = :p", p=drawn.project)
    assert now == old
    [row] = drawn.sql(
        "select params from job_params where job = :job", job=drawn.ids()["illustrate", "e1/s3"]
    )
    assert (row.params["quality"], row.params["seed"]) == ("final", seed)
    drawn.work()
    [now] = drawn.sql("select video from episodes where project = :p", p=drawn.project)
    assert now != old
    assert drawn.acts() == ["submit", "upgrade"]


def test_an_upgrade_is_done_once_and_can_be_taken_back(drawn):
    before = drawn.ids()
    assert better(drawn, "e1/s3").changed
    assert not better(drawn, "e1/s3").changed
    assert better(drawn, "e1/s3", quality="animatic").changed
    assert shots_of(drawn)["e1/s3"].quality == ""
    assert drawn.changed_since(before) == set(), "what was done before counts again"
    assert drawn.acts() == ["submit", "upgrade", "upgrade"]


def test_a_whole_project_is_upgraded_but_for_its_cards(drawn):
    better(drawn, "", quality="preview")
    found = shots_of(drawn)
    assert {shot.quality for shot in found.values() if shot.kind == "shot"} == {"preview"}
    assert {shot.quality for shot in found.values() if shot.kind != "shot"} == {""}


def test_a_stage_that_the_models_of_now_do_without_is_wanted_no_more(drawn):
    better(drawn, "e1/s3")
    assert ("encode", "e1/s3") in drawn.states()
    drawn.painter = drawers.Painter().but(animate="v2").without("encode")
    assert drawn.submit().new_jobs
    assert ("encode", "e1/s3") not in drawn.states()
    assert ("anchor", "c/林若雪@diffusion") in drawn.states()
    drawn.work()
    assert set(drawn.states().values()) == {"done"}


@pytest.mark.parametrize(
    ("path", "quality", "said"),
    [("e1/s1", "final", "e1/s1 is a title card"), ("e1/s3", "best", "no quality 'best'")],
)
def test_what_can_not_be_upgraded_is_refused(drawn, path, quality, said):
    with pytest.raises(errors.UsageError, match=said):
        better(drawn, path, quality=quality)


def test_an_upgrade_without_a_model_is_refused_and_changes_nothing(drawn):
    drawn.painter = drawers.Painter().without("illustrate")
    with pytest.raises(errors.UsageError, match=r"e1/s3: .*models add NAME FOLDER --role image"):
        better(drawn, "e1/s3")
    assert drawn.acts() == ["submit"]


def png(mode="L", color=0, spot=255, size=(40, 30)):
    picture = Image.new(mode, size, color)
    picture.paste(spot, (4, 4, 20, 20))
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def again(studio, **wishes):
    plan = retake.plan([studio.scope("e1/s3")], retake.Wishes(**wishes))
    return studio.editor.edit(studio.project, plan, verb="retake", by="li")


def test_a_repaint_paints_the_panel_that_is_there(drawn):
    better(drawn, "e1/s3")
    drawn.work()
    before = drawn.ids()
    wishes = {"mask": f"{drawn.project}/mask-1.png", "prompt": "a lantern"}
    assert again(drawn, **wishes).changed
    assert drawn.changed_since(before) == {
        ("repaint", "e1/s3"), ("encode", "e1/s3"), ("animate", "e1/s3"), ("assemble", "e1"),
    }  # fmt: skip
    assert not again(drawn, **wishes).changed
    drawn.work()
    before = drawn.ids()
    assert again(drawn, **wishes, seed=7).changed
    assert ("illustrate", "e1/s3") not in drawn.changed_since(before)
    assert ("repaint", "e1/s3") in drawn.changed_since(before)
    assert again(drawn).detail["shots"][0]["repaint"] == ["a lantern", ""]
    assert ("repaint", "e1/s3") not in drawn.ids(), "another take leaves it behind"


def test_a_repaint_of_an_animatic_is_refused(drawn):
    with pytest.raises(errors.UsageError, match="e1/s3: animatic can't repaint"):
        again(drawn, mask="1/mask-1.png", prompt="a lantern")


@pytest.mark.parametrize("wishes", [{}, {"prompt": " "}, {"prompt": "x", "emotions": {"": "sad"}}])
def test_a_repaint_needs_a_prompt_alone(wishes):
    with pytest.raises(errors.UsageError, match="a repaint needs a prompt"):
        retake.plan([], retake.Wishes(mask="1/mask-1.png", **wishes))


def test_an_edited_storyboard_keeps_quality_and_masks_and_brings_no_other_mask(drawn):
    better(drawn, "e1/s3")
    again(drawn, mask="1/mask-1.png", prompt="a lantern")
    board = boards.current(drawn.book, drawn.store, drawn.project).board
    data = json.loads(json.dumps(board.to_json()))
    assert schema.read(data, before=board, size=1000) == board
    [shot] = [one for one in data["episodes"][0]["shots"] if one["repaint"]]
    shot["repaint"]["mask"] = "2/mask-9.png"
    with pytest.raises(
        errors.UsageError, match=r"shots\[2\].repaint.mask.*no mask of this project"
    ):
        schema.read(data, before=board, size=1000)
    shot["repaint"] = None
    shot["quality"] = "finel"
    with pytest.raises(errors.UsageError, match=r"shots\[2\].quality.*did you mean 'final'"):
        schema.read(data, before=board, size=1000)


def test_a_name_that_looks_like_an_anchor_is_refused(drawn):
    board = boards.current(drawn.book, drawn.store, drawn.project).board
    data = json.loads(json.dumps(board.to_json()))
    data["characters"][0]["name"] = "叶辰@diffusion"
    with pytest.raises(errors.UsageError, match=r"characters\[0\].name.*holds an @"):
        schema.read(data, before=board, size=1000)


@pytest.mark.parametrize(
    ("mode", "color", "spot"),
    [
        ("L", 0, 255), ("RGB", (0, 0, 0), (255, 255, 255)), ("1", 0, 1), ("I;16", 0, 65535),
        ("RGBA", (255, 0, 0, 0), (255, 0, 0, 255)), ("LA", (0, 0), (0, 255)),
        ("RGBA", (0, 0, 0, 255), (255, 255, 255, 255)),
    ],
)  # fmt: skip
def test_masks_of_every_mode_become_grey(tmp_path, mode, color, spot):
    path = tmp_path / "mask.png"
    path.write_bytes(png(mode, color, spot))
    with Image.open(io.BytesIO(masks.read(path).data)) as read:
        assert (read.mode, read.size) == ("L", (40, 30))
        assert (read.getpixel((10, 10)), read.getpixel((30, 25))) == (255, 0)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (png(spot=0), "paints nothing"),
        (png("RGB", (0, 0, 0), (255, 0, 0)), "has colours"),
        (png()[:60], "can't be read as a mask"),
        (b"no picture", "can't be read as a mask"),
    ],
)
def test_a_mask_that_is_none_is_refused(tmp_path, data, said):
    path = tmp_path / "mask.png"
    path.write_bytes(data)
    with pytest.raises(errors.UsageError, match=said):
        masks.read(path)
    with pytest.raises(errors.UsageError, match="no file"):
        masks.read(tmp_path / "none.png")


def test_a_mask_is_kept_as_long_as_a_storyboard_needs_it(drawn):
    path = drawn.folder / "mask.png"
    path.write_bytes(png())
    read = masks.read(path)
    kept = masks.keep(drawn.store, drawn.project, read, drawn.folder / "scratch")
    file = drawn.store.locate(kept)
    old = time.time() - 7200
    os.utime(file, (old, old))
    better(drawn, "e1/s3")
    again(drawn, mask=kept, prompt="a lantern")
    assert masks.sweep(drawn.book, drawn.store) == 0
    assert drawn.broken() == []
    again(drawn)
    drawn.work()
    assert masks.sweep(drawn.book, drawn.store) == 1
    assert not file.exists()
    masks.keep(drawn.store, drawn.project, read, drawn.folder / "scratch")
    assert masks.sweep(drawn.book, drawn.store) == 0, "it is young: its storyboard may come yet"


def test_a_mask_of_a_running_repaint_stays_though_the_shot_was_taken_anew(drawn):
    path = drawn.folder / "mask.png"
    path.write_bytes(png())
    kept = masks.keep(drawn.store, drawn.project, masks.read(path), drawn.folder / "scratch")
    old = time.time() - 7200
    os.utime(drawn.store.locate(kept), (old, old))
    better(drawn, "e1/s3")
    drawn.work()
    again(drawn, mask=kept, prompt="a lantern")
    [fence] = drawn.claim("repaint", "e1/s3")
    again(drawn)
    assert masks.sweep(drawn.book, drawn.store) == 0
    drawn.book.fail(fence, "permanent", "stopped")
    assert masks.sweep(drawn.book, drawn.store) == 1
