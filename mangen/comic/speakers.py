"""Who says what and who is seen: attribution, pronouns, and turns that nobody names."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Sequence

from mangen.comic import attribution, people, sentences, witness

TURNS_BACK = 8  #: how far back the other one of a conversation may have spoken
PARAGRAPHS_APART = 2  #: turns further apart than this do not answer each other


RUN = 40  #: turns in a row without a name that are still told by the one who follows

_I_AM = re.compile(r"\b[Mm]y name(?:\sis|['’]s)\s?|我(?:叫|名叫)")
_VOICE = re.compile(r"的[^，。！？]{0,4}(?:声音|嗓音|话音)|['’]s (?:\w+ )?voice\b")
_CALLS = re.compile(r"[哥姐弟妹叔伯爷姨]?(?:[，。！？…、,!?.]|$)")


@dataclasses.dataclass(slots=True)
class _Segment:
    quoted: bool
    text: str
    pieces: list[int]
    mentions: list[witness.Mention] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(slots=True)
class _Turn:
    paragraph: int
    segment: _Segment
    speaker: str | None
    called: str | None  #: whom it calls by name
    recent: tuple[str, ...]  #: who was mentioned before, the last first
    stranger: bool = False  #: said by somebody without a name


@dataclasses.dataclass(frozen=True, slots=True)
class Told:
    """What a piece turned out to be: its speaker if it is speech, and who is seen."""

    speaker: str | None
    people: tuple[str, ...]
    mentions: tuple[tuple[int, str], ...] = ()  #: where in a piece of narration whom it names
    called: str | None = None  #: whom it calls by name, of those it speaks to


class Teller:
    """Follows a chapter: who says what."""

    def __init__(self, cast: people.Cast) -> None:
        self.cast = cast
        self.witness = witness.Witness(cast)
        self.subject: str | None = None

    def tell(self, paragraphs: Sequence[Sequence[sentences.Piece]]) -> list[list[Told]]:
        """For each piece of each paragraph of a chapter: who speaks, who is seen."""
        told: list[list[Told]] = []
        turns: list[_Turn] = []
        lead: _Segment | None = None
        for number, pieces in enumerate(paragraphs):
            row: list[Told] = [Told(None, ())] * len(pieces)
            self.witness.next_paragraph(paragraphs[number + 1 :])
            segments = _segments(pieces)
            for segment in segments:
                self._read(segment, pieces, row)
            self._attribute(number, segments, lead, turns)
            told_of = [m.name for one in segments if not one.quoted for m in one.mentions]
            self.subject = told_of[0] if told_of else self.subject
            last = segments[-1] if segments else None
            lead = last if last and not last.quoted and last.text.endswith(("：", ":")) else None
            told.append(row)
        self._fill(turns)
        for turn in turns:
            seen = (turn.speaker,) if turn.speaker else ()
            for piece in turn.segment.pieces:
                told[turn.paragraph][piece] = Told(
                    turn.speaker, seen, called=_addressed(turn.segment, turn.speaker)
                )
        return told

    # ------------------------------------------------------------ narration

    def _read(self, segment: _Segment, pieces: Sequence[sentences.Piece], row: list[Told]) -> None:
        at = 0
        before: sentences.Piece | None = None
        seen: tuple[str, ...] = ()
        for number in segment.pieces:
            piece = pieces[number]
            named = self.witness.mentions(
                piece.text,
                quoted=segment.quoted,
                rest=" ".join(one.text for one in pieces[number + 1 :]),
                before=before.text if before else "",
            )
            found = [witness.Mention(at + m.at, at + m.end, m.name) for m in named]
            segment.mentions += found
            at += len(piece.text)
            if segment.quoted:
                continue
            if found or not (before and _goes_on(before.text, piece.text)):
                seen = tuple(dict.fromkeys(m.name for m in found))
            else:
                seen = seen[-1:]
            row[number] = Told(None, seen, tuple((m.at, m.name) for m in named))
            before = piece

    # ------------------------------------------------------------ speech

    def _attribute(
        self,
        paragraph: int,
        segments: Sequence[_Segment],
        lead: _Segment | None,
        turns: list[_Turn],
    ) -> None:
        said_before: str | None = None
        for n, segment in enumerate(segments):
            if not segment.quoted:
                continue
            before = segments[n - 1] if n else lead
            after = segments[n + 1] if n + 1 < len(segments) else None
            if before is not None and before.quoted:
                before = None
                said_before = None  # nothing between two quotations: another one answers
            if after is not None and after.quoted:
                after = None
            speaker, stranger = self._speaker(before, after, said_before)
            speaker = self._introducing(segment) or speaker
            called = segment.mentions[0].name if segment.mentions else None
            if called == speaker or (segment.mentions and segment.mentions[0].at > 3):
                called = None
            called = called or _addressed(segment, speaker)
            turns.append(
                _Turn(paragraph, segment, speaker, called, tuple(self.witness.recent), stranger)
            )
            if speaker:
                self.witness.remember(speaker)
            said_before = speaker

    def _introducing(self, segment: _Segment) -> str | None:
        """Who says the own name: My name is Vivian Sterling."""
        match = _I_AM.search(segment.text)
        named = [m.name for m in segment.mentions if match and m.at <= match.end() + 1 <= m.end + 1]
        return next(iter(named), None)

    def _speaker(
        self, before: _Segment | None, after: _Segment | None, said_before: str | None
    ) -> tuple[str | None, bool]:
        """Who says it, or that it is somebody without a name; strong signs before weak ones."""
        say = attribution.signs(self.cast.language)
        leads = before is not None and say["leads"].search(before.text) is not None
        if before is not None and leads:
            return self._leader(before, said_before)
        if after is not None:
            name = self._said_after(after)
            if name:
                return name, False
        if before is not None and before.text.endswith(("，", ",")):
            return _first_of_last(before) or said_before, False
        heard = _whose_voice(after) or _whose_voice(before)
        if heard:
            return heard, False
        if after is not None and after.mentions and after.mentions[0].at <= 3:
            return after.mentions[0].name, False
        if any(_is_a_voice(one) for one in (before, after)):
            return None, True
        if before is not None:
            return _first_of_last(before) or said_before, False
        return None, False

    def _leader(self, before: _Segment, said_before: str | None) -> tuple[str | None, bool]:
        """Who is the subject of what leads in to a quotation, as in 林若雪撑着黑伞，声音发颤."""
        start = _last_sentence(before.text)
        sentence = before.text[start:]
        found = [m for m in before.mentions if m.at >= start]
        say = attribution.signs(self.cast.language)
        near = say["near"].search(before.text)
        if near:
            close = [m for m in found if near.start() <= m.at]
            if close:
                return close[0].name, False
        if found:
            return found[0].name, False
        if say["omits"].search(sentence):
            earlier = [m.name for m in before.mentions if m.at < start]
            return said_before or next(iter(earlier), None) or self.subject, False
        somebody = say["somebody_before"].match(sentence)
        return (somebody.group(1), False) if somebody else (None, True)

    def _said_after(self, after: _Segment) -> str | None:
        say = attribution.signs(self.cast.language)
        match = say["after"].match(after.text)
        if not match:
            return None
        inside = [m for m in after.mentions if m.at < match.end()]
        if inside:
            return inside[-1].name if self.cast.language == "en" else inside[0].name
        somebody = say["manner"].sub("", (match.groupdict().get("who") or "").strip())
        return somebody if 1 < len(somebody) <= 16 else None

    # ------------------------------------------------------------ unattributed turns

    def _fill(self, turns: Sequence[_Turn]) -> None:
        for n, turn in enumerate(turns):
            if turn.speaker or turn.stranger:
                continue
            before = turns[n - 1] if n and _near(turns[n - 1], turn) else None
            if before and before.speaker:
                turn.speaker = self._other(turns, n, before.speaker, before.called)
                continue
            run = _unknown_run(turns, n)
            after = turns[run] if run < len(turns) and _near(turns[run - 1], turns[run]) else None
            if after is None or after.speaker is None:
                first = [name for name in turn.recent if name != turn.called]
                turn.speaker = first[-1] if len(first) > 1 else first[0] if first else None
                continue
            speaker: str | None = after.speaker
            for back in range(run - 1, n - 1, -1):
                speaker = self._other(turns, back, speaker or "", None)
                turns[back].speaker = speaker

    def _other(
        self, turns: Sequence[_Turn], at: int, speaker: str, called: str | None
    ) -> str | None:
        """Who answers `speaker`: whom they called, who spoke before, was mentioned, or comes."""
        if called and called != speaker:
            return called
        earlier = [turn.speaker for turn in reversed(turns[max(0, at - TURNS_BACK) : at])]
        later = [turn.speaker for turn in turns[at : at + 4]]
        here = turns[at].called
        fitting = [
            name
            for name in (*earlier, *turns[at].recent, *later)
            if name and name not in {speaker, here}
        ]
        # somebody of the cast before a voice
        return next((name for name in fitting if self._is_known(name)), next(iter(fitting), None))

    def _is_known(self, name: str) -> bool:
        return name in self.cast.people or name in people.SELVES or name in people.PRONOUNS


def _addressed(segment: _Segment, speaker: str | None) -> str | None:
    """Whom it speaks to by a name that stands alone (林晚，当年)."""
    for mention in segment.mentions:
        before, after = segment.text[: mention.at], segment.text[mention.end :]
        alone = not before.strip() or not before.rstrip()[-1].isalnum()
        if alone and mention.name != speaker and _CALLS.match(after):
            return mention.name
    return None


def _segments(pieces: Sequence[sentences.Piece]) -> list[_Segment]:
    found: list[_Segment] = []
    numbered = enumerate(pieces)
    for _, group in itertools.groupby(numbered, key=lambda pair: pair[1].segment):
        rows = list(group)
        found.append(
            _Segment(
                quoted=rows[0][1].quoted,
                text="".join(piece.text for _, piece in rows),
                pieces=[n for n, _ in rows],
            )
        )
    return found


def _goes_on(before: str, text: str) -> bool:
    """Say whether a piece without a subject goes on with the one before."""
    if text.startswith(("但", "却", "又", "便", "只", "就", "也", "还", "and ", "but ")):
        return True
    return not before.endswith(tuple("。！？!?：:.…"))


def _last_sentence(text: str) -> int:
    """Where the last sentence begins; the marks at its very end do not count."""
    body = text.rstrip("。！？!?…：:，, ")
    cut = max((body.rfind(mark) for mark in "。！？!?…”"), default=-1)
    return cut + 1


def _is_a_voice(segment: _Segment | None) -> bool:
    """Say whether it tells of a voice whose owner is not seen: 一道清冷的声音从门外传来."""
    if segment is None or segment.mentions:
        return False
    return re.search("声音|嗓音|话音|a voice", segment.text) is not None


def _whose_voice(segment: _Segment | None) -> str | None:
    """Who is heard, where the words say whose voice it is: 电话里是陆时川的声音."""
    if segment is None:
        return None
    start = 0 if segment.text.find("。") else _last_sentence(segment.text)
    for mention in segment.mentions:
        if mention.at >= start and _VOICE.match(segment.text, mention.end):
            return mention.name
    return None


def _first_of_last(segment: _Segment) -> str | None:
    start = _last_sentence(segment.text)
    return next((m.name for m in segment.mentions if m.at >= start), None)


def _near(one: _Turn, other: _Turn) -> bool:
    return abs(other.paragraph - one.paragraph) <= PARAGRAPHS_APART


def _unknown_run(turns: Sequence[_Turn], start: int) -> int:
    """The first turn from `start` on that has a speaker, or where the conversation breaks off."""
    at = start
    while (
        at < min(len(turns), start + RUN) and turns[at].speaker is None and not turns[at].stranger
    ):
        if at > start and not _near(turns[at - 1], turns[at]):
            break
        at += 1
    return at
