"""Who is in a text: names and roles by what they do, with sex, age and looks.

A word is a person when it does what only people do: it says something, it is called, it is the
subject of a human verb, or it is tagged as a name and begins with a surname. Names stand by the
evidence of the whole text, so that a word that looks like weather can still be a person.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, cast

from mangen.comic import lexicon, words

Language = Literal["zh", "en"]
Sex = Literal["female", "male", "unknown"]
Age = Literal["child", "youth", "adult", "elder"]

TAGGED_CHARACTERS = 600_000  #: so much of a text is tagged for names; main roles come early
I_PER_THOUSAND = 2.0  #: how often the narration of a first-person text says 我
SELF_ZH, SELF_EN = "我", "I"

_HAN = r"[\u4e00-\u9fff]"
_EDGE = r"(?:^|(?<=[，。！？；：…—”」』\"'’\s、]))"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """Somebody of the text. `aliases` are other words for the same one."""

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
        if self.language == "en":
            listed = lexicon.alternation(list(self.aliases))
            pronouns = "he|she|He|She|I" if self.first_person else "he|she|He|She"
            return re.compile(rf"\b(?:{listed}|{pronouns})\b" if listed else rf"\b(?:{pronouns})\b")
        listed = lexicon.alternation(list(self.aliases))
        pronouns = "[他她](?!们)|我(?!们)" if self.first_person else "[他她](?!们)"
        return re.compile(f"{listed}|{pronouns}" if listed else pronouns)

    @functools.cached_property
    def masked(self) -> tuple[str, ...]:
        """Names that could be taken for words of the scene."""
        return tuple(a for a, name in self.aliases.items() if not self.people[name].role)


def find(narration: Sequence[str], speech: Sequence[str], text: str, language: Language) -> Cast:
    """The people of a text.

    `narration[i]` is the narration of paragraph i with its quotations cut out and marked by “”,
    `speech` all quotations.
    """
    if language == "en":
        return _find_english(narration, text)
    return _find_chinese(narration, speech, text)


# ---------------------------------------------------------------- Chinese


@functools.cache
def _patterns() -> dict[str, re.Pattern[str]]:
    say = lexicon.alternation(list(lexicon.words("say")))
    verbs = lexicon.alternation(list(lexicon.words("human-verb")))
    suffix = "哥哥|姐姐|哥|姐|嫂|叔|伯|爷|兄|姑娘|公子|小姐|先生|少爷|老爷|大人"
    return {
        "before": re.compile(
            rf"{_EDGE}(?:只见|却说|忽见)?({_HAN}{{2,3}}?)(?:[^，。！？]{{0,6}}?)(?:{say})[：:，]?“”"
        ),
        "colon": re.compile(rf"{_EDGE}({_HAN}{{2,3}}?)(?:{verbs})[^。！？“]{{0,20}}[：:]“”"),
        "after": re.compile(rf"“”({_HAN}{{2,3}}?)(?:[^，。！？]{{0,5}}?)(?:{say})"),
        "subject": re.compile(rf"{_EDGE}({_HAN}{{2,3}}?)(?:{verbs})"),
        "called": re.compile(
            rf"^({_HAN}{{2,3}}?)(?:{suffix})?[，,！!。？?…—](?!$)|^({_HAN}{{2,3}}?)(?:{suffix})[，！。？…—]?$"
        ),
        "naming": re.compile(
            rf"(?:名叫|叫做|叫作|名唤|便是|就是|名为)({_HAN}{{2,3}})(?=[，。！；的])"
        ),
        "is": re.compile(rf"[这那]({_HAN}{{2}})(?:便是|就是|正是)({_HAN}{{2,3}})(?=[，。！；])"),
    }


def _find_chinese(narration: Sequence[str], speech: Sequence[str], text: str) -> Cast:
    evidence: collections.Counter[str] = collections.Counter()
    tagged = _tagged(text)
    patterns = _patterns()
    for line in narration:
        for kind, points in (("before", 3), ("colon", 3), ("after", 3), ("subject", 1)):
            for match in patterns[kind].finditer(line):
                evidence[match.group(1)] += points
        for match in patterns["naming"].finditer(line):
            evidence[match.group(1)] += 2
    for line in speech:
        called = patterns["called"].match(line)
        if called:
            evidence[called.group(1) or called.group(2)] += 2
    names = _names(text, evidence, tagged)
    aliases = {name: name for name in names}
    for name in names:
        given = name[1:]
        if len(name) == 3 and given not in aliases and text.count(given) > text.count(name):
            aliases[given] = name
    people = {name: names[name] for name in names}
    for word, (sex, age) in _roles("role").items():
        if word in aliases or not _role_acts(word, narration):
            continue
        aliases[word] = word
        people[word] = Person(name=word, sex=sex, age=age, count=text.count(word), role=True)
    for line in narration:
        for match in patterns["is"].finditer(line):
            word, name = match.groups()
            if name in people and word in _roles("role"):
                people.pop(word, None)
                aliases[word] = name
                people[name] = _as_role(people[name], _roles("role")[word])
    told = sum(len(line) for line in narration)
    selves = sum(line.count("我") - line.count("我们") for line in narration)
    first_person = selves >= 2 and selves * 1000 >= I_PER_THOUSAND * told
    return Cast(people=_by_count(people), aliases=aliases, first_person=first_person, language="zh")


def _as_role(person: Person, role: tuple[Sex, Age]) -> Person:
    sex = person.sex if person.sex != "unknown" else role[0]
    return dataclasses.replace(person, sex=sex, age=role[1])


@functools.cache
def _roles(kind: str) -> Mapping[str, tuple[Sex, Age]]:
    listed = lexicon.people(kind)
    return cast("Mapping[str, tuple[Sex, Age]]", listed)


def _role_acts(word: str, narration: Iterable[str]) -> bool:
    return any(word in line and _acts(word).search(line) for line in narration)


@functools.cache
def _acts(word: str) -> re.Pattern[str]:
    verbs = lexicon.alternation(list(lexicon.words("human-verb")))
    say = lexicon.alternation(list(lexicon.words("say")))
    lead = _EDGE if len(word) == 1 else rf"(?:{_EDGE}|的|个|位|名)"
    said = rf"{word}[^，。！？“]{{0,4}}?(?:{say})" if len(word) > 1 else rf"{word}(?:{say})"
    return re.compile(rf"{lead}{word}(?:{verbs})|{said}[：:，]?“”|“”[^，。！？]{{0,6}}{said}")


def _tagged(text: str) -> collections.Counter[str]:
    """Words tagged as names, and pairs that the tagger cut apart (闰 + 土)."""
    found: collections.Counter[str] = collections.Counter()
    before: tuple[str, str] = ("", "")
    for word, flag in words.tagged(text[:TAGGED_CHARACTERS]):
        if flag.startswith("nr") and 2 <= len(word) <= 4:
            found[_without_verb(word)] += 1
        elif before[1].startswith("nr") and len(before[0]) == 1 and "\u4e00" <= word[0] <= "\u9fff":
            found[before[0] + word[0]] += 1
        before = (word, flag)
    return found


def _without_verb(word: str) -> str:
    """A name without the verb or adverb that the tagger took for its end (贾母笑, 黛玉亦)."""
    while len(word) > 2 and word[-1] in "笑道说问答叫喊亦也又便却忙因冷曰叹正才都就":
        word = word[:-1]
    return word


def _names(
    text: str,
    evidence: Mapping[str, int],
    tagged: Mapping[str, int],
) -> dict[str, Person]:
    doubles = tuple(lexicon.words("double-surname"))
    surnames = lexicon.characters("surname")
    scores: dict[str, int] = {}
    for word in {*evidence, *tagged}:
        if not _may_be_name(word):
            continue
        born = word.startswith(doubles) or (word[0] in surnames)
        known = words.frequency(word)
        tags = tagged.get(word, 0)
        score = evidence.get(word, 0) + min(tags, 3) + int(born) + int(tags > 0)
        if known > 50 and not tags:
            score -= 4
        elif known > 300:
            score -= 3
        if not evidence.get(word) and tags < 3:
            score -= 2
        if score >= 3:
            scores[word] = score
    for match in re.finditer(
        rf"[老小阿]([{''.join(sorted(surnames))}])(?=[说道问笑，的后把站坐走])", text
    ):
        word = match.group()
        if _may_be_name(word) and words.frequency(word) < 100:
            scores.setdefault(word, 3)
    return _distinct(text, scores)


def _may_be_name(word: str) -> bool:
    return (
        2 <= len(word) <= 4
        and not any(ch in lexicon.characters("never-in-names") for ch in word)
        and word not in _never()
        and not any(word.endswith(role) for role in ("们", "声", "边", "面", "心", "手", "眼"))
    )


@functools.cache
def _never() -> frozenset[str]:
    listed = set(lexicon.words("not-names"))
    for kind in ("place", "time", "weather", "mood", "emotion", "era", "role"):
        listed.update(lexicon.labels(kind))
    for section in ("look", "insert", "action"):
        listed.update(lexicon.words(section))
    return frozenset(listed)


def _distinct(text: str, scores: Mapping[str, int]) -> dict[str, Person]:
    """Of two words one of which is in the other, the one that is the name."""
    counts = {word: text.count(word) for word in scores}
    kept: dict[str, Person] = {}
    for word in sorted(scores, key=lambda w: (-counts[w], -scores[w], -len(w), w)):
        rivals = [other for other in kept if word in other or other in word]
        if any(len(other) < len(word) or counts[word] <= counts[other] for other in rivals):
            continue
        kept[word] = Person(name=word, sex=_sex_by_name(word), count=counts[word])
    return kept


def _sex_by_name(name: str) -> Sex:
    female, male = lexicon.characters("female-given"), lexicon.characters("male-given")
    given = name[2:] if name.startswith(tuple(lexicon.words("double-surname"))) else name[1:]
    score = sum((ch in female) - (ch in male) for ch in given)
    return "female" if score > 0 else "male" if score < 0 else "unknown"


def _by_count(people: Mapping[str, Person]) -> dict[str, Person]:
    order = sorted(people.values(), key=lambda person: -person.count)
    return {person.name: person for person in order}


# ---------------------------------------------------------------- English

_TITLE = r"(?:Mr|Mrs|Ms|Miss|Dr|Sir|Lady|Lord|Captain|Uncle|Aunt)\.?"
_NAME = re.compile(
    rf"(?<![.!?“\"”]\s)(?<![“\"])(?<!^)\b((?:{_TITLE}\s)?[A-Z][a-z]+(?:\s[A-Z][a-z]+)?)\b"
)
ENGLISH_SAY = (
    "said|cried|replied|asked|returned|exclaimed|observed|muttered|thought|shouted|whispered"
)
_SAID = re.compile(
    rf"\b(?:{ENGLISH_SAY})\s((?:{_TITLE}\s)?[A-Z][a-z]+)|\b((?:{_TITLE}\s)?[A-Z][a-z]+)\s(?:\w+ly\s)?(?:{ENGLISH_SAY})\b"
)
_NO_NAME = frozenset(
    "The A An He She It They We You But And Then There This That What When Where Who How Why In On At "
    "Of To For With No Yes Oh My His Her If So As Not Never Once Chapter Said Now After Before Up Down "
    "Well Christmas God Merry Every Some All Is Was Do Did Will London England French English Monday "
    "Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July "
    "August September October November December Eve I Park Street".split()  # noqa: SIM905 - reads as prose
)


def _find_english(narration: Sequence[str], text: str) -> Cast:
    scores: collections.Counter[str] = collections.Counter()
    for line in narration:
        for match in _NAME.finditer(line):
            scores[match.group(1)] += 1
        for match in _SAID.finditer(line):
            scores[match.group(1) or match.group(2)] += 3
    people: dict[str, Person] = {}
    aliases: dict[str, str] = {}
    for name, score in scores.most_common():
        bare = re.sub(rf"^{_TITLE}\s", "", name)
        if score < 2 or bare.split()[0] in _NO_NAME or name in _NO_NAME:
            continue
        if any(bare == other or bare in other.split() for other in people):
            continue
        sex: Sex = "unknown"
        if re.match(r"(?:Mrs|Ms|Miss|Lady|Aunt)", name):
            sex = "female"
        elif bare != name and not name.startswith("Dr"):
            sex = "male"
        people[name] = Person(name=name, sex=sex, count=text.count(name))
        aliases[name] = name
    whole = "\n".join(narration)
    for word, (sex, age) in _roles("english-role").items():
        role = rf"\b(?:{ENGLISH_SAY})\s(?:(?:the|his|her|a|an|my)\s|\w+['’]s\s)(?:\w+\s)?{word}\b"
        if re.search(role, whole):
            people[word] = Person(name=word, sex=sex, age=age, count=text.count(word), role=True)
            aliases[word] = word
    selves = len(re.findall(r"\bI\b", whole))
    return Cast(
        people=_by_count(people),
        aliases=aliases,
        first_person=selves >= 2 and selves * 250 >= len(whole.split()),
        language="en",
    )
