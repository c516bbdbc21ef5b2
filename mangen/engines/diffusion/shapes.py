"""What size a model is asked for: the frame's proportions, and as many pixels as it draws best.

The rule. A model draws well at about the number of pixels that it was taught with, whatever the
frame: the size that is asked for has the frame's proportions and that many pixels, or as many as
the registration allows where that is less; its sides are multiples of 64 where both are 512 or
more, and always legal for the family. How many pixels that is, a UNet's configuration tells; of
others about a million, of video models somewhat less. What comes out is cut to the frame's
proportions, and made larger (Lanczos) where it is smaller than the frame: never smaller, so a
panel's camera has all that was drawn. Finer detail than that is the upscale stage's. A video
model's clip is as long as the shot, in halves of a second, or as long as the model can; its frames
are spread over the shot's.

Sizes depend on the frame alone, never on a panel's own: a bucket is known before there is a panel.
No torch here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from mangen import errors
from mangen.engines import protocol
from mangen.engines.diffusion import configs, family, players, registry

#: pixels of a picture that the models of a family were taught with
_TAUGHT: Mapping[str, int] = {"i2vgen": 704 * 1280, "wan": 704 * 1280}
_MILLION = 1024 * 1024  #: of those that tell nothing
_LATENT = 8  #: pixels of a UNet's sample, a side
_COARSE = 64  #: multiples that all models like
_COARSE_FROM = 512
LEAST, MOST = 64, 4096  #: sides of a frame, in pixels
#: how far the proportions that a model can make may be from the frame's
_BENT = 1.5
_BEAT = 12  #: clips are asked for in multiples of so many frames, and one: buckets repeat then
TILES_AT_ONCE = 4  #: of one large panel


def best(model: registry.Model) -> int:
    """How many pixels a model draws best, and may."""
    sample = configs.read(model.folder, "unet").get("sample_size")
    taught = (sample * _LATENT) ** 2 if isinstance(sample, int) else _MILLION
    pixels = _TAUGHT.get(model.family, taught)
    return min(pixels, model.limits.pixels or pixels)


def size(player: players.Player, width: int, height: int, frames: int = 1) -> tuple[int, int, int]:
    """Width, height and frames that a model is asked for, for a frame of that size.

    Raises SizeError that names the nearest size where its proportions are far from the frame's.
    """
    model, pixels = player.model, best(player.model)
    ideal = math.sqrt(pixels * width / height), math.sqrt(pixels * height / width)
    if min(ideal) >= _COARSE_FROM:
        wide, high = (round(side / _COARSE) * _COARSE for side in ideal)
    else:
        wide, high = (max(1, round(side)) for side in ideal)
    wide, high, count = player.family.legal(model, wide, high, frames)
    bent = (wide / high) / (width / height)
    if not 1 / _BENT <= bent <= _BENT:
        raise family.SizeError(
            f"the model {model.name} can't make a frame of {width}x{height}: the nearest size it "
            f"can make is {wide}x{high}"
        )
    return wide, high, count


def usual(model: registry.Model, role: str, width: int, height: int) -> tuple[int, int]:
    """Width and height of a role's pictures, or its tiles, for a frame of that size.

    Raises SizeError as `size` does.
    """
    stage = next((one for one, played in players.ROLES.items() if played == role), role)
    player = players.Player(
        stage=stage, quality="final", model=model, family=family.of(model.family)
    )
    if role == "upscale":
        return tile(player, width, height)
    return size(player, width, height)[:2]


def tile(player: players.Player, width: int, height: int) -> tuple[int, int]:
    """Width and height of the tiles that a large panel is made of: square, or as narrow as it."""
    model, side = player.model, math.isqrt(best(player.model))
    wide, high, _ = player.family.legal(model, min(side, width), min(side, height), 1)
    return wide, high


def beats(frames: int) -> int:
    """How many frames a model is asked for, for a clip of so many."""
    return max(1, round(frames / _BEAT)) * _BEAT + 1


def outer(request: protocol.OutpaintRequest) -> tuple[int, int]:
    """The frame with its margin all around."""
    return (
        round(request.width * (1 + 2 * request.margin)),
        round(request.height * (1 + 2 * request.margin)),
    )


def at_once(player: players.Player, request: protocol.Request) -> int:
    """How many tasks of one request run at once at most."""
    if not isinstance(request, protocol.UpscaleRequest):
        return 1
    wide, high = tile(player, request.width, request.height)
    return min(TILES_AT_ONCE, -(-request.width // wide) * -(-request.height // high))


def sketch(player: players.Player, request: protocol.Request) -> family.Task:
    """A task of the shape that a request will have; what it shows has no part in bytes or bucket.

    Raises SizeError, or EngineError that names the field which can't be drawn.
    """
    check(request)
    frames = 1
    match request:
        case protocol.UpscaleRequest():
            width, height = tile(player, request.width, request.height)
        case protocol.OutpaintRequest():
            width, height, _ = size(player, *outer(request))
        case protocol.ClipRequest():
            width, height, frames = size(
                player, request.width, request.height, beats(request.frames)
            )
        case protocol.EncodeRequest():
            # whatever the shot's length will be: the first frame is the same
            width, height, _ = size(player, request.width, request.height)
        case _:
            width, height, _ = size(player, request.width, request.height)
    return _task(player, request, width, height, frames)


def _task(
    player: players.Player, request: protocol.Request, width: int, height: int, frames: int
) -> family.Task:
    import numpy as np  # noqa: PLC0415 - the seam needs none

    # of the task's own size, and no bytes
    picture = np.broadcast_to(np.uint8(0), (height, width, 3))
    painted = isinstance(request, (protocol.RepaintRequest, protocol.OutpaintRequest))
    drawn = isinstance(request, (protocol.AnchorRequest, protocol.PanelRequest))
    figures = () if isinstance(request, (protocol.AnchorRequest, protocol.EncodeRequest)) else (
        request.figures
    )  # fmt: skip
    return family.Task(
        role=player.role,  # type: ignore[arg-type]  # one of the family's words: see players.ROLES
        prompt="words",
        width=width,
        height=height,
        frames=frames,
        images=() if drawn else (picture,),
        mask=picture[..., 0] if painted else None,
        characters=tuple(family.CharacterFeatures(name=one.sheet.name) for one in figures),
        pad=player.model.pad,
    )


def check(request: protocol.Request) -> None:
    """Raise a permanent EngineError that names the field which can't be drawn."""
    clip = isinstance(request, protocol.ClipRequest)
    for field in ("width", "height"):
        value = getattr(request, field)
        if not LEAST <= value <= MOST or (clip and value % 2):
            raise errors.EngineError(
                f"{field} is {value}: {LEAST} to {MOST} pixels are drawn, even ones in clips"
            )
    if isinstance(request, protocol.PanelRequest) and request.kind != "shot":
        raise errors.EngineError(
            f"a card ({request.kind}) is drawn by the animatic engine: models can't write"
        )
    if isinstance(request, protocol.OutpaintRequest) and not 0 < request.margin <= 1:
        raise errors.EngineError(f"margin is {request.margin}: more than 0 and at most 1 is needed")
    if isinstance(request, protocol.ClipRequest):
        for field in ("frames", "fps"):
            if getattr(request, field) < 1:
                raise errors.EngineError(
                    f"{field} is {getattr(request, field)}: at least 1 is needed"
                )
