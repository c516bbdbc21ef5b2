"""The studio: what is resident of the animatic, its font, palettes and rooms, loaded once."""

from __future__ import annotations

import pathlib
from collections.abc import Generator
from typing import TypeAlias

import cv2

from mangen.engines import protocol
from mangen.engines.animatic import film, lettering, panel

#: what this engine draws
Drawn: TypeAlias = protocol.AnchorRequest | protocol.PanelRequest | protocol.ClipRequest


class Studio:
    """Draws requests. One thread a process: devices are processes."""

    def __init__(self) -> None:
        cv2.setNumThreads(1)
        lettering.font(48).getmask("漫")

    def make(
        self, request: Drawn, path: pathlib.Path
    ) -> Generator[tuple[int, int], None, protocol.Product]:
        """Make one product in steps, each answered by (done, of); clips are written to `path`."""
        if isinstance(request, protocol.AnchorRequest):
            return panel.anchor(request)
        if isinstance(request, protocol.PanelRequest):
            return panel.draw(request)
        for done in film.shoot(request, path):
            yield done, request.frames
        return protocol.Clip(path=path, frames=request.frames)


def load() -> Studio:
    return Studio()


def warm(studio: Studio) -> None:
    """Draw one small panel, so that the first job finds everything ready."""
    request = protocol.PanelRequest(kind="title", width=64, height=64, seed=0, title="漫")
    for _ in studio.make(request, pathlib.Path()):
        pass
