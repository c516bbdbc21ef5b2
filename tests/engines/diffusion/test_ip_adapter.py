"""Characters: each picture of a batch shows its own, by weight and by region."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the gpu extra is not installed")
diffusers = pytest.importorskip("diffusers", reason="the gpu extra is not installed")

from PIL import Image  # noqa: E402 - after what may skip it

from mangen import errors  # noqa: E402 - as above
from mangen.engines.diffusion import family, ip_adapter, sdxl  # noqa: E402 - as above
from tests.engines.diffusion import drive  # noqa: E402 - as above

BASE = family.Task(role="image", prompt="the cat", negative="bad", width=96, height=64, seed=1,
                   steps=6, guidance=5.0)  # fmt: skip
EVERYWHERE = (0.0, 0.0, 1.0, 1.0)


def picture(seed):
    return np.random.default_rng(seed).integers(0, 256, (64, 48, 3), np.uint8)


def who(seed, **more):
    return family.CharacterFeatures(name=f"who {seed}", **{"picture": picture(seed), **more})


def shown(one):
    """What the encoder sees of a picture, for the stock pipeline."""
    return Image.fromarray(ip_adapter.portrait(one.picture))


@pytest.fixture(scope="module")
def stock(adapted):
    """The stock pipeline with the same adapter: it draws one character right, alone."""
    pipe = diffusers.StableDiffusionXLPipeline.from_pretrained(adapted.folder)
    pipe.set_progress_bar_config(disable=True)
    folder, _, name = adapted.adapter.rpartition("/")
    pipe.load_ip_adapter(folder, subfolder="", weight_name=name, local_files_only=True)

    def draw(task, people, **more):
        pipe.set_ip_adapter_scale([[one.weight for one in people]] if len(people) > 1
                                  else people[0].weight)  # fmt: skip
        return pipe(
            task.prompt, negative_prompt=task.negative, height=task.height, width=task.width,
            num_inference_steps=task.steps, guidance_scale=task.guidance, output_type="latent",
            generator=torch.Generator().manual_seed(task.seed),
            ip_adapter_image=[[shown(one) for one in people]], **more,
        ).images  # fmt: skip

    return draw


def latents_of(model, rt, tasks):
    return drive.run(sdxl.FAMILY, model, rt, tasks)[1]


def test_two_characters_in_one_batch_equal_their_singles(adapted, rt, stock):
    tasks = {
        str(seed): dataclasses.replace(BASE, seed=seed, characters=(who(seed, weight=weight),))
        for seed, weight in ((1, 0.7), (2, 0.3))
    }
    batch = latents_of(adapted, rt, tasks)
    for key, task in tasks.items():
        assert drive.far(batch[key], stock(task, task.characters)) <= 1e-5
    other = stock(dataclasses.replace(BASE, seed=1), (who(2),))
    assert drive.far(batch["1"], other) > 1e-2  # the character does tell


def test_who_shows_nobody_is_drawn_as_without_an_adapter(adapted, sdxl_model, rt):
    alone = latents_of(adapted, rt, {"nobody": BASE})["nobody"]
    beside = latents_of(
        adapted, rt,
        {"nobody": BASE, "two": dataclasses.replace(BASE, characters=(who(1), who(2)))},
    )["nobody"]  # fmt: skip
    plain = latents_of(sdxl_model, rt, {"nobody": BASE})["nobody"]
    assert drive.far(alone, plain) <= 1e-5
    assert drive.far(beside, plain) <= 1e-5


def test_two_in_one_picture_keep_apart(adapted, rt, stock):
    people = (who(1, weight=0.6), who(2, weight=0.4))
    masks = [torch.ones(1, 2, BASE.height, BASE.width)]
    single = stock(BASE, people, cross_attention_kwargs={"ip_adapter_masks": masks})
    task = dataclasses.replace(BASE, characters=people)
    ours = latents_of(
        adapted, rt,
        {"both": task, "one": dataclasses.replace(BASE, seed=5, characters=(who(3),))},
    )  # fmt: skip
    assert drive.far(ours["both"], single) <= 1e-5


def test_regions_say_where(adapted, rt):
    def drawn(*people):
        return dataclasses.replace(BASE, characters=people)

    made = latents_of(adapted, rt, {
        "free": drawn(who(1), who(2)),
        "whole": drawn(who(1, region=EVERYWHERE), who(2, region=EVERYWHERE)),
        "sides": drawn(who(1, region=(0, 0, 0.5, 1)), who(2, region=(0.5, 0, 1, 1))),
        "swapped": drawn(who(2, region=(0, 0, 0.5, 1)), who(1, region=(0.5, 0, 1, 1))),
        "nowhere": drawn(who(1), who(2, region=(0.5, 0.5, 0.5, 0.5))),
        "first": drawn(who(1)),
    })  # fmt: skip
    assert drive.far(made["whole"], made["free"]) <= 1e-5
    assert drive.far(made["nowhere"], made["first"]) <= 1e-5
    assert drive.far(made["sides"], made["free"]) > 1e-3
    assert drive.far(made["sides"], made["swapped"]) > 1e-3


def test_a_region_covers_its_share_of_each_place():
    covered = ip_adapter._cover((0.25, 0.0, 0.625, 0.5), 2, 4)
    assert covered.tolist() == [[0, 1, 0.5, 0], [0, 0, 0, 0]]
    assert ip_adapter._grid(9, 13, 5 * 7) == (5, 7)


def test_an_anchor_gives_the_features_it_is_known_by(adapted, rt):
    ended, _ = drive.run(
        sdxl.FAMILY, adapted, rt, {"anchor": dataclasses.replace(BASE, role="anchor")}
    )
    features = ended["anchor"].features["ip_adapter"]
    seen = family.CharacterFeatures(name="she", picture=ended["anchor"].images[0])
    known = dataclasses.replace(seen, picture=None, features=features)
    made = latents_of(adapted, rt, {
        "seen": dataclasses.replace(BASE, characters=(seen,)),
        "known": dataclasses.replace(BASE, characters=(known,)),
    })  # fmt: skip
    assert drive.far(made["seen"], made["known"]) <= 1e-5


def test_a_tall_pictures_face_is_seen(adapted, rt):
    head = np.full((64, 40, 3), 255, np.uint8)
    head[:8] = who(1).picture[:8, :40]
    feet = head[::-1]
    legs = np.concatenate([head[:40], who(2).picture[:24, :40]])
    made = latents_of(adapted, rt, {
        name: dataclasses.replace(BASE, characters=(who(1, weight=1.0, picture=seen),))
        for name, seen in (("head", head), ("legs", legs), ("feet", feet))
    })  # fmt: skip
    assert drive.far(made["head"], made["legs"]) <= 1e-5
    assert drive.far(made["head"], made["feet"]) > 1e-3


def test_features_of_another_adapter_are_refused_by_name(adapted, rt):
    for shape in ((2, 1, 7), (2, 5), (1, 1, 32)):
        strange = family.CharacterFeatures(name="Li Wei", features=np.zeros(shape, np.float32))
        with pytest.raises(errors.EngineError, match="Li Wei"):
            latents_of(adapted, rt, {"one": dataclasses.replace(BASE, characters=(strange,))})


def test_an_adapter_weighs_what_its_files_hold(adapted, sdxl_model):
    with_it, without = map(sdxl.weight_bytes, (adapted, sdxl_model))
    assert with_it > without > 0
    assert sdxl.FAMILY.bucket(adapted, BASE).split("|")[2] == "ip_adapter"
