from __future__ import annotations

import hashlib

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the gpu extra is not installed")
diffusers = pytest.importorskip("diffusers", reason="the gpu extra is not installed")

from mangen import errors  # noqa: E402 - after what may skip it
from mangen.engines.diffusion import (  # noqa: E402 - as above
    checkpoint,
    enrolment,
    family,
    loading,
    trial,
)
from mangen.engines.diffusion import tiny as maker  # noqa: E402 - as above
from mangen.pooling.devices import device  # noqa: E402 - as above

_PIPELINES = {
    "sdxl": "StableDiffusionXLPipeline", "i2vgen_xl": "I2VGenXLPipeline",
    "flux2_klein": "Flux2KleinPipeline", "wan22_ti2v": "WanPipeline",
}  # fmt: skip
_CALLS = {
    "sdxl": {"num_inference_steps": 2},
    "flux2_klein": {"num_inference_steps": 2},
    "wan22_ti2v": {"num_inference_steps": 2, "num_frames": 5},
}


def digests(folder):
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


@pytest.mark.parametrize("name", maker.MAKERS)
def test_one_seed_makes_the_same_bytes_and_the_dice_stay(tiny, name, tmp_path):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    again = maker.make(name, tmp_path / "again")
    other = maker.make(name, tmp_path / "other", seed=1)
    assert torch.equal(torch.get_rng_state(), before)
    assert digests(again) == digests(tiny(name)) != digests(other)
    assert sum(file.stat().st_size for file in again.rglob("*") if file.is_file()) < 12_000_000
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []
    index = checkpoint.read(again)
    assert (index.pipeline, index.dtype, index.licence) == (
        _PIPELINES[name], "float32", "apache-2.0",
    )  # fmt: skip
    assert family.name_of(index.pipeline) != "generic"


@pytest.mark.parametrize("name", _CALLS)
def test_the_stock_pipelines_load_and_run_them(tiny, name):
    loading.diffusers()
    pipe = diffusers.DiffusionPipeline.from_pretrained(str(tiny(name)), local_files_only=True)
    assert type(pipe).__name__ == _PIPELINES[name]
    pipe.set_progress_bar_config(disable=True)
    more = {"ip_adapter_image": None} if name == "sdxl" else {}
    found = pipe(
        prompt="a cat", width=64, height=64, output_type="np",
        generator=torch.Generator().manual_seed(0), **_CALLS[name], **more,
    )  # fmt: skip
    picture = np.asarray(found[0])
    assert picture.shape[-3:] == (64, 64, 3)
    assert picture.std() > 0.05


def test_counted_bytes_are_those_of_the_loaded_model(tiny):
    index = checkpoint.read(tiny("sdxl"))
    pipe = diffusers.DiffusionPipeline.from_pretrained(
        str(index.folder), dtype=torch.float16, local_files_only=True
    )
    for name, part in index.components.items():
        if part.files:
            held = sum(p.numel() * p.element_size() for p in getattr(pipe, name).parameters())
            assert part.nbytes("float16") == held, name


def test_a_folder_of_a_variant_loads(tiny, tmp_path):
    for name, data in ((file, file.read_bytes()) for file in tiny("sdxl").rglob("*.*")
                       if file.is_file() and "ip_adapter" not in file.parts):  # fmt: skip
        place = tmp_path / name.relative_to(tiny("sdxl"))
        place = place.with_name(place.name.replace(".safetensors", ".fp16.safetensors"))
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(data)
    model = enrolment.enrol("half", tmp_path)
    assert model.variant == "fp16"
    assert loading.pipeline(model).unet.num_parameters() > 0


def test_a_trial_loads_and_runs_and_refuses_what_cannot_be(tiny, tmp_path):
    model = enrolment.enrol("m", tiny("sdxl"), dtype="float32")
    options = device.Options(cpu_bytes=64 << 30, folder=str(tmp_path))
    found = trial.run(model, "cpu", options)
    assert found.weights > 9_000_000
    assert found.peak >= found.held >= 0
    with pytest.raises(errors.ModelError, match=r"free.*estimate m"):
        trial.run(model, "cpu", device.Options(cpu_bytes=1 << 20, folder=str(tmp_path)))
    with pytest.raises(errors.ModelError, match="simulated"):
        trial.run(model, "sim:card_24g", options)
    with pytest.raises(errors.ModelError, match="no device 'tpu'"):
        trial.run(model, "tpu", options)


def test_a_folder_that_is_there_is_left_alone(tmp_path):
    with pytest.raises(errors.ModelError, match="is there already"):
        maker.make("sdxl", tmp_path)
    with pytest.raises(errors.ModelError, match="sdxl, i2vgen_xl, flux2_klein, wan22_ti2v"):
        maker.make("sd15", tmp_path / "x")
    assert list(tmp_path.iterdir()) == []
