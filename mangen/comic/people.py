"""The people of a text, and the words by which it calls them."""

from __future__ import annotations

import collections
import dataclasses
import functools
import re
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, cast

from mangen.comic import lexicon, phrases

Language = Literal["zh", "en"]
Sex = Literal["female", "male", "unknown"]
Age = Literal["child", "youth", "adult", "elder"]

SELF_ZH, SELF_EN = "我", "I"
SELVES = frozenset({SELF_ZH, SELF_EN, "me"})
#: who is meant by a pronoun
PRONOUNS: Mapping[str, Sex] = {
    "他": "male",
    "她": "female",
    "he": "male",
    "she": "female",
    "He": "male",
    "She": "female",
    "him": "male",
    "her": "female",
    "his": "male",
}
#: several at once
GROUPS = frozenset({"they", "They", "we", "We", "他们", "她们", "我们", "二人", "两人", "两个人"})
_OF_THEM = r"(?:[Tt]he (?:two|three|four)|[Bb]oth|[Aa]ll(?: three| four)?) of (?:them|us)"
OTHERS_ZH = "甲乙"  #: two who are alike: 警察甲, 警察乙

#: somebody new, whom the next pronoun means
STRANGER = re.compile(
    "一(?:[个名位]|道)[^，。！？]{0,8}?(?:(?P<female>女[子人孩郎生]|少女|妇人|学姐|姑娘|老妇)"
    "|(?P<male>男[子人孩生]|青年|少年|老者|老人|大汉|书生|学长|小伙|老头|壮汉)|身影|人影|黑影)"
)
#: before the subject of a clause
_SUBJECT = re.compile(
    r"(?:^|[，。！？；：…—”」』、,.;:!?\"”]\s?|\band\s|\bthat\s|\bwhen\s|\bas\s)$"
)


#: the object of a verb, not whose something is
_HER = (
    r"her(?=\s*[.,;:!?—]|\s*$|\s(?:to|with|in|on|at|and|from|by|through|into|as|for|up|down|away|off"
    r"|over|again|out|back|before|that|who|the|an?)\b)"
)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """Somebody of the text."""

    name: str
    sex: Sex = "unknown"
    age: Age = "adult"
    count: int = 1
    role: bool = False  #: named by what they are, not by a name
    several: bool = False  #: one of some who are alike: two constables


class Word(NamedTuple):
    """A word for somebody where it stands; `name` is empty where only the context tells who."""

    start: int
    end: int
    word: str
    name: str
    phrase: phrases.Phrase | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cast:
    """All people of a text, the most mentioned first."""

    people: Mapping[str, Person]
    aliases: Mapping[str, str]  #: word in the text -> name
    first_person: bool
    language: Language
    roles: Mapping[str, str] = dataclasses.field(default_factory=dict)  #: English noun -> name

    def words(self, text: str, *, joined: bool = False) -> list[Word]:
        """Every word for somebody in a stretch of text, in order; `joined` to a clause before."""
        found = [
            Word(m.start(), m.end(), m.group(), self.aliases.get(m.group(), ""))
            for m in self.pattern.finditer(text)
        ]
        if self.language == "zh":
            return sorted([*found, *self._others(found)])
        taken = {at for word in found for at in range(word.start, word.end)}
        for one in phrases.find(text, joined=joined):
            if one.own or one.told or one.away or one.end - 1 in taken:
                continue
            name = "" if one.anyone else self.roles.get(phrases.canonical(one.noun), "")
            if name or one.anyone:
                found.append(Word(one.start, one.end, one.noun, name, one))
        for start, end, noun in phrases.several(text):
            pair = [name for name in phrases.pair(noun) if name in self.people]
            if end - 1 not in taken:
                found += [Word(start, end, noun, name) for name in pair]
        return sorted(found)

    def _others(self, found: Iterable[Word]) -> list[Word]:
        """The second of two for whom a Chinese text has one word: 两个警察."""
        return [
            word._replace(name=f"{word.name[:-1]}{OTHERS_ZH[1]}")
            for word in found
            if word.name.endswith(OTHERS_ZH[0])
            and word.name in self.people
            and self.people[word.name].several
        ]

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        """Every word for somebody, pronouns last."""
        listed = lexicon.alternation(list(self.aliases))
        if self.language == "en":
            pronouns = f"he|she|He|She|him|{_HER}|{_OF_THEM}|{_one_of_two()}|[Tt]hey|[Ww]e"
            pronouns += "|I|me" * self.first_person
            listed = f"{listed}|{pronouns}" if listed else pronouns
            return re.compile(rf"(?<![\w'’])(?:{listed})(?!\w)")
        pronouns = "(?<!其)[他她](?!们)" + ("|我(?!们)" if self.first_person else "")
        return re.compile(f"{listed}|{pronouns}" if listed else pronouns)

    @functools.cached_property
    def masked(self) -> tuple[str, ...]:
        """Names that could be taken for words of the scene."""
        roles = {name for name, person in self.people.items() if person.role}
        return tuple(word for word, name in self.aliases.items() if name not in roles)


@functools.cache
def _one_of_two() -> str:
    """One of two who are alike, where it does something: One held out a watch."""
    past = lexicon.alternation(list(lexicon.words("english-past")))
    return rf"(?:One|[Tt]he other)(?=\s(?:of them\s)?(?:\w+ly\s)?(?:{past}|\w+ed)\b)"


def roles(kind: str) -> Mapping[str, tuple[Sex, Age]]:
    """The words for people by what they are: word -> (sex, age)."""
    return cast("Mapping[str, tuple[Sex, Age]]", lexicon.people(kind))


def with_pronouns(found: Cast, narration: Iterable[str]) -> Cast:
    """The cast with each one's sex as the pronouns say that follow their names.

    A pronoun counts as the subject of a clause, where exactly one person was named before it: in
    the same paragraph. Where nothing else tells, one before any name counts as whom the paragraph
    before named first.
    """
    votes: collections.Counter[str] = collections.Counter()
    weak: collections.Counter[str] = collections.Counter()
    last: str | None = None
    for line in narration:
        last = _vote(found, line, last, votes, weak)
    told: dict[str, Person] = {}
    for name, person in found.people.items():
        vote = votes[name] or weak[name]
        enough = 1 if person.sex == "unknown" else 2
        sex: Sex = "female" if vote >= enough else "male" if -vote >= enough else person.sex
        told[name] = person if person.role else dataclasses.replace(person, sex=sex)
    return dataclasses.replace(found, people=told)


def _vote(
    found: Cast,
    line: str,
    last: str | None,
    votes: collections.Counter[str],
    weak: collections.Counter[str],
) -> str | None:
    """Count the pronouns of a paragraph; answers whom the next one's may mean."""
    named: list[str] = []
    used: set[str] = set()
    for start, _, word, name, phrase in found.words(line):
        if name or phrase:
            named.append(name or "?")
            continue
        fresh, used = word not in used, used | {word}
        if word not in PRONOUNS or not fresh or not _SUBJECT.search(line, 0, start):
            continue
        vote = 1 if PRONOUNS[word] == "female" else -1
        if len(set(named)) == 1:
            votes[named[0]] += vote
        elif not named and last is not None:
            weak[last] += vote
    if STRANGER.search(line):
        return None
    return named[0] if named else last


def by_count(people: Iterable[Person]) -> dict[str, Person]:
    """The most mentioned first."""
    order = sorted(people, key=lambda person: (-person.count, person.name))
    return {person.name: person for person in order}
