"""Composing: a piece without an end in a mood, as bars of notes. Pure: the same seeds, the same.

A project has its own key and motif, which every mood turns its own way, so that one piece
follows another without a jolt. Old times are plucked on five notes, new ones are piano chords.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

_MAJOR, _MINOR = (0, 2, 4, 7, 9), (0, 3, 5, 7, 10)  #: of five notes; minor stands 3 lower
_CHORDS = {0: (0, 4, 7), 5: (0, 4, 7), 7: (0, 4, 7), 9: (0, 3, 7), 4: (0, 3, 7), 2: (0, 3, 7)}
BEATS = 4  #: of a bar

#: two bars each, a question and an answer: (beats, step of the scale)
_MOTIFS: Sequence[tuple[Sequence[tuple[float, int]], Sequence[tuple[float, int]]]] = (
    (((1, 0), (0.5, 1), (0.5, 2), (2, 3)), ((1, 2), (1, 1), (2, 0))),
    (((1.5, 4), (0.5, 3), (1, 2), (1, 3)), ((1.5, 2), (0.5, 1), (2, 0))),
    (((0.5, 2), (0.5, 3), (1, 4), (1, 3), (1, 2)), ((1, 3), (0.5, 2), (0.5, 1), (2, 2))),
    (((2, 3), (1, 4), (1, 5)), ((1.5, 4), (0.5, 3), (2, 2))),
    (((1, 5), (1, 4), (0.5, 3), (0.5, 4), (1, 2)), ((1, 1), (1, 2), (2, 0))),
    (((0.5, 0), (0.5, 2), (1, 3), (2, 2)), ((0.5, 3), (0.5, 2), (1, 1), (2, 0))),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mood:
    """How a mood plays."""

    tempo: float  #: beats a minute
    minor: bool
    chords: tuple[int, ...]  #: a bar each, in semitones over the key
    melody: float  #: how many of the motif's notes are played
    pulse: float = 0.0  #: loudness of beaten low notes
    pad: float = 0.35
    octave: int = 1
    bell: bool = False


MOODS: Mapping[str, Mood] = {
    "calm": Mood(tempo=66, minor=False, chords=(0, 7, 9, 5), melody=0.8),
    "warm": Mood(tempo=72, minor=False, chords=(0, 9, 5, 7), melody=0.9, pad=0.45),
    "bright": Mood(tempo=92, minor=False, chords=(0, 5, 7, 0), melody=1.0, pad=0.2, bell=True),
    "sad": Mood(tempo=54, minor=True, chords=(9, 5, 0, 7), melody=0.8, pad=0.5),
    "dark": Mood(
        tempo=56, minor=True, chords=(9, 4, 5, 9), melody=0.35, pad=0.7, pulse=0.25, octave=0
    ),
    "tense": Mood(tempo=100, minor=True, chords=(9, 9, 5, 4), melody=0.3, pad=0.4, pulse=0.8),
}
PLUCKED = frozenset({"ancient", "xianxia", "republic", "countryside"})


@dataclasses.dataclass(frozen=True, slots=True)
class Note:
    at: float  #: seconds from the beginning of the piece
    instrument: str
    pitch: int
    gain: float


def mood(name: str) -> Mood:
    """A mood's way of playing; calm where nobody knows it."""
    return MOODS.get(name, MOODS["calm"])


def notes(name: str, *, plucked: bool, project: int, piece: int) -> Iterator[Note]:
    """The notes of a piece, bar by bar, without end; `project` chooses key and motif."""
    kind, key = mood(name), 50 + project % 7
    motif = _MOTIFS[project // 7 % len(_MOTIFS)]
    play = _plucked if plucked else _piano
    bar, beat = 0, 60 / kind.tempo
    while True:
        rng = np.random.default_rng(_seed(name, project, piece, bar))
        for note in play(kind, key, motif, bar, rng):
            # nobody plays exactly on the beat
            late = float(rng.uniform(0, 0.012))
            at = (bar * BEATS + note.at) * beat + late
            loud = note.gain * float(rng.uniform(0.85, 1.0))
            yield dataclasses.replace(note, at=at, gain=loud)
        bar += 1


def _melody(
    kind: Mood, motif: Sequence[Sequence[tuple[float, int]]], bar: int, rng: np.random.Generator
) -> Iterator[tuple[float, int]]:
    """Beat and step of a bar's melody: question, answer, question varied, and a rest."""
    place = bar % 8
    if place in {3, 7}:
        yield 0.0, 0
        return
    shift = (0, 0, 1, 0, 2, 0, -1, 0)[place]
    at = 0.0
    for n, (beats, step) in enumerate(motif[place % 2]):
        if n == 0 or rng.random() < kind.melody:
            turned = step + shift + (int(rng.integers(-1, 2)) if place > 3 and n else 0)
            yield at, turned
        at += beats


def _plucked(
    kind: Mood,
    key: int,
    motif: Sequence[Sequence[tuple[float, int]]],
    bar: int,
    rng: np.random.Generator,
) -> Iterator[Note]:
    scale, root = (_MINOR, key - 3) if kind.minor else (_MAJOR, key)
    for at, step in _melody(kind, motif, bar, rng):
        pitch = _step(scale, root + 12 * kind.octave, step)
        yield Note(at, "zither", pitch, 1.0)
        if rng.random() < 0.16:  # a grace from the note above
            yield Note(at - 0.09 if at else 0.0, "zither", _step(scale, root + 12, step + 1), 0.4)
        if rng.random() < 0.2:
            yield Note(at, "zither", pitch - 12, 0.45)
    deep = (0, 3, 2, 3)[bar % 4]
    yield Note(0.0, "bass", _step(scale, root - 12, deep), 0.75)
    yield Note(2.0, "bass", _step(scale, root - 12, deep + 3), 0.4)
    for n, off in enumerate((0.5, 1.0, 1.5, 2.5, 3.0, 3.5)):  # a quiet broken chord
        if rng.random() < 0.75 * kind.melody:
            yield Note(off, "zither", _step(scale, root, (deep + (2, 3, 5)[n % 3])), 0.28)
    if bar % 4 == 3 and kind.melody > 0.5:  # a run upwards into what follows
        for n in range(6):
            yield Note(2.6 + 0.16 * n, "zither", _step(scale, root, n + deep), 0.24 + 0.04 * n)
    yield from _ground(kind, _step(scale, root - 12, deep), bar)


def _piano(
    kind: Mood,
    key: int,
    motif: Sequence[Sequence[tuple[float, int]]],
    bar: int,
    rng: np.random.Generator,
) -> Iterator[Note]:
    above = kind.chords[bar % len(kind.chords)]
    triad, root = _CHORDS[above], key + above - (12 if above > 5 else 0)
    scale, home = (_MINOR, key - 3) if kind.minor else (_MAJOR, key)
    for at, step in _melody(kind, motif, bar, rng):
        pitch = _step(scale, home + 12 * kind.octave, step)
        yield Note(at, "piano", pitch, 0.9)
        if kind.bell and rng.random() < 0.5:
            yield Note(at, "bell", pitch + 12, 0.18)
    yield Note(0.0, "piano", root - 12, 0.6)
    broken = (triad[0], triad[2], triad[1] + 12, triad[2])
    for n in range(1, 8):
        if n % 2 == 0 or kind.tempo < 95 or rng.random() < 0.5:
            yield Note(n / 2, "piano", root + broken[n % 4], 0.34 if n % 4 else 0.45)
    yield from _ground(kind, root - 12, bar)
    for semitone in triad[1:]:
        yield Note(0.0, "pad", root + semitone, 0.5 * kind.pad)


def _ground(kind: Mood, low: int, bar: int) -> Iterator[Note]:
    """What lies under the tune: a held note, and a pulse where the mood has one."""
    yield Note(0.0, "pad", low + 12, 0.6 * kind.pad)
    yield Note(0.0, "pad", low + 19, 0.4 * kind.pad)
    if kind.pulse:
        quick = kind.tempo > 80
        for n in range(8 if quick else 2):
            at = n / 2 if quick else n * 2.0
            yield Note(at, "pulse", low + (0, 0, 12, 0)[n % 4], kind.pulse * (0.9, 0.5)[n % 2])
        if bar % 2 == 0 or quick:
            yield Note(0.0, "drum", 33, 0.7 * kind.pulse)


def _step(scale: Sequence[int], root: int, step: int) -> int:
    octave, place = divmod(step, len(scale))
    return root + 12 * octave + scale[place]


def _seed(*parts: object) -> int:
    return int(hashlib.sha256(repr(parts).encode()).hexdigest()[:12], 16)
