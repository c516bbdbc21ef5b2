"""The commands around models, in a home without services: none of them needs any."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

from mangen.cli import main
from tests.engines.diffusion import forged

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / "docs" / "models.md"


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    for name in [name for name in os.environ if name.startswith("MANGEN_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MANGEN_HOME", str(tmp_path / "var"))

    def run(*argv):
        capfd.readouterr()
        code = main.main(["models", *map(str, argv)])
        said = capfd.readouterr()
        return code, said.out, said.err

    return run


def test_a_model_is_added_listed_and_forgotten(run, tmp_path):
    assert run("list") == (0, "no model yet: `manage.py models add NAME FOLDER` adds one\n", "")
    folder = forged.checkpoint(tmp_path / "m", forged.SMALL)
    code, out, err = run("add", "sd", folder, "--steps", 4, "--role", "image")
    assert (code, out) == (0, "sd: StableDiffusionXLPipeline, float16, plays image\n")
    assert "no licence" in err
    code, out, err = run("add", "other", folder, "--role", "image", "--json")
    told = json.loads(out)
    assert (code, told["plays"], told["notes"][0]) == (0, ["image"], "image was played by sd")
    code, out, _ = run("list", "--json")
    assert [(one["name"], one["plays"], one["fault"]) for one in json.loads(out)] == [
        ("other", ["image"], ""), ("sd", [], ""),
    ]  # fmt: skip
    assert run("remove", "other")[:2] == (0, "other is forgotten; nobody plays image\n")
    assert folder.exists()
    code, _, err = run("remove", "other")
    assert (code, "no model 'other'; there are sd" in err) == (2, True)
    (folder / "unet" / "diffusion_pytorch_model.safetensors").unlink()
    code, out, _ = run("list")
    assert (code, "unet" in out) == (1, True)


def test_whoever_gets_no_role_or_replaces_another_is_told_so(run, tmp_path):
    folder = forged.checkpoint(tmp_path / "m", forged.SMALL)
    run("add", "sd", folder)
    code, out, err = run("add", "other", folder)
    assert (code, "plays no role" in out) == (0, True)
    assert "sd plays image, sd plays anchor" in err
    assert "`--role image` takes it over" in err
    elsewhere = forged.checkpoint(tmp_path / "n", forged.SMALL)
    _, _, err = run("add", "sd", elsewhere)
    assert f"sd was {folder} before" in err
    _, _, err = run("add", "sd", elsewhere, "--steps", 4)
    assert "sd was" not in err


def test_a_model_may_play_previews_alone(run, tmp_path):
    folder = forged.checkpoint(tmp_path / "m", forged.SMALL)
    run("add", "sd", folder)
    code, out, _ = run(
        "add", "quick", folder, "--steps", 4, "--quantise", "float8", "--role", "image:preview"
    )
    assert code == 0
    assert out == "quick: StableDiffusionXLPipeline, float16+float8, plays image:preview\n"
    assert "image:preview" in run("list")[1]
    code, out, _ = run("list", "--json")
    assert json.loads(out)[0]["plays"] == ["image:preview"]
    code, out, _ = run("remove", "quick")
    assert out == "quick is forgotten; nobody plays image:preview\n"


def test_a_model_is_added_for_the_card_it_runs_on_and_to_give_the_same_bits(run, tmp_path):
    """What has no room as it is, has when it is added for the card that there is."""
    folder = forged.checkpoint(tmp_path / "m", forged.SMALL)
    run("add", "sd", folder)
    asked = ("estimate", "sd", "--size", "1024x1024", "--vram", 2)
    code, _, err = run(*asked)
    assert (code, "--vram 2 when it is added takes" in err) == (1, True)
    options = ("--vram", 2, "--reproducible", "--max-batch", 2, "--scene-base", 0.8)
    assert run("add", "sd", folder, *options)[0] == 0
    assert run(*asked)[0] == run(*asked[:-2])[0] == 0
    (told,) = json.loads(run("list", "--json")[1])
    assert (told["reproducible"], told["scene"]) == (True, 0.8)
    assert (told["limits"]["card"], told["limits"]["batch"]) == (2 << 30, 2)


def test_a_bad_folder_is_refused_and_nothing_is_written(run, tmp_path):
    folder = forged.checkpoint(tmp_path / "m", forged.SMALL)
    (folder / "vae" / "diffusion_pytorch_model.safetensors").rename(folder / "vae" / "old.bin")
    whole = forged.checkpoint(tmp_path / "whole", forged.SMALL)
    for arguments, words in (
        (("add", "sd", tmp_path / "none"), "is not there"),
        (("add", "sd", folder), "pickle"),
        (("add", "s d", whole), "can't name a model"),
        (("add", "sd", folder, "--role", "hero"), "hero"),
        (("add", "sd", folder, "--dtype", "int4"), "int4"),
        (("add", "sd", whole, "--scheduler", "eulr"), "no scheduler 'eulr' for sd: write euler, "),
        (("estimate", "sd"), "no model 'sd'; there are none yet"),
        (("warm", "sd"), "no model 'sd'"),
        (("estimate", "sd", "--size", "768"), "768x1344"),
    ):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert words in err
    assert not (tmp_path / "var").exists()


def test_an_estimate_is_told_by_stage_and_part(run, tmp_path):
    run("add", "sd", forged.checkpoint(tmp_path / "m", forged.SMALL), "--max-batch", 3)
    code, out, _ = run("estimate", "sd", "--size", "768x1344", "--batch", 2)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[1:]] == [
        "illustrate", "denoise", "decode", "anchor", "denoise", "decode",
        "repaint", "encode", "denoise", "decode", "upscale", "encode", "denoise", "decode",
    ]  # fmt: skip
    largest = [line.split()[0] for line in out.splitlines() if "the largest" in line]
    assert largest == ["decode"] * 4
    code, out, err = run("estimate", "sd", "--batch", 4)
    assert (code, "4 at once are too many: this model runs 3 at most" in err) == (1, True)
    code, out, err = run("estimate", "sd", "--size", "1024x1024", "--vram", 2)
    assert code == 1
    assert "illustrate does not fit on 2 GiB; what would: " in err
    code, out, _ = run("estimate", "sd", "--size", "1024x1024", "--vram", 2, "--json")
    told = json.loads(out)[0]
    assert told["instead"][-1] == "a card that has 4 GiB"
    assert [part["name"] for part in told["parts"]] == ["denoise", "decode"]
    code, _, err = run("estimate", "sd", "--size", "770x1344")
    assert (code, "768x1344" in err) == (1, True)


def test_an_estimate_is_by_default_of_what_projects_ask_for(run, tmp_path, monkeypatch):
    """Not of the frame, which a model may be unable to make."""
    run("add", "sd", forged.checkpoint(tmp_path / "m", forged.SMALL), "--max-pixels", 200_000)
    monkeypatch.setenv("MANGEN_WIDTH", "722")
    code, out, _ = run("estimate", "sd", "--json")
    told = json.loads(out)
    assert (code, {one["stage"] for one in told} >= {"illustrate", "upscale"}) == (0, True)
    panel = next(one for one in told if one["stage"] == "illustrate")
    assert panel["width"] * panel["height"] <= 210_000
    assert abs(panel["width"] / panel["height"] - 722 / 1280) < 0.02


@pytest.fixture(params=forged.FAMILIES)
def kind(request):
    """A family, and how to write a folder of it whose tensors have four numbers."""
    pipeline, parts, options = forged.FAMILIES[request.param]
    less = forged.small(parts)
    heavy = next(name for name in ("unet", "transformer") if name in parts)

    def make(folder, dtype="F16"):
        return forged.checkpoint(folder, less, dtype, pipeline, **options)

    return request.param, heavy, make


def test_every_family_is_added_and_estimated(run, tmp_path, kind):
    name, _, make = kind
    code, out, _ = run("add", "x", make(tmp_path / "x"), "--json")
    assert (code, json.loads(out)["family"]) == (0, name)
    stages = {
        "image": "illustrate", "anchor": "anchor", "inpaint": "repaint", "upscale": "upscale",
        "video": "animate",
    }  # fmt: skip
    wanted = [stages[role] for role in json.loads(out)["roles"]]
    code, out, _ = run("estimate", "x", "--size", "512x512", "--json")
    assert code == 0
    told = [one["stage"] for one in json.loads(out)]
    assert [stage for stage in told if stage != "encode"] == wanted
    assert ("encode" in told) == (name == "i2vgen")


def test_a_pipeline_of_no_use_is_told_so(run, tmp_path):
    folder = forged.checkpoint(tmp_path / "m", forged.SMALL, pipeline="StableAudioPipeline")
    code, out, err = run("add", "x", folder)
    assert (code, out) == (0, "x: StableAudioPipeline, float16, plays no role\n")
    assert "StableAudioPipeline draws nothing that a stage wants" in err
    code, _, err = run("add", "x", folder, "--role", "image")
    assert (code, "can't play the role image; it can play none" in err) == (2, True)
    assert run("estimate", "x")[0] == 0


def test_bad_input_is_named_whatever_the_family(run, tmp_path, kind):
    _, heavy, make = kind
    broken = make(tmp_path / "broken")
    lost = broken / heavy / forged.sharded(broken / heavy)[1]
    lost.unlink()
    code, _, err = run("add", "x", broken)
    assert (code, f"{lost} is missing (1 of 3 shards" in err.replace("\n", "")) == (2, True)
    code, _, err = run("add", "x", make(tmp_path / "wide", "F64"))
    assert (code, "holds float64" in err) == (2, True)
    (tmp_path / "none").mkdir()
    code, _, err = run("add", "x", tmp_path / "none")
    assert (code, "is no diffusers checkpoint" in err) == (2, True)
    folder = make(tmp_path / "x")
    assert run("add", "x", folder)[0] == 0
    code, _, err = run("estimate", "x", "--size", "515x509")
    assert (code, "x can't make 515x509" in err, "the nearest size it can make" in err) == (
        1, True, True,
    )  # fmt: skip
    assert re.search(r"it can make is 5\d\dx5\d\d", err.replace("\n", " "))
    code, _, err = run("estimate", "x", "--size", "512x512", "--vram", 0.45)
    assert (code, "what would:" in err, "a card that has" in err) == (1, True, True)
    code, _, err = run("warm", "x", "--device", "cuda:77")
    assert (code, "cuda:77" in err) == (2, True)


_LIGHT = """
import sys
from mangen.cli import main
for line in sys.argv[1:]:
    assert main.main(line.split()) == 0, line
print(*[name for name in ("torch", "diffusers", "transformers") if name in sys.modules])
"""


def test_only_those_who_compute_load_torch(run, tmp_path):
    forged.checkpoint(tmp_path / "m", forged.SMALL)
    done = subprocess.run(
        [sys.executable, "-c", _LIGHT, "models --help", "models add sd m", "models list",
         "models estimate sd"],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == ""


def test_tiny_models_are_made_and_tried(run, tmp_path):
    pytest.importorskip("diffusers", reason="the gpu extra is not installed")
    folder = tmp_path / "tiny"
    code, out, _ = run("tiny", folder, "--json")
    assert (code, list(json.loads(out))) == (
        0, ["sdxl", "i2vgen_xl", "flux2_klein", "wan22_ti2v"],
    )  # fmt: skip
    code, _, err = run("tiny", folder)
    assert (code, "is there already" in err) == (2, True)
    code, out, _ = run("add", "sd", folder / "sdxl")
    assert out == "sd: StableDiffusionXLPipeline, float32, plays image, anchor, inpaint, upscale\n"
    for name, roles in (
        ("i2vgen_xl", "video"), ("flux2_klein", "no role"), ("wan22_ti2v", "no role"),
    ):  # fmt: skip
        code, out, _ = run("add", name, folder / name)
        assert out.endswith(f", float32, plays {roles}\n")
    for name in ("sd", "i2vgen_xl", "flux2_klein", "wan22_ti2v"):
        code, out, _ = run("warm", name, "--device", "cpu", "--json")
        assert (code, json.loads(out)["device"]) == (0, "cpu")
    code, out, _ = run("add", "klein", folder / "flux2_klein", "--role", "image", "--json")
    told = json.loads(out)
    assert (told["family"], told["plays"]) == ("flux_klein", ["image"])


def test_what_the_page_shows_are_commands(run):
    lines = re.findall(r"^manage\.py models (.+)$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert {line.split()[0] for line in lines} == set(main.root.commands["models"].commands)
    for line in lines:
        name, *words = shlex.split(line, comments=True)
        main.root.commands["models"].commands[name].make_context(name, words).close()
