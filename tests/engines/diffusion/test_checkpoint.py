from __future__ import annotations

import json
import pickle
import re
import shutil

import pytest

from mangen import errors
from mangen.engines.diffusion import abilities, adapter, checkpoint, enrolment, licence
from tests.engines.diffusion import forged

GIB = 2**30


@pytest.fixture
def folder(tmp_path):
    return forged.checkpoint(tmp_path / "sdxl")


def refused(folder, *words, variant=None):
    with pytest.raises(errors.ModelError) as caught:
        checkpoint.read(folder, variant)
    for word in words:
        assert str(word) in str(caught.value)


def test_a_full_size_folder_is_known_by_its_headers(folder):
    index = checkpoint.read(folder)
    assert (index.pipeline, index.dtype, index.variant) == (
        "StableDiffusionXLPipeline", "float16", "",
    )  # fmt: skip
    assert index.nbytes() / GIB == pytest.approx(6.46, abs=0.005)
    assert index.nbytes("float32") == 2 * index.nbytes("bfloat16") == 2 * index.nbytes()
    assert index.nbytes("float16", ["vae", "absent"]) == 2 * 83_653_863
    assert index.components["unet"].parameters == 2_567_463_684
    assert not index.components["tokenizer"].files
    assert "image_encoder" not in index.components


def test_what_is_no_checkpoint_is_told_what_it_is(folder, tmp_path):
    refused(tmp_path / "nowhere", "is not there")
    refused(tmp_path, "no checkpoint", folder)
    refused(folder / "unet", "a part of a checkpoint", folder)
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", "model_index.json")
    forged.safetensors(tmp_path / "single.safetensors", {"a": (1,)})
    refused(tmp_path / "single.safetensors", "from_single_file")
    (tmp_path / "old.ckpt").write_bytes(pickle.dumps({}))
    refused(tmp_path / "old.ckpt", "pickle", "runs whatever code")


def test_a_missing_piece_is_named(folder):
    names = forged.sharded(folder / "unet")
    assert len(checkpoint.read(folder).components["unet"].files) == 3
    (folder / "unet" / names[1]).unlink()
    refused(folder, folder / "unet" / names[1], "1 of 3 shards")
    (folder / "unet" / "diffusion_pytorch_model.safetensors.index.json").unlink()
    refused(folder, "index.json is missing")
    shutil.rmtree(folder / "unet")
    refused(folder, "unet", "no such folder")


def test_shards_of_another_download_are_found(folder):
    names = forged.sharded(folder / "unet")
    forged.safetensors(folder / "unet" / names[2], {"other": (10,)})
    refused(folder, names[2], "lacks part.2")


def test_shards_stay_in_their_folder_and_are_safetensors(folder):
    forged.sharded(folder / "unet")
    index = folder / "unet" / "diffusion_pytorch_model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "../../elsewhere.safetensors"}}))
    refused(folder, "outside its folder")
    index.write_text(json.dumps({"weight_map": {"a": "shard.bin"}}))
    refused(folder, "shard.bin", "pickle")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda file: forged.safetensors(file, {"a": (10,)}, cut=3), ["not whole", "bytes"]),
        (lambda file: file.write_bytes(b"\x00" * 4), ["not whole"]),
        (lambda file: file.write_bytes(b"\xff" * 40), ["not whole"]),
        (lambda file: file.write_bytes(b"\x08" + b"\0" * 7 + b"not json"), ["not whole"]),
        (lambda file: file.write_bytes(b"PK\x03\x04" + b"\0" * 99), ["pickle"]),
        (lambda file: file.write_bytes(pickle.dumps({"a": 1})), ["pickle"]),
        (
            lambda file: file.write_text("version https://git-lfs.github.com/spec/v1\noid 1\n"),
            ["git lfs pull"],
        ),
        (lambda file: forged.safetensors(file, {"a": (10,)}, "F64"), ["float64", "float16"]),
        (lambda file: forged.safetensors(file, {"a": (10,)}, "I8"), ["I8", "float16"]),
        (lambda file: file.rename(file.with_suffix(".bin")), ["vae", ".bin", "pickle"]),
        (lambda file: file.unlink(), ["vae has no weights"]),
    ],
)
def test_a_file_that_is_wrong_is_named_with_its_fault(folder, damage, words):
    file = folder / "vae" / "diffusion_pytorch_model.safetensors"
    damage(file)
    refused(folder, folder / "vae", *words)


def test_a_pickle_beside_safetensors_is_left_alone(folder):
    (folder / "vae" / "diffusion_pytorch_model.bin").write_bytes(pickle.dumps({}))
    assert checkpoint.read(folder)


def test_what_can_not_be_read_is_named(tmp_path):
    refused(tmp_path / ("n" * 300), "nnn", "can't read")


def test_code_in_a_folder_is_never_run(folder):
    index = json.loads((folder / "model_index.json").read_text())
    mine = {**index, "unet": ["my_unet", "MyUNet"]}
    (folder / "model_index.json").write_text(json.dumps(mine))
    (folder / "unet" / "my_unet.py").write_text("raise SystemExit")
    refused(folder, "code of its own")
    (folder / "model_index.json").write_text(json.dumps({**index, "_class_name": ["p", "P"]}))
    refused(folder, "code of its own")
    (folder / "model_index.json").write_text("{")
    refused(folder, "can't read")


def test_the_variant_is_the_one_that_is_whole(tmp_path):
    half = forged.checkpoint(tmp_path / "half", suffix=".fp16")
    assert checkpoint.read(half).variant == "fp16"
    forged.safetensors(half / "vae" / "diffusion_pytorch_model.safetensors", {"a": (3,)}, "F32")
    assert checkpoint.read(half).components["vae"].dtype == "float16"
    (half / "vae" / "diffusion_pytorch_model.fp16.safetensors").unlink()
    assert checkpoint.read(half).components["vae"].dtype == "float32"  # a plain one stands in
    refused(half, "'bf16'", "vae has plain files", variant="bf16")
    refused(half, "unet has 'fp16'", variant="")


def test_the_outline_changes_with_what_is_computed_with(folder):
    before = checkpoint.read(folder)
    (folder / "notes.txt").write_text("nothing")
    assert checkpoint.read(folder).outline == before.outline
    (folder / "vae" / "config.json").write_text('{"force_upcast": false}')
    changed = checkpoint.read(folder)
    assert changed.outline != before.outline


@pytest.mark.parametrize(
    ("files", "name", "limited"),
    [
        ({}, "", False),
        ({"README.md": "---\nlicense: openrail++\ntags: [a]\n---\n# x"}, "openrail++", False),
        ({"README.md": "---\nlicense: other\nlicense_name: sai-nc-community\n---\n"},
         "sai-nc-community", True),
        ({"README.md": "no front", "LICENSE.md": "\n   Apache License\n Version 2.0"},
         "apache-2.0", False),
        ({"LICENSE": "# Own terms of X\nno"}, "Own terms of X", False),
    ],
)  # fmt: skip
def test_the_licence_is_noted(tmp_path, files, name, limited):
    for file, text in files.items():
        (tmp_path / file).write_text(text)
    assert licence.of(tmp_path) == name
    assert licence.limits_use(name) is limited


def test_abilities_follow_the_pipeline_and_its_parts(folder):
    index = checkpoint.read(folder)
    assert abilities.of(index, "sdxl") == ("image", "anchor", "inpaint", "upscale")
    (folder / "unet" / "config.json").write_text('{"in_channels": 9}')
    assert abilities.of(checkpoint.read(folder), "sdxl") == ("inpaint",)
    index = json.loads((folder / "model_index.json").read_text())
    for name, roles in (
        ("CogVideoXPipeline", ("video",)),
        ("StableDiffusionUpscalePipeline", ("upscale",)),
        ("PixArtSigmaPipeline", ("image", "anchor")),
    ):
        (folder / "model_index.json").write_text(json.dumps({**index, "_class_name": name}))
        assert abilities.of(checkpoint.read(folder), "generic") == roles


def test_an_adapter_is_checked_against_the_encoder(folder, tmp_path):
    file = tmp_path / "a.safetensors"
    with pytest.raises(errors.ModelError, match="is not there"):
        adapter.read(file)
    forged.safetensors(file, {"lora": (2,)})
    with pytest.raises(errors.ModelError, match="no IP-Adapter"):
        adapter.read(file)
    keys = {"ip_adapter.1.to_k_ip.weight": (4, 4)}
    forged.safetensors(file, {"image_proj.norm.weight": (4,), **keys})
    with pytest.raises(errors.ModelError, match="FaceID"):
        adapter.read(file)
    forged.safetensors(file, {"image_proj.proj.weight": (16, 1024), **keys})
    assert (adapter.read(file).embedding, adapter.read(file).plus) == (1024, False)
    with pytest.raises(errors.ModelError, match="no image_encoder"):
        enrolment.enrol("a", folder, ip_adapter=file)
    parts = {
        **forged.SMALL,
        "image_encoder": (
            "transformers", "CLIPVisionModelWithProjection", {"projection_dim": 1280}, {"a": (4,)},
        ),
    }  # fmt: skip
    whole = forged.checkpoint(tmp_path / "whole", parts)
    with pytest.raises(errors.ModelError, match=r"1024 numbers.*makes 1280"):
        enrolment.enrol("a", whole, ip_adapter=file)
    forged.safetensors(file, {"image_proj.proj.weight": (16, 1280), **keys})
    assert enrolment.enrol("a", whole, ip_adapter=file).adapter == str(file)


def test_enrolling_says_what_it_will_run_in(tmp_path):
    folder = forged.checkpoint(tmp_path / "m", forged.SMALL, "F32")
    model = enrolment.enrol("m", folder)
    assert (model.dtype, model.family, model.variant) == ("float32", "sdxl", "")
    assert re.fullmatch("[0-9a-f]{64}", model.digest)
    with pytest.raises(errors.ModelError, match=r"'int8'.*float32, float16, bfloat16"):
        enrolment.enrol("m", folder, dtype="int8")
    assert enrolment.enrol("m", folder, dtype="float16").variant == ""  # rounded when loaded
    for name, one in forged.SMALL.items():
        stem = "model" if one[0] == "transformers" else "diffusion_pytorch_model"
        if one[3]:
            forged.safetensors(folder / name / f"{stem}.fp16.safetensors", one[3])
    half = enrolment.enrol("m", folder, dtype="float16")
    assert half.variant == "fp16"
    assert half.digest != model.digest


def test_nothing_large_is_read_before_all_else_is_right(folder):
    def read(count):
        assert count == 2 * 3_468_837_867
        raise InterruptedError

    for wrong in ({"roles": ["video"]}, {"guidance": -1.0}, {"name": "a/b"}):
        with pytest.raises(errors.ModelError):
            enrolment.enrol(**{"name": "m", "folder": folder, "before_reading": read, **wrong})
    with pytest.raises(InterruptedError):
        enrolment.enrol("m", folder, roles=["image"], before_reading=read)


def test_the_refiner_is_not_taken_for_the_base(tmp_path):
    parts = {name: one for name, one in forged.SMALL.items()
             if name not in ("text_encoder", "tokenizer")}  # fmt: skip
    kind = "StableDiffusionXLImg2ImgPipeline"
    model = enrolment.enrol("r", forged.checkpoint(tmp_path / "r", parts, pipeline=kind))
    assert (model.family, model.roles) == ("generic", ("upscale",))
