"""How old somebody is, now and in memories: the same one as a child and grown."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence

from mangen.comic import model, people

_CHILD = re.compile(
    r"(?<![一二三四五六七八九])(?:(?<!十)[五六七八九]|十[一二三]?|十一二)岁|小孩|孩童|男童|女童"
    r"|\b(?:(?:five|six|seven|eight|nine|ten|eleven|twelve) years old|little (?:boy|girl))\b"
)
_CHILDHOOD = re.compile(r"小时候|儿时|童年|幼时|孩提|年幼|\b(?:as a child|childhood)\b")
_YOUTH = re.compile(
    r"少年|少女|女孩|男孩|女生|男生|二八|(?<![二三四五六七八九])十[五六七八九]岁|学生|高中|大学"
)
_ELDER = re.compile(r"老人|老者|白发|白须|皱纹|花甲|七十|八十|拐杖")
_DECADES = re.compile(r"(?:[三四五六]十|[3-6]\d)多?余?年(?!代)")
_NUMBERED = 3  #: a number of years tells more than a word

Then = Mapping[str, people.Age]


@dataclasses.dataclass(frozen=True, slots=True)
class Told:
    """Words about somebody, and whether they are about the past."""

    name: str
    text: str
    past: bool


def of(text: str, name: str = "") -> people.Age | None:
    """The age that words about somebody tell, if they do."""
    if name.startswith("老"):
        return "elder"
    children = _CHILD.findall(text)
    counts: dict[people.Age, int] = {
        "child": sum(_NUMBERED if "岁" in one or "old" in one else 1 for one in children),
        "youth": len(_YOUTH.findall(text)),
        "elder": len(_ELDER.findall(text)),
    }
    best = max(counts, key=lambda age: counts[age])
    return best if counts[best] else None


def is_childhood(text: str) -> bool:
    """Say whether a text tells of when somebody was small."""
    return _CHILDHOOD.search(text) is not None


def grown(
    characters: Sequence[model.Character], told: Iterable[Told], whole: Iterable[str]
) -> tuple[list[model.Character], Then]:
    """The characters as they are now, and how old those were who are remembered younger."""
    past: dict[str, list[str]] = {}
    present: dict[str, list[str]] = {}
    for one in told:
        (past if one.past or is_childhood(one.text) else present).setdefault(one.name, []).append(
            one.text
        )
    late: people.Age = "elder" if any(_DECADES.search(text) for text in whole) else "adult"
    then: dict[str, people.Age] = {}
    made: list[model.Character] = []
    for character in characters:
        name = character.name
        words = " ".join(past.get(name, ()))
        young = "child" if is_childhood(words) else of(words)
        if young in {"child", "youth"} and name in present:
            now = of(" ".join(present[name]), name)
            age = now if now not in {None, "child", "youth"} else late
            character = dataclasses.replace(character, age=age or late)
            then[name] = young or "child"
        elif young == "child" and name in past and name not in present:
            character = dataclasses.replace(character, age=young)
        made.append(character)
    return made, then
