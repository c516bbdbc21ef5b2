"""People of an English text: names by their evidence, and roles that do or say something.

A role is one person of the text: the witch is the same one everywhere, and the captain is Captain
Hargrave. What stands beside a name tells who it is: Ellen, his niece; her brother Tom.
"""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Sequence

from mangen.comic import lexicon, names_english, people, phrases

SELVES_PER_WORD = 1 / 250

SAY = lexicon.alternation(list(lexicon.words("english-say")))
_MY = r"[Tt]he|[Aa]n?|[Hh]is|[Hh]er|[Mm]y|[Yy]our|[Tt]heir|[Oo]ur"


def find(narration: Sequence[str], text: str) -> people.Cast:
    """The people of an English text."""
    named = names_english.find(narration, text)
    found = {
        name.shown: people.Person(
            name=name.shown, sex=name.sex, age=name.age, count=name.ways.total()
        )
        for name in named
    }
    aliases = {way: name.shown for name in named for way in _ways(name)}
    for his, way in re.findall(r"\b([Hh]is|[Hh]er) name (?:is|was) ([A-Z][a-z]+)", text):
        person = found.get(aliases.get(way, ""))
        if person is not None and person.sex == "unknown":
            sex: people.Sex = "male" if his.lower() == "his" else "female"
            found[person.name] = dataclasses.replace(person, sex=sex)
    roles = _titles(named, found)
    _identify(text, aliases, found, roles)
    _kin(narration, found, roles)
    whole = "\n".join(narration)
    for noun, person in _acting([*narration, *_calls(text)], roles).items():
        found[person.name] = person
        roles[noun] = person.name
    for noun in sorted({word for word in phrases.nouns() if phrases.canonical(word) in roles}):
        roles.setdefault(noun, roles[phrases.canonical(noun)])
    selves = len(re.findall(r"\bI\b", whole))
    first_person = selves >= 2 and selves >= SELVES_PER_WORD * len(whole.split())
    if first_person:
        aliases.update(dict.fromkeys(_myself(whole, text, aliases), people.SELF_EN))
    return people.Cast(
        people=people.by_count(found.values()),
        aliases={**_capitals(roles), **aliases},
        roles=roles,
        first_person=first_person,
        language="en",
    )


def _myself(whole: str, text: str, aliases: dict[str, str]) -> set[str]:
    """The names by which others call who tells: nobody is told of by them."""
    said = re.findall(r"[“\"]([A-Z][a-z]+),[”\"] I (?:said|answered|replied)", text)
    if len(set(said)) != 1 or said[0] in aliases or re.search(rf"\b{said[0]}\b", whole):
        return set()
    return {said[0], *(f"{title}{dot} {said[0]}" for title in ("Mr", "Mrs", "Miss", "Ms", "Dr")
                       for dot in ("", "."))}  # fmt: skip


def _ways(name: names_english.Name) -> set[str]:
    """All ways to call somebody, those too that the narration does not use."""
    found = set(name.ways)
    found |= {word for word in (name.given, name.family) if word}
    if name.family:
        sexes = lexicon.people("english-title")
        fitting = [t for t, (sex, _) in sexes.items() if sex == name.sex] + [name.title]
        found |= {f"{title}{dot} {name.family}" for title in fitting if title for dot in ("", ".")}
    return found


def _capitals(roles: dict[str, str]) -> dict[str, str]:
    """Kin called by what they are: Grandfather, and Father in a call."""
    kin = lexicon.words("english-kin")
    return {
        noun.capitalize(): name for noun, name in roles.items() if phrases.canonical(noun) in kin
    }


def _titles(named: Sequence[names_english.Name], found: dict[str, people.Person]) -> dict[str, str]:
    """The captain is the only one with that title."""
    titled: dict[str, list[str]] = collections.defaultdict(list)
    for name in named:
        titled[name.title.lower()].append(name.shown)
    return {
        word: names[0]
        for word, names in titled.items()
        if word in phrases.nouns() and len(names) == 1 and names[0] in found
    }


def _identify(
    text: str,
    aliases: dict[str, str],
    found: dict[str, people.Person],
    roles: dict[str, str],
) -> None:
    """Take a role and a name for the same one where the text puts them side by side."""
    if not aliases:
        return
    names = lexicon.alternation(list(aliases))
    role = (
        rf"(?:(?:{_MY})\s|\w+['’]s\s)(?P<mods>(?:[\w'’-]+\s){{0,3}}?)"
        rf"(?P<role>{phrases.alternation()})"
    )
    beside = (
        rf"\b(?P<name>{names}),\s{role}\b(?!['’])(?=[,.;!?]|\s(?:with|in|of|who|from|at|on)\b)",
        rf"\b{role},?\s(?P<name>{names})\b",
        rf"\b(?P<name>{names})\s(?:was|is)\s{role}\b(?!['’])",
        rf"(?:[Tt]hat|[Tt]his|[Hh]e|[Ss]he)(?:['’]s|\sis|\swas)\s{role}\s(?P<name>{names})\b",
    )
    for pattern in beside:
        for match in re.finditer(pattern, text):
            name, noun = aliases[match["name"]], match["role"]
            sex, age = phrases.nouns()[noun]
            old = lexicon.labels("english-old")
            told = next((old[word] for word in match["mods"].split() if word in old), age)
            person = found[name]
            found[name] = dataclasses.replace(
                person,
                sex=sex if sex != "unknown" and person.sex == "unknown" else person.sex,
                age=told if person.age == "adult" else person.age,  # type: ignore[arg-type] # words
            )
            if noun not in lexicon.people("english-anyone"):
                roles.setdefault(phrases.canonical(noun), name)


def _kin(
    narration: Sequence[str],
    found: dict[str, people.Person],
    roles: dict[str, str],
) -> None:
    """The father of a daughter is who was named before her: a woodcutter and his daughter."""
    pattern = re.compile(
        rf"\b(?P<role>{phrases.alternation()})\sand\s(?P<his>his|her)\s(?:\w+\s)?"
        r"(?:daughter|son|child|children|boy|girl)\b"
    )
    for line in narration:
        for match in pattern.finditer(line):
            parent = "father" if match["his"] == "his" else "mother"
            noun = match["role"]
            if parent not in roles and noun not in lexicon.people("english-anyone"):
                sex: people.Sex = "male" if parent == "father" else "female"
                person = people.Person(name=noun, sex=sex, age=phrases.nouns()[noun][1], role=True)
                if noun not in roles:
                    found[noun], roles[noun] = person, noun
                roles[parent] = roles[noun]


def _calls(text: str) -> list[str]:
    """How kin are called in speech, as in: Are there others, Father?."""
    return re.findall(r"(?<=, )[A-Z][a-z]+(?=[.!?,][”\"’])|(?<=[“\"])[A-Z][a-z]+(?=[,!?])", text)


def _acting(narration: Sequence[str], roles: dict[str, str]) -> dict[str, people.Person]:
    """The roles, and people without a name, that are there rather than talked of."""
    made: dict[str, people.Person] = {}
    counts: collections.Counter[str] = collections.Counter()
    for line in narration:
        for one in phrases.find(line):
            word = one.name if one.anyone else phrases.canonical(one.noun)
            if one.own or one.told or one.away or word in roles:
                continue
            counts[word] += 1
            made.setdefault(word, people.Person(name=word, sex=one.sex, age=one.age, role=True))
        for match in re.finditer(r"(?<![\w'’])[A-Z][a-z]+\b(?!['’])", line):
            word = phrases.canonical(match.group().lower())
            if word in lexicon.words("english-kin") and word not in roles:
                sex, age = phrases.nouns()[word]
                counts[word] += 1
                made.setdefault(word, people.Person(name=word, sex=sex, age=age, role=True))
        for _, _, noun in phrases.several(line, counted=True):
            sex, age = phrases.nouns()[noun]
            for word in phrases.pair(noun):
                counts[word] += 1
                made[word] = people.Person(name=word, sex=sex, age=age, role=True, several=True)
    return {word: dataclasses.replace(person, count=counts[word]) for word, person in made.items()}
