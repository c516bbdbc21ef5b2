"""One product as the bytes of a safetensors file, and back.

The tensors are the file's tensors; how they hang together (dicts, lists, tuples, JSON scalars) is
JSON in its metadata, as are kind, signature and seconds. The checksum covers the metadata too: a
scalar is as much a part of the product as a tensor. Layout of a file: 8 bytes length of the header
(little endian), the header (JSON), the tensors' bytes: https://huggingface.co/docs/safetensors
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import Any

from mangen.pooling import tensors

VERSION = "1"

_NUMPY = frozenset(
    (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64"),
    )
)
_HEADER_MOST = 100_000_000  # the format's own limit
_ALIGN = 8


class Unstorable(TypeError):
    """A value that is not made of tensors and JSON scalars, or of a type the format lacks."""


class Broken(ValueError):
    """Bytes that are not a whole, unchanged product of this version."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """A product from a file: arrays in host memory, the seconds it took to make, file bytes."""

    value: Any
    seconds: float
    nbytes: int


def dump(kind: str, signature: str, value: Any, seconds: float) -> bytes:
    """Write a tree of numpy arrays, torch tensors and JSON scalars; raises Unstorable."""
    flat: dict[str, Any] = {}
    tree = _flatten(value, "", flat)
    if not flat:
        raise Unstorable("no tensor is in it")
    torches = any(tensors.is_tensor(leaf) for leaf in flat.values())
    metadata = {
        "version": VERSION,
        "kind": kind,
        "signature": signature,
        "seconds": repr(float(seconds)),
        "framework": "torch" if torches else "numpy",
        "tree": json.dumps(tree),
    }
    try:
        return _sealed(_torch(flat, metadata) if torches else _numpy(flat, metadata))
    except MemoryError:
        raise
    except Exception as error:  # whatever the library raises: this value can't be written
        raise Unstorable(str(error)) from error


def load(kind: str, signature: str, data: bytes) -> Stored:
    """Read what `dump` wrote of this product; raises Broken that says what is wrong with it.

    ImportError: its framework is not installed here, and nothing is wrong with it.
    """
    metadata = _checked(data)
    if (metadata.get("kind"), metadata.get("signature")) != (kind, signature):
        raise Broken("it is another product")
    flat: dict[str, Any]
    try:
        if metadata["framework"] == "torch":
            import safetensors.torch  # noqa: PLC0415 - loads torch

            flat = safetensors.torch.load(data)
        else:
            import safetensors.numpy  # noqa: PLC0415 - the parent stores nothing

            flat = safetensors.numpy.load(data)
        value = _grown(json.loads(metadata["tree"]), flat)
        return Stored(value=value, seconds=float(metadata["seconds"]), nbytes=len(data))
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # whatever the library raises: the file can't be used
        raise Broken(str(error)) from error


def _flatten(value: Any, path: str, flat: dict[str, Any]) -> dict[str, Any]:
    """Collect the tensors by name; answer the tree with the names in their places."""
    if type(value) is dict:
        if not all(type(key) is str for key in value):
            raise Unstorable("a key is no text")
        return {"dict": {key: _flatten(one, f"{path}.{key}", flat) for key, one in value.items()}}
    if type(value) in (list, tuple):
        return {
            type(value).__name__: [
                _flatten(one, f"{path}.{place}", flat) for place, one in enumerate(value)
            ]
        }
    if tensors.is_array(value) or tensors.is_tensor(value):
        _check(value)
        name = path.strip(".") or "value"
        while name in flat or name == "__metadata__":  # {"a": {"b": ...}, "a.b": ...}
            name += "'"
        flat[name] = value
        return {"torch" if tensors.is_tensor(value) else "numpy": name}
    if value is None or type(value) in (str, bool, int, float):
        return {"json": value}
    raise Unstorable(f"{type(value).__qualname__} is neither a tensor nor a JSON scalar")


def _grown(tree: dict[str, Any], flat: dict[str, Any]) -> Any:
    ((kind, inside),) = tree.items()
    if kind == "dict":
        return {key: _grown(one, flat) for key, one in inside.items()}
    if kind in ("list", "tuple"):
        grown = [_grown(one, flat) for one in inside]
        return grown if kind == "list" else tuple(grown)
    if kind == "json":
        return inside
    leaf = flat[inside]
    return leaf.numpy() if kind == "numpy" and tensors.is_tensor(leaf) else leaf


def _check(leaf: Any) -> None:
    if tensors.is_array(leaf):
        import numpy as np  # noqa: PLC0415 - loaded already: the leaf is an array

        if type(leaf) is not np.ndarray or leaf.dtype.name not in _NUMPY:
            raise Unstorable(f"an array of {leaf.dtype}")
        if not leaf.dtype.isnative:  # the format knows one byte order: it would not come back so
            raise Unstorable(f"an array of {leaf.dtype}, foreign byte order")
        return
    from safetensors import torch as framework  # noqa: PLC0415 - as in _torch

    # a table without a public name; the test of dtypes tells when it is gone
    if str(leaf.layout) != "torch.strided" or leaf.dtype not in framework._SIZE:  # noqa: SLF001 - see above
        raise Unstorable(f"a tensor of {leaf.dtype}, {leaf.layout}")
    if leaf.is_quantized or leaf.device.type == "meta":
        raise Unstorable("a tensor that is quantized or has no data")


def _numpy(flat: dict[str, Any], metadata: dict[str, str]) -> bytes:
    from safetensors import numpy as framework  # noqa: PLC0415 - the parent stores nothing

    dense = {
        name: array if array.flags.c_contiguous else array.copy(order="C")
        for name, array in flat.items()
    }
    data: bytes = framework.save(dense, metadata)
    return data


def _torch(flat: dict[str, Any], metadata: dict[str, str]) -> bytes:
    import torch  # noqa: PLC0415 - in use already: a tensor is in it
    from safetensors import torch as framework  # noqa: PLC0415 - loads torch

    # copies: the format refuses tensors that share memory, and knows nothing of lazy conjugation
    own = {
        name: leaf.detach().resolve_conj().resolve_neg().cpu().clone().contiguous()
        if tensors.is_tensor(leaf)
        else torch.from_numpy(leaf.copy(order="C"))
        for name, leaf in flat.items()
    }
    data: bytes = framework.save(own, metadata)
    return data


def _sealed(data: bytes) -> bytes:
    """The same file with its checksum in the metadata."""
    header, body = _parts(data)
    header["__metadata__"]["checksum"] = _checksum(header, body)
    # safetensors writes it in any order: one product is one file, to the byte
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGN)
    return b"".join((len(text).to_bytes(8, "little"), text, body))


def _checked(data: bytes) -> dict[str, str]:
    try:
        header, body = _parts(data)
        metadata: dict[str, str] = header["__metadata__"]
        checksum, version = metadata.pop("checksum"), metadata["version"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Broken(f"it is no product of this cache: {error}") from error
    if version != VERSION:
        raise Broken(f"its format is {version}, not {VERSION}")
    if _checksum(header, body) != checksum:
        raise Broken("its checksum is wrong")
    return metadata


def _parts(data: bytes) -> tuple[dict[str, Any], memoryview]:
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(len(data) - 8, _HEADER_MOST):
        raise ValueError("it is cut off")
    return json.loads(data[8 : 8 + length]), memoryview(data)[8 + length :]


def _checksum(header: dict[str, Any], body: memoryview) -> str:
    """Over the header without its checksum, written one way, and the tensors' bytes."""
    digest = hashlib.blake2b(digest_size=32)
    digest.update(json.dumps(header, sort_keys=True, separators=(",", ":")).encode())
    digest.update(body)
    return digest.hexdigest()
