"""From lines to shots: which lines share a panel, and what it shows.

Every choice is local: it depends on the shot's own words and those next to it, never on how many
shots came before, so that an edit elsewhere moves nothing.
"""

from __future__ import annotations

import collections
import dataclasses
import hashlib
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from mangen.comic import acts, ages, framing, lettering, model, objects, scenery, scenes
from mangen.engines import length, protocol

SHORTEST_S = 1.5
LONGEST_S = 7.0
#: what many feel is not what one does
_CROWD = re.compile("(?:全班|众人|大家|所有人|台下|全场|同学们|人群)[^，。！？]*")
GLUED_S = 9.0  #: a quotation and whose it is stay together as far as this
PLEASANT_S = 4.5  #: lines are not joined beyond this without need
LINES = 3
FIGURES = 3


@dataclasses.dataclass(slots=True)
class Beat:
    """A line on its way into a shot."""

    start: int
    end: int
    text: str
    quoted: bool
    paragraph: int
    segment: int
    spoken: bool
    language: scenery.Language
    speaker: str | None = None
    called: str | None = None  #: whom it speaks to by name
    people: tuple[str, ...] = ()
    mentions: tuple[tuple[int, str], ...] = ()  #: where narration names whom
    setting: scenes.Setting = scenes.Setting(labels=protocol.SceneLabels())
    things: tuple[str, ...] = ()  #: what it names
    handled: frozenset[str] = frozenset()  #: those that somebody does something with
    tones: dict[str, str] = dataclasses.field(default_factory=dict)  #: the colours of things
    gestures: dict[str, str] = dataclasses.field(default_factory=dict)
    held: dict[str, str] = dataclasses.field(default_factory=dict)  #: what is in whose hands
    aged: Mapping[str, str] = dataclasses.field(default_factory=dict)  #: how old who is by now
    joined: bool = False  #: goes on after the comma of the piece before

    @property
    def seconds(self) -> float:
        """How long it lasts, by estimate."""
        return length.estimated_frames(self.text) / length.FPS


Group = list[Beat]


class Identities:
    """Names shots by their source text and its occurrence: the n-th shot of the same words."""

    def __init__(self) -> None:
        self._seen: collections.Counter[str] = collections.Counter()

    def name(self, kind: str, words: str) -> tuple[str, int]:
        """The identity and the seed of a shot."""
        text = re.sub(r"\s+", "", words)
        key = hashlib.sha256(f"{kind}\0{text}".encode()).hexdigest()
        occurrence = self._seen[key]
        self._seen[key] += 1
        digest = hashlib.sha256(f"{key}\0{occurrence}".encode()).hexdigest()
        return digest[:20], int(digest[-8:], 16) & 0x7FFFFFFF


def group(beats: Sequence[Beat]) -> list[Group]:
    """The lines of a chapter as shots: 1 to 3 lines, 1.5 to 7 seconds, as far as they allow it."""
    groups: list[Group] = []
    for _, paragraph in itertools.groupby(beats, key=lambda beat: beat.paragraph):
        groups += _merged(list(_atoms(list(paragraph))), _pleasant)
    return _merged(groups, _short)


def _atoms(beats: Sequence[Beat]) -> Iterator[Group]:
    """Lines that belong together: a quotation and the words that say whose it is."""
    atom: Group = []
    for beat in beats:
        if atom and not (_glued(atom, beat) and _fits(atom, [beat], longest=GLUED_S)):
            yield atom
            atom = []
        atom.append(beat)
    if atom:
        yield atom


def _glued(atom: Group, beat: Beat) -> bool:
    before = atom[-1]
    if beat.segment == before.segment:
        return False
    if beat.quoted and not before.quoted:
        return _leads_in(before)
    if before.quoted and not beat.quoted and not beat.text.endswith(("：", ":")):
        told = before.speaker is None or before.speaker in beat.people
        return beat.seconds <= (3.5 if told else 1.6)
    return False


def _leads_in(beat: Beat) -> bool:
    """Say whether a quotation follows: its panel is the speaker's."""
    return not beat.quoted and beat.text.endswith(("：", ":", "，", ","))


def _fits(one: Group, other: Group, *, longest: float = LONGEST_S) -> bool:
    both = [*one, *other]
    return len(both) <= LINES and sum(beat.seconds for beat in both) <= longest


def _pleasant(one: Group, other: Group) -> bool:
    if other[0].setting.opens or not _fits(one, other):
        return False
    both = [*one, *other]
    if len({beat.speaker for beat in both if beat.quoted}) > 1:
        return _short(one, other)
    leads_in = other[0].text.endswith(("：", ":"))
    return sum(beat.seconds for beat in both) <= PLEASANT_S and not leads_in


def _short(one: Group, other: Group) -> bool:
    if other[0].setting.opens or not _fits(one, other):
        return False
    return min(sum(b.seconds for b in one), sum(b.seconds for b in other)) < SHORTEST_S


def _merged(groups: Sequence[Group], may_join: Callable[[Group, Group], bool]) -> list[Group]:
    merged: list[Group] = []
    for one in groups:
        if merged and may_join(merged[-1], one):
            merged[-1] = [*merged[-1], *one]
        else:
            merged.append(one)
    return merged


def shots(
    groups: Sequence[Group],
    *,
    source: str,
    cast: frozenset[str],
    then: ages.Then,
    identities: Identities,
) -> list[model.Shot]:
    """The shots of a chapter, numbered from 1.

    `cast` are the names that have an anchor, `then` how old those were who are remembered.
    """
    facts: list[framing.Facts] = []
    met: set[str] = set()
    for one in groups:
        fact = _facts(one, _draft(one, source, cast, then, identities), cast)
        comes = not met.issuperset(fact.shot.characters)
        facts.append(dataclasses.replace(fact, comes=comes))
        met.update(fact.shot.characters)
    return [
        _framed(one, chosen, n + 1)
        for n, (one, chosen) in enumerate(zip(facts, framing.choose(facts), strict=True))
    ]


def _framed(one: framing.Facts, chosen: framing.Framed, no: int) -> model.Shot:
    """The shot as it is framed: with who listens, or with a thing alone."""
    shot = one.shot
    scene = dataclasses.replace(shot.scene, framing=chosen.framing)
    if chosen.framing == "insert":
        scene = dataclasses.replace(scene, focus=one.focus)
        shot = dataclasses.replace(shot, characters=(), emotions=(), ages=(), gestures=(), held=())
    elif chosen.listener and chosen.listener not in shot.characters:
        shot = _with_listener(shot, len(one.speakers), chosen.listener)
    drawn = lettering.lettered(shot.lines, characters=shot.characters, framing=chosen.framing)
    lines = tuple(
        dataclasses.replace(line, lettered=inside)
        for line, inside in zip(shot.lines, drawn, strict=True)
    )
    return dataclasses.replace(shot, no=no, lines=lines, motion=chosen.motion, scene=scene)


def _with_listener(shot: model.Shot, speakers: int, listener: str) -> model.Shot:
    def put(row: tuple[str, ...], value: str) -> tuple[str, ...]:
        return (*row[:speakers], value, *row[speakers : FIGURES - 1])

    return dataclasses.replace(
        shot,
        characters=put(shot.characters, listener),
        emotions=put(shot.emotions, "calm"),
        ages=put(shot.ages, ""),
        gestures=put(shot.gestures, ""),
        held=put(shot.held, ""),
    )


def _facts(beats: Group, shot: model.Shot, cast: frozenset[str]) -> framing.Facts:
    speakers = [beat.speaker for beat in beats if beat.quoted and beat.speaker]
    things = [thing for beat in beats for thing in beat.things]
    acting = [beat for beat in beats if beat.people and not beat.quoted]
    if any(not set(framing.focusable(beat.things)) for beat in acting):
        things = [thing for thing in things if thing not in framing.focusable(things)]
    return framing.Facts(
        shot=shot,
        narration="".join(beat.text for beat in beats if not beat.quoted),
        paragraph=beats[0].paragraph,
        opens=beats[0].setting.opens,
        leads_back=beats[0].setting.leads_back,
        speakers=tuple(name for name in dict.fromkeys(speakers) if name in shot.characters),
        called=next((beat.called for beat in beats if beat.called in cast), None),
        focus=_toned(framing.focus_of(things), beats),
        handled=any(framing.focus_of(things) in beat.handled for beat in beats),
        looks_up="moon" in things,
    )


def _toned(thing: str, beats: Group) -> str:
    """A thing after the colour that it has there."""
    tones = [beat.tones[thing] for beat in beats if thing in beat.tones]
    return f"{tones[0]} {thing}" if tones else thing


def _draft(
    beats: Group, source: str, cast: frozenset[str], then: ages.Then, identities: Identities
) -> model.Shot:
    span = source[beats[0].start : beats[-1].end]
    identity, seed = identities.name("shot", span)
    names = _visible(beats, cast)
    setting = beats[0].setting
    gestures = {name: act for beat in beats for name, act in beat.gestures.items()}
    held = {name: thing for beat in beats for name, thing in beat.held.items()}
    aged = {name: age for beat in beats for name, age in beat.aged.items()}
    in_hands = {acts.label_of(thing) for thing in held.values()}
    things = objects.fitting(
        [thing for beat in beats for thing in beat.things if thing not in in_hands],
        setting.labels.place,
    )
    labels = setting.labels
    return model.Shot(
        no=0,
        identity=identity,
        lines=tuple(
            model.Line(
                no=n + 1,
                text=beat.text,
                span=(beat.start, beat.end),
                speaker=beat.speaker,
                quoted=beat.quoted,
                language=beat.language,
                spoken=beat.spoken,
            )
            for n, beat in enumerate(beats)
        ),
        characters=names,
        emotions=tuple(_emotion(name, beats) for name in names),
        ages=tuple(aged.get(name, then.get(name, "") if setting.memory else "") for name in names),
        gestures=tuple(gestures.get(name, "") for name in names),
        held=tuple(held.get(name, "") for name in names),
        memory=setting.memory,
        scene=dataclasses.replace(
            labels, objects=objects.shown([*labels.objects, *things], labels.time)
        ),
        prompt=" ".join(span.split()),
        seed=seed,
    )


def _visible(beats: Group, cast: frozenset[str]) -> tuple[str, ...]:
    """Speakers first, then who is mentioned."""
    speakers = [beat.speaker for beat in beats if beat.quoted and beat.speaker]
    seen = [name for beat in beats for name in beat.people]
    names = [name for name in dict.fromkeys([*speakers, *seen]) if name in cast]
    return tuple(names[:FIGURES])


def _feels(name: str, beat: Beat) -> bool:
    """Say whether a piece of narration tells what somebody feels, not what is done to them."""
    places = [at for at, who in beat.mentions if who == name]
    if not places:
        return name in beat.people
    return any(acts.is_subject(beat.text, at) for at in places)


def _emotion(name: str, beats: Group) -> str:
    own = [b for b in beats if b.speaker == name or (not b.quoted and _feels(name, b))]
    around = [b for b in beats if not b.quoted and not b.people]
    alone = len(_visible(beats, frozenset({name}))) == len({n for b in beats for n in b.people})
    told = [*own, *around] if alone else own or around  # tears ran down his face
    text = _CROWD.sub("", " ".join(beat.text for beat in told))
    felt = scenery.emotion(text, beats[0].language)
    if felt is None and any(b.speaker == name for b in beats):
        said = "".join(b.text for b in beats if b.speaker == name)
        if "？！" in said or "！？" in said or "?!" in said:
            return "surprised"
    return felt or "calm"
