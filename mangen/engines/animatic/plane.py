"""Planes: the layers of a panel ready for the camera, wearing the faces of the moment."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import cv2
import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import camera, pen, stage


@dataclasses.dataclass(frozen=True, slots=True)
class _Change:
    """What a patch changes of a plane."""

    part: tuple[slice, slice]
    where: np.ndarray[Any, np.dtype[np.bool_]]
    new: protocol.Image
    old: protocol.Image


class Plane:
    """One layer, cut to what is not empty, ready to be warped.

    `patches` can be put on and off by their keys.
    """

    def __init__(
        self,
        image: protocol.Image,
        depth: float,
        fit: float,
        patches: Mapping[str, protocol.Patch] | None = None,
    ) -> None:
        small = fit < 0.75  # linear sampling would alias
        self.depth, self.fit = depth, 1.0 if small else fit
        whole = _shrunk(image, fit) if small else image
        self.height, self.width = whole.shape[:2]
        self.opaque = image.shape[2] == 3 or bool((image[..., 3] == 255).all())
        rows, columns = _filled(whole, opaque=self.opaque)
        self.at = (columns.start, rows.start)
        self.image = _ready(whole[rows, columns], opaque=self.opaque)
        self._changes: dict[str, _Change] = {}
        self._worn: tuple[str, ...] = ()
        for key, patch in (patches or {}).items():
            worn = _patched(image, patch)
            worn = (_shrunk(worn, fit) if small else worn)[rows, columns]
            self._learn(key, _ready(worn, opaque=self.opaque))

    def _learn(self, key: str, worn: protocol.Image) -> None:
        where = (worn != self.image).any(2)
        ys, xs = np.flatnonzero(where.any(1)), np.flatnonzero(where.any(0))
        if len(ys):
            part = np.s_[int(ys[0]) : int(ys[-1]) + 1, int(xs[0]) : int(xs[-1]) + 1]
            self._changes[key] = _Change(
                part, where[part][..., None], worn[part].copy(), self.image[part].copy()
            )

    def wear(self, keys: Sequence[str]) -> None:
        """Put on these patches and no others."""
        wanted = tuple(key for key in keys if key in self._changes)
        if wanted == self._worn:
            return
        for key in self._worn[::-1]:
            change = self._changes[key]
            np.copyto(self.image[change.part], change.old, where=change.where)
        for key in wanted:
            change = self._changes[key]
            np.copyto(self.image[change.part], change.new, where=change.where)
        self._worn = wanted

    def draw(self, frame: protocol.Image, view: camera.View) -> None:
        """Warp the layer onto an RGB frame as the camera sees it."""
        height, width = frame.shape[:2]
        short = min(width, height)
        zoom = 1 + (view.zoom - 1) * (0.45 + 0.55 * self.depth)
        k = 1 / (self.fit * zoom)
        x = self.width / 2 + (view.x * self.depth * short) / self.fit - self.at[0]
        y = self.height / 2 + (view.y * self.depth * short) / self.fit - self.at[1]
        ox, oy = x + (0.5 - width / 2) * k - 0.5, y + (0.5 - height / 2) * k - 0.5
        tall, wide = self.image.shape[:2]
        u0, u1 = max(0, int(-ox / k) - 1), min(width, int((wide - ox) / k) + 2)
        v0, v1 = max(0, int(-oy / k) - 1), min(height, int((tall - oy) / k) + 2)
        if u1 <= u0 or v1 <= v0:
            return
        matrix = np.array([[k, 0, ox + k * u0], [0, k, oy + k * v0]])
        edge = cv2.BORDER_REPLICATE if self.opaque else cv2.BORDER_CONSTANT
        seen = cv2.warpAffine(
            self.image, matrix, (u1 - u0, v1 - v0), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=edge,
        )  # fmt: skip
        part = frame[v0:v1, u0:u1]
        if self.opaque:
            part[:] = seen
        else:
            lay(part, np.asarray(seen, np.uint8))


def lay(below: protocol.Image, above: protocol.Image, strength: float = 1.0) -> None:
    """Lay premultiplied RGBA over RGB of its size, in place."""
    if strength < 1:
        above = np.asarray(cv2.convertScaleAbs(above, alpha=strength), np.uint8)
    rest = cv2.cvtColor(cv2.bitwise_not(cv2.extractChannel(above, 3)), cv2.COLOR_GRAY2RGB)
    below[:] = cv2.add(
        cv2.multiply(below, rest, scale=1 / 255), cv2.cvtColor(above, cv2.COLOR_RGBA2RGB)
    )


def of(request: protocol.ClipRequest) -> list[Plane]:
    """The panel's layers, or its image alone where it has none."""
    panel = request.panel
    height, width = panel.image.shape[:2]
    fit = max(request.width * stage.ROOM / width, request.height * stage.ROOM / height)
    layers = panel.layers or (protocol.Layer(image=panel.image, depth=1.0),)
    found = []
    for number, layer in enumerate(layers):
        patches = {
            key: patch
            for face, one in enumerate(panel.faces)
            if one.layer == number or not panel.layers
            for key, patch in _patches(face, one)
        }
        found.append(Plane(layer.image, layer.depth, fit, patches))
    if not found[0].opaque:
        found.insert(0, Plane(panel.image, layers[0].depth, fit))
    return found


def _patches(number: int, face: protocol.Face) -> list[tuple[str, protocol.Patch]]:
    found = [(mouth_key(number, k), patch) for k, patch in enumerate(face.mouths)]
    if face.blink is not None:
        found.append((blink_key(number), face.blink))
    return found


def mouth_key(face: int, opening: int) -> str:
    return f"{face} mouth {opening}"


def blink_key(face: int) -> str:
    return f"{face} blink"


def _shrunk(image: protocol.Image, fit: float) -> protocol.Image:
    small = cv2.resize(image, None, fx=fit, fy=fit, interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8)


def _filled(image: protocol.Image, *, opaque: bool) -> tuple[slice, slice]:
    """Rows and columns that hold all that can be seen."""
    if opaque:
        return slice(0, image.shape[0]), slice(0, image.shape[1])
    rows = np.flatnonzero(image[..., 3].any(1))
    columns = np.flatnonzero(image[..., 3].any(0))
    if not len(rows):
        return slice(0, 1), slice(0, 1)
    return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)


def _ready(image: protocol.Image, *, opaque: bool) -> protocol.Image:
    ready = image[..., :3].copy() if opaque else pen.premultiplied(image)
    return np.ascontiguousarray(ready)


def _patched(image: protocol.Image, patch: protocol.Patch) -> protocol.Image:
    """An RGB or straight RGBA picture with a patch laid on it, as far as it lies inside."""
    worn = image.copy()
    height, width = image.shape[:2]
    tall, wide = patch.image.shape[:2]
    y0, x0 = max(0, patch.y), max(0, patch.x)
    y1, x1 = min(height, patch.y + tall), min(width, patch.x + wide)
    if y1 <= y0 or x1 <= x0:
        return worn
    part = worn[y0:y1, x0:x1]
    above = patch.image[y0 - patch.y : y1 - patch.y, x0 - patch.x : x1 - patch.x]
    if image.shape[2] == 3:
        part[:] = pen.over(part, pen.premultiplied(above))
    else:
        part[:] = pen.straight(pen.over(pen.premultiplied(part), pen.premultiplied(above)))
    return worn
