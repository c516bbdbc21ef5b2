"""Values made of arrays: what they weigh, where they lie, and a walk over their leaves.

A value is a tree of dicts, lists and tuples; its leaves are numpy arrays, torch tensors, text, raw
bytes and scalars. Neither numpy nor torch is loaded here: a value holds an array only where its
library has been loaded already.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, Protocol


class Unmeasurable(TypeError):
    """Nobody can tell how many bytes a value holds."""


class Mover(Protocol):
    """Knows one kind of device: which leaves lie on it, and how they come down."""

    def on_device(self, leaf: Any) -> bool: ...
    def to_host(self, leaf: Any) -> Any:
        """Answer the leaf in host memory, bit for bit; one that lies there may stay as it is."""
        ...


class TorchMover:
    """Tensors come down into pinned memory where this process uses CUDA already.

    It is not asked whether CUDA is *there*: pinning would then make a context of some hundred
    megabytes in a process that had none.
    """

    def on_device(self, leaf: Any) -> bool:
        return is_tensor(leaf) and leaf.device.type not in ("cpu", "meta")

    def to_host(self, leaf: Any) -> Any:
        if not is_tensor(leaf) or leaf.device.type == "meta":
            return leaf
        torch = sys.modules["torch"]
        pin = torch.cuda.is_initialized()
        if leaf.device.type == "cpu" and (not pin or leaf.is_pinned()):
            return leaf
        try:
            host = torch.empty_like(leaf, device="cpu", pin_memory=pin)
        except RuntimeError:  # the system lets no more memory be locked
            host = torch.empty_like(leaf, device="cpu")
        return host.copy_(leaf)


def is_tensor(leaf: Any) -> bool:
    kind = getattr(sys.modules.get("torch"), "Tensor", None)
    return kind is not None and isinstance(leaf, kind)


def is_array(leaf: Any) -> bool:
    kind = getattr(sys.modules.get("numpy"), "ndarray", None)
    return kind is not None and isinstance(leaf, kind)


def leaves(value: Any) -> Iterator[Any]:
    if type(value) is dict:
        for one in value.values():
            yield from leaves(one)
    elif type(value) in (list, tuple):
        for one in value:
            yield from leaves(one)
    else:
        yield value


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same tree with each leaf changed."""
    if type(value) is dict:
        return {key: mapped(one, change) for key, one in value.items()}
    if type(value) in (list, tuple):
        return type(value)(mapped(one, change) for one in value)
    return change(value)


def nbytes(value: Any) -> int:
    """Bytes of all leaves and of the keys; raises Unmeasurable that names the leaf's type."""
    if type(value) is dict:
        return sum(nbytes(key) + nbytes(one) for key, one in value.items())
    if type(value) in (list, tuple):
        return sum(nbytes(one) for one in value)
    if value is None or isinstance(value, bool | int | float | complex):
        return 8
    if isinstance(value, str):
        return len(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, bytes | bytearray):
        return len(value)
    if is_array(value) and value.dtype.hasobject:
        raise Unmeasurable("a numpy array of objects")
    if is_tensor(value) and str(value.layout) != "torch.strided":
        raise Unmeasurable(f"a tensor of layout {value.layout}")
    declared = getattr(value, "nbytes", None)
    if isinstance(declared, int) and declared >= 0:
        return declared
    raise Unmeasurable(f"{type(value).__module__}.{type(value).__qualname__}")


def compact(value: Any) -> Any:
    """The same value with nothing behind it that it does not show.

    A member's slice of a batch would keep the whole batch, a tensor its graph, and a mapped file
    could change under its array.
    """
    return mapped(value, _compact)


def media(value: Any) -> str:
    """Name what in it is a file, or a whole recording or film; empty: nothing is."""
    return next((found for leaf in leaves(value) if (found := _media(leaf))), "")


def _compact(leaf: Any) -> Any:
    if is_tensor(leaf):
        leaf = leaf.detach()
        strided = str(leaf.layout) == "torch.strided"
        if strided and leaf.untyped_storage().nbytes() > leaf.numel() * leaf.element_size():
            return leaf.clone()
        return leaf
    if is_array(leaf):
        numpy = sys.modules["numpy"]
        behind = leaf
        while is_array(behind.base):
            behind = behind.base
        if isinstance(leaf, numpy.memmap) or isinstance(behind, numpy.memmap):
            return numpy.array(leaf, subok=False)
        return leaf.copy() if behind.nbytes > leaf.nbytes else leaf
    return leaf


_STILL = (b"avif", b"heic", b"mif1")  # pictures that use the films' container
_MAGIC = {
    b"ID3": "an MP3 recording",
    b"OggS": "an Ogg recording",
    b"fLaC": "a FLAC recording",
    b"FORM": "an AIFF recording",
    b"\x1a\x45\xdf\xa3": "a WebM or Matroska film",
}


def _media(leaf: Any) -> str:
    if isinstance(leaf, os.PathLike):
        return "a path"
    if isinstance(leaf, io.IOBase) or callable(getattr(leaf, "read", None)):
        return "an open file"
    if isinstance(leaf, bytes | bytearray):
        head = bytes(leaf[:12])
    elif is_array(leaf) and leaf.ndim == 1 and str(leaf.dtype) == "uint8":
        head = leaf[:12].tobytes()
    else:
        return ""
    if head.startswith(b"RIFF") and head[8:] != b"WEBP":
        return "a WAV recording or AVI film"
    if head[4:8] == b"ftyp" and head[8:] not in _STILL:
        return "an MP4 recording or film"
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), "")
