"""Who people turn out to be: what an English text says of somebody, known before it is staged.

She was a girl of nineteen is read by following the whole text once; after that the old man can be
told from the boy wherever they are.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mangen.comic import attire, model, people, sentences, speakers

_PEERS = ("brother", "sister", "cousin", "friend")  #: a child's are not grown

Row = Sequence[sentences.Piece]


def known(found: people.Cast, chapters: Iterable[Sequence[Row]]) -> people.Cast:
    """The cast with the ages and sexes that the sentences tell."""
    if found.language == "zh":
        return found
    told: dict[str, people.Person] = dict(found.people)
    sexes = {name: person.sex for name, person in told.items()}
    aged: set[str] = set()
    for rows in chapters:
        for one in _told(found, rows, sexes):
            person = told.get(one.name)
            if person is None:
                continue
            if one.sex != "unknown" and person.sex == "unknown":
                person = dataclasses.replace(person, sex=one.sex)
            if one.age not in {None, "adult"} and person.age == "adult" and person.name not in aged:
                aged.add(person.name)
                person = dataclasses.replace(person, age=one.age or "adult")
            told[one.name] = person
    small = any(person.age == "child" for person in told.values())
    for noun in _PEERS:
        person = told.get(found.roles.get(noun, ""))
        if small and person is not None and person.age == "adult":
            told[person.name] = dataclasses.replace(person, age="youth")
    return dataclasses.replace(found, people=told)


def _told(
    found: people.Cast, rows: Sequence[Row], sexes: dict[str, people.Sex]
) -> Iterator[attire.Told]:
    for row, whos in zip(rows, speakers.Teller(found).tell(rows), strict=True):
        before = ""
        for piece, who in zip(row, whos, strict=True):
            if not piece.quoted:
                joined = before.endswith(",")
                yield from attire.told(piece.text, who.mentions, who.people, sexes, joined=joined)
            before = "" if piece.quoted else piece.text


def aged(
    text: str,
    mentions: Sequence[tuple[int, str]],
    carried: Sequence[str],
    characters: Mapping[str, model.Character],
) -> dict[str, str]:
    """How old somebody is by now, where that is another age than theirs: Now I am an old man."""
    if not re.search(r"\b[Nn]ow\b", text):
        return {}
    told = attire.told(text, mentions, carried, {})
    return {
        one.name: one.age
        for one in told
        if one.age and one.name in characters and one.age != characters[one.name].age
    }
