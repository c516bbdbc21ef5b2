"""An episode's music: pieces that follow the moods of its scenes, rendered a window at a time."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np

from mangen.comic import instruments, loudness, tune

RATE = instruments.RATE
SHORTEST_S = 8.0  #: a mood that lasts less changes no music
_IN_S, _OUT_S = 1.6, 2.0  #: one piece comes while the other goes
_MEASURED_S = 12.0  #: of a piece, to know how loud it is
_HIT = 0.9  #: of a drum where the action begins


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A stretch of an episode as the music sees it, in seconds."""

    start: float
    stop: float
    mood: str
    plucked: bool
    hit: bool = False  #: begins with a blow


@dataclasses.dataclass(frozen=True, kw_only=True)
class Piece:
    """One piece from its first note to its last, with what to multiply it by."""

    start: float
    stop: float
    notes: Sequence[tune.Note]
    gain: float


class Music:
    """The music of a whole episode, at 24 kHz and `level` LUFS where it plays alone."""

    def __init__(self, spans: Sequence[Span], *, seed: int, level: float) -> None:
        self._length = spans[-1].stop if spans else 0.0
        self._pieces = [_piece(span, n, seed, level) for n, span in enumerate(merged(spans))]
        hits = [tune.Note(s.start, "drum", 31, _HIT) for s in spans if s.hit]
        if self._pieces and hits:
            gain = min(piece.gain for piece in self._pieces)
            whole = Piece(start=0.0, stop=self._length, notes=hits, gain=gain)
            self._pieces.append(whole)

    def window(self, start: int, stop: int) -> instruments.Samples:
        """Samples `start` to `stop` of the episode; beyond its ends there is silence."""
        made = np.zeros(stop - start, np.float32)
        rate = instruments.RATE
        for piece in self._pieces:
            if piece.start * rate < stop and (piece.stop + _OUT_S) * rate > start:
                made += _rendered(piece, start, stop) * _faded(piece, start, stop)
        return made


def merged(spans: Sequence[Span]) -> list[Span]:
    """The spans by mood and style: what is too short for music of its own joins its neighbour."""
    runs: list[Span] = []
    for span in spans:
        if runs and (runs[-1].mood, runs[-1].plucked) == (span.mood, span.plucked):
            runs[-1] = dataclasses.replace(runs[-1], stop=span.stop)
        else:
            runs.append(span)
    long: list[Span] = []
    for run in runs:
        same = long and (long[-1].mood, long[-1].plucked) == (run.mood, run.plucked)
        if long and (same or run.stop - run.start < SHORTEST_S):
            long[-1] = dataclasses.replace(long[-1], stop=run.stop)
        elif long and long[-1].stop - long[-1].start < SHORTEST_S:
            long[-1] = dataclasses.replace(run, start=long[-1].start)
        else:
            long.append(run)
    return long


def _piece(span: Span, number: int, seed: int, level: float) -> Piece:
    endless = tune.notes(span.mood, plucked=span.plucked, project=seed, piece=number)
    length = max(span.stop - span.start + _OUT_S, _MEASURED_S)
    notes = [
        dataclasses.replace(note, at=note.at + span.start)
        for note in itertools.takewhile(lambda note: note.at < length, endless)
    ]
    piece = Piece(start=span.start, stop=span.stop, notes=notes, gain=1.0)
    first = round(span.start * instruments.RATE)
    heard = _rendered(piece, first, first + round(_MEASURED_S * instruments.RATE))
    loud = loudness.lufs(heard, instruments.RATE)
    return dataclasses.replace(piece, gain=10 ** ((level - loud) / 20))


def _rendered(piece: Piece, start: int, stop: int) -> instruments.Samples:
    made = np.zeros(stop - start, np.float32)
    for note in piece.notes:
        at = round(note.at * instruments.RATE) - start
        if at >= len(made) or at + instruments.LONGEST_S * instruments.RATE <= 0:
            continue
        sound = instruments.note(note.instrument, note.pitch)
        first, last = max(at, 0), min(at + len(sound), len(made))
        if first < last:
            gain = np.float32(note.gain * piece.gain)
            made[first:last] += sound[first - at : last - at] * gain
    return made


def _faded(piece: Piece, start: int, stop: int) -> instruments.Samples:
    """In before its scene has quite begun, out after it has ended; equal power on the way."""
    t = np.arange(start, stop, dtype=np.float64) / instruments.RATE
    rise = np.clip((t - piece.start) / _IN_S, 0, 1) if piece.start else np.ones_like(t)
    fall = np.clip((piece.stop + _OUT_S - t) / _OUT_S, 0, 1)
    return np.asarray(np.sin(np.pi / 2 * rise) * np.sin(np.pi / 2 * fall), np.float32)
