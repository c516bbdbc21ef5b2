"""From lines to shots: which lines share a panel, what it shows, and how the camera moves.

Every choice is local: it depends on the shot's own words and those next to it, never on how many
shots came before, so that an edit elsewhere moves nothing.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import hashlib
import itertools
import re
from collections.abc import Callable, Iterator, Sequence

from mangen.comic import lexicon, model, scenery
from mangen.engines import length, protocol

SHORTEST_S = 1.5
LONGEST_S = 7.0
GLUED_S = 9.0  #: a quotation and whose it is stay together as far as this
PLEASANT_S = 4.5  #: lines are not joined beyond this without need
LINES = 3
FIGURES = 3

#: camera moves that suit a framing, the first are the likelier
MOTIONS = {
    "establish": ("pan_left", "pan_right", "pull", "pan_up"),
    "medium": ("push", "pan_left", "pan_right", "pull"),
    "close": ("push", "pull", "hold"),
    "action": ("shake", "push", "pan_right"),
    "insert": ("push", "pan_down", "pan_up"),
}
_STRONG = frozenset({"angry", "afraid", "surprised", "sad"})


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
    people: tuple[str, ...] = ()
    scene: protocol.SceneLabels = protocol.SceneLabels()
    opens: bool = False  #: the scene begins here

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
    if not _fits(one, other):
        return False
    both = [*one, *other]
    if len({beat.speaker for beat in both if beat.quoted}) > 1:
        return _short(one, other)
    leads_in = other[0].text.endswith(("：", ":"))
    return sum(beat.seconds for beat in both) <= PLEASANT_S and not leads_in


def _short(one: Group, other: Group) -> bool:
    if other[0].opens or not _fits(one, other):
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
    identities: Identities,
) -> list[model.Shot]:
    """The shots of a chapter, numbered from 1; `cast` are the names that have an anchor."""
    drafts = [_draft(one, source, cast, identities) for one in groups]
    bases = [_base(draft, one) for draft, one in zip(drafts, groups, strict=True)]
    return [
        dataclasses.replace(
            draft,
            no=n + 1,
            motion=motion,
            scene=dataclasses.replace(draft.scene, framing=framing),
        )
        for n, (draft, (framing, motion)) in enumerate(
            zip(drafts, _unlike_neighbours(bases, drafts), strict=True)
        )
    ]


def _draft(beats: Group, source: str, cast: frozenset[str], identities: Identities) -> model.Shot:
    span = source[beats[0].start : beats[-1].end]
    identity, seed = identities.name("shot", span)
    names = _visible(beats, cast)
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
        scene=beats[0].scene,
        prompt=" ".join(span.split()),
        seed=seed,
    )


def _visible(beats: Group, cast: frozenset[str]) -> tuple[str, ...]:
    """Speakers first, then who is mentioned."""
    speakers = [beat.speaker for beat in beats if beat.quoted and beat.speaker]
    seen = [name for beat in beats for name in beat.people]
    names = [name for name in dict.fromkeys([*speakers, *seen]) if name in cast]
    return tuple(names[:FIGURES])


def _emotion(name: str, beats: Group) -> str:
    own = [b for b in beats if b.speaker == name or (not b.quoted and name in b.people)]
    around = [b for b in beats if not b.quoted and not b.people]
    text = " ".join(beat.text for beat in own or around)
    felt = scenery.emotion(text, beats[0].language)
    if felt is None and any(b.speaker == name for b in beats):
        said = "".join(b.text for b in beats if b.speaker == name)
        if "？！" in said or "！？" in said or "?!" in said:
            return "surprised"
    return felt or "calm"


def _base(shot: model.Shot, beats: Group) -> tuple[str, str]:
    """Framing by what happens, motion by the identity: the same words, the same picture."""
    chance = int(shot.identity[:8], 16)
    narration = "".join(beat.text for beat in beats if not beat.quoted)
    framing = _framing(shot, beats, narration, chance)
    motions = MOTIONS[framing]
    return framing, motions[(chance // 16) % len(motions)]


def _framing(shot: model.Shot, beats: Group, narration: str, chance: int) -> str:
    if beats[0].opens:
        return "establish"
    speaks = any(beat.quoted for beat in beats)
    if speaks and shot.characters:
        strong = any(emotion in _STRONG for emotion in shot.emotions)
        return "close" if strong or chance % 3 == 0 else "medium"
    if _words("action").search(narration):
        return "action"
    if not shot.characters:
        return "insert" if _words("insert").search(narration) else "establish"
    strong = any(emotion in _STRONG for emotion in shot.emotions)
    alone = len(shot.characters) == 1
    return "close" if alone and chance % (2 if strong else 4) == 1 else "medium"


@functools.cache
def _words(section: str) -> re.Pattern[str]:
    return re.compile(lexicon.alternation(list(lexicon.words(section))))


def _unlike_neighbours(
    bases: Sequence[tuple[str, str]], drafts: Sequence[model.Shot]
) -> list[tuple[str, str]]:
    """No two neighbours alike: in a run of equals every second one takes another motion."""
    found: list[tuple[str, str]] = []
    run = 0
    for n, (framing, motion) in enumerate(bases):
        run = run + 1 if n and bases[n - 1] == (framing, motion) else 0
        if run % 2 == 0:
            found.append((framing, motion))
            continue
        taken = {bases[n - 1], *bases[n + 1 : n + 2]}
        free = [m for m in MOTIONS[framing] if (framing, m) not in taken]
        found.append((framing, free[int(drafts[n].identity[8:12], 16) % len(free)]))
    return found
