"""The making of an episode, a couple of seconds of video at a time.

Frames stream through, so that memory does not grow with length. The same parts make the same
video, bit for bit, on the same builds of the codecs.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import itertools
import pathlib
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent import futures

import av
import cv2
import numpy as np

from mangen import errors, storage
from mangen.comic import assemble, burner, film, mix, show, soundtrack, subtitles
from mangen.engines import length, protocol

CHUNK = 48  #: frames between two yields
_BATCH = 8  #: frames decoded ahead: 1.4 MB each at 720x1280


def made_of(
    parts: Sequence[assemble.Part],
    out_folder: pathlib.Path,
    *,
    size: tuple[int, int],
    fps: int,
    cues: Sequence[subtitles.Cue],
    title: str,
    seed: int,
    music: float,
    on_frame: Callable[[int, int], None] | None,
) -> assemble.Steps:
    """Do what `assemble.assemble` says."""
    width, height = size
    _check(parts, width, height, fps)
    made = assemble.Made(
        video=out_folder / "episode.mp4",
        srt=out_folder / "episode.srt",
        ass=out_folder / "episode.ass",
        cover=out_folder / "cover.png",
        frames=sum(part.frames for part in parts),
    )
    drafts = {path: path.with_name(f".{path.name}.part") for path in _files(made)}
    try:
        out_folder.mkdir(parents=True, exist_ok=True)
        seen = show.Show(parts, width, height)
        with (
            film.Film(drafts[made.video], width, height, fps, title) as reel,
            contextlib.closing(_ahead(_burned(seen, cues))) as frames,
        ):
            track = _track(parts, fps, seed, music)
            for number, frame in enumerate(frames):
                reel.picture(frame, number)
                done = number + 1
                if done % CHUNK == 0 or done == made.frames:
                    reel.sound(track, done * (length.RATE // fps), last=done == made.frames)
                    if on_frame is not None:
                        on_frame(done, made.frames)
                    yield done
        drafts[made.srt].write_text(subtitles.to_srt(cues, fps), "utf-8")
        drafts[made.ass].write_text(subtitles.to_ass(cues, fps, width, height), "utf-8")
        drafts[made.cover].write_bytes(_png(seen.cover()))
        for path, draft in drafts.items():
            draft.replace(path)
    except (av.FFmpegError, OSError) as error:
        if getattr(error, "errno", None) in storage.FULL:
            raise errors.StorageFull(
                f"no room for the video in {out_folder}: {error}; free some space"
            ) from error
        raise errors.StorageError(f"can't write the video in {out_folder}: {error}") from error
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)
    return dataclasses.replace(made, replaced=tuple(seen.replaced))


def _track(
    parts: Sequence[assemble.Part], fps: int, seed: int, volume: float
) -> soundtrack.Samples:
    sounds = ((part.audio, part.frames * (length.RATE // fps)) for part in parts)
    track = soundtrack.laid(sounds, length.RATE)
    scenes, at = [], 0
    for part in parts:
        if part.scene is not None:
            scenes.append(mix.scene(part.scene, at, part.frames))
        at += part.frames
    mixed = mix.of(track, scenes, seed=seed, rate=length.RATE, fps=fps, volume=volume)
    return soundtrack.mastered(mixed, length.RATE)


def _ahead(frames: Iterator[burner.Array]) -> Generator[burner.Array, None, None]:
    """The same frames; while a batch is encoded, the next is decoded and drawn on beside it."""
    with futures.ThreadPoolExecutor(1) as beside:
        pending = beside.submit(lambda: list(itertools.islice(frames, _BATCH)))
        while batch := pending.result():
            pending = beside.submit(lambda: list(itertools.islice(frames, _BATCH)))
            yield from batch


def _burned(seen: show.Show, cues: Sequence[subtitles.Cue]) -> Iterator[burner.Array]:
    """All frames with their subtitles; a balloon stands for them where it is really seen."""
    burn = burner.Burner(seen.width, seen.height)
    queue = collections.deque(sorted(cues, key=lambda cue: cue.start_frame))
    for number, frame in enumerate(seen.frames()):
        while queue and queue[0].end_frame <= number:
            queue.popleft()
        if queue and queue[0].start_frame <= number and not (queue[0].lettered and seen.genuine):
            frame = frame.copy()
            burn.burn_planes(frame, queue[0])
        yield frame


def _check(parts: Sequence[assemble.Part], width: int, height: int, fps: int) -> None:
    if not parts:
        raise errors.EngineError("an episode needs at least one part")
    if width % 2 or height % 2 or width <= 0 or height <= 0:
        raise errors.EngineError(f"a video of {width}x{height} can't be made: sides must be even")
    if fps <= 0 or length.RATE % fps:
        raise errors.EngineError(f"{fps} frames/s don't divide {length.RATE} samples/s")
    for i, part in enumerate(parts):
        if part.frames < 1:
            raise errors.EngineError(f"part {i} has {part.frames} frames; it needs at least one")


def _png(picture: protocol.Image) -> bytes:
    ok, data = cv2.imencode(".png", np.ascontiguousarray(picture[..., ::-1]))
    assert ok, "PNG can hold every RGB picture"
    return bytes(data)


def _files(made: assemble.Made) -> tuple[pathlib.Path, ...]:
    return (made.video, made.srt, made.ass, made.cover)
