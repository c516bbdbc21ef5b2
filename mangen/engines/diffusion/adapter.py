"""An IP-Adapter's file: what keeps a character the same, checked without torch."""

from __future__ import annotations

import dataclasses
import pathlib

from mangen import errors
from mangen.engines.diffusion import checkpoint, weights

#: where a checkpoint may bring one of its own
FOLDER = "ip_adapter"
#: the parts that such a file has, as diffusers loads them
_PARTS = ("image_proj.", "ip_adapter.")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Adapter:
    """`plus` takes the states of a picture's patches, the plain one its single embedding."""

    path: pathlib.Path
    parameters: int
    embedding: int  #: length of the picture's embedding that it takes
    plus: bool


def read(path: pathlib.Path) -> Adapter:
    """Read and check a file; raises ModelError that says why it is none."""
    path = path.expanduser().absolute()
    if not path.is_file():
        raise errors.ModelError(f"the IP-Adapter {path} is not there: name its safetensors file")
    if path.suffix in weights.PICKLES:
        raise errors.ModelError(f"{path} is {weights.WHY_NO_PICKLE}")
    found = weights.read(path)
    for part in _PARTS:
        if not any(name.startswith(part) for name in found.shapes):
            raise errors.ModelError(f"{path} is no IP-Adapter: it has no {part}* weights")
    kind, inlet = _kind(path, found)
    return Adapter(
        path=path,
        parameters=sum(found.elements.values()),
        embedding=found.shapes[inlet][-1] if inlet in found.shapes else 0,
        plus=kind != "plain",
    )


def _kind(path: pathlib.Path, found: weights.Weights) -> tuple[str, str]:
    """The kind of a file, as diffusers tells them apart, and the weight that takes the picture."""
    have = {name.removeprefix(_PARTS[0]) for name in found.shapes}
    if "proj.weight" in have:
        return "plain", "image_proj.proj.weight"
    if "proj.3.weight" in have:
        return "full", "image_proj.proj.0.weight"
    if "perceiver_resampler.proj_in.weight" in have or "norm.weight" in have:
        raise errors.ModelError(
            f"{path} is an IP-Adapter of face embeddings (FaceID), which mangen doesn't make: use "
            "one of pictures"
        )
    return "plus", "image_proj.proj_in.weight"


def of(index: checkpoint.Index) -> Adapter | None:
    """The adapter that lies in a checkpoint's own folder; None where there is none."""
    files = sorted((index.folder / FOLDER).glob("*.safetensors"))
    return read(files[0]) if files else None


def check(adapter: Adapter, index: checkpoint.Index) -> None:
    """Raise ModelError unless the checkpoint's image encoder makes what the adapter takes."""
    encoder = index.components.get("image_encoder")
    if encoder is None:
        raise errors.ModelError(
            f"{index.folder} has no image_encoder, which the IP-Adapter {adapter.path} needs: put "
            "the adapter's image encoder and feature extractor into the folder and name them in "
            f"{checkpoint.INDEX}, as `pipeline.save_pretrained` does after `load_ip_adapter`"
        )
    made = encoder.config.get("hidden_size" if adapter.plus else "projection_dim")
    if adapter.embedding and made and made != adapter.embedding:
        raise errors.ModelError(
            f"the IP-Adapter {adapter.path} takes embeddings of {adapter.embedding} numbers, and "
            f"{encoder.folder} makes {made}: they belong to different encoders"
        )
