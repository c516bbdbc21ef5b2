"""Who plays which stage: read from the registry, and read again when that changes."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import sys

import pytest

from mangen import errors, settings
from mangen.comic import makers
from mangen.comic.stages import faults
from mangen.engines import protocol
from mangen.engines.diffusion import checkpoint, engine, players, registry
from mangen.ledger import states
from tests.engines.diffusion import forged

SHOT = protocol.PanelRequest(kind="shot", width=720, height=1280, seed=1, prompt="a boat")


@pytest.fixture
def book(tmp_path):
    return registry.Registry(tmp_path)


@pytest.fixture
def model(tmp_path):
    folder = forged.checkpoint(tmp_path / "sdxl")
    return registry.Model(
        name="sdxl", folder=folder, family="sdxl", dtype="float16", digest="a" * 64,
        roles=("image", "anchor", "inpaint", "upscale"), outline=checkpoint.read(folder).outline,
    )  # fmt: skip


@pytest.fixture
def asked(tmp_path):
    return engine.Diffusion(tmp_path / "scratch", tmp_path)


def taught(model, side):
    """Write into its UNet's configuration for how large latents it was taught."""
    file = pathlib.Path(model.folder) / "unet" / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "sample_size": side}))


def test_each_role_that_is_played_makes_its_stages(book, model, asked):
    assert asked.models() == {}
    book.add(model, ("image", "inpaint"))
    assert asked.models().keys() == {"illustrate", "repaint", "outpaint"}
    book.add(model)
    assert asked.models().keys() == {"anchor", "illustrate", "repaint", "outpaint", "upscale"}
    assert {spec.key for spec in asked.models().values()} == {model.key}
    book.remove("sdxl")
    assert asked.models() == {}


def test_a_model_whose_folder_is_gone_holds_up_its_own_stages_alone(
    tmp_path, book, model, asked, monkeypatch
):
    """An animatic's worker and its own, that have read neither folder before."""
    away = tmp_path / "away"
    gone = dataclasses.replace(model, name="gone", folder=away, digest="b" * 64)
    book.add(model, ("image",))
    book.add(gone, ("upscale",))
    specs = asked.models()
    assert specs["illustrate"].key == model.key
    with pytest.raises(errors.ModelError, match=r"away is not there"):
        specs["upscale"]
    monkeypatch.setenv("MANGEN_HOME", str(tmp_path))
    engines = makers.Makers(settings.load())
    assert engines.spec(model.key).key == model.key
    assert engines.spec(gone.key) is None
    forged.checkpoint(away)
    assert engines.spec(gone.key).key == gone.key


def test_work_waits_where_what_models_run_with_is_not_installed(book, model, asked, monkeypatch):
    book.add(model)
    monkeypatch.setitem(sys.modules, "diffusers", None)
    with pytest.raises(
        errors.EngineMissing, match=r"diffusers is not installed .*--gpu up"
    ) as told:
        asked.open(asked.bucket(SHOT), None)
    assert faults.kind_of(told.value) is states.ErrorKind.RESOURCE


def test_previews_have_a_player_of_their_own_where_there_is_one(book, model, asked):
    book.add(model)
    quick = dataclasses.replace(model, name="quick", digest="b" * 64, steps=4)
    assert "illustrate:preview" not in asked.models()
    book.add(quick, ("image:preview",))
    specs = asked.models()
    assert specs["illustrate:preview"].key == quick.key
    assert specs["illustrate"].key == model.key
    assert protocol.spec_of(specs, "illustrate", "preview").key == quick.key
    assert protocol.spec_of(specs, "anchor", "preview").key == model.key
    preview = dataclasses.replace(SHOT, quality="preview")
    assert f"/quick|{quick.mark}|" in asked.bucket(preview)
    assert f"/sdxl|{model.mark}|" in asked.bucket(SHOT)


def test_anchors_and_panels_share_batches_where_one_model_draws_both_of_one_size(
    book, model, asked
):
    anchor = protocol.AnchorRequest(
        sheet=protocol.CharacterSheet(name="a"), width=SHOT.width, height=SHOT.height
    )
    book.add(model)
    assert asked.bucket(anchor) == asked.bucket(SHOT)
    assert asked.peak(anchor, 3) == asked.peak(SHOT, 3)
    assert asked.bucket(dataclasses.replace(anchor, width=512)) != asked.bucket(SHOT)
    assert asked.bucket(dataclasses.replace(SHOT, quality="preview")) != asked.bucket(anchor)
    book.add(dataclasses.replace(model, name="other", digest="b" * 64), ("anchor",))
    assert asked.bucket(anchor) != asked.bucket(SHOT)


def test_the_version_changes_with_models_and_what_they_were_told(book, model, asked):
    seen = [asked.version]
    for one in (
        model,
        dataclasses.replace(model, digest="b" * 64),
        dataclasses.replace(model, digest="b" * 64, steps=12),
        dataclasses.replace(model, digest="b" * 64, steps=12, limits=registry.Limits(pixels=9216)),
    ):
        book.add(one)
        seen.append(asked.version)
    assert len(set(seen)) == len(seen)
    before = asked.version
    book.add(dataclasses.replace(model, name="idle"), ())
    assert asked.version == before


def test_a_stages_signature_changes_with_its_own_model_alone(book, model, asked):
    book.add(model)
    before = {stage: asked.signature(stage) for stage in ("illustrate", "upscale")}
    book.add(dataclasses.replace(model, name="other", digest="c" * 64), ("upscale",))
    assert asked.signature("illustrate") == before["illustrate"]
    assert asked.signature("upscale") != before["upscale"]


def test_the_registry_is_read_only_when_it_changed(book, model, asked, monkeypatch):
    book.add(model)
    asked.models()
    reads = []
    whole = registry.Registry.read
    monkeypatch.setattr(registry.Registry, "read", lambda self: reads.append(1) or whole(self))
    for _ in range(50):
        asked.bucket(SHOT)
        asked.peak(SHOT, 2)
        assert asked.models()
        assert asked.version
    assert reads == []
    os.utime(book.file, ns=(1, 1))
    asked.version  # noqa: B018 - asked for what it does
    assert reads == [1]


def test_a_bucket_runs_on_the_model_it_was_made_for(book, model, asked):
    book.add(model)
    bucket = asked.bucket(SHOT)
    key = bucket.split("/", 3)[3]
    other = dataclasses.replace(model, name="other", digest="b" * 64)
    book.add(other, ("image",))
    found = players.Players(book.file.parent).named("illustrate", "final", key)
    assert found.model.name == "sdxl"
    for change in ({"digest": "d" * 64}, {"steps": 2}, {"limits": registry.Limits(pixels=9216)}):
        book.add(dataclasses.replace(model, **change))
        with pytest.raises(
            errors.ModelError, match=rf"sdxl \({model.mark}\).*anew otherwise.*models add"
        ):
            asked.open(bucket, None)
    book.remove("sdxl")
    with pytest.raises(
        errors.ModelError,
        match=rf"sdxl \({model.mark}\).*no longer registered.*add sdxl FOLDER",
    ):
        asked.open(bucket, None)


@pytest.mark.parametrize(
    "bucket", ["animatic/illustrate/9x9", "diffusion/voice/final/x", "diffusion"]
)
def test_a_bucket_of_others_is_refused(asked, bucket):
    with pytest.raises(errors.EngineError, match="no bucket of the diffusion engine"):
        asked.open(bucket, None)


def test_who_nobody_plays_is_told_with_the_mend(book, model, asked):
    book.add(model, ("image",))
    clip = protocol.ClipRequest(
        panel=protocol.Panel(image=None), motion="push", frames=24, width=720, height=1280, fps=24,
        seed=1,
    )  # fmt: skip
    with pytest.raises(errors.ModelError, match=r"no model plays the role video.*models add"):
        asked.bucket(clip)


@pytest.mark.parametrize(
    ("frame", "wanted"),
    [((720, 1280), (768, 1344)), ((1280, 720), (1344, 768)), ((1080, 1920), (768, 1344)),
     ((1024, 1024), (1024, 1024)), ((512, 768), (832, 1280)), ((360, 640), (768, 1344))],
)  # fmt: skip
def test_models_are_asked_for_a_million_pixels_in_the_frames_proportions(
    book, model, asked, frame, wanted
):
    taught(model, 128)
    book.add(dataclasses.replace(model, outline=""))
    request = dataclasses.replace(SHOT, width=frame[0], height=frame[1])
    assert f"|{wanted[0]}x{wanted[1]}x1|" in asked.bucket(request)


def test_a_model_of_half_the_size_is_asked_for_a_quarter_of_the_pixels(book, model, asked):
    taught(model, 64)
    book.add(dataclasses.replace(model, outline=""))
    assert "|384x680x1|" in asked.bucket(SHOT)


def test_registered_limits_hold(book, model, asked):
    book.add(dataclasses.replace(model, limits=registry.Limits(pixels=512 * 512)))
    size = asked.bucket(SHOT).split("|")[3]
    wide, high, _ = map(int, size.split("x"))
    assert wide * high <= 512 * 512
    assert wide / high == pytest.approx(720 / 1280, rel=0.05)


def test_a_preview_model_for_clips_encodes_or_nobody_does(book, model, asked, tmp_path):
    staged = dataclasses.replace(
        model, name="staged", family="i2vgen", roles=("video",), outline="",
        folder=forged.checkpoint(tmp_path / "i2v", forged.I2VGEN, pipeline="I2VGenXLPipeline"),
    )  # fmt: skip
    whole = dataclasses.replace(
        staged, name="whole", family="wan",
        folder=forged.checkpoint(tmp_path / "wan", forged.WAN, pipeline="WanImageToVideoPipeline"),
    )  # fmt: skip
    book.add(staged)
    assert protocol.spec_of(asked.models(), "encode", "preview").key == f"{staged.key}:encode"
    book.add(whole, ("video:preview",))
    assert protocol.spec_of(asked.models(), "encode").key == f"{staged.key}:encode"
    assert protocol.spec_of(asked.models(), "encode", "preview") is None
    assert protocol.spec_of(asked.models(), "animate", "preview").key == whole.key
    book.add(whole, ("video",))
    book.add(staged, ("video:preview",))
    assert protocol.spec_of(asked.models(), "encode") is None
    assert protocol.spec_of(asked.models(), "encode", "preview").key == f"{staged.key}:encode"
