"""An episode from its parts: picture, sound, subtitles and cover, equal to the frame.

This module is the door and stays light; `reel` does the work and loads the codecs.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from mangen.engines import length

if TYPE_CHECKING:
    from mangen.comic import soundtrack, subtitles
    from mangen.engines import protocol

Steps: TypeAlias = "Generator[int, None, Made]"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One shot: exactly `frames` frames, whatever its clip and sound last."""

    clip: pathlib.Path | None
    panel: protocol.Image | pathlib.Path | None = None  #: what is shown where the clip is missing
    frames: int
    audio: soundtrack.Samples | None = None  #: mono, 48 kHz, shape (n,); None: silence
    dissolve: int = 0  #: frames in which it melts out of the last picture before it; 0: a cut
    scene: protocol.SceneLabels | None = None  #: what plays under the voices; None: nothing


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Replaced:
    """A part that could not be shown as it was meant, what stood in, and why."""

    part: int
    by: str
    why: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """The finished files. `replaced` names parts without their clip, broken clips among them."""

    video: pathlib.Path
    srt: pathlib.Path
    ass: pathlib.Path
    cover: pathlib.Path
    frames: int
    replaced: tuple[Replaced, ...] = ()


def assemble(
    parts: Sequence[Part],
    out_folder: pathlib.Path,
    *,
    width: int,
    height: int,
    fps: int = length.FPS,
    cues: Sequence[subtitles.Cue],
    title: str,
    seed: int = 0,
    music: float = 1.0,
    on_frame: Callable[[int, int], None] | None = None,
) -> Steps:
    """Make episode.mp4, .srt, .ass and cover.png in `out_folder`; yields frames done so far.

    `seed` chooses the project's tunes, `music` is their volume and that of the places, 0..1.
    Every 48 frames it yields, after `on_frame(done, total)`. Closing the generator leaves no
    file behind; each file appears whole or not at all. Raises EngineError where no part has a
    picture or a size is odd, StorageFull where the disk has no room.
    """
    from mangen.comic import reel  # noqa: PLC0415 - codecs and OpenCV, for who assembles only

    return (
        yield from reel.made_of(
            parts,
            out_folder,
            size=(width, height),
            fps=fps,
            cues=cues,
            title=title,
            seed=seed,
            music=music,
            on_frame=on_frame,
        )
    )
