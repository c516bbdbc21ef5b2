"""How each shot is framed and how the camera moves: by what happens, and unlike its neighbours.

Every choice is local: it depends on a shot's own words and those next to it, never on how many
shots came before, so that an edit elsewhere moves nothing.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections.abc import Sequence

from mangen.comic import lexicon, model, objects

#: camera moves that suit a framing
MOTIONS = {
    "establish": ("pan_left", "pan_right", "pull", "pan_up"),
    "medium": ("push", "pan_left", "pan_right", "pull"),
    "close": ("push", "pull", "hold"),
    "over_shoulder": ("push", "pan_left", "pan_right"),
    "split": ("push", "hold", "pan_down"),
    "action": ("shake", "push", "pan_right"),
    "insert": ("push", "pan_down", "pan_up"),
    "reaction": ("push", "shake", "pull"),
}
FAST = frozenset({"run", "strike"})  #: gestures that shake a picture
#: framings that show who listens
PAIRED = frozenset({"split", "over_shoulder"})
STRONG = frozenset({"angry", "afraid", "surprised", "sad"})
HEARD = 3  #: shots back in which somebody was seen who hears a voice now
APART = 2  #: paragraphs between two who talk with each other
#: what leads the eye to a thing
_SHOWS = re.compile(
    r"发现|露出|掏出|取出|里面|写着|\b(?:found|there (?:was|were|lay)|showed|discovered)\b"
)
_LOUD = re.compile("[！!]|[？?]$|……$|——")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """What is known of a shot before it is framed."""

    shot: model.Shot
    narration: str
    paragraph: int
    opens: bool
    leads_back: bool
    speakers: tuple[str, ...]  #: those who are seen
    called: str | None
    focus: str
    looks_up: bool  #: the words begin in the sky
    handled: bool = False  #: somebody does something with the thing
    comes: bool = False  #: somebody is seen for the first time

    @property
    def chance(self) -> int:
        """A number of the shot's own."""
        return int(self.shot.identity[:8], 16)

    @property
    def held(self) -> bool:
        """The thing is in somebody's hands, and seen there."""
        thing = self.focus.split()[-1:]
        in_hands = any(held.split()[-1:] == thing for held in self.shot.held if held)
        return in_hands and not _SHOWS.search(self.narration)

    @property
    def strong(self) -> bool:
        """Somebody feels strongly."""
        return any(emotion in STRONG for emotion in self.shot.emotions)

    @property
    def unseen(self) -> bool:
        """Somebody speaks, and nobody is seen: a voice behind the door."""
        return not self.shot.characters and any(line.quoted for line in self.shot.lines)

    @property
    def bare(self) -> bool:
        """Nobody is seen or heard here, and no thing: pigeons flew up."""
        said = any(line.quoted for line in self.shot.lines)
        return not (self.shot.characters or said or self.opens or self.shot.memory)

    @property
    def loud(self) -> bool:
        """What is said here asks for an answer in a face."""
        said = [line.text for line in self.shot.lines if line.quoted]
        return bool(said) and (self.strong or _LOUD.search(said[-1]) is not None)


@dataclasses.dataclass(frozen=True, slots=True)
class Framed:
    """The choice."""

    framing: str
    motion: str
    listener: str | None = None


def choose(facts: Sequence[Facts]) -> list[Framed]:
    """The framing of each shot of a chapter."""
    listeners = [_listener(facts, n) for n in range(len(facts))]
    bases = [_base(one, facts[n - 1] if n else None, listeners[n]) for n, one in enumerate(facts)]
    framings = _unlike(
        [(base, *_suiting(one, to)) for base, one, to in zip(bases, facts, listeners, strict=True)],
        facts,
        [""] * len(facts),
    )
    moves = _unlike(
        [_moves(chosen, one) for chosen, one in zip(framings, facts, strict=True)],
        facts,
        framings,
    )
    return [
        Framed(framing, motion, listener if _joins(framing, one) else None)
        for framing, motion, listener, one in zip(framings, moves, listeners, facts, strict=True)
    ]


def _joins(framing: str, one: Facts) -> bool:
    """Say whether somebody is seen whom the words of a shot do not name."""
    faced = one.bare and framing in {"medium", "close"}
    return framing in PAIRED or one.unseen or faced


def _listener(facts: Sequence[Facts], n: int) -> str | None:
    """To whom the one who speaks here does it, or who sees what happens."""
    one = facts[n]
    if one.unseen or one.bare:
        before = facts[max(0, n - HEARD) : n][::-1]
        place = one.shot.scene.place
        there = itertools.takewhile(lambda other: other.shot.scene.place == place, before)
        faces = (name for other in there for name in other.shot.characters)
        return None if one.opens else next(faces, None)
    if len(one.speakers) != 1:
        return next(iter(one.speakers[1:]), None)
    speaker = one.speakers[0]
    if one.called and one.called != speaker:
        return one.called
    for other in (*facts[n + 1 : n + 2], *facts[max(0, n - 1) : n]):
        near = abs(other.paragraph - one.paragraph) <= APART
        answers = [name for name in other.speakers if name != speaker]
        if near and answers and _same_scene(one, other):
            return answers[0]
    return next((name for name in one.shot.characters if name != speaker), None)


def _same_scene(one: Facts, other: Facts) -> bool:
    return (one.shot.scene.place, one.shot.scene.time) == (
        other.shot.scene.place,
        other.shot.scene.time,
    )


def _base(one: Facts, before: Facts | None, listener: str | None) -> str:
    seen = one.shot.characters
    if (one.leads_back and seen) or (one.unseen and listener):
        return "close"
    if one.speakers:
        return _talk(one, before, listener)
    if one.opens:
        return "establish"
    if seen and _acts(one):
        return "action"
    if not seen:
        return "insert" if one.focus else "establish"
    if before is not None and before.loud and len(seen) == 1 and seen[0] not in before.speakers:
        feels = one.shot.emotions[0] != "calm" or bool(one.shot.gestures[0])
        if feels and _same_scene(one, before):
            return "reaction"
    if (
        one.focus
        and not one.strong
        and not one.comes
        and not one.held
        and ((one.chance % 2 and not one.handled) or _SHOWS.search(one.narration))
    ):
        return "insert"
    alone = len(seen) == 1
    return "close" if alone and one.chance % (2 if one.strong else 4) == 1 else "medium"


def _talk(one: Facts, before: Facts | None, listener: str | None) -> str:
    if len(one.speakers) > 1:
        return "split"
    if one.opens:
        return "medium"
    if listener is None:
        return "close" if one.strong or one.chance % 3 == 0 else "medium"
    begins = before is None or not before.speakers
    if begins and not one.leads_back:
        return "split" if one.strong or one.chance % 2 else "over_shoulder"
    if one.strong:
        return "close"
    return ("over_shoulder", "medium", "close", "over_shoulder")[one.chance % 4]


def _acts(one: Facts) -> bool:
    """Say whether somebody who is seen does something fast; a clock that struck nine does not."""
    if one.shot.lines[0].language == "en":
        return bool(FAST.intersection(one.shot.gestures))
    return _action().search(one.narration) is not None


@functools.cache
def _action() -> re.Pattern[str]:
    return re.compile(lexicon.alternation(list(lexicon.words("action"))))


def _unlike(
    options: Sequence[Sequence[str]], facts: Sequence[Facts], apart: Sequence[str]
) -> list[str]:
    """One option each, unlike those of neighbours that are alike in `apart`: the first that can be.

    Who goes first is told by identity alone, so that an edit seldom moves more than a neighbour.
    """
    found = [""] * len(facts)
    for n in sorted(range(len(facts)), key=lambda n: (facts[n].shot.identity, n)):
        beside = [m for m in (n - 1, n + 1) if 0 <= m < len(facts) and apart[m] == apart[n]]
        taken = {found[m] for m in beside}
        found[n] = next((one for one in options[n] if one not in taken), options[n][0])
    return found


def _suiting(one: Facts, listener: str | None) -> tuple[str, ...]:
    if one.unseen:
        return ("medium", "establish") if listener else ("establish",)
    if one.speakers:
        paired = ("over_shoulder", "close", "medium", "split") if listener else ()
        return paired or ("close", "medium", "establish")
    if not one.shot.characters:
        others = ("medium", "close") if listener else ()
        return ("establish", "insert", *others) if one.focus else ("establish", *others)
    return ("close", "medium", "establish")


def _moves(framing: str, one: Facts) -> Sequence[str]:
    """Motions that suit, in an order of the shot's own; what begins in the sky comes down."""
    motions = MOTIONS[framing]
    first = (one.chance // 16) % len(motions)
    own = (*motions[first:], *motions[:first])
    return ("pan_down", *own) if framing == "establish" and one.looks_up else own


def drawn_away(shots: Sequence[model.Shot]) -> list[model.Shot]:
    """The shots of an episode, the last of which the camera leaves; no neighbour moves alike."""
    *others, last = shots
    found = [*others, dataclasses.replace(last, motion="pull")]
    for n in range(len(found) - 2, max(-1, len(found) - 4), -1):
        one, after, before = found[n], found[n + 1], found[n - 1] if n else None
        if (one.scene.framing, one.motion) != (after.scene.framing, after.motion):
            break
        taken = {m.motion for m in (before, after) if m and m.scene.framing == one.scene.framing}
        other = (m for m in MOTIONS[one.scene.framing] if m not in taken)
        found[n] = dataclasses.replace(one, motion=next(other, one.motion))
    return found


def focusable(things: Sequence[str]) -> list[str]:
    """The things that an insert would show, the most telling first."""
    return [thing for thing in objects.TELLING if thing in things]


def focus_of(things: Sequence[str]) -> str:
    """The thing that an insert would show, of those that are named; empty where there is none."""
    return next(iter(focusable(things)), "")
