"""Music and places under an episode's voices: they give way where somebody speaks.

`of` changes the track it is given, block by block: a long episode takes no second track.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from mangen.comic import ambience, loudness, music, soundtrack, tune
from mangen.engines import protocol
from mangen.engines.voice import waveform

Samples = soundtrack.Samples

MUSIC_LU, PLACE_LU = -5.0, -15.0  #: where nobody speaks, against the voices
MUSIC_DUCKED, PLACE_DUCKED = -12.0, -6.0  #: dB, while somebody does
LONE_LUFS = -20.0  #: what an episode without a voice is measured against
_AHEAD_S, _HOLD_S, _RELEASE_S = 0.15, 0.25, 0.4
_STEP_S = 0.01
_HEARD = 0.006  #: root mean square of a step in which somebody speaks
_MARGIN = 64  #: samples at half the rate that doubling looks at beyond a block
_IN_S, _OUT_S = 0.4, 1.2


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Scene:
    """What is seen from a frame on; labels as in protocol.SceneLabels."""

    start_frame: int
    frames: int
    place: str = "room"
    weather: str = "clear"
    time: str = "day"
    mood: str = "calm"
    framing: str = "medium"
    era: str = ""
    crowd: bool = False


def scene(labels: protocol.SceneLabels, start_frame: int, frames: int) -> Scene:
    """A shot's scene as it is heard."""
    return Scene(
        start_frame=start_frame,
        frames=frames,
        place=labels.place,
        weather=labels.weather,
        time=labels.time,
        mood=labels.mood,
        framing=labels.framing,
        era=labels.era,
        crowd=labels.crowd,
    )


def of(
    track: Samples, scenes: Sequence[Scene], *, seed: int, rate: int, fps: int, volume: float = 1.0
) -> Samples:
    """The voices with music and places under them; `volume` 0 leaves them alone.

    `track` are the voices at 48 kHz; they are changed in place and answered. The seed chooses
    the key and the motif of the project.
    """
    if volume <= 0 or not scenes or len(track) == 0:
        return track
    measured = loudness.lufs(track, rate)
    voices = measured if measured > -70 else LONE_LUFS
    louder = 20 * np.log10(min(volume, 1.0))
    tunes = music.Music(_tunes(scenes, fps), seed=seed, level=voices + MUSIC_LU + louder)
    places = ambience.Ambience(_places(scenes, fps), level=voices + PLACE_LU + louder)
    ducked = ducking(track, rate)
    block = round(loudness.BLOCK_S * rate) // 2 * 2
    for start in range(0, len(track), block):
        stop = min(start + block, len(track))
        low, high = start // 2 - _MARGIN, (stop + 1) // 2 + _MARGIN
        bed = tunes.window(low, high) * _gains(ducked, low, high, MUSIC_DUCKED)
        bed += places.window(low, high) * _gains(ducked, low, high, PLACE_DUCKED)
        whole = waveform.doubled(bed)[2 * _MARGIN :][: stop - start]
        track[start:stop] += whole * _edges(start, stop, len(track), rate)
    return track


def ducking(track: Samples, rate: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """How far the rest gives way, 0..1, for every hundredth of a second.

    It is down before a word begins, stays down between words, and comes back slowly.
    """
    size = round(_STEP_S * rate)
    count = -(-len(track) // size)
    heard = np.zeros(count, bool)
    for n in range(0, count, 4096):  # in pieces: squares take memory
        piece = track[n * size : (n + 4096) * size]
        whole = np.pad(piece, (0, -len(piece) % size)).reshape(-1, size)
        heard[n : n + len(whole)] = np.sqrt((whole**2).mean(axis=1)) > _HEARD
    at = np.arange(count)
    far = count + 10**6
    last = np.maximum.accumulate(np.where(heard, at, -far))
    following = np.minimum.accumulate(np.where(heard, at, far + count)[::-1])[::-1]
    coming = 1 - np.clip((following - at) * _STEP_S / _AHEAD_S, 0, 1)
    going = 1 - np.clip(((at - last) * _STEP_S - _HOLD_S) / _RELEASE_S, 0, 1)
    down = np.maximum(coming, going)
    return np.asarray(down * down * (3 - 2 * down))


def _gains(ducked: Any, low: int, high: int, decibels: float) -> Samples:
    """The gain of each sample at half the rate."""
    steps = np.arange(low, high) / (_STEP_S * music.RATE) - 0.5
    down = np.interp(steps, np.arange(len(ducked)), ducked)
    return np.asarray(10 ** (down * decibels / 20), np.float32)


def _edges(start: int, stop: int, total: int, rate: int) -> Samples:
    """Soft at the very beginning and the very end."""
    t = np.arange(start, stop) / rate
    rise = np.clip(t / _IN_S, 0, 1)
    fall = np.clip((total / rate - t) / _OUT_S, 0, 1)
    return np.asarray(np.sin(np.pi / 2 * np.minimum(rise, 1) * np.minimum(fall, 1)), np.float32)


def _tunes(scenes: Sequence[Scene], fps: int) -> list[music.Span]:
    eras = collections.Counter(scene.era for scene in scenes if scene.era)
    usual = max(eras, key=lambda era: (eras[era], era)) if eras else "modern"
    spans = []
    for before, scene in itertools.pairwise((None, *scenes)):
        assert scene is not None, "only what comes before the first is none"
        fights = scene.framing == "action"
        begins = fights and (before is None or before.framing != "action")
        spans.append(
            music.Span(
                start=scene.start_frame / fps,
                stop=(scene.start_frame + scene.frames) / fps,
                mood="tense" if fights else scene.mood,
                plucked=(scene.era or usual) in tune.PLUCKED,
                hit=begins,
            )
        )
    return spans


def _places(scenes: Sequence[Scene], fps: int) -> list[ambience.Span]:
    return [
        ambience.Span(
            start=scene.start_frame / fps,
            stop=(scene.start_frame + scene.frames) / fps,
            loops=ambience.loops(scene.place, scene.time, scene.weather, crowd=scene.crowd),
        )
        for scene in scenes
    ]
