"""Which people of a text get an anchor, and the words that it is drawn from."""

from __future__ import annotations

import collections
import dataclasses
import hashlib
import re
from collections.abc import Iterable, Sequence

from mangen.comic import lexicon, model, people

WORDS = 6  #: words about looks on a sheet
REACH = 24  #: characters around a name in which they are looked for

_CHILD = re.compile(
    r"(?<![一二三四五六七八九])(?:(?<!十)[五六七八九]|十[一二三]?|十一二)岁|小孩|孩童|男童|女童"
)
_YOUTH = re.compile(
    r"少年|少女|女孩|男孩|女生|男生|二八|(?<![二三四五六七八九])十[五六七八九]岁|学生|高中|大学"
)
_ELDER = re.compile(r"老人|老者|白发|白须|皱纹|花甲|七十|八十|拐杖")


def characters(
    cast: people.Cast,
    seen: Iterable[str | None],
    speech: Iterable[tuple[str | None, str]],
    narration: Sequence[str],
    *,
    era: str,
    most: int,
) -> list[model.Character]:
    """The `most` people who are seen or heard oftenest, in that order.

    `speech` are speakers and what they say: how others call 我 tells who that is.
    """
    counts = collections.Counter(name for name in seen if name)
    drawn = [
        name
        for name, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if name in cast.people
        or name in people.PRONOUNS
        or name in {people.SELF_ZH, people.SELF_EN}
    ]
    drawn = [name for name in drawn if name not in lexicon.words("group")]
    # those who are only talked of come last: they are drawn where somebody sees them later
    drawn += [name for name, one in cast.people.items() if name not in drawn and not one.role]
    del drawn[most:]
    about = _about(cast, drawn, narration)
    made = [_character(name, cast, about[name], era) for name in drawn]
    return [
        dataclasses.replace(one, sex=_sex_of_self(speech)) if one.name == people.SELF_ZH else one
        for one in made
    ]


def _sex_of_self(speech: Iterable[tuple[str | None, str]]) -> people.Sex:
    called = {
        sex: re.compile(
            rf"[^，。！？,!?]{{0,2}}(?:{lexicon.alternation(list(lexicon.words(section)))})"
            r"好?(?:[，,。！!？?…]|$)"
        )
        for sex, section in (("female", "female-title"), ("male", "male-title"))
    }
    votes = 0
    for speaker, words in speech:
        if speaker != people.SELF_ZH:
            votes += bool(called["female"].match(words)) - bool(called["male"].match(words))
    return "female" if votes > 0 else "male" if votes < 0 else "unknown"


def _about(
    cast: people.Cast, names: Sequence[str], narration: Sequence[str]
) -> dict[str, list[str]]:
    """What stands near each name, up to the next name or the end of the sentence."""
    found: dict[str, list[str]] = {name: [] for name in names}
    for line in narration:
        matches = list(cast.pattern.finditer(line))
        for n, match in enumerate(matches):
            name = cast.aliases.get(match.group(), match.group())
            if name not in found or len(found[name]) >= 400:
                continue
            end = matches[n + 1].start() if n + 1 < len(matches) else len(line)
            start = matches[n - 1].end() if n else 0
            before = re.split(
                "[。！？.!?]", line[max(start, match.start() - REACH) : match.start()]
            )
            after = re.split("[。！？.!?]", line[match.end() : min(end, match.end() + 2 * REACH)])
            found[name].append(before[-1] + match.group() + _own(after[0]))
    return found


def _own(after: str) -> str:
    """What follows a name without what already tells of the next one: 看见一个穿白裙的(女孩)."""
    return re.sub(r"[个位名][^，。]{0,10}$|[^个位名着见，]*的$", "", after)


def _character(name: str, cast: people.Cast, about: Sequence[str], era: str) -> model.Character:
    person = cast.people.get(name)
    text = " ".join(about)
    section = "look" if cast.language == "zh" else "english-look"
    edge = r"\b" if cast.language == "en" else ""
    pattern = re.compile(rf"{edge}(?:{lexicon.alternation(list(lexicon.words(section)))}){edge}")
    looks = tuple(dict.fromkeys(match.group() for match in pattern.finditer(text)))
    sex = person.sex if person else people.PRONOUNS.get(name, "unknown")
    age = person.age if person else "adult"
    if age in {"adult", "youth"} and not (person and person.role):
        age = _age(text, name) or age
    return model.Character(
        name=name,
        sex=sex,
        age=age,
        words=looks[:WORDS],
        era=era,
        seed=int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) & 0x7FFFFFFF,
    )


def _age(text: str, name: str) -> people.Age | None:
    if name.startswith("老"):
        return "elder"
    marks: tuple[tuple[people.Age, re.Pattern[str]], ...] = (
        ("child", _CHILD),
        ("youth", _YOUTH),
        ("elder", _ELDER),
    )
    counts = {age: len(pattern.findall(text)) for age, pattern in marks}
    best = max(counts, key=lambda age: counts[age])
    return best if counts[best] else None
