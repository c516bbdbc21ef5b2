"""What a project keeps of who draws it, and what can't be together."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mangen import errors, settings
from mangen.comic import look, makers
from mangen.engines.voice import tone

DOTTED = settings.Settings().image_engine


def kept(chosen=None, **wishes):
    return look.snapshot(chosen or settings.Settings(), look.Wishes(**wishes))


def test_an_animatic_keeps_what_it_always_did():
    plain = {
        "width": 720, "height": 1280, "image_engine": DOTTED, "music": 1.0,
        "voice_engine": settings.Settings().voice_engine,
    }  # fmt: skip
    assert kept() == kept(quality="animatic") == plain
    assert kept(engine="animatic") == plain | {"image_engine": "animatic"}


@pytest.mark.parametrize(
    ("wishes", "engine", "quality"),
    [
        ({"engine": "diffusion"}, "diffusion", "final"),
        ({"engine": "diffusion", "quality": "preview"}, "diffusion", "preview"),
        ({"quality": "final"}, "diffusion", "final"),
        ({"engine": makers.ENGINES["diffusion"]}, makers.ENGINES["diffusion"], "final"),
    ],
)
def test_engine_and_quality_stand_for_each_other(wishes, engine, quality):
    found = kept(**wishes)
    assert (found["image_engine"], found["quality"]) == (engine, quality)


def test_the_setting_says_who_draws_where_nobody_else_does():
    chosen = settings.Settings(image_engine="diffusion")
    assert kept(chosen)["quality"] == "final"
    assert kept(chosen, quality="preview")["quality"] == "preview"
    sketched = kept(chosen, quality="animatic")
    assert sketched["image_engine"] == "animatic"
    assert "quality" not in sketched


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        ({"engine": "animatic", "quality": "final"}, "animatic makes no final: .*by rule"),
        ({"engine": "animatic", "quality": "preview"}, "animatic makes no preview"),
        ({"engine": "diffusion", "quality": "animatic"}, "diffusion makes no animatic"),
        ({"quality": "best"}, "no quality 'best': choose animatic, preview, final"),
    ],
)
def test_what_contradicts_itself_is_refused(wishes, said):
    with pytest.raises(errors.UsageError, match=said):
        kept(**wishes)


def test_an_engine_that_is_none_is_named():
    with pytest.raises(errors.SettingsError, match=r"'diffuson'.*animatic, diffusion or"):
        kept(engine="diffuson")


def test_extras_are_kept_where_they_are_wished():
    found = kept(engine="diffusion", upscale=True)
    assert (found["upscale"], found.get("outpaint")) == (True, None)


def test_an_old_snapshot_loads(tmp_path):
    old = {"width": 64, "height": 128, "image_engine": DOTTED, "voice_engine": "x"}
    chosen = settings.Settings(home=tmp_path, encode_queue="cpu")
    found = look.of(old, makers.Makers(chosen), tone.Tone())
    assert (found.quality, found.own.name, found.encode_queue) == ("animatic", "animatic", "cpu")
    assert not found.upscale
    found.check()


def test_a_project_of_models_without_any_is_refused(tmp_path):
    chosen = settings.Settings(home=tmp_path)
    found = look.of(kept(engine="diffusion"), makers.Makers(chosen), tone.Tone())
    with pytest.raises(errors.UsageError, match=r"models add NAME FOLDER --role image"):
        found.check()


def test_asking_who_draws_loads_no_torch(tmp_path):
    code = f"""
import pathlib, sys
from mangen import settings
from mangen.comic import look, makers
from mangen.engines.voice import tone
chosen = settings.Settings(home=pathlib.Path({str(tmp_path)!r}), image_engine="diffusion")
found = look.of(look.snapshot(chosen), makers.Makers(chosen), tone.Tone())
print(found.own.name if found.painter.models() else found.painter.name, "torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["diffusion", "False"]


def test_an_encode_queue_that_is_none_is_refused():
    with pytest.raises(errors.SettingsError, match=r"MANGEN_ENCODE_QUEUE.*gpu\.low or cpu"):
        settings.Settings(encode_queue="gpu.mid")


def test_a_worker_finds_an_engine_by_the_first_word_of_a_bucket(tmp_path):
    known = makers.Makers(settings.Settings(home=tmp_path))
    assert known.named("diffusion").name == "diffusion"
    assert known.named("animatic") is known.at(DOTTED)
    with pytest.raises(errors.SettingsError, match="draws with animatic, the job wants other"):
        known.named("other")
    own = makers.Makers(
        settings.Settings(home=tmp_path, image_engine="tests.e2e.broken_engines:NoAnchors")
    )
    assert type(own.named("animatic")).__name__ == "NoAnchors"
