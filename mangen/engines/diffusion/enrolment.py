"""Enrolment: from a folder on the disk to a model that can be registered. No torch here."""

from __future__ import annotations

import dataclasses
import hashlib
import pathlib
from collections.abc import Callable, Iterable

from mangen import errors
from mangen.engines.diffusion import (
    abilities,
    adapter,
    checkpoint,
    family,
    float8,
    registry,
    schedulers,
    weights,
)


def enrol(
    name: str,
    folder: pathlib.Path,
    *,
    dtype: str = "",
    variant: str | None = None,
    ip_adapter: pathlib.Path | None = None,
    limits: registry.Limits | None = None,
    steps: int | None = None,
    guidance: float | None = None,
    scheduler: str = "",
    quantise: str = "",
    reproducible: bool = False,
    scene: float = 0.0,
    roles: Iterable[str] = (),
    before_reading: Callable[[int], None] = lambda _bytes: None,
) -> registry.Model:
    """Check a folder and read every byte of it; raises ModelError that names what is wrong.

    Without `dtype` it runs in what it is stored in; without `ip_adapter` with the one that lies in
    the folder, if any. `roles` are those it is wanted for. `before_reading` hears how many bytes
    will be read, when nothing else can be wrong any more.
    """
    if dtype and dtype not in weights.RUN_IN:
        raise errors.ModelError(f"{name} can't run in {dtype!r}: write {', '.join(weights.RUN_IN)}")
    schedulers.check(name, scheduler)
    index = _index(folder, dtype, variant)
    kind = family.name_of(index.pipeline)
    found = adapter.of(index) if ip_adapter is None else adapter.read(ip_adapter)
    if found is not None:
        if kind != "sdxl":
            raise errors.ModelError(
                f"{found.path}: models of the family {kind} ({index.pipeline}) take no IP-Adapter"
            )
        adapter.check(found, index)
    model = registry.Model(
        name=name,
        folder=index.folder,
        family=kind if family.of(kind).serves(index) else "generic",
        pipeline=index.pipeline,
        dtype=dtype or (index.dtype if index.dtype in weights.RUN_IN else "bfloat16"),
        roles=abilities.of(index, kind),
        licence=index.licence,
        limits=limits or registry.Limits(),
        steps=steps,
        guidance=guidance,
        scheduler=scheduler,
        variant=index.variant,
        quantise=quantise,
        reproducible=reproducible,
        scene=scene,
        adapter="" if found is None else str(found.path),
        outline=index.outline,
    )
    registry.check_plays(model, roles)
    if scene and model.family != "sdxl":
        raise errors.ModelError(
            f"{name} ({index.pipeline}) can't begin with a scene's picture: leave --scene-base"
        )
    if quantise:
        _check_quantise(name, index)
    before_reading(index.nbytes())
    digest = checkpoint.digest(index, [] if found is None else [found.path])
    if quantise:  # it draws other pictures
        digest = hashlib.sha256(f"{digest}+{quantise}".encode()).hexdigest()
    return dataclasses.replace(model, digest=digest)


def _check_quantise(name: str, index: checkpoint.Index) -> None:
    """Raise ModelError where nothing can be made smaller."""
    parts = [one for one in index.components.values() if float8.denoises(one.name) and one.files]
    if not parts:
        raise errors.ModelError(
            f"{name} ({index.pipeline}) has no denoiser to keep in 8-bit floats: leave --quantise"
        )
    for one in parts:
        if one.quantised:
            raise errors.ModelError(
                f"{one.folder} was made smaller already ({one.quantised}): leave --quantise"
            )


def _index(folder: pathlib.Path, dtype: str, variant: str | None) -> checkpoint.Index:
    """Read the files that fit best: what runs in half precision needs no others on the disk."""
    if dtype == "float16" and variant is None:
        try:
            return checkpoint.read(folder, "fp16")
        except errors.ModelError:
            pass  # not there, or not whole: then the plain ones, whose faults are told
    return checkpoint.read(folder, variant)
