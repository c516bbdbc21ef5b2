"""The first frame of a clip, encoded apart: the same every time, whatever picture it is."""

from __future__ import annotations

import contextlib
import dataclasses
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

torch = pytest.importorskip("torch", reason="the gpu extra is not installed")
diffusers = pytest.importorskip("diffusers", reason="the gpu extra is not installed")

from mangen import errors  # noqa: E402 - after what may skip it
from mangen.engines.diffusion import family, i2vgen, loading  # noqa: E402 - as above
from mangen.pooling import errors as pool_errors  # noqa: E402 - as above
from mangen.pooling import testing  # noqa: E402 - as above
from tests.engines.diffusion import clips, drive  # noqa: E402 - as above

WIDTH, HEIGHT = 96, 64
TASK = family.Task(role="encode", prompt="", width=WIDTH, height=HEIGHT,
                   images=(clips.picture(WIDTH, HEIGHT),))  # fmt: skip
VIDEO = dataclasses.replace(TASK, role="video", prompt="the cat", frames=4, steps=4, guidance=5.0)


@pytest.fixture
def fresh():
    """A runtime whose cache keeps nothing from other tests, nor anything at all."""
    made = testing.Here()
    made.cache = _Nothing()
    return made


class _Nothing:
    def get(self, _kind, _signature):
        return None

    def put(self, *_names, **_more):
        pass


def encode(model, rt, tasks):
    bucket = i2vgen.FAMILY.bucket(model, next(iter(tasks.values())))
    ended = {}
    with contextlib.closing(i2vgen.FAMILY.open(model, bucket, rt)) as batch:
        batch.add(tasks)
        while len(ended) < len(tasks):
            ended.update(batch.step())
    return ended


def test_a_first_frame_becomes_what_the_pipeline_makes_of_it(i2vgen_model, rt):
    loading.diffusers()
    pipe = diffusers.I2VGenXLPipeline.from_pretrained(i2vgen_model.folder)
    pipe._guidance_scale = 1.0
    result = encode(i2vgen_model, rt, {"one": TASK})["one"]
    assert result.images.shape == (0, HEIGHT, WIDTH, 3)
    assert {name: made.shape for name, made in result.features.items()} == {
        "image_embedding": (1, 1, 32), "first_latent": (1, 4, 8, 12),
    }  # fmt: skip
    shown = Image.fromarray(TASK.images[0])
    module = sys.modules[type(pipe).__module__]
    square = module._resize_bilinear(module._center_crop_wide(shown, (WIDTH, WIDTH)), (32, 32))
    with torch.no_grad():
        seen = pipe._encode_image(square, "cpu", 1)
        pixels = pipe.video_processor.preprocess(shown)
        latent = pipe.vae.encode(pixels).latent_dist.mode() * pipe.vae.config.scaling_factor
    assert drive.far(torch.from_numpy(result.features["image_embedding"]), seen) <= 1e-6
    assert drive.far(torch.from_numpy(result.features["first_latent"]), latent) <= 1e-5


def test_the_first_latent_does_not_hang_on_dice_and_they_stay_as_they_are(i2vgen_model, fresh):
    made = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        before = torch.get_rng_state()
        made.append(encode(i2vgen_model, fresh, {"one": TASK})["one"].features)
        assert torch.equal(torch.get_rng_state(), before)
    for name in made[0]:
        assert np.array_equal(made[0][name], made[1][name])


def test_a_clip_of_an_encoded_frame_is_that_of_the_frame(i2vgen_model, fresh):
    encoded = encode(i2vgen_model, fresh, {"one": TASK})["one"].features
    split = dataclasses.replace(VIDEO, images=(), encoded=encoded)
    torch.manual_seed(3)
    whole, one = drive.run(i2vgen.FAMILY, i2vgen_model, fresh, {"clip": VIDEO})
    torch.manual_seed(4)
    apart, other = drive.run(i2vgen.FAMILY, i2vgen_model, fresh, {"clip": split})
    assert torch.equal(one["clip"], other["clip"])
    assert np.array_equal(whole["clip"].images, apart["clip"].images)


def test_each_stage_holds_its_own_parts_alone(i2vgen_model, rt):
    video, encoder = (i2vgen.FAMILY.spec(i2vgen_model, role) for role in ("video", "encode"))
    assert video.key != encoder.key
    for spec, parts in ((video, ("_unet", "_vae")), (encoder, ("_eye", "_vae"))):
        with rt.use(spec) as loaded:
            held = [getattr(loaded, part) for part in parts]
            held = [getattr(one, "_module", one) for one in held]
            if spec is video:
                held.append(loaded._words._pairs[0][1])
            count = sum(p.numel() for one in held for p in one.parameters())
        assert spec.weight_bytes == 4 * count
    half = dataclasses.replace(i2vgen_model, dtype="float16")
    assert i2vgen.FAMILY.spec(half, "encode").weight_bytes * 2 == encoder.weight_bytes


@pytest.mark.parametrize(
    "size", [(1, 1), (97, 63), (1, 3000), (3000, 1), (33, 500), (WIDTH + 1, HEIGHT + 1)]
)
def test_pictures_of_any_size_are_cut_at_their_middle(i2vgen_model, rt, size):
    plain = np.full((size[1], size[0], 3), (200, 90, 30), np.uint8)
    whole = dataclasses.replace(TASK, images=(np.full((HEIGHT, WIDTH, 3), plain[0, 0], np.uint8),))
    ended = encode(i2vgen_model, rt, {
        "odd": dataclasses.replace(TASK, images=(plain,)), "whole": whole,
    })  # fmt: skip
    for name in ("image_embedding", "first_latent"):
        one, other = (ended[key].features[name] for key in ("odd", "whole"))
        assert np.allclose(one, other, atol=1e-5)


def test_a_picture_is_cut_around_its_middle(i2vgen_model, rt):
    framed = np.zeros((HEIGHT, 3 * WIDTH, 3), np.uint8)
    framed[:, WIDTH : 2 * WIDTH] = TASK.images[0]
    ended = encode(i2vgen_model, rt, {
        "framed": dataclasses.replace(TASK, images=(framed,)), "one": TASK,
    })  # fmt: skip
    latents = [ended[key].features["first_latent"] for key in ("framed", "one")]
    assert np.array_equal(*latents)


def test_what_a_frame_became_is_kept(i2vgen_model, rt):
    task = dataclasses.replace(TASK, images=(clips.picture(50, 40, seed=77),))
    first = encode(i2vgen_model, rt, {"first": task})["first"]
    rt.features.settle("first", done=True)
    before = {kind: rt.features.counters()[kind]["hit"] for kind in ("image", "latent")}
    again = encode(i2vgen_model, rt, {"again": task})["again"]
    after = {kind: rt.features.counters()[kind]["hit"] for kind in ("image", "latent")}
    assert all(after[kind] == before[kind] + 1 for kind in before)
    assert np.array_equal(first.features["first_latent"], again.features["first_latent"])


def test_a_frame_that_is_none_is_its_own_end_and_an_abort_loses_no_result(i2vgen_model, rt):
    bad = dataclasses.replace(TASK, images=(np.zeros((4, 4, 4), np.uint8),))
    ended = encode(i2vgen_model, rt, {
        "bad": bad, "none": dataclasses.replace(TASK, images=()), "good": TASK,
    })  # fmt: skip
    assert "RGB" in str(ended["bad"])
    assert "without a first frame" in str(ended["none"])
    assert isinstance(ended["good"], family.Result)
    with contextlib.closing(i2vgen.FAMILY.open(i2vgen_model, "a|b|encode|c", rt)) as batch:
        batch.add({"one": TASK, "two": TASK})
        with pytest.raises(errors.EngineError, match="two runs in this batch"):
            batch.add({"two": TASK})
        rt.stop("one")
        with pytest.raises(pool_errors.Dropped):
            batch.step()
        rt.stopped.clear()
        assert batch.step().keys() == {"one"}
        batch.drop("two")
        assert batch.step() == {}


def test_memory_that_runs_out_is_told_to_the_pool(i2vgen_model, fresh, monkeypatch):
    with fresh.use(i2vgen.FAMILY.spec(i2vgen_model, "encode")) as loaded:

        def full(*_):
            raise torch.OutOfMemoryError("full")

        monkeypatch.setattr(loaded, "encode", full)
        batch = i2vgen.FAMILY.open(i2vgen_model, i2vgen.FAMILY.bucket(i2vgen_model, TASK), fresh)
        batch.add({"one": TASK})
        with pytest.raises(torch.OutOfMemoryError):
            batch.step()
        monkeypatch.undo()
    assert batch.step().keys() == {"one"}


def test_numbers_that_are_none_are_refused(i2vgen_model, fresh):
    with fresh.use(i2vgen.FAMILY.spec(i2vgen_model, "encode")) as loaded, torch.no_grad():
        loaded._vae._module.quant_conv.bias.fill_(torch.inf)
    ended = encode(i2vgen_model, fresh, {"one": TASK})
    with pytest.raises(errors.EngineError, match=r"encoders of clips made NaN.*bfloat16"):
        raise ended["one"]


def test_bytes_sizes_and_buckets_are_told_without_torch(i2vgen_model):
    code = f"""
import pathlib, sys
from mangen.engines.diffusion import checkpoint, family, registry
model = registry.Model(name="t", folder=pathlib.Path({str(i2vgen_model.folder)!r}),
                       family="i2vgen")
found = family.of("i2vgen")
tasks = [family.Task(role=role, prompt="a", width=512, height=512, frames=16)
         for role in ("video", "encode")]
assert found.staged and found.serves(checkpoint.read(model.folder))
print(*[found.spec(model, task.role).weight_bytes > 0 for task in tasks],
      len({{found.bucket(model, task) for task in tasks}}), found.legal(model, 720, 1280, 99),
      *[m for m in ("torch", "diffusers") if m in sys.modules])
"""
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == "True True 2 (720, 1280, 16)"


def test_sizes_beyond_its_own_are_refused_with_the_nearest(i2vgen_model):
    with pytest.raises(family.SizeError, match=r"1920x1080 x 24.*1280x720 x 16 frames"):
        i2vgen.FAMILY.legal(i2vgen_model, 1920, 1080, 24, strict=True)
    wide = dataclasses.replace(
        i2vgen_model, limits=dataclasses.replace(i2vgen_model.limits, frames=32)
    )
    assert i2vgen.FAMILY.legal(wide, 512, 512, 24, strict=True) == (512, 512, 24)


def test_a_peak_is_the_largest_stage_and_decoding_never_is(i2vgen_model):
    """facts: 2.59 and 8.88 GiB a clip in half precision, and 0.375 for one frame of 512 pixels."""
    gib = 2**30
    half = dataclasses.replace(i2vgen_model, dtype="float16")
    task = dataclasses.replace(VIDEO, width=512, height=512, frames=16)
    large = dataclasses.replace(task, width=704, height=1280)
    peak = i2vgen.FAMILY.peak
    assert peak(half, task, 1) / gib == pytest.approx(2.59, abs=5e-3)
    assert peak(half, task, 2) == 2 * peak(half, task, 1)
    assert peak(half, large, 1) / gib == pytest.approx(8.9, abs=3e-2)
    padded = dataclasses.replace(task, pad=4)
    assert peak(half, padded, 1) == peak(half, task, 4)
    assert i2vgen.chunk(half, task) == 6
    assert peak(half, task, 1) / gib >= 6 * 0.375
    still = dataclasses.replace(task, frames=1, guidance=1.0)
    assert i2vgen.chunk(half, still) == 1
    # a frame that is at fault is decoded once more in single precision
    assert peak(half, still, 1) == family.VAE_DECODE.bytes("float32", 1, 512 * 512)
    assert (i2vgen.safe_chunk(half, task), i2vgen.safe_chunk(half, still)) == (3, 1)
    names = [[one.name for one in i2vgen.FAMILY.stages(half, one, 1)] for one in (
        task, dataclasses.replace(task, encoded={"a": 1}), dataclasses.replace(task, role="encode"),
    )]  # fmt: skip
    assert names == [["encode", "denoise", "decode"], ["denoise", "decode"], ["encode"]]
    (apart, *others) = (one.spec for one in i2vgen.FAMILY.stages(half, task, 1))
    assert apart.key == i2vgen.FAMILY.spec(half, "encode").key
    assert others == [None, None]
    encoding = dataclasses.replace(task, role="encode")
    assert peak(half, encoding, 1) == peak(half, encoding, 9) > 0
    assert peak(half, encoding, 1) == family.VAE_ENCODE.bytes("float16", 1, 512 * 512)


def test_a_bucket_of_encoding_knows_no_steps(i2vgen_model):
    bucket = i2vgen.FAMILY.bucket
    plain = bucket(i2vgen_model, TASK)
    other = dataclasses.replace(TASK, steps=9, guidance=1.0, frames=16, fps=8, seed=5, pad=4)
    assert bucket(i2vgen_model, other) == plain
    assert bucket(i2vgen_model, dataclasses.replace(TASK, width=64)) != plain
    assert family.size_of(plain) == (WIDTH, HEIGHT, 1)
    video = bucket(i2vgen_model, VIDEO)
    assert video != plain
    assert video == bucket(i2vgen_model, dataclasses.replace(VIDEO, encoded={"a": 1}, fps=8))
    assert video != bucket(i2vgen_model, dataclasses.replace(VIDEO, frames=8))
