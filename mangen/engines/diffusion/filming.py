"""Clips of video models: what they are asked for, and how their frames become the shot's."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
from collections.abc import Iterator, Mapping

import numpy as np

from mangen import errors
from mangen.engines import mp4, protocol
from mangen.engines.diffusion import (
    family,
    letters,
    order,
    pictures,
    players,
    prompts,
    spread,
    wordbook,
)


def clip(
    player: players.Player, request: protocol.ClipRequest, sketch: family.Task, path: pathlib.Path
) -> order.Order:
    """The shot as a video model sees it: from its panel on, for as long as it lasts."""
    motions = wordbook.labels("motion")
    if request.motion not in motions:
        raise errors.EngineError(
            f"motion is {request.motion!r}: one of {', '.join(sorted(motions))} is needed"
        )
    said = prompts.shot(request, both=prompts.both(player.model))
    task = dataclasses.replace(
        order.told(sketch, said, seed=request.seed),
        fps=request.fps,
        images=(first(request.panel, request.width, request.height),),
        motion=request.motion,
        encoded=request.encoded,
    )

    def end(results: Mapping[str, family.Result]) -> order.Ending:
        result = results[order.ONE]
        path.parent.mkdir(parents=True, exist_ok=True)
        yield from mp4.write(
            _frames(request, result.images),
            path,
            count=request.frames,
            width=request.width,
            height=request.height,
            fps=request.fps,
        )
        made = {**order.notes(player, said, task, result), "frames": len(result.images)}
        return protocol.Clip(path=path, frames=request.frames, notes=made)

    return order.Order(tasks={order.ONE: task}, end=end, ends=request.frames)


def encode(
    player: players.Player, request: protocol.EncodeRequest, sketch: family.Task
) -> order.Order:
    """What a video model needs of its first frame, made by itself."""
    del player
    task = dataclasses.replace(
        sketch,
        seed=request.seed,
        images=(first(request.panel, request.width, request.height),),
    )

    def end(results: Mapping[str, family.Result]) -> order.Ending:
        yield from ()
        made = results[order.ONE].features
        return protocol.Encoded(arrays={name: np.asarray(one) for name, one in made.items()})

    return order.Order(tasks={order.ONE: task}, end=end)


def first(panel: protocol.Panel, width: int, height: int) -> protocol.Image:
    """The panel's picture, cut to the frame's proportions: a clip begins with it."""
    if panel.image.size == 0:
        raise errors.EngineError("panel.image is empty: a clip begins with a picture")
    return np.ascontiguousarray(
        pictures.cut(pictures.rgb("panel.image", panel.image), width, height)
    )


def _frames(request: protocol.ClipRequest, made: family.Image) -> Iterator[protocol.Image]:
    """Exactly the shot's frames, at its size."""
    sized = functools.partial(pictures.covering, width=request.width, height=request.height)
    written = letters.Letters(request)
    for number, frame in enumerate(spread.frames(made, request.frames, sized)):
        yield written.over(frame, number)
