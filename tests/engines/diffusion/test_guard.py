"""No NaN and no black frame leaves an engine unseen, and every size is exact."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from mangen import errors
from mangen.engines.diffusion import guard


def frames(count=2, value=0.5):
    return np.full((count, 6, 8, 3), value, np.float32)


def spoiled(value):
    made = frames()
    made[1] = value
    return made


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (frames(), ""),
        (spoiled(np.nan), "1 of 2 frames hold NaN"),
        (spoiled(np.inf), "1 of 2 frames hold NaN"),
        (spoiled(0.0), "1 of 2 frames are black"),
        (frames(value=0.02), ""),
    ],
)
def test_faults_of_frames_are_named(made, said):
    assert guard.fault(made) == said


def test_the_safe_vae_is_asked_only_when_the_first_one_failed():
    def never():
        raise AssertionError

    assert guard.decoded(frames, never, "m")[1] == {}
    for bad in (np.nan, 0.0):
        made, notes = guard.decoded(lambda bad=bad: spoiled(bad), frames, "m")
        assert np.array_equal(made, frames())
        assert "1 of 2" in notes["safe_vae"]


def test_what_stays_wrong_is_refused_or_told():
    for safely in (None, lambda: spoiled(np.nan)):
        with pytest.raises(errors.EngineError, match=r"m made no picture.*bfloat16"):
            guard.decoded(lambda: spoiled(np.nan), safely, "m")
    _, notes = guard.decoded(lambda: spoiled(0.0), None, "m")
    assert notes == {"black": "1 of 2 frames are black"}


def test_sizes_and_counts_come_out_exactly_or_not_at_all():
    grid = np.linspace(0, 1, 2 * 6 * 8 * 3, dtype=np.float32).reshape(2, 6, 8, 3)
    cut = guard.exact(grid, 5, 4, 1)
    assert cut.shape == (1, 4, 5, 3)
    assert np.array_equal(cut[0], (grid[0, 1:5, 1:6] * 255).round().astype(np.uint8))
    for asked in ((9, 6, 2), (8, 7, 2), (8, 6, 3)):
        with pytest.raises(errors.EngineError, match="8x6 x 2 frames came out"):
            guard.exact(grid, *asked)


def test_a_half_precision_vae_that_overflows_is_helped_and_goes_back(sdxl_model, rt):
    """A real overflow: a layer's weights are so large that only single precision holds them."""
    torch = pytest.importorskip("torch", reason="the gpu extra is not installed")
    from mangen.engines.diffusion import loading, vae  # noqa: PLC0415 - they load torch

    module = loading.pipeline(sdxl_model).vae
    ours = vae.Vae(module)
    assert ours.safe
    with torch.no_grad():
        module.post_quant_conv.weight.mul_(6e4 / module.post_quant_conv.weight.abs().max())
        module.half()
        assert not ours.safe
        latents = torch.randn(1, 4, 8, 12, generator=torch.Generator().manual_seed(0)).half() * 4
        made, notes = guard.decoded(
            lambda: ours.decode(latents), lambda: ours.decode_safely(latents), "m"
        )
        assert "NaN" in notes["safe_vae"]
        assert np.isfinite(made).all()
        assert module.dtype == torch.float16
        with pytest.raises(errors.EngineError, match="denoiser of m made NaN"):
            guard.finite(latents * torch.inf, "m")


def test_the_vae_runs_in_the_precision_that_is_known_to_be_safe(sdxl_model):
    from mangen.engines.diffusion import sdxl  # noqa: PLC0415 - beside what it is asked of

    half = dataclasses.replace(sdxl_model, dtype="float16")
    assert sdxl.vae_dtype(half) == "float32"  # the folder says force_upcast
    assert sdxl.vae_dtype(dataclasses.replace(half, dtype="bfloat16")) == "bfloat16"
    assert sdxl.weight_bytes(half) < sdxl.weight_bytes(sdxl_model)
