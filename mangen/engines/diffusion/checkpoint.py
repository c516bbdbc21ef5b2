"""A checkpoint: a diffusers folder, read and checked without torch.

What is read is `model_index.json`, each component's configuration and the headers of its
safetensors files: enough to know whether the folder is whole, what it holds, and how many bytes it
takes in any precision.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import hashlib
import json
import pathlib
import re
from collections.abc import Iterable, Mapping
from concurrent import futures
from typing import Any

from mangen import errors
from mangen.engines.diffusion import float8, licence, shards, weights

INDEX = "model_index.json"
_READERS = 4  #: files read at once: sums of different files take different cores
#: endings of classes that have no weights, and the file each needs
_WEIGHTLESS = re.compile(
    r"(Scheduler|Tokenizer|TokenizerFast|Processor\w*|Extractor|Extractor\w*)$"
)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Component:
    """A part of a pipeline; one without weights (a tokenizer, a scheduler) has no files."""

    name: str
    library: str
    kind: str  #: its class
    folder: pathlib.Path
    config: Mapping[str, Any]
    files: tuple[weights.Weights, ...] = ()

    @property
    def elements(self) -> Mapping[str, int]:
        """Numbers by their type in the files."""
        found: collections.Counter[str] = collections.Counter()
        for file in self.files:
            found.update(file.elements)
        return dict(found)

    @property
    def parameters(self) -> int:
        return sum(self.elements.values())

    @property
    def dtype(self) -> str:
        """The float type that most of it has, as torch names it; empty: it has none."""
        floats = {kind: n for kind, n in self.elements.items() if kind in weights.NAMES}
        return weights.NAMES[max(floats, key=floats.__getitem__)] if floats else ""

    @property
    def quantised(self) -> str:
        """The method by which its weights were made smaller; empty: none."""
        found = self.config.get("quantization_config")
        return str(found.get("quant_method", "?")) if isinstance(found, Mapping) else ""

    def nbytes(self, dtype: str = "") -> int:
        """Bytes of its weights when loaded as `dtype`; without it, as they are stored.

        `float16+float8` keeps layers of a denoiser in 8-bit floats.
        """
        kind, eighth = dtype.removesuffix(float8.MARK), dtype.endswith(float8.MARK)
        width = 0 if self.quantised else weights.RUN_IN.get(kind, 0)
        total = sum(
            count * (width if width and kind in weights.NAMES else weights.WIDTHS.get(kind, 1))
            for kind, count in self.elements.items()
        )
        if eighth and width and float8.denoises(self.name):
            shapes = {name: shape for file in self.files for name, shape in file.shapes.items()}
            total -= (width - 1) * float8.numbers(shapes)
        return total


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Index:
    """A checked folder. `options` are those of the pipeline that are no components."""

    folder: pathlib.Path
    pipeline: str  #: the pipeline's class
    components: Mapping[str, Component]
    options: Mapping[str, Any]
    variant: str = ""  #: of its files, as fp16; empty: the plain ones
    licence: str = ""
    outline: str = ""  #: sha256 of the configurations and headers: cheap, blind for values

    @property
    def dtype(self) -> str:
        """The float type that most of its bytes have."""
        found: collections.Counter[str] = collections.Counter()
        for one in self.components.values():
            found[one.dtype] += one.nbytes() if one.dtype else 0
        return found.most_common(1)[0][0] if found else ""

    @property
    def files(self) -> tuple[weights.Weights, ...]:
        return tuple(file for one in self.components.values() for file in one.files)

    def nbytes(self, dtype: str = "", names: Iterable[str] | None = None) -> int:
        """Bytes of the weights of all components, or of those named, loaded as `dtype`."""
        chosen = self.components if names is None else names
        return sum(
            self.components[name].nbytes(dtype) for name in chosen if name in self.components
        )


def read(folder: pathlib.Path, variant: str | None = None) -> Index:
    """Read and check a folder; raises ModelError that names what is wrong and the mend.

    Without `variant` the plain files are taken where they are whole, else the variant that is.
    """
    folder = folder.expanduser().absolute()
    try:
        return _read(folder, variant)
    except OSError as error:
        raise errors.ModelError(
            f"can't read {error.filename or folder}: {error.strerror}; mend its permissions"
        ) from error


def _read(folder: pathlib.Path, variant: str | None) -> Index:
    index = _model_index(folder)
    parts = {
        name: _config(folder, name, *map(str, value))
        for name, value in sorted(index.items())
        if _names_part(value)
    }
    heavy = {one.name: one for one in parts.values() if not _WEIGHTLESS.search(one.kind)}
    if not heavy:
        raise errors.ModelError(f"{folder / INDEX} names no component with weights")
    stems = {name: _stem(one) for name, one in heavy.items()}
    folders = {name: one.folder for name, one in heavy.items()}
    chosen = shards.choose(folders, stems, variant)
    for name, one in heavy.items():
        files = shards.read(one.folder, stems[name], chosen)
        parts[name] = dataclasses.replace(one, files=files)
        _check_dtype(parts[name])
    return Index(
        folder=folder,
        pipeline=str(index["_class_name"]),
        components=parts,
        options={
            name: value
            for name, value in index.items()
            if not name.startswith("_") and not isinstance(value, list)
        },
        variant=chosen,
        licence=licence.of(folder),
        outline=_outline(index, parts),
    )


def digest(index: Index, more: Iterable[pathlib.Path] = ()) -> str:
    """Answer the sha256 of all that it computes with: every byte is read, seconds a gigabyte."""
    total = hashlib.sha256(index.outline.encode())
    paths = [*(file.path for file in index.files), *more]
    with futures.ThreadPoolExecutor(_READERS) as readers:
        for one in readers.map(_digest, paths):
            total.update(one)
    return total.hexdigest()


def _digest(path: pathlib.Path) -> bytes:
    try:
        with path.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").digest()
    except OSError as error:
        raise errors.ModelError(f"can't read {path}: {error.strerror}") from error


def _model_index(folder: pathlib.Path) -> dict[str, Any]:
    file = folder / INDEX
    if not file.is_file():
        raise errors.ModelError(_no_checkpoint(folder))
    index = _json(file)
    name = index.get("_class_name")
    if isinstance(name, list) or any(
        _names_part(value) and (folder / part / f"{value[0]}.py").exists()
        for part, value in index.items()
    ):
        raise errors.ModelError(
            f"{folder} brings code of its own, which mangen doesn't run: use a checkpoint whose "
            "classes are diffusers' and transformers' own"
        )
    if not isinstance(name, str):
        raise errors.ModelError(f"{file} names no pipeline (_class_name): get this file again")
    return index


def _no_checkpoint(folder: pathlib.Path) -> str:
    """Say why it is none, and where one may be."""
    if not folder.exists():
        return f"{folder} is not there"
    if folder.is_file():
        kind = weights.WHY_NO_PICKLE if folder.suffix in weights.PICKLES else (
            "a single file; mangen takes folders in diffusers' format: make one by "
            "`Pipeline.from_single_file(FILE).save_pretrained(FOLDER)`"
        )  # fmt: skip
        return f"{folder} is {kind}"
    inside = sorted(folder.glob(f"*/{INDEX}")) or sorted(folder.glob(f"snapshots/*/{INDEX}"))
    if inside:
        return f"{folder} is no checkpoint; name the folder in it: {inside[0].parent}"
    if (folder / "config.json").is_file() and (folder.parent / INDEX).is_file():
        return f"{folder} is a part of a checkpoint; name the whole: {folder.parent}"
    return (
        f"{folder} is no diffusers checkpoint: it has no {INDEX}; name the folder that "
        "`save_pretrained` wrote or that was downloaded whole"
    )


def _names_part(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(v, str) for v in value)


def _config(folder: pathlib.Path, name: str, library: str, kind: str) -> Component:
    """Find a part's folder and configuration; its weights are not looked for yet."""
    place = folder / name
    if not place.resolve().is_relative_to(folder.resolve()) or not place.is_dir():
        raise errors.ModelError(
            f"{folder} is not whole: {INDEX} names {name} ({kind}), but there is no such folder"
        )
    if "onnx" in library.lower():
        raise errors.ModelError(f"{place} is an ONNX model; mangen runs the PyTorch one")
    file = place / ("scheduler_config.json" if kind.endswith("Scheduler") else "config.json")
    if not _WEIGHTLESS.search(kind) or kind.endswith("Scheduler"):
        if not file.is_file():
            raise errors.ModelError(f"{folder} is not whole: {name}/{file.name} is missing")
    elif not any(place.iterdir()):
        raise errors.ModelError(f"{folder} is not whole: the folder {name} ({kind}) is empty")
    config = _json(file) if file.is_file() else {}
    return Component(name=name, library=library, kind=kind, folder=place, config=config)


def _stem(part: Component) -> str:
    """How the names of its files begin."""
    return "model" if part.library == "transformers" else "diffusion_pytorch_model"


def _check_dtype(part: Component) -> None:
    if part.quantised or part.dtype in (*weights.RUN_IN, "float8_e4m3fn", "float8_e5m2"):
        return
    stored = part.dtype or " and ".join(sorted(part.elements)) or "nothing"
    raise errors.ModelError(
        f"{part.folder} holds {stored}; mangen runs {', '.join(weights.RUN_IN)}: save it in one "
        "of them, by `model.to(torch.float16).save_pretrained(folder)`"
    )


def _json(file: pathlib.Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise errors.ModelError(f"can't read {file}: {error}; get this file again") from error
    if not isinstance(found, dict):
        raise errors.ModelError(f"{file} holds no JSON object; get this file again")
    return found


def _outline(index: Mapping[str, Any], parts: Mapping[str, Component]) -> str:
    plain = functools.partial(json.dumps, sort_keys=True, ensure_ascii=False)
    total = hashlib.sha256(plain(index).encode())
    for name, one in parts.items():
        headers = [(file.path.name, file.size, file.header) for file in one.files]
        total.update(plain([name, one.config, headers]).encode())
    return total.hexdigest()
