"""The plain planner: from a text to a storyboard by rule. Pure, and the same every time."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import Literal

from mangen import errors
from mangen.comic import (
    acquaintance,
    acts,
    ages,
    cast,
    framing,
    graph,
    likeness,
    model,
    objects,
    paragraphs,
    people,
    scenery,
    scenes,
    sentences,
    speakers,
    staging,
    text,
)
from mangen.engines import protocol

EPISODE_SECONDS = 90.0
ANCHORED = 12  #: so many characters of a project get an anchor
HEADING = "chapter heading"
SYMBOLS = "symbols only: nothing to say or show"

_PAUSES = re.compile(r"[…。.！!？?—～~\s，,、]{1,16}")
_HAN = re.compile(r"[\u3400-\u9fff]")
_LETTER = re.compile(r"[A-Za-z]")
_CARDS = {"zh": ("未完待续", "完"), "en": ("To be continued", "The End")}


def plan(
    source: text.Source, *, title: str, episode_seconds: float = EPISODE_SECONDS
) -> model.Storyboard:
    """The storyboard of a text: all its episodes, each of about `episode_seconds`.

    Raises TextError where nothing of the text can be said.
    """
    return _Planner(source, title, episode_seconds).board()


@dataclasses.dataclass(slots=True)
class _Chapter:
    title: str
    rows: list[list[sentences.Piece]]  #: the pieces of each paragraph
    shots: list[model.Shot] = dataclasses.field(default_factory=list)
    seconds: float = 0.0


class _Planner:
    """One text on its way to a storyboard."""

    def __init__(self, source: text.Source, title: str, episode_seconds: float) -> None:
        self.source, self.title, self.episode_seconds = source, title, episode_seconds
        self.language: scenery.Language = language_of(source.text)
        self.left_out: list[model.LeftOut] = []
        self.identities = staging.Identities()

    def board(self) -> model.Storyboard:
        chapters = [self._chapter(chapter) for chapter in text.chapters(self.source.text)]
        rows = [row for chapter in chapters for row in chapter.rows]
        narration = [_narration(row) for row in rows]
        speech = [piece.text for row in rows for piece in row if piece.quoted]
        found = cast.find(narration, speech, self.source.text, self.language)
        found = acquaintance.known(found, [chapter.rows for chapter in chapters])
        self.era = scenery.era(self.source.text, self.language)
        told = [(chapter, self._beats(chapter, found)) for chapter in chapters]
        characters = likeness.characters(
            found,
            [name for _, beats in told for beat in beats for name in (*beat.people, beat.speaker)],
            [(beat.speaker, beat.text) for _, beats in told for beat in beats if beat.quoted],
            [beat for _, beats in told for beat in beats if not beat.quoted],
            era=self.era,
            most=ANCHORED,
        )
        characters, then = ages.grown(
            characters,
            [
                ages.Told(name, beat.text, past=beat.setting.memory)
                for _, beats in told
                for beat in beats
                for name in beat.people
            ],
            narration,
        )
        characters = likeness.unlike(characters, self.source.text)
        drawn = {character.name: character for character in characters}
        for beat in (one for _, beats in told for one in beats if one.language == "en"):
            if not beat.quoted:
                beat.aged = acquaintance.aged(beat.text, beat.mentions, beat.people, drawn)
        for chapter, beats in told:
            chapter.shots = staging.shots(
                staging.group(beats),
                source=self.source.text,
                cast=frozenset(drawn),
                then=then,
                identities=self.identities,
            )
            chapter.seconds = sum(beat.seconds for beat in beats)
        if not any(line.spoken for c in chapters for shot in c.shots for line in shot.lines):
            raise errors.TextError(
                f"{self.source.name} has nothing to say: only headings and symbols; "
                "give a text with sentences"
            )
        return model.Storyboard(
            title=self.title,
            language=self.language,
            characters=tuple(characters),
            episodes=self._episodes([chapter for chapter in chapters if chapter.shots]),
            left_out=tuple(self.left_out),
        )

    # ------------------------------------------------------------ pieces and beats

    def _chapter(self, chapter: text.Chapter) -> _Chapter:
        whole = self.source.text
        if whole[chapter.start : chapter.body].strip():
            start, end = _strip(whole, chapter.start, chapter.body)
            self._leave_out(start, end, HEADING)
        wrapped = paragraphs.is_wrapped(whole)
        rows: list[list[sentences.Piece]] = []
        for start, end in paragraphs.paragraphs(whole, chapter.body, chapter.end, wrapped=wrapped):
            row = []
            for piece in sentences.pieces(whole, start, end):
                if _says(piece.text) or _PAUSES.fullmatch(piece.text):
                    row.append(piece)
                else:
                    self._leave_out(piece.start, piece.end, SYMBOLS)
            if row:
                rows.append(row)
        return _Chapter(chapter.title, rows)

    def _leave_out(self, start: int, end: int, why: str) -> None:
        piece = self.source.text[start:end]
        self.left_out.append(model.LeftOut(span=(start, end), text=piece, why=why))

    def _beats(self, chapter: _Chapter, found: people.Cast) -> list[staging.Beat]:
        told = speakers.Teller(found).tell(chapter.rows)
        settings = scenes.of(
            chapter.rows,
            [_narration(row) for row in chapter.rows],
            found.masked,
            language=self.language,
            era=self.era,
        )
        beats: list[staging.Beat] = []
        in_hands: dict[str, str] = {}
        tones: dict[str, str] = {}
        for number, row in enumerate(chapter.rows):
            labels = settings[number][0].labels
            stays = number > 0 and settings[number - 1][-1].labels.place == labels.place
            in_hands = acts.kept(in_hands, labels, stays=stays)
            for piece, who, setting in zip(row, told[number], settings[number], strict=True):
                if setting.memory and not piece.quoted:
                    who = _without_dreamer(who, piece.text)
                beat = staging.Beat(
                    start=piece.start,
                    end=piece.end,
                    text=piece.text,
                    quoted=piece.quoted,
                    paragraph=number,
                    segment=piece.segment,
                    spoken=_says(piece.text),
                    language=_line_language(piece.text, self.language),
                    speaker=who.speaker,
                    called=who.called,
                    people=who.people,
                    mentions=who.mentions,
                    setting=setting,
                    held=in_hands,
                    joined=bool(beats) and not beats[-1].quoted and beats[-1].text.endswith(","),
                )
                if not piece.quoted:
                    self._act(beat, scenery.mask(piece.text, found.masked), tones)
                    in_hands = beat.held
                beats.append(beat)
        return beats

    def _act(self, beat: staging.Beat, masked: str, tones: dict[str, str]) -> None:
        """What the words of a piece of narration let people do, and which things they name."""
        beat.gestures = acts.gesture(masked, beat.mentions, beat.people, self.language)
        beat.held = acts.held(
            masked, beat.mentions, beat.people, beat.held, self.language, tones=tones
        )
        named = objects.named(masked, self.language)
        beat.things = tuple(thing.label for thing in named)
        beat.handled = acts.handled(masked, beat.mentions, named)
        tones.update({thing.label: thing.tone for thing in named if thing.tone})
        beat.tones = dict(tones)

    # ------------------------------------------------------------ episodes

    def _episodes(self, chapters: Sequence[_Chapter]) -> tuple[model.Episode, ...]:
        parts = list(self._parts(chapters))
        episodes = []
        for n, (title, shots) in enumerate(parts):
            episodes.append(self._episode(n + 1, title, shots, last=n + 1 == len(parts)))
        return tuple(episodes)

    def _parts(self, chapters: Sequence[_Chapter]) -> Iterator[tuple[str, list[model.Shot]]]:
        """Chapters, small ones together, large ones in parts of like length."""
        held: list[_Chapter] = []
        for chapter in chapters:
            if (
                held
                and sum(c.seconds for c in held) + chapter.seconds > self.episode_seconds * 4 / 3
            ):
                yield from self._split(held)
                held = []
            held.append(chapter)
        if held:
            yield from self._split(held)

    def _split(self, held: Sequence[_Chapter]) -> Iterator[tuple[str, list[model.Shot]]]:
        title = next((chapter.title for chapter in held if chapter.title), "")
        shots = [shot for chapter in held for shot in chapter.shots]
        seconds = [graph.shot_seconds(shot) for shot in shots]
        count = max(1, round(sum(seconds) / self.episode_seconds))
        if count == 1:
            yield title, shots
            return
        share = sum(seconds) / count
        parts: list[list[model.Shot]] = [[]]
        spent = 0.0
        for shot, cost in zip(shots, seconds, strict=True):
            if len(parts) < count and parts[-1] and spent + cost / 2 >= share * len(parts):
                parts.append([])
            parts[-1].append(shot)
            spent += cost
        for n, part in enumerate(parts):
            number = f"({n + 1})" if self.language == "en" else f"（{n + 1}）"
            yield f"{title}{number}" if title else number.strip("()（）"), part

    def _episode(
        self, no: int, title: str, shots: Sequence[model.Shot], *, last: bool
    ) -> model.Episode:
        first = next((shot for shot in shots if shot.scene.framing == "establish"), shots[0])
        opening = first.scene
        unfinished, finished = _CARDS[self.language]
        end = finished if last else unfinished
        cards = [
            self._card("title", f"{self.title}\n{title}".strip(), opening),
            self._card("end", f"{end}\n{self.title}".strip(), shots[-1].scene),
        ]
        drawn = framing.drawn_away(shots)
        numbered = [
            dataclasses.replace(shot, no=n + 1)
            for n, shot in enumerate([cards[0], *drawn, cards[1]])
        ]
        return model.Episode(no=no, title=title or self.title, shots=tuple(numbered))

    def _card(
        self, kind: Literal["title", "end"], words: str, scene: protocol.SceneLabels
    ) -> model.Shot:
        identity, seed = self.identities.name(kind, words)
        return model.Shot(
            no=0,
            kind=kind,
            identity=identity,
            scene=dataclasses.replace(scene, framing="establish", focus=""),
            prompt=words,
            motion="push" if kind == "title" else "pull",
            seed=seed,
        )


def language_of(whole: str) -> scenery.Language:
    """Chinese where at least a fifth of the letters are, else English."""
    sample = whole[:200_000]
    han = len(_HAN.findall(sample))
    return "zh" if han * 4 >= len(_LETTER.findall(sample)) * 1 else "en"


def _line_language(line: str, otherwise: scenery.Language) -> scenery.Language:
    if _HAN.search(line):
        return "zh"
    return "en" if len(_LETTER.findall(line)) >= 2 else otherwise


def _says(line: str) -> bool:
    return any(ch.isalnum() for ch in line)


def _without_dreamer(who: speakers.Told, words: str) -> speakers.Told:
    """What is seen in a memory: not the one who has it, in the words of whom it is told."""
    gone = {
        name for at, name in who.mentions
        if any(scenes.remembers(words, at + n) for n in range(1, len(name) + 2))
    }  # fmt: skip
    kept = tuple(name for name in who.people if name not in gone)
    return dataclasses.replace(who, people=kept) if kept and gone else who


def _narration(row: Sequence[sentences.Piece]) -> str:
    """The narration of a paragraph, each quotation as an empty pair of marks."""
    parts: list[str] = []
    for piece in row:
        if not piece.quoted:
            parts.append(piece.text)
        elif not parts or parts[-1] != "“”":
            parts.append("“”")
    return "".join(parts)


def _strip(whole: str, start: int, end: int) -> tuple[int, int]:
    while start < end and whole[start].isspace():
        start += 1
    while end > start and whole[end - 1].isspace():
        end -= 1
    return start, end
