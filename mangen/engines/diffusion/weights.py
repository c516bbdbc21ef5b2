"""A file of weights: what its header says, read without torch and without its tensors."""

from __future__ import annotations

import collections
import dataclasses
import hashlib
import json
import math
import pathlib
import struct
from collections.abc import Mapping
from typing import Any

from mangen import errors

#: bytes of one element, by the names that safetensors gives to types
WIDTHS = {
    "F64": 8, "F32": 4, "F16": 2, "BF16": 2, "F8_E4M3": 1, "F8_E5M2": 1,
    "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U64": 8, "U32": 4, "U16": 2, "U8": 1, "BOOL": 1,
}  # fmt: skip
#: the same types as torch names them, as far as models compute or store in them
NAMES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2",
}  # fmt: skip
#: what a model may run in
RUN_IN = {"float32": 4, "float16": 2, "bfloat16": 2}
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
_HEADER_MOST = 100_000_000  #: bytes of a header, as the format limits it
_POINTER = b"version https://git-lfs"
#: how zip archives (which torch.save makes) and bare pickles begin
_PICKLED = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
WHY_NO_PICKLE = (
    "a pickle, and loading one runs whatever code is in it; mangen takes safetensors only: get the "
    "model's safetensors files, or load it where you trust it and save it by "
    "`save_pretrained(folder, safe_serialization=True)`"
)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """One safetensors file. `elements` counts them by type."""

    path: pathlib.Path
    size: int  #: bytes of the file
    elements: Mapping[str, int]
    shapes: Mapping[str, tuple[int, ...]]  #: of each tensor
    header: str  #: sha256 of the header: it changes with names, shapes and types, not with values


def read(path: pathlib.Path) -> Weights:
    """Read and check a file's header; raises ModelError that names the file and its fault."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(8)
            _refuse_strangers(path, start + file.read(24))
            length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
            if not 2 <= length <= min(_HEADER_MOST, max(size - 8, 0)):
                raise _broken(path, f"its header would be {length} bytes of {size}")
            file.seek(8)
            text = file.read(length)
    except OSError as error:
        raise errors.ModelError(f"can't read {path}: {error.strerror}") from error
    try:
        header = json.loads(text)
        header.pop("__metadata__", None)
        elements, shapes, end = _tensors(path, header)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _broken(path, "its header can't be read") from error
    if size != 8 + length + end:
        raise _broken(path, f"it has {size} bytes, and its header tells of {8 + length + end}")
    digest = hashlib.sha256(text).hexdigest()
    return Weights(path=path, size=size, elements=elements, shapes=shapes, header=digest)


def _tensors(
    path: pathlib.Path, header: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, int], dict[str, tuple[int, ...]], int]:
    """Elements by type, the shapes, and where the last tensor ends."""
    elements: collections.Counter[str] = collections.Counter()
    shapes, end = {}, 0
    for name, tensor in header.items():
        kind, (first, last) = str(tensor["dtype"]), tensor["data_offsets"]
        shapes[name] = tuple(int(length) for length in tensor["shape"])
        count = math.prod(shapes[name])
        if kind in WIDTHS and last - first != count * WIDTHS[kind]:
            raise _broken(
                path, f"{name} is {kind} {list(shapes[name])}, but takes {last - first} bytes"
            )
        elements[kind] += count
        end = max(end, int(last))
    return dict(elements), shapes, end


def _refuse_strangers(path: pathlib.Path, start: bytes) -> None:
    """Raise ModelError for files that bear the name of safetensors and are something else."""
    if start.startswith(_POINTER):
        raise errors.ModelError(
            f"{path} is a pointer of Git LFS, not the file itself: run `git lfs pull` in its folder"
        )
    if start.startswith(_PICKLED):
        raise errors.ModelError(f"{path} is {WHY_NO_PICKLE}")


def _broken(path: pathlib.Path, how: str) -> errors.ModelError:
    return errors.ModelError(f"{path} is not whole: {how}; get this file again")
