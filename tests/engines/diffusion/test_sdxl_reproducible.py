"""Models that are registered as reproducible: a seed is the same bits, whoever runs beside it."""

from __future__ import annotations

import contextlib
import dataclasses

import numpy as np
import pytest

pytest.importorskip("torch", reason="the gpu extra is not installed")
pytest.importorskip("diffusers", reason="the gpu extra is not installed")

from mangen.engines import protocol
from mangen.engines.diffusion import engine as engines
from mangen.engines.diffusion import enrolment, family, registry, sdxl
from tests.engines.diffusion import engined

SHEET = protocol.CharacterSheet(name="闰土", sex="male", age="child", seed=3)
PANEL = protocol.PanelRequest(
    kind="shot", width=90, height=160, seed=7, prompt="the boy runs",
    scene=protocol.SceneLabels(place="river", time="dusk"),
    figures=(protocol.Figure(sheet=SHEET, reference=np.full((64, 48, 3), 90, np.uint8)),),
)  # fmt: skip
OTHERS = {
    f"other {seed}": dataclasses.replace(PANEL, seed=seed, prompt="rain " * 99, figures=())
    for seed in range(3)
}


@pytest.fixture
def made(tiny, tmp_path):
    """An engine by how its model was registered."""

    def engine(batch=0, *, reproducible=True):
        home = tmp_path / f"{batch}{reproducible}"
        model = enrolment.enrol(
            "tiny", tiny("sdxl"), dtype="float32", steps=3, reproducible=reproducible,
            limits=registry.Limits(pixels=96 * 160, batch=batch),
        )  # fmt: skip
        registry.Registry(home).add(model)
        return engines.Diffusion(tmp_path / "scratch", home)

    return engine


def beside(engine, rt, when):
    """The panel in a batch that others begin, and which it joins after so many steps."""
    batch = engine.open(engine.bucket(PANEL), rt)
    ended = {}
    with contextlib.closing(batch):
        batch.add({**OTHERS, **({} if when else {"one": PANEL})})
        for tick in range(1, 20):
            ended.update(batch.step())
            if tick == when:
                batch.add({"one": PANEL})
    assert ended.keys() == {*OTHERS, "one"}
    return ended["one"].image


@pytest.mark.parametrize("batch", [0, 2])
def test_a_panel_is_the_same_bits_alone_and_beside_others_at_any_step(made, rt, batch):
    engine = made(batch)
    assert engine.bucket(PANEL).endswith(f"|pad{batch or 1}")
    alone = engined.make(engine, rt, PANEL).image
    for when in (0, 1, 2):
        assert np.array_equal(beside(engine, rt, when), alone)


def test_it_is_asked_for_and_changes_what_is_made(made):
    plain, fixed = made(reproducible=False), made()
    assert plain.bucket(PANEL).endswith("|any")
    assert plain.signature("illustrate") != fixed.signature("illustrate")


def test_a_pass_of_a_fixed_size_takes_as_many_bytes_whoever_is_in_it(tmp_path):
    model = registry.Model(name="m", folder=tmp_path, family="sdxl", dtype="bfloat16")
    task = family.Task(role="image", prompt="a", width=512, height=512, pad=4)
    passes = [
        next(one.peak for one in sdxl.FAMILY.stages(model, task, members) if one.name == "denoise")
        for members in (1, 4, 9)
    ]
    free = dataclasses.replace(task, pad=0)
    assert {*passes} == {sdxl.FAMILY.stages(model, free, 4)[0].peak}
