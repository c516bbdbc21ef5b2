"""What the card's benchmark draws: its models as the registry holds them, its tasks, its items.

The pool's parent, its child and the hand-written loops take their work from here, so that all draw
the same. No torch here.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from mangen.engines.diffusion import checkpoint, family, registry
from mangen.pooling import work

FPS = 16
GUIDANCE = {"image": 5.0, "video": 9.0}
FOLDERS = {"sdxl": "sdxl", "i2vgen": "i2vgen_xl"}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """A bucket of the benchmark. `most` is the largest batch that is tried."""

    name: str
    model: str
    width: int
    height: int
    frames: int = 1
    steps: int
    most: int

    @property
    def role(self) -> family.Role:
        return "video" if self.frames > 1 else "image"

    @property
    def size(self) -> str:
        return f"{self.width}x{self.height}" + (f"x{self.frames}" if self.frames > 1 else "")


FULL = {
    one.name: one
    for one in (
        Kind(name="picture", model="sdxl", width=512, height=768, steps=20, most=16),
        Kind(name="large", model="sdxl", width=1024, height=1024, steps=20, most=4),
        Kind(name="clip", model="i2vgen", width=512, height=512, frames=16, steps=8, most=4),
    )
}
TINY = {
    one.name: one
    for one in (
        Kind(name="picture", model="sdxl", width=64, height=96, steps=4, most=4),
        Kind(name="large", model="sdxl", width=128, height=128, steps=4, most=2),
        Kind(name="clip", model="i2vgen", width=64, height=64, frames=4, steps=3, most=2),
    )
}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Bench:
    """One run's work: `folder` holds the models, and what is kept of what was drawn."""

    folder: pathlib.Path
    full: bool

    @property
    def kinds(self) -> Mapping[str, Kind]:
        return FULL if self.full else TINY

    @property
    def out(self) -> pathlib.Path:
        return self.folder / "out"

    @property
    def dtype(self) -> str:
        return "float16" if self.full else "float32"

    def model(self, name: str) -> registry.Model:
        """A model as the registry would hold it; its digest would take seconds a gigabyte."""
        index = checkpoint.read(self.folder / FOLDERS[name])
        return registry.Model(
            name=name, folder=index.folder, family=name, pipeline=index.pipeline,
            dtype=self.dtype, outline=index.outline,
        )  # fmt: skip

    def item(
        self, kind: Kind, key: str, number: int, *, steps: int = 0, cap: int = 0, **more: Any
    ) -> work.Item:
        """An item as the product's dispatcher would make it, its peaks by theory."""
        model, one = self.model(kind.model), self.task(kind, number, steps)
        owner = family.of(kind.model)
        keep = more.pop("keep", False)
        most = cap or kind.most
        return work.Item(
            key=key, name="draw", bucket=owner.bucket(model, one), cap=most,
            model=owner.spec(model, kind.role).key,
            peaks=tuple(owner.peak(model, one, count) for count in range(1, most + 1)),
            data={"kind": kind.name, "number": number, "steps": steps, "keep": keep}, **more,
        )  # fmt: skip

    def task(self, kind: Kind, number: int, steps: int = 0) -> family.Task:
        return family.Task(
            role=kind.role, prompt=prompt(number), width=kind.width, height=kind.height,
            frames=kind.frames, fps=FPS, seed=number, steps=steps or kind.steps,
            guidance=GUIDANCE[kind.role],
            images=(first_frame(kind, number),) if kind.role == "video" else (),
        )  # fmt: skip


def prompt(number: int) -> str:
    """Words of its own for each: no text comes from the cache twice."""
    return f"a picture of number {number}"


def first_frame(kind: Kind, number: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """A picture (height, width, 3) of smooth colours, which a decoder could have made."""
    down = np.linspace(0, 1, kind.height)[:, None, None]
    right = np.linspace(0, 1, kind.width)[None, :, None]
    phase = np.arange(3) + number
    found: np.ndarray[Any, np.dtype[np.uint8]] = (
        (np.sin(6 * down + phase) + np.cos(5 * right + phase)) * 60 + 128
    ).astype(np.uint8)
    return found
