"""Shards: the safetensors files that hold one component, one file or many with an index."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Mapping

from mangen import errors
from mangen.engines.diffusion import weights

_PREFERRED = ("", "bf16", "fp16")  #: the plain files first


def choose(
    folders: Mapping[str, pathlib.Path], stems: Mapping[str, str], wanted: str | None
) -> str:
    """Answer the variant that every component has; a plain file may stand in for a variant.

    Raises ModelError that names a component without one, and why.
    """
    found = {name: _variants(folder, stems[name]) for name, folder in folders.items()}
    for name, variants in found.items():
        if not variants:
            raise errors.ModelError(_nothing(folders[name], stems[name]))
    known = sorted(set().union(*found.values()), key=_preference)
    for variant in known if wanted is None else [wanted]:
        if (not variant or variant in known) and all(
            variant in one or (variant and "" in one) for one in found.values()
        ):
            return variant
    lists = "; ".join(
        f"{name} has {', '.join(repr(v) if v else 'plain files' for v in sorted(one))}"
        for name, one in found.items()
    )
    raise errors.ModelError(
        f"no variant {wanted!r} is there for every component: {lists}"
        if wanted is not None
        else f"no variant of the weights is there for every component: {lists}"
    )


def read(folder: pathlib.Path, stem: str, variant: str) -> tuple[weights.Weights, ...]:
    """Read the headers of one component's files; raises ModelError that names a missing shard."""
    used = variant if variant in _variants(folder, stem) else ""
    dotted = f".{used}" if used else ""
    whole = folder / f"{stem}{dotted}.safetensors"
    if whole.is_file():
        return (weights.read(whole),)
    index = folder / f"{stem}.safetensors.index{dotted}.json"
    if not index.is_file():
        raise errors.ModelError(f"{index} is missing: without it nobody knows the shards beside it")
    names = _names(index)
    shards = sorted(set(names.values()))
    missing = [name for name in shards if not (folder / name).is_file()]
    if missing:
        raise errors.ModelError(
            f"{folder / missing[0]} is missing ({len(missing)} of {len(shards)} shards of "
            f"{folder.name}): get it again"
        )
    files = tuple(weights.read(folder / name) for name in shards)
    held = {file.path.name: file.shapes for file in files}
    lost = [tensor for tensor, name in names.items() if tensor not in held[name]]
    if lost:
        raise errors.ModelError(
            f"{folder / names[lost[0]]} lacks {lost[0]}, which {index.name} promises: index and "
            "shards are of different downloads; get the folder again"
        )
    return files


def _variants(folder: pathlib.Path, stem: str) -> set[str]:
    """Answer the variants whose files, shards or index lie in the folder; empty text: plain."""
    one = re.escape(stem)
    shapes = (
        rf"{one}(?:\.(\w+))?\.safetensors",
        rf"{one}\.safetensors\.index(?:\.(\w+))?\.json",
        rf"{one}(?:\.(\w+))?-\d+-of-\d+\.safetensors",
        rf"{one}-\d+-of-\d+\.(\w+)\.safetensors",
    )
    names = [file.name for file in folder.iterdir()]
    return {
        found[1] or "" for name in names for shape in shapes if (found := re.fullmatch(shape, name))
    }


def _nothing(folder: pathlib.Path, stem: str) -> str:
    """Say why a component has no weights."""
    pickles = sorted(file.name for file in folder.iterdir() if file.suffix in weights.PICKLES)
    if pickles:
        return f"{folder / pickles[0]} is {weights.WHY_NO_PICKLE}"
    return f"{folder / stem}.safetensors is missing: {folder.name} has no weights; get it again"


def _names(index: pathlib.Path) -> dict[str, str]:
    """Read which tensor lies in which file; the files may only lie beside the index."""
    try:
        found = json.loads(index.read_text("utf-8"))["weight_map"]
        names = {str(tensor): str(name) for tensor, name in found.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise errors.ModelError(f"can't read {index}: get this file again") from error
    for name in names.values():
        if pathlib.PurePath(name).name != name or name in ("", ".", ".."):
            raise errors.ModelError(f"{index} names {name!r}, which lies outside its folder")
        if not name.endswith(".safetensors"):
            raise errors.ModelError(f"{index.parent / name} is {weights.WHY_NO_PICKLE}")
    return names


def _preference(variant: str) -> tuple[int, str]:
    known = variant in _PREFERRED
    return (_PREFERRED.index(variant) if known else len(_PREFERRED), variant)
