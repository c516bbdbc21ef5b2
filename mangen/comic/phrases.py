"""English noun phrases that mean somebody: the old man, his niece, a girl in a red hood."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterator, Mapping
from typing import Literal, cast

from mangen.comic import lexicon

Sex = Literal["female", "male", "unknown"]
Age = Literal["child", "youth", "adult", "elder"]

_DET = (
    r"[Tt]he|[Tt]hat|[Tt]his|[Aa]n?|[Aa]nother|[Oo]ne|[Hh]is|[Hh]er|[Mm]y|[Yy]our|[Tt]heir|[Oo]ur"
    r"|[\w-]+['’]s"
)
#: no adjectives: a phrase does not reach over them
_STOP = (
    r"was|were|is|are|be|been|had|has|have|did|do|does|of|in|on|at|to|for|with|from|by|as|and|or|but"
    r"|that|who|which|when|while|then|than|said|into|over|under|voice|not|an?|the|his|her|my|their|our"
    r"|your|me|him|them|us|it|he|she|they|we|you|there|so|very"
)
#: what describes somebody who was named already: she was a girl
_IS = re.compile(
    r"(?:\b(?:was|were|is|are|am|be|been|being|become|became|remained|seemed)|['’]s)\s"
    r"(?:\w+ly\s|still\s|just\s|only\s|now\s)?$"
)
#: who is not there: he looked like a king, the captain of the guard
_OF = re.compile(r"\b(?:of|about|like|than|for|as|not|never|no)\s$|\b[Tt]here (?:was|were) no\s$")
_THERE = re.compile(r"\b[Tt]here (?:was|is|were)\s$")
_BREAK = re.compile(r"[,.;:!?—“”\"]")
_AFTER_VERB = (
    r"\s(?:his|her|the|an?|him|them|me|us|it|to|at|up|down|out|in|into|on|over|through|across|away"
    r"|back|from|by|for|and)\b|$"
)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Phrase:
    """A phrase in a text; `anyone` is whoever was the last such one: the old man."""

    start: int
    end: int
    noun: str
    sex: Sex
    age: Age
    old: Age | None  #: what its adjectives say of the age
    definite: bool
    anyone: bool
    own: bool  #: a possessive: the girl's hand
    mods: str  #: its adjectives
    told: bool  #: says what somebody is who was named already
    away: bool  #: nobody who is there: like a king

    @property
    def name(self) -> str:
        """What somebody is called who has no name."""
        word = {"elder": "old", "youth": "young", "child": "little"}.get(self.old or "")
        return f"{word} {self.noun}" if word else self.noun


@functools.cache
def nouns() -> Mapping[str, tuple[Sex, Age]]:
    """All words for people that are no names: word -> (sex, age)."""
    both = {**lexicon.people("english-role"), **lexicon.people("english-anyone")}
    return cast("Mapping[str, tuple[Sex, Age]]", both)


def canonical(noun: str) -> str:
    """One word for several: father for dad."""
    return lexicon.labels("english-same").get(noun, noun)


@functools.cache
def alternation() -> str:
    """The nouns as an expression."""
    return lexicon.alternation(list(nouns()))


@functools.cache
def _pattern() -> re.Pattern[str]:
    return re.compile(
        rf"\b(?P<det>{_DET})\s(?P<mods>(?:(?!(?:{_STOP})\b)[\w'’-]+,?\s){{0,4}}?)"
        rf"(?P<noun>{alternation()})(?P<own>['’]s?)?(?![\w-])"
    )


def find(text: str, *, joined: bool = False) -> Iterator[Phrase]:
    """The phrases of a stretch of narration, in order; `joined` to a clause before it."""
    if joined:
        lead = ", "
        for one in find(f"X{lead}{text}"):
            back = len(lead) + 1
            yield dataclasses.replace(one, start=one.start - back, end=one.end - back)
        return
    at, outer = 0, None
    while match := _pattern().search(text, at):
        own = bool(match["own"])
        # the keeper's daughter: one phrase in another
        at = match.start("noun") if own else match.end()
        start = match.start() if outer is None else outer
        outer = start if own else None
        sex, age = nouns()[match["noun"]]
        old = next((lexicon_age for word in re.findall(r"[\w-]+", match["mods"])
                    if (lexicon_age := _ages().get(word))), None)  # fmt: skip
        det = match["det"].lower()
        yield Phrase(
            start=match.start(),
            end=match.end("noun"),
            noun=match["noun"],
            sex=sex,
            age=old or age,
            old=old,
            definite=det not in {"a", "an", "another", "one"},
            anyone=match["noun"] in lexicon.people("english-anyone"),
            own=own,
            mods=match["mods"],
            told=_is_told(text, start, match.end()),
            away=_OF.search(text[:start]) is not None,
        )


#: several who are there: not the men of any guild, but two men
_SOME = (
    r"[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive|[Ss]ix|[Ss]everal|[Bb]oth"
    r"|[Aa] (?:couple|pair|group|handful) of|[Ss]ome|[Tt]he|[Tt]hose|[Tt]hese"
)
_PLURALS = {"man": "men", "child": "children", "wife": "wives", "thief": "thieves"}


def plural(noun: str) -> str:
    """Several of a noun for people: two constables, three men, both ladies."""
    for one, many in _PLURALS.items():
        if noun.endswith(one):
            return noun.removesuffix(one) + many
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return noun + ("es" if noun.endswith(("s", "ch", "sh")) else "s")


def pair(noun: str) -> tuple[str, str]:
    """What two who are alike are called."""
    return f"first {noun}", f"second {noun}"


def several(text: str, *, counted: bool = False) -> Iterator[tuple[int, int, str]]:
    """Where a text tells of several who are alike, and of what; `counted`: by a number."""
    for match in _several().finditer(text):
        definite = match["det"].lower() in {"the", "those", "these"}
        if not (definite and counted) and not _OF.search(text, 0, match.start()):
            yield match.start(), match.end(), _plurals()[match["noun"]]


@functools.cache
def _plurals() -> Mapping[str, str]:
    return {plural(noun): noun for noun in nouns()}


@functools.cache
def _several() -> re.Pattern[str]:
    return re.compile(
        rf"\b(?P<det>{_SOME})\s(?:(?!(?:{_STOP})\b)[\w'’-]+\s){{0,2}}?"
        rf"(?P<noun>{lexicon.alternation(list(_plurals()))})(?!['’\w-])"
    )


@functools.cache
def _ages() -> Mapping[str, Age]:
    return cast("Mapping[str, Age]", lexicon.labels("english-old"))


def _is_told(text: str, start: int, end: int) -> bool:
    before = text[:start]
    if _IS.search(before):
        return not _THERE.search(before)
    if not before.rstrip().endswith(",") or before.rstrip(" ,") == "":
        return False
    rest = _BREAK.split(text[end:])[0]
    return _acting().search(rest) is None  # , a stout man with a red moustache,


@functools.cache
def _acting() -> re.Pattern[str]:
    past = lexicon.alternation(list(lexicon.words("english-past")))
    return re.compile(rf"\b(?:{past})\b|\b\w+ed(?:{_AFTER_VERB})")
