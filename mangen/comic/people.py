"""The people of a text, and the words by which it calls them."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable, Mapping
from typing import Literal, cast

from mangen.comic import lexicon

Language = Literal["zh", "en"]
Sex = Literal["female", "male", "unknown"]
Age = Literal["child", "youth", "adult", "elder"]

SELF_ZH, SELF_EN = "我", "I"
SELVES = frozenset({SELF_ZH, SELF_EN})
#: who is meant by a pronoun
PRONOUNS: Mapping[str, Sex] = {
    "他": "male",
    "她": "female",
    "he": "male",
    "she": "female",
    "He": "male",
    "She": "female",
}

#: before the subject of a clause
_SUBJECT = re.compile(
    r"(?:^|[，。！？；：…—”」』、,.;:!?\"”]\s?|\band\s|\bthat\s|\bwhen\s|\bas\s)$"
)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """Somebody of the text."""

    name: str
    sex: Sex = "unknown"
    age: Age = "adult"
    count: int = 1
    role: bool = False  #: named by what they are, not by a name


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cast:
    """All people of a text, the most mentioned first."""

    people: Mapping[str, Person]
    aliases: Mapping[str, str]  #: word in the text -> name
    first_person: bool
    language: Language

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        """Every word for somebody, pronouns last."""
        listed = lexicon.alternation(list(self.aliases))
        if self.language == "en":
            pronouns = "he|she|He|She" + ("|I" if self.first_person else "")
            return re.compile(rf"\b(?:{listed}|{pronouns})\b" if listed else rf"\b(?:{pronouns})\b")
        pronouns = "(?<!其)[他她](?!们)" + ("|我(?!们)" if self.first_person else "")
        return re.compile(f"{listed}|{pronouns}" if listed else pronouns)

    @functools.cached_property
    def masked(self) -> tuple[str, ...]:
        """Names that could be taken for words of the scene."""
        roles = {name for name, person in self.people.items() if person.role}
        return tuple(word for word, name in self.aliases.items() if name not in roles)


def roles(kind: str) -> Mapping[str, tuple[Sex, Age]]:
    """The words for people by what they are: word -> (sex, age)."""
    return cast("Mapping[str, tuple[Sex, Age]]", lexicon.people(kind))


def with_pronouns(found: Cast, narration: Iterable[str]) -> Cast:
    """The cast with each one's sex as the pronouns say that follow their names.

    A pronoun counts as the subject of a clause, where exactly one person was named before it: in
    the same paragraph. Where nothing else tells, one who starts a paragraph counts as whom the
    last one named.
    """
    votes: dict[str, int] = {}
    weak: dict[str, int] = {}
    last: set[str] = set()
    for line in narration:
        named: set[str] = set()
        used: set[str] = set()
        for match in found.pattern.finditer(line):
            word = match.group()
            if word in SELVES:
                continue
            if word not in PRONOUNS:
                named.add(found.aliases[word])
                continue
            fresh, used = word not in used, used | {word}
            if not fresh or not _SUBJECT.search(line, 0, match.start()):
                continue
            who, counted = (named, votes) if named else (last, weak)
            if len(who) == 1:
                name = next(iter(who))
                counted[name] = counted.get(name, 0) + (1 if PRONOUNS[word] == "female" else -1)
        last = named or last
    told: dict[str, Person] = {}
    for name, person in found.people.items():
        vote = votes.get(name, 0) or weak.get(name, 0)
        enough = 1 if person.sex == "unknown" else 2
        sex: Sex = "female" if vote >= enough else "male" if -vote >= enough else person.sex
        told[name] = person if person.role else dataclasses.replace(person, sex=sex)
    return dataclasses.replace(found, people=told)


def by_count(people: Iterable[Person]) -> dict[str, Person]:
    """The most mentioned first."""
    order = sorted(people, key=lambda person: (-person.count, person.name))
    return {person.name: person for person in order}
