"""From a paragraph to pieces that can be spoken and shown: never inside a number, date or price.

A piece is a sentence, some short ones, or a part of a long one cut at its clauses. Pieces lie side
by side: every character of the paragraph that is not white space is in exactly one span.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mangen.comic import quotes, words
from mangen.engines import length

TARGET = 28.0  #: spoken characters of a piece that still reads in one breath
HARD = 40.0  #: no piece is longer
SHORT = 5.0  #: a sentence so short is joined to its neighbour
LATIN_RUN = 160  #: letters of one Latin "word" after which it is cut all the same

_SENTENCE = re.compile(
    r"(?:[。！？!?…；]|\.{2,}|\.(?=\s|$|[^\x00-\x7f])|;(?=\s|$))+[”’」』\"）)】\]]*"
)
_CLAUSE = re.compile(r"(?:[，、；：]|[,;:](?=\s|[^\x00-\x7f])|—{2,}|–(?=\s))+[”’」』\"）)】\]]*")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|Prof|Capt|Col|Gen|vs|etc|No|Mt)|\b[A-Z]|(?:^|\s)\d{1,3})\.$"
)
_ATOM = re.compile(r"[0-9A-Za-z¥$€£%#@&+][0-9A-Za-z.,:/%'’°·@&+\-]*|[^0-9A-Za-z¥$€£%#@&+]+")
_SPACE = re.compile(r"\s+")
_HAN_SPACE = re.compile(r"(?<=[^\x00-\x7f])\s+(?=[^\x00-\x7f])")
_LEADS_IN = "：:，,"  #: a quotation follows: what leads in to it stays by itself
_STRAY = "”’」』〞»"


class Piece(NamedTuple):
    """A stretch of the source as it is spoken or shown."""

    start: int
    end: int
    text: str
    quoted: bool
    segment: int  #: which segment of the paragraph it comes from


def pieces(text: str, start: int, end: int) -> list[Piece]:
    """The pieces of one paragraph, in order."""
    found: list[Piece] = []
    for number, segment in enumerate(quotes.segments(text, start, end)):
        cuts = list(_cuts(text, segment.inner_start, segment.inner_end))
        bounds = [segment.start, *cuts, segment.end]
        for first, last in itertools.pairwise(bounds):
            first, last = _trimmed(text, first, last)
            if first >= last:
                continue
            said = clean(text[max(first, segment.inner_start) : min(last, segment.inner_end)])
            if found and not said.strip(",.，。、；;!！?？ " + _STRAY):
                # the full stop after a quotation says nothing of its own
                found[-1] = found[-1]._replace(end=last)
                continue
            found.append(Piece(first, last, said, segment.quoted, number))
    return found


def clean(text: str) -> str:
    """What of a stretch is spoken and shown: no indents, line ends or stray quotation marks."""
    text = _SPACE.sub(" ", _HAN_SPACE.sub("", text.strip()))
    text = text.lstrip(_STRAY + " ")
    for opener, closer in (("“", "”"), ("「", "」"), ("『", "』"), ("‘", "’")):
        if opener not in text:
            text = re.sub(rf"{closer}(?![A-Za-z])", "", text)
    return text.strip()


def weight(text: str) -> float:
    """The length of a text as it is spoken or, at eight letters a character, read."""
    return max(length.spoken_characters(text), len(text) / 8)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _cuts(text: str, start: int, end: int) -> Iterator[int]:
    """Where text[start:end] is cut, without its ends."""
    bounds = [start, *_marks(_SENTENCE, text, start, end), end]
    run_start, run = start, 0.0
    for first, last in itertools.pairwise(bounds):
        size = weight(text[first:last])
        if size > TARGET:
            if first > start:
                yield first
            yield from _long(text, first, last)
            run_start, run = last, 0.0
            if last < end:
                yield last
            continue
        joined = run + size
        joins = first > run_start and text[last - 1] not in _LEADS_IN
        if joins and joined <= TARGET and (size < SHORT or run < SHORT):
            run = joined
            continue
        if first > run_start:
            yield first
            run_start = first
        run = size


def _marks(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[int]:
    for match in pattern.finditer(text, start, end):
        at = match.end()
        if at >= end:
            continue
        mark = match.group()
        if mark == "." and _ABBREVIATION.search(text, max(start, at - 12), at):
            continue
        if mark in {",", ":"} and text[at - 2].isdigit() and text[at].isdigit():
            continue
        yield at


def _long(text: str, start: int, end: int) -> Iterator[int]:
    """Cuts of one long sentence: at clauses, evenly; inside of a clause only where it must be."""
    bounds = [start, *_marks(_CLAUSE, text, start, end), end]
    atoms: list[int] = [start]
    for first, last in itertools.pairwise(bounds):
        if weight(text[first:last]) > HARD:
            atoms.extend(_words(text, first, last))
        atoms.append(last)
    sizes = [weight(text[a:b]) for a, b in itertools.pairwise(atoms)]
    for n in _even(sizes):
        yield atoms[n]


def _words(text: str, start: int, end: int) -> Iterator[int]:
    """Cuts of a clause too long for a breath, between words, about TARGET apart."""
    room = TARGET * 0.75
    size = 0.0
    at = start
    for match in _ATOM.finditer(text, start, end):
        token = match.group()
        if token[0].isascii():
            parts: Sequence[str] = [
                token[i : i + LATIN_RUN] for i in range(0, len(token), LATIN_RUN)
            ]
        else:
            parts = list(words.words(token))
        for part in parts:
            for bit in _bits(part):
                more = weight(bit)
                if size and size + more > room and at < end:
                    yield at
                    size = 0.0
                size += more
                at += len(bit)


def _bits(word: str) -> Sequence[str]:
    step = int(TARGET) if not word[:1].isascii() else LATIN_RUN
    return [word[i : i + step] for i in range(0, len(word), step)]


def _even(sizes: Sequence[float]) -> list[int]:
    """Indices before which to cut so that the parts are <= TARGET and alike in size.

    The best partition by dynamic programming; a part looks back no further than HARD, so the time
    is linear in the number of clauses.
    """
    best = [0.0]
    back = [0]
    for last in range(1, len(sizes) + 1):
        choice: tuple[float, int] | None = None
        size = 0.0
        for first in range(last - 1, -1, -1):
            size += sizes[first]
            if size > HARD and first < last - 1:
                break
            over = max(0.0, size - TARGET)
            cost = best[first] + ((size - 20) / 10) ** 2 + over * over
            if choice is None or cost < choice[0]:
                choice = (cost, first)
        assert choice is not None
        best.append(choice[0])
        back.append(choice[1])
    cuts: list[int] = []
    at = len(sizes)
    while at > 0:
        at = back[at]
        if at:
            cuts.append(at)
    return cuts[::-1]
