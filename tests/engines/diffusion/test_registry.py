from __future__ import annotations

import dataclasses
import json
import pathlib
import subprocess
import sys

import pytest

from mangen import errors
from mangen.comic.stages import faults
from mangen.engines.diffusion import enrolment, estimate, family, registry
from mangen.ledger import states
from tests.engines.diffusion import forged

GIB = 2**30
ROOT = pathlib.Path(__file__).parents[3]


def made(name, **more):
    usual = {"family": "sdxl", "folder": pathlib.Path("/m"), "roles": ("image", "anchor")}
    return registry.Model(name=name, **{**usual, **more})


@pytest.fixture
def book(tmp_path):
    return registry.Registry(tmp_path / "home")


def test_a_model_comes_back_as_it_was(book):
    assert book.read() == registry.Book()
    limits = registry.Limits(pixels=1_000_000, batch=4)
    model = made("a-1.0", limits=limits, steps=4, guidance=0.0, licence="许可")
    assert book.add(model) == {}
    assert book.get("a-1.0") == model
    assert book.role("anchor") == model
    assert book.role("video") is None


def test_roles_go_to_the_first_and_to_whom_they_are_given(book):
    book.add(made("a"))
    assert book.add(made("b")) == {}
    assert dict(book.read().roles) == {"image": "a", "anchor": "a"}
    assert book.add(made("b"), ("anchor",)) == {"anchor": "a"}
    assert dict(book.read().roles) == {"image": "a", "anchor": "b"}
    with pytest.raises(errors.ModelError, match=r"b .*can't play the role video.*image, anchor"):
        book.add(made("b"), ("video",))
    with pytest.raises(errors.ModelError, match="no role 'hero'"):
        book.add(made("b"), ("hero",))
    book.add(made("a", roles=("video",)))  # added again as something else
    assert dict(book.read().roles) == {"anchor": "b", "video": "a"}
    assert book.remove("b") == ("anchor",)
    with pytest.raises(errors.ModelError, match="no model 'b'; there are a"):
        book.remove("b")


def test_previews_have_players_of_their_own(book):
    book.add(made("slow"))
    assert book.role("image", "preview") == made("slow")
    assert book.preview("image") is None
    assert book.add(made("quick"), ("image:preview",)) == {}
    assert book.role("image") == made("slow")
    assert book.role("image", "preview") == book.preview("image") == made("quick")
    assert book.role("anchor", "preview") == made("slow")
    assert dict(book.read().previews) == {"image": "quick"}
    assert book.read().plays("quick") == ("image:preview",)
    assert book.add(made("other"), ("image:preview", "image")) == {
        "image:preview": "quick", "image": "slow",
    }  # fmt: skip
    assert book.remove("other") == ("image", "image:preview")
    assert book.role("image", "preview") is None
    book.add(made("quick"), ("anchor:preview",))
    book.add(made("quick", roles=("video",)))  # added again as something else
    assert book.read().plays("quick") == ("video",)
    for wrong in ("video:preview", "hero:preview", "image:draft"):
        with pytest.raises(errors.ModelError, match=wrong.split(":")[0]):
            book.add(made("a"), (wrong,))


def test_a_registry_from_before_there_were_previews_is_read(book):
    book.add(made("a"))
    data = json.loads(book.file.read_text())
    assert (data["format"], "previews" in data) == (1, False)
    book.add(made("b"), ("image:preview",))
    assert json.loads(book.file.read_text())["previews"] == {"image": "b"}
    book.file.write_text(json.dumps(data))
    assert dict(book.read().previews) == {}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": "../a"}, "can't name a model"),
        ({"name": ""}, "can't name a model"),
        ({"dtype": "float64"}, "float64"),
        ({"quantise": "int4"}, "int4.*float8"),
        ({"roles": ("hero",)}, "no role"),
        ({"steps": 0}, "steps"),
        ({"guidance": float("nan")}, "guidance"),
        ({"limits": registry.Limits(batch=-1)}, "negative"),
    ],
)
def test_a_wrong_model_is_refused(wrong, words):
    with pytest.raises(errors.ModelError, match=words):
        made(**{"name": "a", **wrong})


def test_only_what_runs_at_every_step_is_made_smaller(tmp_path):
    folder = forged.checkpoint(tmp_path / "m", forged.SMALL)
    plain = enrolment.enrol("m", folder)
    small = enrolment.enrol("m", folder, quantise="float8")
    assert (plain.precision, small.precision) == ("float16", "float16+float8")
    assert small.digest != plain.digest
    less = {name: one for name, one in forged.SMALL.items() if name != "unet"}
    folder = forged.checkpoint(tmp_path / "less", less)
    with pytest.raises(errors.ModelError, match="has no denoiser to keep in 8-bit"):
        enrolment.enrol("less", folder, quantise="float8")
    config = {"quantization_config": {"quant_method": "bitsandbytes"}}
    library, kind, _, tensors = forged.SMALL["unet"]
    parts = {**forged.SMALL, "unet": (library, kind, config, tensors)}
    folder = forged.checkpoint(tmp_path / "done", parts)
    with pytest.raises(errors.ModelError, match=r"made smaller already .bitsandbytes"):
        enrolment.enrol("done", folder, quantise="float8")


_UNKNOWN = '{"format": 1, "roles": {}, "models": {"a": {"x": 1}}}'


@pytest.mark.parametrize("text", ["{", "[]", '{"format": 1}', '{"format": 9}', "\x00", _UNKNOWN])
def test_a_damaged_registry_is_named_and_never_written_over(book, text):
    book.file.parent.mkdir()
    book.file.write_text(text)
    for act in (book.read, lambda: book.add(made("a"))):
        with pytest.raises(errors.ModelError, match=r"models\.json") as told:
            act()
        assert faults.kind_of(told.value) is states.ErrorKind.RESOURCE  # nobody's work is at fault
    assert book.file.read_text() == text


_ADDS = """
import pathlib, sys
from mangen.engines.diffusion import registry
for number in range(6):
    registry.Registry(pathlib.Path(sys.argv[1])).add(registry.Model(
        name=f"{sys.argv[2]}{number}", folder=pathlib.Path("/m"), family="sdxl"))
"""


def test_processes_that_add_at_once_lose_nothing(book):
    started = [
        subprocess.Popen([sys.executable, "-c", _ADDS, str(book.file.parent), name], cwd=ROOT)
        for name in "abcd"
    ]
    assert [process.wait() for process in started] == [0] * 4
    assert len(book.read().models) == 24
    assert sorted(file.name for file in book.file.parent.iterdir()) == [
        "models.json", "models.lock",
    ]  # fmt: skip


def test_a_folder_that_was_changed_is_noticed(tmp_path):
    folder = forged.checkpoint(tmp_path / "m", forged.SMALL)
    model = enrolment.enrol("m", folder)
    assert registry.verify(model).outline == model.outline
    forged.safetensors(folder / "vae" / "diffusion_pytorch_model.safetensors", {"one": (5,)})
    with pytest.raises(errors.ModelError, match="no longer what was added as m"):
        registry.verify(model)
    assert json.dumps(dataclasses.asdict(model), default=str)


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """A full-size SDXL in half precision, by its headers."""
    folder = forged.checkpoint(tmp_path_factory.mktemp("full") / "sdxl")
    return registry.Model(
        name="full", folder=folder, family="sdxl", dtype="float16", roles=("image", "inpaint")
    )


def test_an_estimate_adds_up_to_what_was_measured(full):
    one = estimate.of(full, "image", width=1024, height=1024, batch=2)
    # the VAE runs in single precision: 0.156 GiB more than all in half
    assert one.weights / GIB == pytest.approx(6.46 + 0.156, abs=0.01)
    assert one.peak / GIB == pytest.approx(3.00, abs=0.01)  # decoding one, larger than two's UNet
    assert (one.fits, one.instead) == (True, ())
    assert one.reserved > one.peak
    assert 1 <= one.first <= one.largest <= one.cap
    with pytest.raises(family.SizeError, match="1024x1024"):
        estimate.of(full, "image", width=1023, height=1025)


def test_the_largest_batch_grows_with_the_card_up_to_the_limit(full):
    sizes = {"width": 1024, "height": 1024}
    largest = [estimate.of(full, "image", **sizes, card=n * GIB).largest for n in (8, 11, 12, 22)]
    assert largest == sorted(largest)
    assert (largest[0], largest[-1]) == (0, 16)
    capped = dataclasses.replace(full, limits=registry.Limits(batch=3))
    assert estimate.of(capped, "image", **sizes).largest == 3


def test_what_is_too_large_is_told_what_would_fit(full):
    single = dataclasses.replace(full, dtype="float32")
    sizes = {"width": 1024, "height": 1024}
    found = estimate.of(single, "image", **sizes, card=15 * GIB)
    assert not found.fits
    halved, tiled, smaller, card = found.instead
    assert halved.startswith("--dtype bfloat16")
    assert estimate.of(dataclasses.replace(single, dtype="bfloat16"), "image", **sizes,
                       card=15 * GIB).fits  # fmt: skip
    assert tiled.startswith("--vram 15 ")
    small = dataclasses.replace(single, limits=registry.Limits(card=15 * GIB))
    assert estimate.of(small, "image", **sizes, card=15 * GIB).fits
    wide, high = map(int, smaller.split()[0].split("x"))
    assert estimate.of(single, "image", width=wide, height=high, card=15 * GIB).fits
    needed = int(card.split()[-2])
    assert estimate.of(single, "image", **sizes, card=needed * GIB).fits
    assert not estimate.of(single, "image", **sizes, card=(needed - 1) * GIB).fits
    assert len(estimate.of(single, "image", **sizes, card=2 * GIB).instead) == 1


@pytest.mark.parametrize(
    "change",
    [{"dtype": "bfloat16"}, {"scheduler": "lcm"}, {"steps": 4}, {"guidance": 1.0},
     {"adapter": "/models/ip.safetensors"}, {"digest": "f" * 64}, {"quantise": "float8"}],
)  # fmt: skip
def test_the_same_files_registered_to_run_otherwise_are_another_resident(change):
    model = registry.Model(name="a", folder=pathlib.Path("/models/a"), family="sdxl")
    assert dataclasses.replace(model, **change).key != model.key


def test_where_files_lie_and_what_is_allowed_make_no_other_resident():
    model = registry.Model(
        name="a", folder=pathlib.Path("/models/a"), family="sdxl", adapter="/models/ip.safetensors"
    )
    moved = dataclasses.replace(
        model, folder=pathlib.Path("/other/a"), adapter="/other/ip.safetensors",
        limits=registry.Limits(pixels=4096), licence="MIT",
    )  # fmt: skip
    assert moved.key == model.key
