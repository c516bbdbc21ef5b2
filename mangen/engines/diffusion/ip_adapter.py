"""IP-Adapter features by member: each picture is drawn from its own characters.

The stock pipelines join the features of a batch, so that all characters of all its pictures blend
(diffusers #9813), and know one weight for all. Here the cross attentions are told, row by row of a
pass, who is there, how much, and where: a region is a share of each place of the picture.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from PIL import Image

from mangen import errors

if TYPE_CHECKING:
    from mangen.engines.diffusion import family


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Cast:
    """Who is in one picture: `tokens` (2, characters, n, width), without and with them."""

    tokens: Any
    weights: tuple[float, ...]
    regions: tuple[family.Region | None, ...]


class _Scene:
    """What the attentions read during one pass."""

    def __init__(self) -> None:
        self.tokens: Any = None  #: (rows, characters, n, width); None: nobody is there
        self._casts: Sequence[Cast | None] = ()
        self._size = (0, 0)
        self._gains: dict[int, Any] = {}

    def fill(self, rows: Sequence[tuple[Cast | None, int]], size: tuple[int, int]) -> None:
        """Set a row's cast, and whether it is the one without (0) or with (1) the prompt."""
        most = max((len(cast.weights) for cast, _ in rows if cast is not None), default=0)
        self._gains.clear()
        if not most:
            self.tokens = None
            return
        self._casts, self._size = [cast for cast, _ in rows], size
        shown = next(cast.tokens for cast, _ in rows if cast is not None)
        self.tokens = shown.new_zeros((len(rows), most, *shown.shape[2:]))
        for number, (cast, side) in enumerate(rows):
            if cast is not None:
                self.tokens[number, : len(cast.weights)] = cast.tokens[side]

    def gains(self, places: int, like: Any) -> Any:
        """Weights at each of so many places: (rows, characters, places, 1); 0 where nobody is."""
        if places not in self._gains:
            high, wide = _grid(*self._size, places)
            found = np.zeros((*self.tokens.shape[:2], high, wide), np.float32)
            for number, cast in enumerate(self._casts):
                for who, weight in enumerate(cast.weights if cast is not None else ()):
                    assert cast is not None
                    found[number, who] = weight * _cover(cast.regions[who], high, wide)
            flat = torch.from_numpy(found.reshape(*found.shape[:2], places, 1))
            self._gains[places] = flat.to(like)
        return self._gains[places]


class Adapter:
    """An IP-Adapter in a loaded pipeline's UNet."""

    def __init__(self, pipe: Any, file: str) -> None:
        """Put the file's weights into the UNet; without characters it draws as if it had none."""
        folder, _, name = file.rpartition("/")
        pipe.load_ip_adapter(
            folder, subfolder="", weight_name=name, image_encoder_folder=None, local_files_only=True
        )
        unet = pipe.unet
        self._pipe, self._scene = pipe, _Scene()
        self._project = unet.encoder_hid_proj.image_projection_layers[0]
        self._patches = type(self._project).__name__ != "ImageProjection"
        # the characters' tokens go to the attentions directly, once a member and not once a step
        unet.encoder_hid_proj = None
        unet.register_to_config(encoder_hid_dim_type=None)
        unet.set_attn_processor(
            {
                name: _Attention(one, self._scene) if hasattr(one, "to_k_ip") else one
                for name, one in unet.attn_processors.items()
            }
        )

    def to(self, place: str, dtype: Any) -> None:
        self._project.to(place, dtype)

    def encode(self, picture: family.Image) -> Any:
        """Features of a picture: (2, 1, width), without and with it; (2, 1, n, width) of Plus.

        The encoder sees a square: of a tall picture the upper one, where the face is. Half
        precision stays half, and half the bytes to keep; numpy has no bfloat16.
        """
        encoder = self._pipe.image_encoder
        shown = Image.fromarray(portrait(picture))
        made, empty = self._pipe.encode_image(shown, encoder.device, 1, self._patches or None)
        found = torch.stack([empty, made]).cpu()
        return (found if found.dtype == torch.float16 else found.float()).numpy()

    def cast(self, features: Sequence[Any], people: Sequence[family.CharacterFeatures]) -> Cast:
        """Project the features of all who are in one picture."""
        weight = next(self._project.parameters())
        both = []
        for one, who in zip(features, people, strict=True):
            given = torch.from_numpy(np.asarray(one, np.float32))
            if given.shape[:2] != (2, 1) or given.ndim != (4 if self._patches else 3):
                raise errors.EngineError(
                    f"the features of {who.name} are {tuple(given.shape)}, which this model's "
                    "IP-Adapter can't use: draw the anchor again with the models of now"
                )
            try:
                both.append(self._project(given[:, 0].to(weight)))
            except RuntimeError as error:
                if isinstance(error, torch.OutOfMemoryError):
                    raise
                raise errors.EngineError(
                    f"the features of {who.name} don't fit this model's IP-Adapter ({error}): draw "
                    "the anchor again with the models of now"
                ) from error
        return Cast(
            tokens=torch.stack(both, dim=1),
            weights=tuple(who.weight for who in people),
            regions=tuple(who.region for who in people),
        )

    def show(self, rows: Sequence[tuple[Cast | None, int]], size: tuple[int, int]) -> None:
        """Set who is in the rows of the next pass, whose latents are height x width."""
        self._scene.fill(rows, size)


def portrait(picture: family.Image) -> family.Image:
    """Answer the upper square of a tall picture: the encoder's own would cut the head off."""
    return picture[: picture.shape[1]]


class _Attention(torch.nn.Module):  # type: ignore[misc]  # torch is not typed here
    """Cross attention over the text, and over each character's tokens by its row's weights."""

    def __init__(self, stock: Any, scene: _Scene) -> None:
        super().__init__()
        self.to_k_ip, self.to_v_ip = stock.to_k_ip[0], stock.to_v_ip[0]
        self._scene = scene

    def forward(
        self,
        attn: Any,
        hidden_states: Any,
        encoder_hidden_states: Any = None,
        attention_mask: Any = None,
        **_more: Any,
    ) -> Any:
        query = _heads(attn, attn.to_q(hidden_states))
        key, value = (
            _heads(attn, project(encoder_hidden_states)) for project in (attn.to_k, attn.to_v)
        )
        seen = _attended(query, key, value, attention_mask)
        tokens = self._scene.tokens
        if tokens is not None:
            gains = self._scene.gains(query.shape[2], seen)
            for who in range(tokens.shape[1]):
                keys, values = self.to_k_ip(tokens[:, who]), self.to_v_ip(tokens[:, who])
                shown = _attended(query, _heads(attn, keys), _heads(attn, values))
                seen = seen + gains[:, who] * shown
        return attn.to_out[1](attn.to_out[0](seen)) / attn.rescale_output_factor


def _attended(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    out = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return out.transpose(1, 2).flatten(2)


def _heads(attn: Any, states: Any) -> Any:
    rows, places, _ = states.shape
    return states.view(rows, places, attn.heads, -1).transpose(1, 2)


def _grid(high: int, wide: int, places: int) -> tuple[int, int]:
    """Height and width of the attention's grid, which is the latents' halved some times."""
    while high * wide > places:
        high, wide = math.ceil(high / 2), math.ceil(wide / 2)
    assert high * wide == places
    return high, wide


def _cover(region: family.Region | None, high: int, wide: int) -> Any:
    """The share of each place that a region covers."""
    if region is None:
        return 1.0
    left, top, right, bottom = region
    return np.outer(_shares(top, bottom, high), _shares(left, right, wide))


def _shares(first: float, last: float, count: int) -> Any:
    edges = np.clip(np.arange(count + 1) / count, first, last)
    return np.diff(edges) * count
