"""Quotations in a paragraph: any style, mixed, nested, unclosed; the rest is narration."""

from __future__ import annotations

import re
from typing import NamedTuple

SAY = (
    "说道|笑道|问道|叫道|喝道|答道|骂道|哭道|叹道|喊道|怒道|冷笑|低声|大声|回答|尖叫|开口|反问|追问|"
    "说|說|道|问|問|答|喊|叫|骂|曰|云|叹|笑"
)

_PAIRS = {"“": "”", "「": "」", "『": "』", "‘": "’", '"': '"', "＂": "＂", "〝": "〞", "«": "»"}
_CLOSERS = frozenset(_PAIRS.values())
#: what may stand in what, as a quotation in a quotation
_INNER = {"“": "‘", "「": "『", "『": "「", "‘": "“", '"': "‘", "＂": "‘", "〝": "‘", "«": "“"}
_ENDS = "。！？!?…—～~，,.；;"
#: who said it, after a quotation, up to the end of the sentence
_SAID = re.compile(rf"[他她它我][^。！？，“”\"]{{0,5}}(?:{SAY})[。，,!！：:]?")
_BEFORE_SPEECH = re.compile(rf"(?:[：:，,。！？!?；;…—”」』\"’\s]|{SAY})$")

DEPTH = 4  #: deeper nesting is a typing error

#: narration, speech, or words in quotation marks
NARRATION, SPEECH = False, True


class Segment(NamedTuple):
    """A stretch of a paragraph; `inner` leaves out the outer quotation marks."""

    start: int
    end: int
    inner_start: int
    inner_end: int
    quoted: bool


def segments(text: str, start: int, end: int) -> list[Segment]:
    """The stretches of text[start:end], without gaps, narration and speech.

    An unclosed quotation ends with the paragraph. Words in quotation marks that are not said by
    anyone (a so-called “friend”) stay part of the narration.
    """
    found: list[Segment] = []
    at = start
    for first, last, closed in _quotations(text, start, end):
        if first > at:
            found.append(Segment(at, first, at, first, NARRATION))
        found.append(Segment(first, last, first + 1, last - 1 if closed else last, SPEECH))
        at = last
    if at < end:
        found.append(Segment(at, end, at, end, NARRATION))
    return _without_emphasis(text, found)


def _quotations(text: str, start: int, end: int) -> list[tuple[int, int, bool]]:
    found: list[tuple[int, int, bool]] = []
    stack: list[str] = []
    first = start
    for at in range(start, end):
        ch = text[at]
        if (ch not in _PAIRS and ch not in _CLOSERS) or _is_apostrophe(text, at):
            continue
        if not stack:
            if ch in _PAIRS:
                stack.append(ch)
                first = at
        elif _closes(text, at, stack):
            if not stack:
                found.append((first, at + 1, True))
        elif ch in _PAIRS and _starts_anew(text, first, at, end, stack[-1]):
            found.append((first, at, False))
            stack = [ch]
            first = at
        elif ch in _PAIRS and len(stack) < DEPTH:
            stack.append(ch)
    if stack:
        found.append((first, end, False))
    return found


def _closes(text: str, at: int, stack: list[str]) -> bool:
    """Take off the stack what the mark closes; False where it closes nothing."""
    ch = text[at]
    if ch in (_PAIRS[opener] for opener in stack):
        while _PAIRS[stack.pop()] != ch:
            pass
        return True
    if ch == stack[-1] and text[at - 1] in _ENDS:
        # an opening mark typed for a closing one
        stack.pop()
        return True
    return False


def _is_apostrophe(text: str, at: int) -> bool:
    if text[at] not in "‘’":
        return False
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    return bool(before and after and before.isascii() and before.isalpha() and after.isalpha())


def _starts_anew(text: str, first: int, at: int, end: int, outer: str) -> bool:
    """Say whether the writer forgot to close: another style opens after a sentence and is said."""
    ch = text[at]
    if ch == _INNER.get(outer) or not (at == first + 1 or text[at - 1] in "。！？!?…"):
        return False
    shut = text.find(_PAIRS[ch], at + 1, min(end, at + 200))
    return shut > 0 and _SAID.match(text, shut + 1, end) is not None


def _without_emphasis(text: str, found: list[Segment]) -> list[Segment]:
    kept: list[Segment] = []
    joins = False
    for n, piece in enumerate(found):
        emphasis = piece.quoted and _is_emphasis(text, found, n)
        if kept and not kept[-1].quoted and (emphasis or (joins and not piece.quoted)):
            start = kept.pop().start
            kept.append(Segment(start, piece.end, start, piece.end, NARRATION))
        elif emphasis:
            kept.append(Segment(piece.start, piece.end, piece.start, piece.end, NARRATION))
        else:
            kept.append(piece)
        joins = emphasis
    return kept


def _is_emphasis(text: str, found: list[Segment], n: int) -> bool:
    piece = found[n]
    inner = text[piece.inner_start : piece.inner_end].strip()
    alone = n == 0 or found[n - 1].quoted
    if alone or len(inner) > 14 or not inner or inner[-1] in _ENDS:
        return False
    before = text[found[n - 1].start : piece.start].rstrip(" ")
    return bool(before) and not _BEFORE_SPEECH.search(before)
