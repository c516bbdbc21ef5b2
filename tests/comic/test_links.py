"""Panels of models on their way to a video, through the real stages: what each gets and leaves."""

from __future__ import annotations

import dataclasses
import io

import numpy as np
import pytest
from PIL import Image

from mangen import errors
from mangen.comic import assemble, control, masks, mends, retake, upgrade
from mangen.comic.stages import encode, links, pictures
from tests.comic import drawers, test_mends
from tests.comic.studio import Line

WORDS = "叶辰走进院子，看了看灰白的天色。\n“你来了。”林若雪说。"
DRAWN = {"engine": "diffusion", "upscale": True, "outpaint": True}


@pytest.fixture
def line(studio, tmp_path):
    """A project of models with every link, planned."""
    studio.painter = drawers.Tints(tmp_path)
    studio.planned(WORDS, drawn=DRAWN)
    return Line(studio)


def asked(line, kind):
    return [one for one in line.studio.painter.seen if type(one) is kind]


def file(line, stage, subject, kind):
    [found] = [
        one
        for one in line.studio.book.artifacts([line.studio.ids()[stage, subject]])[
            line.studio.ids()[stage, subject]
        ]
        if one.kind == kind
    ]
    return found


def test_an_anchor_and_a_panel_share_a_session_and_each_leaves_its_own(line):
    studio = line.studio
    studio.advance()
    line.make(studio.job("anchor", "c/叶辰"))
    studio.advance()
    anchor, panel = studio.job("anchor", "c/林若雪"), studio.job("illustrate", "e1/s2")
    assert (anchor.state, panel.state) == ("ready", "ready")
    line.make(panel, anchor)
    assert {type(one).__name__ for one in studio.painter.seen[-2:]} == {
        "AnchorRequest", "PanelRequest",
    }  # fmt: skip
    kinds = {
        stage: {one.kind for one in found}
        for stage, found in (
            (row.stage, studio.book.artifacts([row.id])[row.id]) for row in (anchor, panel)
        )
    }
    assert kinds["anchor"] == {"reference", "features"}
    assert "panel" in kinds["illustrate"]
    assert "reference" not in kinds["illustrate"]
    sessions = studio.sql(
        "select distinct session from attempts where job = any(:ids)", ids=[anchor.id, panel.id]
    )
    assert len(sessions) == 1
    [who] = studio.sql("select features from characters where name = '林若雪'")
    assert who.features == {"by": "tints"}


def test_features_that_are_not_whole_are_named(line):
    studio = line.studio
    studio.advance()
    for row in (studio.job("anchor", "c/叶辰"), studio.job("anchor", "c/林若雪")):
        line.make(row)
    line.tools.file_of(file(line, "anchor", "c/叶辰", "features")).write_text('{"by": "ti')
    studio.advance()
    line.make(studio.job("illustrate", "e1/s2"))
    said = studio.job("illustrate", "e1/s2").error
    assert "the anchor of 叶辰 has no file of features that is whole" in said
    assert mends.of(dataclasses.replace(test_mends.DEAD, error=said))[0] == "lost file"


def test_another_chance_makes_lost_features_anew(line):
    """The pass had told of the file when nothing needed it any more."""
    studio = line.studio
    studio.advance()
    for row in (studio.job("anchor", "c/叶辰"), studio.job("anchor", "c/林若雪")):
        line.make(row)
    lost = studio.job("anchor", "c/叶辰")
    studio.do(control.cancel, "e1/s2")
    line.run()
    assert line.episode().replaced
    path = line.tools.file_of(file(line, "anchor", "c/叶辰", "features"))
    path.unlink()
    with studio.book.transaction() as conn:
        rows = list(studio.book.stored_files(conn, studio.project))
    with studio.book.transaction() as conn:
        studio.book.mark_lost(conn, [one.id for one in rows if one.path.endswith(path.name)])
    studio.do(control.retry, "e1/s2")
    line.run()
    assert studio.job("anchor", "c/叶辰").id != lost.id
    assert (line.episode().state, line.episode().replaced) == ("done", [])


def test_a_project_of_models_is_made_whole_through_every_link(line):
    line.run()
    assert (line.episode().state, line.episode().replaced) == ("done", [])
    first = file(line, "illustrate", "e1/s2", "panel")
    assert (first.meta["quality"], first.meta["notes"]) == ("final", {"steps": 2})
    panels = [one.panel.image.shape for one in asked(line, drawers.protocol.OutpaintRequest)]
    assert set(panels) == {(128, 64, 3)}
    panels = [one.panel.image.shape for one in asked(line, drawers.protocol.UpscaleRequest)]
    assert set(panels) == {(144, 80, 3)}
    clips = asked(line, drawers.protocol.ClipRequest)
    assert {one.panel.image.shape for one in clips} == {(288, 160, 3)}
    assert all((one.encoded["latent"] == 200).all() for one in clips)
    assert {one.quality for one in line.studio.painter.seen} == {"final"}
    for one in clips:
        assert one.prompt
        assert one.scene.place == "courtyard"


def test_a_figure_has_the_features_and_the_picture_of_its_anchor(line):
    line.run()
    figures = [one for panel in asked(line, drawers.protocol.PanelRequest) for one in panel.figures]
    assert {one.sheet.name for one in figures} == {"叶辰", "林若雪"}
    for one in figures:
        assert one.features == {"by": "tints"}
        assert one.reference.shape == (128, 64, 3)


def test_an_optional_link_that_fails_is_told_and_costs_no_shot(line):
    line.studio.painter.failing = {"upscale"}
    line.run()
    episode = line.episode()
    assert episode.state == "degraded"
    told = episode.replaced[0]
    assert told["what"].startswith("upscale of e1/s")
    assert told["by"] == "the panel without it"
    assert "no upscale today" in told["why"]
    clips = asked(line, drawers.protocol.ClipRequest)
    assert {one.panel.image.shape for one in clips} == {(144, 80, 3)}, "the last that was made"


def test_a_clip_without_its_encoding_is_a_camera_move_over_the_last_panel(line, monkeypatch):
    shown, real = [], assemble.Part

    def part(**fields):
        shown.append(real(**fields))
        return shown[-1]

    monkeypatch.setattr(assemble, "Part", part)
    line.run(failing={("encode", "e1/s3")})
    [told] = line.episode().replaced
    assert told["what"] == "shot e1/s3"
    assert told["by"] == "a camera move on its panel"
    assert line.studio.states()["animate", "e1/s3"] == "skipped"
    [moved] = [one for one in shown if one.clip is None]
    assert moved.panel == line.tools.file_of(file(line, "upscale", "e1/s3", "panel"))


def test_an_anchor_that_fails_leaves_words(line):
    line.studio.painter.failing = {"anchor"}
    line.run()
    told = {one["what"] for one in line.episode().replaced}
    assert told == {"likeness of 叶辰", "likeness of 林若雪"}


def test_what_was_encoded_is_checked_when_it_is_read(line):
    line.run()
    path = line.tools.file_of(file(line, "encode", "e1/s2", "encoded"))
    assert (encode.read(path, "e1/s2")["latent"] == 200).all()
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(errors.StorageError, match=r"e1/s2 has no file that is whole.*checksum"):
        encode.read(path, "e1/s2")
    with pytest.raises(errors.StorageError, match="no file that is whole"):
        encode.read(path.with_name("none"), "e1/s2")


def test_an_upgraded_shot_has_its_own_anchors_and_its_neighbours_theirs(studio, tmp_path):
    studio.painter = drawers.Tints(tmp_path).without("animate", "encode", "upscale")
    studio.painter = drawers.Tints(tmp_path, studio.painter.played)
    studio.planned(WORDS)
    line = Line(studio)
    line.run()
    before = studio.sql("select features from characters where name = '林若雪'")
    studio.editor.edit(
        studio.project, upgrade.plan([studio.scope("e1/s3")], "final", "animatic"),
        verb="upgrade", by="li",
    )  # fmt: skip
    line.run()
    [panel] = asked(line, drawers.protocol.PanelRequest)
    assert [one.features for one in panel.figures] == [{"by": "tints"}]
    assert studio.sql("select features from characters where name = '林若雪'") == before
    assert line.episode().state == "done"
    mask = io.BytesIO()
    drawn = np.zeros((4, 2), np.uint8)
    drawn[0] = 255
    Image.fromarray(drawn).save(mask, "PNG")
    path = tmp_path / "mask.png"
    path.write_bytes(mask.getvalue())
    kept = masks.keep(studio.store, studio.project, masks.read(path), tmp_path / "scratch")
    studio.editor.edit(
        studio.project,
        retake.plan([studio.scope("e1/s3")], retake.Wishes(mask=kept, prompt="a lantern")),
        verb="retake", by="li",
    )  # fmt: skip
    line.run()
    [repaint] = asked(line, drawers.protocol.RepaintRequest)
    assert repaint.prompt == "a lantern"
    assert repaint.mask.shape == (128, 64)
    assert (repaint.mask[:32] == 255).all()
    assert not repaint.mask[32:].any()
    assert [one.features for one in repaint.figures] == [{"by": "tints"}]
    painted = pictures.read(line.tools.file_of(file(line, "repaint", "e1/s3", "panel")))
    assert (painted[0, 0, 0], painted[-1, 0, 0]) == (250, 120)


@pytest.mark.parametrize("size", [(128, 64), (200, 100), (2000, 1000)])
def test_a_speck_of_a_mask_stays_whatever_its_size(tmp_path, size):
    drawn = np.zeros(size, np.uint8)
    drawn[size[0] // 2, size[1] // 2] = 255
    path = tmp_path / "mask.png"
    Image.fromarray(drawn).save(path)
    panel = drawers.protocol.Panel(image=np.zeros((90, 50, 3), np.uint8))
    laid = links._mask(path, panel)
    assert laid.shape == (90, 50)
    assert 1 <= (laid == 255).sum() <= 4
    assert laid[45, 25] or laid[44, 24]


def test_a_mask_that_was_cut_to_nothing_is_named(tmp_path):
    path = tmp_path / "mask.png"
    path.touch()
    panel = drawers.protocol.Panel(image=np.zeros((9, 9, 3), np.uint8))
    with pytest.raises(errors.StorageError, match=r"mask\.png in the .* is no whole picture"):
        links._mask(path, panel)


def test_a_mask_that_is_gone_is_named(line, tmp_path):
    studio = line.studio
    line.run()
    studio.editor.edit(
        studio.project,
        retake.plan([studio.scope("e1/s3")], retake.Wishes(mask="1/mask-0.png", prompt="x")),
        verb="retake", by="li",
    )  # fmt: skip
    line.run()
    row = studio.job("repaint", "e1/s3")
    assert "the mask of e1/s3 has no file: ask for the repaint again" in row.error
