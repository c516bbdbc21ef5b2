"""One set of tiny checkpoints for all diffusion tests, made once a session and never changed."""

from __future__ import annotations

import dataclasses
import importlib.util
import pathlib

import pytest

from mangen.engines.diffusion import adapter, checkpoint, enrolment, registry
from mangen.engines.diffusion import engine as engines
from mangen.pooling import cache_policy, testing

#: torch 2.13 beside numpy 2.4: theirs to mend, and named by no release yet
_THEIRS = "ignore:__array__ implementation doesn't accept a copy keyword:DeprecationWarning"

KINDS = ("character", "text", "style", "image", "latent", "panel")


def pytest_collection_modifyitems(items):
    for item in items:
        if pathlib.Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings(_THEIRS))


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    if importlib.util.find_spec("torch") is None:  # checkpoints are read without it
        yield
        return
    import torch  # noqa: PLC0415 - only where it is there

    before = torch.get_num_threads()
    torch.set_num_threads(1)  # on a busy machine more of them wait for each other
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """Answer the folder of a tiny checkpoint by its name."""
    pytest.importorskip("diffusers", reason="the gpu extra is not installed")
    from mangen.engines.diffusion import tiny as maker  # noqa: PLC0415 - needs what was asked for

    root, made = tmp_path_factory.mktemp("tiny"), {}

    def folder(name) -> pathlib.Path:
        if name not in made:
            made[name] = maker.make(name, root / name)
        return made[name]

    return folder


@pytest.fixture(scope="session")
def sdxl_model(tiny):
    """The tiny SDXL as the registry would hold it, in single precision and without its adapter."""
    index = checkpoint.read(tiny("sdxl"))
    return registry.Model(
        name="tiny", folder=index.folder, family="sdxl", pipeline=index.pipeline, dtype="float32",
        outline=index.outline,
    )  # fmt: skip


@pytest.fixture(scope="session")
def adapted(sdxl_model):
    """The same with its IP-Adapter."""
    found = adapter.of(checkpoint.read(sdxl_model.folder))
    return dataclasses.replace(sdxl_model, name="adapted", adapter=str(found.path))


@pytest.fixture(scope="session")
def i2vgen_model(tiny):
    """The tiny I2VGen-XL as the registry would hold it, in single precision."""
    index = checkpoint.read(tiny("i2vgen_xl"))
    return registry.Model(
        name="clips", folder=index.folder, family="i2vgen", pipeline=index.pipeline,
        dtype="float32", outline=index.outline,
    )  # fmt: skip


@pytest.fixture(scope="session")
def wan_model(tiny):
    """The tiny Wan2.2-TI2V as the registry would hold it, in single precision."""
    index = checkpoint.read(tiny("wan22_ti2v"))
    return registry.Model(
        name="flow", folder=index.folder, family="wan", pipeline=index.pipeline,
        dtype="float32", outline=index.outline,
    )  # fmt: skip


@pytest.fixture(scope="session")
def rt():
    """A runtime whose models stay and whose cache takes what a worker's takes."""
    return testing.Here(kinds={kind: cache_policy.Policy() for kind in KINDS})


@pytest.fixture(scope="session")
def home(tiny, tmp_path_factory):
    """A home whose registry holds the tiny SDXL, held to small pictures and few steps."""
    root = tmp_path_factory.mktemp("home")
    model = enrolment.enrol(
        "tiny", tiny("sdxl"), dtype="float32", steps=8, limits=registry.Limits(pixels=96 * 160)
    )
    registry.Registry(root).add(model)
    return root


@pytest.fixture
def engine(home, tmp_path):
    return engines.Diffusion(tmp_path / "scratch", home)
