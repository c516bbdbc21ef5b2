"""Pictures as files: PNG in and out, RGB or RGBA, through OpenCV."""

from __future__ import annotations

import io
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mangen import errors
from mangen.comic.stages import stage
from mangen.engines import protocol
from mangen.ledger import jobs

if TYPE_CHECKING:
    from mangen.comic.stages import inputs, kit

_PNG = b"\x89PNG\r\n\x1a\n"
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
    """Read a picture as RGB or RGBA bytes: grey and 16-bit ones are converted.

    Raises StorageError where it is not whole, moves, or holds no picture that can be converted.
    """
    import cv2  # noqa: PLC0415 - heavy, and only children draw
    import numpy as np  # noqa: PLC0415 - heavy, and only children draw

    try:
        raw = path.read_bytes()
    except FileNotFoundError as error:
        raise errors.StorageError(f"{path.name} has no file in the artifact store") from error
    data = np.frombuffer(raw, np.uint8)
    image = cv2.imdecode(data, cv2.IMREAD_UNCHANGED) if data.size else None
    if image is None or image.ndim not in (2, 3):
        raise errors.StorageError(f"{path.name} in the artifact store is no whole picture")
    _check_still(path, raw)
    if image.dtype == np.uint16:
        image = ((image.astype(np.uint32) * 255 + 32767) // 65535).astype(np.uint8)
    channels = 1 if image.ndim == 2 else image.shape[2]
    order = {1: cv2.COLOR_GRAY2RGB, 3: cv2.COLOR_BGR2RGB, 4: cv2.COLOR_BGRA2RGBA}.get(channels)
    if image.dtype != np.uint8 or order is None:
        raise errors.StorageError(
            f"{path.name} in the artifact store holds {channels} channels of {image.dtype}: a "
            "picture of 8 or 16 bits, grey, RGB or RGBA, is needed"
        )
    return np.asarray(cv2.cvtColor(image, order), np.uint8)


def _check_still(path: pathlib.Path, raw: bytes) -> None:
    """Raise StorageError for a picture of several frames: nobody said which of them is meant."""
    if raw.startswith(_PNG):  # all of our own are, and most are large
        moves = b"acTL" in raw[: max(0, raw.find(b"IDAT"))]
    else:
        from PIL import Image  # noqa: PLC0415 - heavy, and files of others are rare here

        with Image.open(io.BytesIO(raw)) as opened:
            moves = getattr(opened, "n_frames", 1) > 1
    if moves:
        raise errors.StorageError(
            f"{path.name} in the artifact store moves: a picture of one frame is needed"
        )


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
    if panel.faces or panel.letters:
        files.append(_patches_file(panel, folder / f"{stem}-patches.png"))
    return files


def _patches_file(panel: protocol.Panel, path: pathlib.Path) -> stage.File:
    """All small pictures of a panel, one below the other; where each is stands in the meta."""
    sheet: list[protocol.Image] = []

    def kept(patch: protocol.Patch) -> list[int]:
        top = sum(len(image) for image in sheet)
        sheet.append(patch.image)
        return [int(patch.x), int(patch.y), patch.image.shape[1], len(patch.image), top]

    faces = [
        {
            "name": face.name,
            "layer": int(face.layer),
            "box": [int(at) for at in face.box],
            "mouth": [int(at) for at in face.mouth],
            "mouths": [kept(one) for one in face.mouths],
            "blink": kept(face.blink) if face.blink is not None else None,
        }
        for face in panel.faces
    ]
    letters = [{"line": int(one.line), "patch": kept(one.patch)} for one in panel.letters]
    write(_stacked(sheet), path)
    return stage.File(kind="patches", path=path, meta={"faces": faces, "letters": letters})


def _stacked(sheet: Sequence[protocol.Image]) -> protocol.Image:
    import numpy as np  # noqa: PLC0415 - heavy, and only children draw

    width = max((image.shape[1] for image in sheet), default=0)
    rows = sum(len(image) for image in sheet)
    whole = np.zeros((max(1, rows), max(1, width), 4), np.uint8)
    top = 0
    for image in sheet:
        whole[top : top + len(image), : image.shape[1]] = image
        top += len(image)
    return whole


def lettered(made: inputs.Input | None) -> frozenset[int]:
    """Answer which lines the panel of an illustrate job has drawn into it."""
    found = made.find("patches") if made is not None else None
    return frozenset(int(one["line"]) for one in found.meta["letters"]) if found else frozenset()


def read_panel(made: inputs.Input, tools: kit.Kit) -> protocol.Panel | None:
    """Read back the panel that an illustrate job made; None where it made none."""
    found = made.find("panel")
    if found is None:
        return None
    sheets = [one for one in made.artifacts if one.kind == "layer"]
    faces, letters = _read_patches(made.find("patches"), tools)
    return protocol.Panel(
        image=read(tools.file_of(found)),
        layers=tuple(
            protocol.Layer(image=read(tools.file_of(one)), depth=float(one.meta["depth"]))
            for one in sorted(sheets, key=lambda one: int(one.meta["order"]))
        ),
        faces=faces,
        letters=letters,
    )


def _read_patches(
    found: jobs.Artifact | None, tools: kit.Kit
) -> tuple[tuple[protocol.Face, ...], tuple[protocol.Letter, ...]]:
    if found is None:
        return (), ()
    sheet = read(tools.file_of(found))

    def patch(kept: Sequence[int]) -> protocol.Patch:
        x, y, width, height, top = kept
        return protocol.Patch(image=sheet[top : top + height, :width].copy(), x=x, y=y)

    faces = tuple(
        protocol.Face(
            name=one["name"],
            layer=one["layer"],
            box=(one["box"][0], one["box"][1], one["box"][2], one["box"][3]),
            mouth=(one["mouth"][0], one["mouth"][1]),
            mouths=tuple(patch(kept) for kept in one["mouths"]),
            blink=patch(one["blink"]) if one["blink"] is not None else None,
        )
        for one in found.meta["faces"]
    )
    letters = tuple(
        protocol.Letter(line=one["line"], patch=patch(one["patch"]))
        for one in found.meta["letters"]
    )
    return faces, letters
