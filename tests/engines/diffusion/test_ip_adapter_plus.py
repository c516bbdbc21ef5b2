"""IP-Adapter Plus, which looks at a picture's patches by a resampler: 257 states of 1280 each."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the gpu extra is not installed")
diffusers = pytest.importorskip("diffusers", reason="the gpu extra is not installed")
transformers = pytest.importorskip("transformers", reason="the gpu extra is not installed")

from PIL import Image  # noqa: E402 - after what may skip it
from safetensors import torch as files  # noqa: E402 - as above

from mangen import errors  # noqa: E402 - as above
from mangen.engines.diffusion import (  # noqa: E402 - as above
    adapter,
    checkpoint,
    enrolment,
    family,
    features,
    ip_adapter,
    sdxl,
)
from tests.engines.diffusion import drive  # noqa: E402 - as above

BASE = family.Task(role="image", prompt="the cat", negative="bad", width=96, height=64, seed=1,
                   steps=4, guidance=5.0)  # fmt: skip
STATES, WIDTH = 257, 1280  #: of ViT-H at 224 pixels
HIDDEN, TOKENS, LAYERS, HEADS = 64, 16, 4, 1
LEFT, RIGHT = (0.0, 0.0, 0.5, 1.0), (0.5, 0.0, 1.0, 1.0)


def resampler(states):
    """The weights that make tokens of states, as people share them."""
    inner = 64 * HEADS
    shapes = {"latents": (1, TOKENS, HIDDEN), "proj_in": (HIDDEN, WIDTH),
              "proj_out": (states, HIDDEN), "norm_out": (states,)}  # fmt: skip
    for layer in range(LAYERS):
        shapes |= {
            f"layers.{layer}.0.norm1": (HIDDEN,), f"layers.{layer}.0.norm2": (HIDDEN,),
            f"layers.{layer}.0.to_q.weight": (inner, HIDDEN),
            f"layers.{layer}.0.to_kv.weight": (2 * inner, HIDDEN),
            f"layers.{layer}.0.to_out.weight": (HIDDEN, inner),
            f"layers.{layer}.1.0": (HIDDEN,),
            f"layers.{layer}.1.1.weight": (4 * HIDDEN, HIDDEN),
            f"layers.{layer}.1.3.weight": (HIDDEN, 4 * HIDDEN),
        }  # fmt: skip
    made = {}
    for name, shape in shapes.items():
        if name == "latents" or name.endswith(".weight"):
            made[name] = torch.randn(shape) * 0.3
        else:  # a linear layer or a norm, with its bias
            norm = len(shape) == 1
            made[f"{name}.weight"] = torch.ones(shape) if norm else torch.randn(shape) * 0.1
            made[f"{name}.bias"] = torch.zeros(shape[0])
    return made


@pytest.fixture(scope="module")
def folder(sdxl_model, tmp_path_factory):
    """The tiny SDXL with an image encoder of ViT-H's shape, and a seeded Plus adapter for it."""
    out = tmp_path_factory.mktemp("plus") / "sdxl"
    torch.manual_seed(7)
    pipe = diffusers.StableDiffusionXLPipeline.from_pretrained(sdxl_model.folder)
    pipe.image_encoder = transformers.CLIPVisionModelWithProjection(
        transformers.CLIPVisionConfig(
            hidden_size=WIDTH, intermediate_size=32, num_hidden_layers=1, num_attention_heads=16,
            projection_dim=32, image_size=224, patch_size=14,
        )
    )  # fmt: skip
    pipe.feature_extractor = transformers.CLIPImageProcessor()
    pipe.save_pretrained(out)
    old = files.load_file(adapter.of(checkpoint.read(sdxl_model.folder)).path)
    tensors = {name: one for name, one in old.items() if name.startswith("ip_adapter.")}
    states = int(pipe.unet.config.cross_attention_dim)
    tensors |= {f"image_proj.{name}": one for name, one in resampler(states).items()}
    (out / adapter.FOLDER).mkdir()
    files.save_file(tensors, out / adapter.FOLDER / "plus.safetensors", metadata={"format": "pt"})
    return out


@pytest.fixture(scope="module")
def plus(folder):
    """As `models add` takes it."""
    return enrolment.enrol("plus", folder, dtype="float32")


def who(seed, **more):
    picture = np.random.default_rng(seed).integers(0, 256, (64, 48, 3), np.uint8)
    return family.CharacterFeatures(name=f"who {seed}", picture=picture, **more)


def shown(one):
    """What the encoder sees of a picture, for the stock pipeline."""
    return Image.fromarray(ip_adapter.portrait(one.picture))


@pytest.fixture(scope="module")
def stock(folder):
    pipe = diffusers.StableDiffusionXLPipeline.from_pretrained(folder)
    pipe.set_progress_bar_config(disable=True)
    pipe.load_ip_adapter(
        str(folder), subfolder=adapter.FOLDER, weight_name="plus.safetensors",
        image_encoder_folder=None, local_files_only=True,
    )  # fmt: skip

    def draw(task):
        """One task alone: the stock pipeline would blend a batch's characters."""
        people, more = task.characters, {}
        scales = [one.weight for one in people]
        if len(people) > 1:
            masks = torch.zeros(1, len(people), task.height, task.width)
            for number, one in enumerate(people):
                left, top, right, bottom = one.region or (0, 0, 1, 1)
                masks[:, number, int(top * task.height) : int(bottom * task.height),
                      int(left * task.width) : int(right * task.width)] = 1  # fmt: skip
            more = {"cross_attention_kwargs": {"ip_adapter_masks": [masks]}}
        pipe.set_ip_adapter_scale([scales] if len(people) > 1 else scales[0])
        return pipe(
            task.prompt, negative_prompt=task.negative, height=task.height, width=task.width,
            num_inference_steps=task.steps, guidance_scale=task.guidance, output_type="latent",
            generator=torch.Generator().manual_seed(task.seed),
            ip_adapter_image=[[shown(one) for one in people]], **more,
        ).images  # fmt: skip

    return draw


def test_it_is_known_for_what_it_is_and_weighed_whole(folder, plus, sdxl_model):
    found = adapter.read(folder / adapter.FOLDER / "plus.safetensors")
    assert (found.plus, found.embedding) == (True, WIDTH)
    bare = dataclasses.replace(plus, adapter="")
    more = sdxl.weight_bytes(plus) - sdxl.weight_bytes(bare)
    encoder = checkpoint.read(folder).nbytes("float32", ["image_encoder"])
    assert more == found.parameters * 4 + encoder
    index = checkpoint.read(sdxl_model.folder)  # its encoder makes 32
    with pytest.raises(errors.ModelError, match=r"1280 numbers.*makes 32"):
        adapter.check(found, index)


def test_features_are_a_pictures_states_without_and_with_it(plus, rt):
    with rt.use(sdxl.FAMILY.spec(plus, "image")) as loaded, torch.no_grad():
        made = loaded._adapter.encode(who(1).picture)
    assert made.shape == (2, 1, STATES, WIDTH)
    assert np.abs(made[0] - made[1]).max() > 0.1
    # too large to go with the anchor as JSON: its picture says the same
    assert "array" not in features.told(plus, {"ip_adapter": made})


@pytest.mark.parametrize(("dtype", "kept"), [("float16", "float16"), ("bfloat16", "float32")])
def test_half_precision_features_take_no_more_bytes_than_they_have(plus, rt, dtype, kept):
    half = dataclasses.replace(plus, name=dtype, dtype=dtype)
    with rt.use(sdxl.FAMILY.spec(half, "image")) as loaded, torch.no_grad():
        made = loaded._adapter.encode(who(1).picture)
        cast = loaded._adapter.cast([made], [who(1)])
    assert (made.dtype, made.shape) == (np.dtype(kept), (2, 1, STATES, WIDTH))
    assert cast.tokens.shape[:3] == (2, 1, TOKENS)
    assert str(cast.tokens.dtype) == f"torch.{dtype}"


def test_a_batch_of_two_characters_and_a_pair_equals_its_singles_by_scale_and_region(
    plus, rt, stock
):
    given = {
        "one": dataclasses.replace(BASE, characters=(who(1, weight=0.7),)),
        "other": dataclasses.replace(BASE, seed=2, characters=(who(2, weight=0.3),)),
        "both": dataclasses.replace(
            BASE, seed=3, characters=(who(1, weight=0.6), who(2, weight=0.4))
        ),
        "sides": dataclasses.replace(
            BASE, seed=4, characters=(who(1, region=LEFT), who(2, region=RIGHT))
        ),
        "nobody": BASE,
    }
    _, latents = drive.run(sdxl.FAMILY, plus, rt, given)
    for key in ("one", "other", "both"):
        assert drive.far(latents[key], stock(given[key])) <= 1e-5, key
    swapped = dataclasses.replace(given["one"], characters=(who(2, weight=0.7),))
    assert drive.far(latents["one"], stock(swapped)) > 1e-2  # the character does tell
    # stock masks are of whole places, ours are shares of them: halves are the same
    assert drive.far(latents["sides"], stock(given["sides"])) <= 1e-5
    bare = dataclasses.replace(plus, adapter="", name="bare")
    _, plain = drive.run(sdxl.FAMILY, bare, rt, {"nobody": BASE})
    assert drive.far(latents["nobody"], plain["nobody"]) <= 1e-5


def test_an_anchors_features_draw_as_its_picture_does_and_are_kept(plus, rt):
    ended, _ = drive.run(
        sdxl.FAMILY, plus, rt, {"anchor": dataclasses.replace(BASE, role="anchor", steps=1)}
    )
    anchor = ended["anchor"]
    seen = family.CharacterFeatures(name="she", picture=anchor.images[0])
    known = dataclasses.replace(seen, picture=None, features=anchor.features["ip_adapter"])
    before = rt.features.counters()["character"]["miss"]
    _, made = drive.run(sdxl.FAMILY, plus, rt, {
        "seen": dataclasses.replace(BASE, characters=(seen,)),
        "again": dataclasses.replace(BASE, characters=(seen,)),
        "known": dataclasses.replace(BASE, characters=(known,)),
    })  # fmt: skip
    assert drive.far(made["seen"], made["known"]) <= 1e-5
    assert rt.features.counters()["character"]["miss"] == before + 1  # one picture is seen once


def test_features_of_a_plain_adapter_are_refused_by_name(plus, rt):
    plain = family.CharacterFeatures(name="Li Wei", features=np.zeros((2, 1, 1024), np.float32))
    short = family.CharacterFeatures(name="Li Wei", features=np.zeros((2, 1, 257, 9), np.float32))
    for one in (plain, short):
        with pytest.raises(errors.EngineError, match="Li Wei"):
            drive.run(
                sdxl.FAMILY, plus, rt, {"x": dataclasses.replace(BASE, characters=(one,), steps=1)}
            )
