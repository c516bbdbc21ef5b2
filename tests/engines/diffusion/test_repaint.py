"""Pictures that begin with a picture: drawn over as far as allowed, or only where a mask says."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the gpu extra is not installed")
diffusers = pytest.importorskip("diffusers", reason="the gpu extra is not installed")

from mangen import errors  # noqa: E402 - after what may skip it
from mangen.engines.diffusion import family, sdxl, vae  # noqa: E402 - as above
from tests.engines.diffusion import drive  # noqa: E402 - as above

WIDTH, HEIGHT = 96, 64
PICTURE = np.random.default_rng(9).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
MASK = np.zeros((HEIGHT, WIDTH), np.uint8)
MASK[16:48, 24:72] = 255
BASE = family.Task(role="image", prompt="the cat", width=WIDTH, height=HEIGHT, seed=1, steps=8,
                   guidance=5.0, strength=0.6, images=(PICTURE,))  # fmt: skip


@pytest.fixture(scope="module")
def stock(sdxl_model):
    pipe = diffusers.StableDiffusionXLPipeline.from_pretrained(
        sdxl_model.folder, image_encoder=None, feature_extractor=None
    )

    def draw(kind, task, **more):
        made = getattr(diffusers, kind).from_pipe(pipe)
        made.set_progress_bar_config(disable=True)
        return made(
            task.prompt, num_inference_steps=task.steps, strength=task.strength,
            guidance_scale=task.guidance, generator=torch.Generator().manual_seed(task.seed),
            output_type="latent", **more,
        ).images  # fmt: skip

    draw.encode = vae.Vae(pipe.vae).encode
    return draw


def test_pictures_drawn_over_share_the_batch_with_others(sdxl_model, rt, stock):
    with torch.no_grad():
        base = stock.encode(PICTURE, HEIGHT, WIDTH)
    words = dataclasses.replace(BASE, images=(), strength=1.0, steps=4, seed=7)
    repaint = dataclasses.replace(BASE, role="inpaint", mask=MASK, strength=0.9, seed=3)
    fresh = dataclasses.replace(repaint, strength=1.0, seed=4)
    ended, latents = drive.run(
        sdxl.FAMILY, sdxl_model, rt, {"over": BASE, "words": words},
        joins={2: {"repaint": repaint, "fresh": fresh}},
    )  # fmt: skip
    over = stock("StableDiffusionXLImg2ImgPipeline", BASE, image=base)
    assert drive.far(latents["over"], over) <= 1e-5
    mask = torch.from_numpy(MASK / 255.0)[None, None].float()
    for key, task in (("repaint", repaint), ("fresh", fresh)):
        single = stock(
            "StableDiffusionXLInpaintPipeline", task, image=base, mask_image=mask,
            height=HEIGHT, width=WIDTH,
        )  # fmt: skip
        assert drive.far(latents[key], single) <= 1e-5
        drawn = ended[key].images[0]
        assert np.array_equal(drawn[MASK == 0], PICTURE[MASK == 0])
        assert not np.array_equal(drawn[MASK > 0], PICTURE[MASK > 0])
    assert rt.features.counters()["latent"]["hit"] >= 2  # one picture is encoded once


def test_greys_of_a_mask_mix_and_any_size_of_picture_will_do(sdxl_model, rt):
    grey = dataclasses.replace(
        BASE, role="inpaint", mask=np.full((7, 5), 128, np.uint8), steps=2,
        images=(np.full((1, 1, 3), 200, np.uint8),),
    )  # fmt: skip
    full = dataclasses.replace(grey, mask=np.full((7, 5), 255, np.uint8))
    ended, _ = drive.run(sdxl.FAMILY, sdxl_model, rt, {"grey": grey, "full": full})
    mixed, whole = (ended[key].images.astype(float) for key in ("grey", "full"))
    assert mixed.shape == (1, HEIGHT, WIDTH, 3)
    assert np.abs(mixed - (whole * 128 + 200 * 127) / 255).max() <= 1


def test_a_model_made_for_repainting_takes_the_mask_by_its_own_channels(sdxl_model, rt, tmp_path):
    pipe = diffusers.StableDiffusionXLPipeline.from_pretrained(
        sdxl_model.folder, image_encoder=None, feature_extractor=None
    )
    wide = torch.nn.Conv2d(9, pipe.unet.conv_in.out_channels, 3, padding=1)
    torch.nn.init.normal_(wide.weight, std=0.1, generator=torch.Generator().manual_seed(1))
    pipe.unet.conv_in = wide
    pipe.unet.register_to_config(in_channels=9)
    pipe.save_pretrained(tmp_path / "inpaint")
    model = dataclasses.replace(sdxl_model, name="nine", folder=tmp_path / "inpaint")
    task = dataclasses.replace(BASE, role="inpaint", mask=MASK, strength=0.9)
    _, latents = drive.run(sdxl.FAMILY, model, rt, {"one": task})
    stock = diffusers.StableDiffusionXLInpaintPipeline.from_pipe(pipe)
    stock.set_progress_bar_config(disable=True)
    ours = vae.Vae(pipe.vae)
    mask = torch.from_numpy(MASK / 255.0)[None, None].float()
    with torch.no_grad():
        base = ours.encode(PICTURE, HEIGHT, WIDTH)
        kept = ours.encode(PICTURE, HEIGHT, WIDTH, hidden=mask)
    single = stock(
        task.prompt, image=base, mask_image=mask, masked_image_latents=kept, height=HEIGHT,
        width=WIDTH, num_inference_steps=task.steps, strength=task.strength,
        guidance_scale=task.guidance, output_type="latent",
        generator=torch.Generator().manual_seed(task.seed),
    ).images  # fmt: skip
    assert drive.far(latents["one"], single) <= 1e-5
    with pytest.raises(errors.EngineError, match="only repaints"):
        drive.run(sdxl.FAMILY, model, rt, {"words": dataclasses.replace(BASE, images=())})
