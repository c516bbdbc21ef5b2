"""Pictures as files: PNG in and out, RGB or RGBA, through OpenCV."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mangen import errors
from mangen.comic.stages import stage
from mangen.engines import protocol
from mangen.ledger import jobs

if TYPE_CHECKING:
    from mangen.comic.stages import inputs, kit

_FAST = 1  #: PNG compression level: files live on a local disk and are read once


def write(image: protocol.Image, path: pathlib.Path) -> pathlib.Path:
    """Write an RGB or RGBA picture as PNG."""
    import cv2  # noqa: PLC0415 - heavy, and only children draw

    order = cv2.COLOR_RGB2BGR if image.shape[2] == 3 else cv2.COLOR_RGBA2BGRA
    ok, data = cv2.imencode(
        ".png", cv2.cvtColor(image, order), [cv2.IMWRITE_PNG_COMPRESSION, _FAST]
    )
    if not ok:
        raise errors.EngineError(f"a picture of shape {image.shape} can't be written as PNG")
    path.write_bytes(data.tobytes())
    return path


def read(path: pathlib.Path) -> protocol.Image:
    """Read a picture as RGB or RGBA; raises StorageError where it is not whole."""
    import cv2  # noqa: PLC0415 - heavy, and only children draw
    import numpy as np  # noqa: PLC0415 - heavy, and only children draw

    data = np.frombuffer(path.read_bytes(), np.uint8)
    image = cv2.imdecode(data, cv2.IMREAD_UNCHANGED) if data.size else None
    if image is None or image.ndim != 3:
        raise errors.StorageError(f"{path.name} in the artifact store is no whole picture")
    order = cv2.COLOR_BGR2RGB if image.shape[2] == 3 else cv2.COLOR_BGRA2RGBA
    return np.asarray(cv2.cvtColor(image, order), np.uint8)


def panel_files(
    panel: protocol.Panel, folder: pathlib.Path, job: jobs.Job, meta: Mapping[str, Any]
) -> list[stage.File]:
    """Write a panel, with what is to be known of it, and its layers below a scratch folder."""
    stem = f"{job.id}-{job.attempt}"
    picture = write(panel.image, folder / f"{stem}.png")
    files = [stage.File(kind="panel", path=picture, meta=meta)]
    for number, layer in enumerate(panel.layers):
        path = write(layer.image, folder / f"{stem}-layer{number}.png")
        files.append(
            stage.File(kind="layer", path=path, meta={"depth": layer.depth, "order": number})
        )
    return files


def read_panel(made: inputs.Input, tools: kit.Kit) -> protocol.Panel | None:
    """Read back the panel that an illustrate job made; None where it made none."""
    found = made.find("panel")
    if found is None:
        return None
    sheets = [one for one in made.artifacts if one.kind == "layer"]
    return protocol.Panel(
        image=read(tools.file_of(found)),
        layers=tuple(
            protocol.Layer(image=read(tools.file_of(one)), depth=float(one.meta["depth"]))
            for one in sorted(sheets, key=lambda one: int(one.meta["order"]))
        ),
    )
