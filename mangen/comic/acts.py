"""What people do with hands and bodies, by the words that tell of them."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from mangen.comic import lexicon, objects, people
from mangen.engines import protocol

#: what a thing is like in somebody's hands
_AS_HELD = {"photograph": "letter", "wine": "cup"}
#: what is seen rather than a small thing in the other hand
_LARGE = frozenset({"umbrella", "fork", "sword", "staff", "lantern"})

_WEAPONS = frozenset({"sword", "fork", "staff"})

Mentions = Sequence[tuple[int, str]]  #: where a text names whom

_REACH = 9  #: characters between a verb and what it holds
#: what is only wished, asked, refused, or what others are to do
_NOT = re.compile(
    r"[让叫使命请别不没未]|想要|必须|应该|[他她]们|\b(?:not|never|let|make|made|would|should)\b|n't\b"
)
#: before whom something is done to
_TOWARDS = "在对向把被给跟朝到往从着住过了进"
_TO = re.compile(r"\b(?:to|at|of|with|from|for|by|toward|towards|behind|beside|before)$")
_OBJECT = re.compile(r"(?:him|her|me)\b")
_STOPS = "，。！？；,.!?;：:"


def subject(masked: str, at: int, mentions: Mentions, carried: Sequence[str]) -> str | None:
    """Who does what stands at `at`: the last one named before it.

    Where the text names nobody at all it goes on with who was seen before (`carried`).
    """
    before = [name for where, name in mentions if where < at and is_subject(masked, where)]
    if before:
        return before[-1]
    return carried[0] if carried and not mentions else None


def is_subject(masked: str, where: int) -> bool:
    """Say whether who is named there can be a subject: not the 他 of 从他的胯下, 跪在他面前."""
    if _OBJECT.match(masked, where):
        return False
    before = masked[:where].rstrip()
    if not before or before[-1] in _STOPS:
        return True
    owns = masked[where + 1 : where + 6].lstrip("□").startswith("的")
    return not owns and before[-1] not in _TOWARDS and not _TO.search(before)


def gesture(
    masked: str, mentions: Mentions, carried: Sequence[str], language: people.Language
) -> dict[str, str]:
    """What each one does, by name; of several the last."""
    labels = lexicon.labels("gesture" if language == "zh" else "english-gesture")
    found: dict[str, str] = {}
    for match in _gestures(language).finditer(masked):
        name = subject(masked, match.start(), mentions, carried)
        clause = re.split(f"[{_STOPS}]", masked[: match.start()])[-1]
        if name is None or _NOT.search(clause) or _another(clause, match, mentions, language):
            continue
        # they: all who are named in the same place
        at = max((where for where, who in mentions if who == name), default=-1)
        found.update({who: labels[match.group().lower()] for where, who in mentions if where == at})
        found[name] = labels[match.group().lower()]
    return found


def _another(
    clause: str, match: re.Match[str], mentions: Mentions, language: people.Language
) -> bool:
    """Say whether an animal is the subject of the clause before `match`: 那狗跑."""
    at = match.start()
    if any(at - len(clause) <= where < at for where, _ in mentions):
        return False
    beasts = {"animal", "dog", "cat", "bird", "horse"}
    things = objects.named(clause, language)
    return any(thing.label in beasts and thing.at <= 2 for thing in things)


@functools.cache
def _gestures(language: people.Language) -> re.Pattern[str]:
    if language == "en":
        listed = lexicon.alternation(list(lexicon.labels("english-gesture")))
        return re.compile(rf"\b(?:{listed})\b", re.IGNORECASE)
    return re.compile(lexicon.alternation(list(lexicon.labels("gesture"))))


def held(
    masked: str,
    mentions: Mentions,
    carried: Sequence[str],
    before: dict[str, str],
    language: people.Language,
    *,
    tones: dict[str, str] | None = None,
) -> dict[str, str]:
    """What is in whose hands after these words, where `before` was in them before.

    `tones` are the colours that things were last told to have; new ones are kept there.
    """
    tones = {} if tones is None else tones
    now, taken = dict(before), dict[str, str]()
    things = [
        thing._replace(label=_AS_HELD.get(thing.label, thing.label))
        for thing in objects.named(masked, language)
    ]
    things = [thing for thing in things if thing.label in objects.HELD]
    tones.update({thing.label: thing.tone for thing in things if thing.tone})
    for match in _holds(language).finditer(masked):
        near = masked[match.end() : match.end() + _REACH * (1 if language == "zh" else 4)]
        reach = match.end() + len(re.split(f"[{_STOPS}]", near)[0])
        thing = next((one for one in things if match.end() <= one.at < reach), None)
        name = subject(masked, match.start(), mentions, carried)
        if thing is not None and name is not None and taken.get(name) not in _LARGE:
            taken[name] = thing.label
            now[name] = thing._replace(tone=thing.tone or tones.get(thing.label, "")).words
    if language == "zh":
        for match in _drops().finditer(masked):
            name = subject(masked, match.start(), mentions, carried)
            given = re.match("[^，。！？]{0,4}[手怀]", masked[match.end() :])  # 塞进他手里
            if name is not None and not given:
                now.pop(name, None)
    return now


def handled(masked: str, mentions: Mentions, named: Sequence[objects.Named]) -> frozenset[str]:
    """The things with which the subject of their clause does something: he took the letter."""
    found = set[str]()
    for thing in named:
        start = max(masked.rfind(mark, 0, thing.at) for mark in _STOPS) + 1
        who = [at for at, _ in mentions if start <= at < thing.at and is_subject(masked, at)]
        if who:
            found.add(thing.label)
    return frozenset(found)


def kept(
    held: dict[str, str], labels: protocol.SceneLabels, *, stays: bool = False
) -> dict[str, str]:
    """What stays in hands from one paragraph to the next: what the scene itself asks for.

    Nobody puts a drawn weapon away while the scene `stays`.
    """
    needed = set(_WEAPONS) if stays else set[str]()
    if labels.weather in {"rain", "snow", "thunder"}:
        needed.add("umbrella")
    if labels.time == "night":
        needed.add("lantern")
    return {name: thing for name, thing in held.items() if label_of(thing) in needed}


def label_of(thing: str) -> str:
    """The thing without its colour."""
    return thing.rpartition(" ")[2]


@functools.cache
def _holds(language: people.Language) -> re.Pattern[str]:
    if language == "en":
        listed = lexicon.alternation(list(lexicon.words("english-hold")))
        return re.compile(rf"\b(?:{listed})\b", re.IGNORECASE)
    # 把书递给他, not the 把 of 一把伞
    return re.compile(f"{lexicon.alternation(list(lexicon.words('hold')))}|(?<![一两几这那整])把")


@functools.cache
def _drops() -> re.Pattern[str]:
    return re.compile(lexicon.alternation(list(lexicon.words("drop"))))
