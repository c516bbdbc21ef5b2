"""All frames of an episode in order, with something to see in every part."""

from __future__ import annotations

import contextlib
import itertools
import pathlib
from collections.abc import Iterator, Sequence

import cv2
import numpy as np

from mangen import errors
from mangen.comic import assemble, burner, footage
from mangen.engines import protocol

_DARK, _FLAT = 24.0, 4.0  #: mean and deviation of luma below which a frame makes no cover


class Show:
    """Degrades, never blocks: its panel in motion, or a neighbour's picture, stands for a clip.

    Notes what it replaced, and what would make a cover.
    """

    def __init__(self, parts: Sequence[assemble.Part], width: int, height: int) -> None:
        self.parts, self.width, self.height = parts, width, height
        self.replaced: list[assemble.Replaced] = []
        self.genuine = False  #: the last frame shown comes from its own clip
        self._cover: tuple[int, burner.Array] | None = None

    def frames(self) -> Iterator[burner.Array]:
        """Planes of every frame; one that is held comes several times, so copy before drawing."""
        shown: burner.Array | None = None
        for i, part in enumerate(self.parts):
            self.genuine = False
            before = shown
            for k, frame in enumerate(self._part(i, part, shown)):
                if before is not None and k < part.dissolve:
                    frame = _blend(before, frame, (k + 1) / (part.dissolve + 1))
                shown = frame
                if k == part.frames // 2:
                    self._consider(part, frame)
                yield frame

    def cover(self) -> protocol.Image:
        """The middle of the first part that is heard and has something to see, else of any."""
        assert self._cover is not None, "asked for before a frame was shown"
        return np.asarray(cv2.cvtColor(self._cover[1], cv2.COLOR_YUV2RGB_I420), np.uint8)

    def _consider(self, part: assemble.Part, frame: burner.Array) -> None:
        luma = frame[: self.height]
        good = luma.mean() > _DARK and luma.std() > _FLAT
        merit = 2 * good + (part.audio is not None)  # cards are silent
        if self._cover is None or merit > self._cover[0]:
            self._cover = merit, frame

    def _part(
        self, i: int, part: assemble.Part, shown: burner.Array | None
    ) -> Iterator[burner.Array]:
        why = "it has no clip"
        if part.clip is not None:
            try:
                yield from self._clip(i, part.clip, part.frames)
            except errors.EngineError as error:
                why = str(error)
            else:
                return
        panel = _picture(part)
        if panel is not None:
            self.replaced.append(
                assemble.Replaced(part=i, by="a camera move on its panel", why=why)
            )
        elif shown is not None:
            self.replaced.append(
                assemble.Replaced(part=i, by="the picture before it, held", why=why)
            )
            yield from itertools.repeat(shown, part.frames)
            return
        else:
            self.replaced.append(assemble.Replaced(part=i, by="a neighbour's picture", why=why))
            panel = self._following(i)
        yield from footage.of_panel(panel, part.frames, self.width, self.height, turn=i)

    def _clip(self, i: int, clip: pathlib.Path, frames: int) -> Iterator[burner.Array]:
        """Exactly so many frames: cut, or the last one held; raises before the first or never."""
        source = footage.of_clip(clip, self.width, self.height)
        last: burner.Array | None = None
        held = False
        for _ in range(frames):
            try:
                last = next(source, last)
                self.genuine = last is not None and not held
            except errors.EngineError as error:
                held, self.genuine = True, False
                if last is None:
                    raise
                by = "its last whole frame, held"
                self.replaced.append(assemble.Replaced(part=i, by=by, why=str(error)))
                source = iter(())
            if last is None:
                raise errors.EngineError(f"the clip {clip} has no frame")
            yield last

    def _following(self, i: int) -> protocol.Image:
        for part in self.parts[i + 1 :]:
            panel = _picture(part)
            if panel is not None:
                return panel
            if part.clip is not None:
                with contextlib.suppress(errors.EngineError, StopIteration):
                    planes = next(footage.of_clip(part.clip, self.width, self.height))
                    return np.asarray(cv2.cvtColor(planes, cv2.COLOR_YUV2RGB_I420), np.uint8)
        raise errors.EngineError("no part of the episode has a picture: neither clip nor panel")


def _blend(one: burner.Array, other: burner.Array, share: float) -> burner.Array:
    return np.asarray(cv2.addWeighted(one, 1 - share, other, share, 0), np.uint8)


def _picture(part: assemble.Part) -> protocol.Image | None:
    """The part's panel; a file that is no picture counts as none."""
    if not isinstance(part.panel, pathlib.Path):
        return part.panel
    try:
        data = np.fromfile(part.panel, np.uint8)  # cv2.imread takes no such names as users give
    except OSError:
        return None
    picture = cv2.imdecode(data, cv2.IMREAD_COLOR) if len(data) else None
    return None if picture is None else np.asarray(picture[..., ::-1], np.uint8)
