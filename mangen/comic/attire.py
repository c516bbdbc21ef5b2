"""What English words say of how somebody looks: whose coat it is, how old who is.

A thing is worn by whose it is (his red scarf), else by the subject of its sentence; the hair that
is cut is nobody's news.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from mangen.comic import acts, lexicon, people, phrases

COLOURS = (
    "(?:(?:dark|light|pale|deep|bright)[ -])?"
    "(?:red|white|black|green|blue|purple|yellow|gr[ea]y|pink|brown|golden|gold|silver|scarlet|crimson|orange|navy|dark|blond|blonde|auburn|violet)"
)
_ADJECTIVES = (
    "long|short|old|new|thick|thin|heavy|ragged|torn|worn|patched|woollen|wool|silk|velvet|leather|fur"
    "|straw|flowered|striped|rubber|brass|big|small|tiny|great|wide|tall|bushy|curly|straight|neat"
    r"|starched|tangled|flowing|shiny|battered|faded|plain|fine|wild|steel|two|three|[\w]+-rimmed|round|rimless|wire|knitted|checked"
)
_NO_KIND = r"(?:and|or|in|on|of|with|the|an?|his|her|my|their|under|over|whose)\b"  #: of a coat
_WEARS = re.compile(
    r"(?:\b(?:with|in|wore|wearing|worn|had|has|having|under|and|whose|put on|donned|of)|,)\s"
    r"(?:(?:an?|some|a pair of|pair of)\s)?$"
)
_POSSESSIVE = re.compile(r"\b([Hh]is|[Hh]er|[Mm]y)\s$")
_GONE = re.compile(r"\b(?:took off|takes off|removed|lost|without|no|dropped)\s(?:\w+\s)?$")
_HAIR = re.compile(rf"\b({COLOURS}|long|short|curly|straight)\b", re.IGNORECASE)

_DRESSED = re.compile(
    rf"\b(?:in|wore|wearing|dressed in|clad in)\s({COLOURS})(?=[,.;!?]|$|\s(?:and|who|was)\b)"
)

_ONES = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_TEENS = "sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBERS: Mapping[str, int] = {
    **{word: n for n, word in enumerate(f"{_ONES} {_TEENS}".split(), 1)},
    **{word: 10 * n for n, word in enumerate(_TENS.split(), 2)},
}
_NUMBER = rf"(?P<n>{'|'.join(NUMBERS)}|\d{{1,2}})(?:-(?:{_ONES.replace(' ', '|')}))?"
_AGED = re.compile(
    rf"\b(?:was|am|is|turned|aged|of)\s(?:hardly|barely|only|just|nearly|almost|about)?\s?{_NUMBER}\b"
    r"(?=\s(?:years?\sold|when|and|that|but|with|in)\b|[.,;!?]|$)"
    rf"|\b(?P<m>{'|'.join(NUMBERS)}|\d{{1,2}})[- ]years?[- ]old\b"
)
CHILD, YOUTH, ELDER = 13, 22, 60  #: years up to which, and from which on


Mentions = Sequence[tuple[int, str]]  #: where a text names whom


class Told(NamedTuple):
    """What a piece says of somebody."""

    name: str
    looks: tuple[str, ...] = ()
    age: people.Age | None = None
    sex: people.Sex = "unknown"


def told(
    text: str,
    mentions: Mentions,
    carried: Sequence[str],
    sexes: Mapping[str, people.Sex],
    *,
    joined: bool = False,
) -> list[Told]:
    """What a piece of narration says; `carried` are those it goes on about, `joined` or not."""
    return [
        *_worn(text, mentions, carried, sexes),
        *_called(text, mentions, carried, joined=joined),
        *_aged(text, mentions, carried),
    ]


def _worn(
    text: str,
    mentions: Mentions,
    carried: Sequence[str],
    sexes: Mapping[str, people.Sex],
) -> Iterator[Told]:
    for match in _looks().finditer(text):
        before = text[: match.start()]
        owner = _POSSESSIVE.search(before)
        if _GONE.search(before) or not (owner or _WEARS.search(before)):
            continue
        name = _subject(text, match.start(), mentions, carried)
        if owner:
            near = [*carried, *(who for at, who in mentions if at < match.start())]
            name = _possessor(owner.group(1).lower(), near, sexes) or name
        if name:
            yield Told(name, _worded(match.group()))
    for match in _DRESSED.finditer(text):
        name = _subject(text, match.start(), mentions, carried)
        if name:
            yield Told(name, (f"{match.group(1)} clothes",))


def _called(
    text: str, mentions: Mentions, carried: Sequence[str], *, joined: bool
) -> Iterator[Told]:
    """What somebody is said to be: a stout man."""
    for one in phrases.find(text, joined=joined):
        name = _subject(text, one.start, mentions, carried)
        here = next((who for at, who in mentions if one.start <= at < one.end), None)
        if one.own or not (here or (one.told and name)):
            continue
        builds = tuple(
            w for w in lexicon.words("english-build") if re.search(rf"\b{w}\b", one.mods)
        )
        age = one.age if one.anyone or one.old else None
        yield Told(here or name or "", builds, age, "unknown" if here else one.sex)
    for match in _built().finditer(text):
        name = _subject(text, match.start(), mentions, carried)
        if name:
            yield Told(name, (match.group(1),))


def _aged(text: str, mentions: Mentions, carried: Sequence[str]) -> Iterator[Told]:
    for match in _AGED.finditer(text):
        name = _subject(text, match.start(), mentions, carried)
        word = match["n"] or match["m"]
        if name:
            yield Told(name, (), age_of(NUMBERS.get(word) or int(word or 0)))


def age_of(years: int) -> people.Age:
    """The age of so many years."""
    if years <= CHILD:
        return "child"
    if years <= YOUTH:
        return "youth"
    return "elder" if years >= ELDER else "adult"


def _subject(text: str, at: int, mentions: Mentions, carried: Sequence[str]) -> str | None:
    """Who the sentence is about up to here, or who it comes to, or who was before."""
    start = max(text.rfind(mark, 0, at) for mark in ".;:!?") + 1
    before = [who for where, who in mentions if start <= where < at]
    subjects = [
        who for where, who in mentions if start <= where < at and acts.is_subject(text, where)
    ]
    if subjects or before:
        return (subjects or before)[-1]
    if carried and not mentions:
        return carried[0]
    after = [who for where, who in mentions if where >= at]
    return next(iter(after), None) or next(iter(carried), None)


def _possessor(word: str, near: Sequence[str], sexes: Mapping[str, people.Sex]) -> str | None:
    """Whose it is by the pronoun: the last one of that sex."""
    if word == "my":
        return people.SELF_EN
    sex = "male" if word == "his" else "female"
    fitting = [who for who in near if sexes.get(who, sex) in {sex, "unknown"}]
    return fitting[-1] if fitting else None


def _worded(words: str) -> tuple[str, ...]:
    """Hair by each of its words, all else as it stands."""
    lower = words.lower()
    if lower.endswith("hair"):
        return tuple(f"{match.group(1)} hair" for match in _HAIR.finditer(lower))
    return (lower,)


@functools.cache
def _built() -> re.Pattern[str]:
    """What somebody is said to be like: he was tall."""
    listed = lexicon.alternation(list(lexicon.words("english-build")))
    who = r"\b(?:[Hh]e|[Ss]he|I|[A-Z]\w+)"
    return re.compile(
        rf"{who}\s(?:was|is)\s(?:very\s|so\s|\w+\sand\s)?({listed})\b(?!\s(?:ago|of))"
    )


@functools.cache
def _looks() -> re.Pattern[str]:
    listed = lexicon.alternation(list(lexicon.words("english-look")))
    return re.compile(
        rf"\b(?:(?:(?:{COLOURS}|{_ADJECTIVES}),?\s)+(?:(?!{_NO_KIND})[a-z]+\s)?)?(?:{listed})\b(?!['’])",
        re.IGNORECASE,
    )
